//! A server's part of moves: what it tells its clients, and what they say. WIRE.md section 8.2. Whatever concerns the two
//! servers, such as the player's state, is the application's, or `skipstone-fleet`'s.

use crate::restart_notice::split;
use crate::send_error::SendRefusal;
use crate::start_error::StartError;
use bytes::Bytes;
use skipstone_proto::{DESTINATION_BYTES_MAX, Event, MoveId, MoveMessage, MoveStage, PeerId, Settings};
use std::collections::BTreeMap;
use std::fmt;

/// Why a client was not told about a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveError {
    /// The server's settings have no channel for moves.
    NoChannel,
    /// The destination is invalid.
    Destination,
    /// The token is longer than 1,024 bytes.
    Token(usize),
    /// The message was not accepted.
    Refused(SendRefusal),
}

impl std::error::Error for MoveError {}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MoveError::NoChannel => {
                f.write_str("this server moves no clients: name a reliable-ordered channel in `settings.moves_channel`")
            }
            MoveError::Destination => {
                f.write_str("the destination is not HOST:PORT (examples: eu2.example.org:7777, [2001:db8::1]:7777)")
            }
            MoveError::Token(bytes) => write!(f, "the token has {bytes} bytes, where 1,024 is the maximum"),
            MoveError::Refused(reason) => write!(f, "the client was not told: {reason}"),
        }
    }
}

/// The messages about moves among a server's events.
#[derive(Debug)]
pub(crate) struct ServerMoves {
    channel: Option<u16>,
    /// Clients that were welcomed and have not arrived.
    welcomed: BTreeMap<PeerId, MoveId>,
    /// The event behind the one that was given last.
    next: Option<Event>,
}

impl ServerMoves {
    pub(crate) fn new(settings: &Settings) -> ServerMoves {
        ServerMoves { channel: settings.moves_channel(), welcomed: BTreeMap::new(), next: None }
    }

    /// The event that follows the last one, if it was held back.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.next.take()
    }

    /// The event as the application gets it.
    pub(crate) fn filter(&mut self, event: Event) -> Option<Event> {
        match &event {
            Event::Message { peer, channel, payload, .. } if self.channel == Some(*channel) => {
                let stage = MoveMessage::decode(payload).ok()??.stage()?;
                // Another message said it before.
                let is_known = matches!(stage, MoveStage::Arrived(_)) && self.welcomed.remove(peer).is_none();
                (!is_known).then_some(Event::Move { peer: *peer, stage })
            }
            event if self.channel.is_some_and(|channel| event.is_receipt_on(channel)) => None,
            // A client that was welcomed sends messages only to the server that it has chosen: ARRIVED may come later.
            Event::Message { peer, .. } if !self.welcomed.is_empty() => match self.welcomed.remove(peer) {
                Some(id) => {
                    let arrived = Event::Move { peer: *peer, stage: MoveStage::Arrived(id) };
                    self.next = Some(event);
                    Some(arrived)
                }
                None => Some(event),
            },
            Event::Closed { peer, .. } => {
                self.welcomed.remove(peer);
                Some(event)
            }
            _ => Some(event),
        }
    }

    /// The channel and the bytes of MOVE.
    pub(crate) fn to(&self, id: MoveId, destination: &str, token: &[u8]) -> Result<(u16, Bytes), MoveError> {
        if destination.len() > DESTINATION_BYTES_MAX || split(destination).is_none() {
            return Err(MoveError::Destination);
        }
        StartError::check_token(token).map_err(|_| MoveError::Token(token.len()))?;
        self.message(MoveMessage::Move { id, destination, token })
    }

    /// The channel and the bytes of another message.
    pub(crate) fn message(&self, message: MoveMessage<'_>) -> Result<(u16, Bytes), MoveError> {
        Ok((self.channel.ok_or(MoveError::NoChannel)?, message.encode().into()))
    }

    /// A client was welcomed.
    pub(crate) fn on_welcomed(&mut self, peer: PeerId, id: MoveId) {
        self.welcomed.insert(peer, id);
    }

    /// Refuses the application's messages on the channel of moves.
    pub(crate) fn check(&self, channel: u16) -> Result<(), SendRefusal> {
        if self.channel == Some(channel) { Err(SendRefusal::NoSuchChannel { channel }) } else { Ok(()) }
    }
}
