//! Moves over a bus and a server: letters sent and handed on, orders carried out. Nothing here waits.

use super::machine::Moves;
use super::note::MoveOrigin;
use super::output::{MoveNotice, MoveOrder, MoveRefusal};
use super::settings::MoveSettings;
use crate::bus::{Bus, BusEvent, SubjectError, SubscriptionId};
use crate::directory::NodeName;
use bytes::Bytes;
use skipstone::{Event, PeerId, Server, code};
use std::time::{Duration, Instant};

/// A node's moves, over a bus whose events the application polls, and a server whose events it polls.
///
/// The server's settings name a [channel of moves](skipstone::Settings::moves_channel), the same as those of all nodes.
#[derive(Debug)]
pub struct MovesDriver {
    moves: Moves,
    /// Of the letters of all nodes.
    prefix: String,
    subscription: SubscriptionId,
    began: Instant,
    unsent: u64,
}

/// An event of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeEvent {
    /// Of its server.
    Server(Event),
    /// Of a player that moves.
    Move(MoveNotice),
}

impl MovesDriver {
    /// Takes part in the moves of a fleet. All its nodes name it alike, by one token of a subject.
    ///
    /// # Errors
    /// The fleet's name is no token of a subject, or too many calls wait at the bus.
    pub fn start(bus: &Bus, fleet: &str, settings: MoveSettings) -> Result<MovesDriver, SubjectError> {
        let prefix = format!("skipstone.moves.{fleet}");
        let subscription = bus.subscribe(&format!("{prefix}.{}", settings.node))?;
        Ok(MovesDriver { moves: Moves::new(settings), prefix, subscription, began: Instant::now(), unsent: 0 })
    }

    /// Takes an event of the bus, or gives it back if it is not of moves.
    pub fn handle(&mut self, event: BusEvent) -> Option<BusEvent> {
        match event {
            BusEvent::Message(message) if message.subscription == self.subscription => {
                self.moves.handle_letter(&message.payload, self.now());
                None
            }
            other => Some(other),
        }
    }

    /// Does what is due, and gives the next event of the server or of a move, in their order. To be called in each tick
    /// until it gives nothing, in place of [`Server::poll_event`]. A client that comes with a move's token is accepted
    /// here; the application learns of its player by [`MoveNotice::Arrived`].
    pub fn poll(&mut self, bus: &Bus, server: &mut Server) -> Option<NodeEvent> {
        loop {
            self.send(bus, server);
            if let Some(notice) = self.moves.poll_notice() {
                return Some(NodeEvent::Move(notice));
            }
            let now = self.now();
            match server.poll_event() {
                Some(event) => {
                    if let Some(event) = self.moves.handle_event(event, now) {
                        return Some(NodeEvent::Server(event));
                    }
                }
                // Once in a tick, and not for each event.
                None => {
                    self.moves.handle_timeout(now);
                    self.send(bus, server);
                    return self.moves.poll_notice().map(NodeEvent::Move);
                }
            }
        }
    }

    fn send(&mut self, bus: &Bus, server: &mut Server) {
        while let Some(order) = self.moves.poll_order() {
            obey(server, order);
        }
        while let Some((to, letter)) = self.moves.poll_letter() {
            // It is repeated, or the move ends by its time.
            self.unsent += u64::from(bus.publish(&format!("{}.{to}", self.prefix), letter).is_err());
        }
    }

    /// As [`Moves::begin`].
    ///
    /// # Errors
    /// The client cannot be moved now.
    pub fn begin(&mut self, peer: PeerId, to: NodeName, player: impl Into<Bytes>) -> Result<(), MoveRefusal> {
        self.moves.begin(peer, to, player.into(), self.now())
    }

    /// As [`Moves::hand_over`].
    ///
    /// # Errors
    /// The player is not ready, or its state too long.
    pub fn hand_over(&mut self, peer: PeerId, state: impl Into<Bytes>) -> Result<(), MoveRefusal> {
        self.moves.hand_over(peer, state.into(), self.now())
    }

    /// As [`Moves::admit`], with a random token.
    ///
    /// # Errors
    /// The move was answered, or has ended; or the system has no random bytes, and the move is refused.
    pub fn admit(&mut self, origin: &MoveOrigin, address: &str) -> Result<(), MoveRefusal> {
        let mut token = [0; TOKEN_BYTES];
        if getrandom::fill(&mut token).is_err() {
            self.moves.refuse(origin, "the system has no random bytes");
            return Err(MoveRefusal::NotAsked);
        }
        self.moves.admit(origin, address, Bytes::copy_from_slice(&token))
    }

    /// As [`Moves::refuse`].
    pub fn refuse(&mut self, origin: &MoveOrigin, why: &str) {
        self.moves.refuse(origin, why);
    }

    /// As [`Moves::under_way`].
    pub fn under_way(&self) -> (usize, usize) {
        self.moves.under_way()
    }

    /// Letters that the bus did not take, and letters of others that were none.
    pub fn lost_letters(&self) -> (u64, u64) {
        (self.unsent, self.moves.invalid_letters())
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

/// A refused order concerns a connection that has ended, whose end the moves hear of.
fn obey(server: &mut Server, order: MoveOrder) {
    match order {
        MoveOrder::Accept(peer) => drop(server.accept(peer)),
        MoveOrder::Move { peer, id, destination, token } => drop(server.move_client(peer, id, &destination, &token)),
        MoveOrder::Cancel(peer, id) => drop(server.cancel_move(peer, id)),
        MoveOrder::Welcome(peer, id) => drop(server.welcome(peer, id)),
        MoveOrder::Part(peer) => drop(server.close(peer, code::NONE, "moved to another server", LAST_MESSAGES_MAX)),
        MoveOrder::Dismiss(peer) => drop(server.close(peer, code::NONE, "the move has ended", Duration::ZERO)),
    }
    // Whatever the merging: the client's move waits for it.
    let _ = server.flush();
}

const TOKEN_BYTES: usize = 24;
/// How long a client that moves on has to receive what was sent to it before.
const LAST_MESSAGES_MAX: Duration = Duration::from_secs(5);
