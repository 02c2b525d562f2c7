//! A client on its way to another server: both connections, and what waits for the one or the other.
//! [`ClientMoves`] decides; WIRE.md section 8.2.

use crate::handle::{Handle, Wake};
use crate::send_error::{SendError, SendRefusal};
use crate::url::Target;
use bytes::Bytes;
use skipstone_proto::{
    ClientMoves, Duration, Event, GivenUp, MoveAction, MoveMessage, PeerId, Settings, Submission, Time, code,
};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The moves of a client whose server can move it.
#[derive(Debug)]
pub(crate) struct Moving {
    moves: ClientMoves,
    began: Instant,
    channel: u16,
    settings: Arc<Settings>,
    pub(crate) there: Option<Connecting>,
    /// Reliable messages that wait for the decision, by channel.
    held: VecDeque<(u16, Submission)>,
    held_bytes: u64,
    held_bytes_max: u64,
    /// A connection that was not chosen, until its server knows that.
    parting: Option<Connecting>,
    parting_until: Time,
    /// Events that can be delivered: of this side, and the other server's unreliable messages; once a move has ended,
    /// all that waited for that.
    ready: VecDeque<Event>,
    /// Events of the other server that wait for the end of this one.
    late: VecDeque<Event>,
    /// Of both, estimated.
    waiting_bytes: u64,
}

/// A connection to another server, which begins or stands.
#[derive(Debug)]
pub(crate) struct Connecting {
    pub(crate) handle: Handle,
    pub(crate) peer: PeerId,
    pub(crate) remote: Arc<OnceLock<SocketAddr>>,
    pub(crate) target: Target,
}

/// What a client is to do for its move.
pub(crate) enum MoveStep {
    /// Connect to this server, and give the connection to [`Moving::connecting`].
    Connect { destination: String, token: Vec<u8> },
    /// This is the client's connection from now on.
    Arrived(Box<Connecting>),
}

impl Moving {
    /// The moves of a connection that was just established. The server hears that this client can be moved.
    pub(crate) fn begin(here: &mut Handle, peer: PeerId, settings: &Arc<Settings>, bytes_max: u64) -> Option<Moving> {
        let channel = settings.moves_channel()?;
        let moving = Moving {
            moves: ClientMoves::default(),
            began: Instant::now(),
            channel,
            settings: Arc::clone(settings),
            there: None,
            held: VecDeque::new(),
            held_bytes: 0,
            held_bytes_max: bytes_max,
            parting: None,
            parting_until: Time::ZERO,
            ready: VecDeque::new(),
            late: VecDeque::new(),
            waiting_bytes: 0,
        };
        tell(here, peer, channel, MoveMessage::Able.encode());
        Some(moving)
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.moves.is_moving()
    }

    /// The other connection.
    pub(crate) fn there(&mut self) -> Option<&mut Connecting> {
        self.there.as_mut()
    }

    /// The connection to the other server has begun, or could not.
    pub(crate) fn connecting(&mut self, there: Option<Connecting>) {
        match there {
            Some(there) => self.there = Some(there),
            None => self.moves.on_closed_there(),
        }
    }

    /// The application ends the client. One that has not chosen yet stays, so that what it held back is sent here.
    pub(crate) fn stop(&mut self) {
        self.moves.on_closed_there();
    }

    /// The connections beside the present one.
    pub(crate) fn others(&mut self) -> impl Iterator<Item = &mut Connecting> {
        self.there.iter_mut().chain(&mut self.parting)
    }

    /// Whether there are events beside those of the present connection.
    pub(crate) fn has_events(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Drives the other connection, if the application drives its client.
    pub(crate) fn drive(&mut self) {
        for other in self.others() {
            // A failure ends the connection with an event.
            let _ = other.handle.drive(Duration::ZERO);
        }
    }

    /// An event of the present server, as far as it is the application's.
    pub(crate) fn on_event(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Message { channel, payload, .. } if channel == self.channel => {
                self.moves.on_message_here(&payload, self.now());
                None
            }
            event if event.is_receipt_on(self.channel) => None,
            Event::Settled { .. } => {
                self.moves.on_settled_here();
                None
            }
            Event::Closed { .. } if self.moves.on_closed_here(self.now()) => None,
            Event::Closed { peer, .. } => {
                self.give_up(peer);
                self.push_ready(event);
                None
            }
            event => Some(event),
        }
    }

    /// Follows both connections. To be repeated until there is nothing more to do.
    pub(crate) fn advance(&mut self, here: &mut Handle, peer: PeerId) -> Option<MoveStep> {
        self.moves.on_time(self.now());
        self.hear_there();
        self.part();
        while let Some(action) = self.moves.poll_action() {
            match action {
                MoveAction::Connect { destination, token } => return Some(MoveStep::Connect { destination, token }),
                MoveAction::Settle => here.settle(peer),
                MoveAction::SendHere(message) => tell(here, peer, self.channel, message),
                MoveAction::SendThere(message) => {
                    if let Some(there) = &mut self.there {
                        tell(&mut there.handle, there.peer, self.channel, message);
                    }
                }
                MoveAction::Switch => {
                    if let Some(mut there) = self.there.take() {
                        self.release(&mut there.handle, there.peer);
                        self.there = Some(there);
                    }
                }
                MoveAction::Stay => {
                    if let Some(mut there) = self.there.take() {
                        there.handle.close_all(code::NONE, "the client stays where it is", Duration::ZERO);
                        (self.parting, self.parting_until) = (Some(there), self.now() + PARTING_MAX);
                    }
                    self.release(here, peer);
                }
                MoveAction::Finish => {
                    let mut there = self.there.take()?;
                    self.ready.append(&mut self.late);
                    // The application's messages had ids of the former handle until now: they stay unique.
                    there.handle.continue_ids(here);
                    return Some(MoveStep::Arrived(Box::new(there)));
                }
            }
        }
        None
    }

    /// The next event that is not the present connection's: of the other server, once it may come, or of this side.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        let event = self.ready.pop_front()?;
        self.waiting_bytes -= bytes_of(&event);
        Some(event)
    }

    /// Accepts a message for the connection that it belongs to: the one of here, unless the client has chosen the
    /// other.
    pub(crate) fn send(
        &mut self,
        here: &mut Handle,
        peer: PeerId,
        channel: u16,
        message: Submission,
    ) -> Result<(), SendError> {
        if channel == self.channel {
            return Err(SendError::new(SendRefusal::NoSuchChannel { channel }, message.payload));
        }
        if self.moves.is_leaving()
            && let Some(there) = &mut self.there
        {
            return there.handle.send((there.peer, channel), message, Wake::Now);
        }
        if !self.moves.holds_reliable() || !self.is_reliable(channel) {
            return here.send((peer, channel), message, Wake::Now);
        }
        if let Err(reason) = here.admit(peer, channel, message.payload.len()) {
            return Err(SendError::new(reason, message.payload));
        }
        let bytes = HELD_BYTES + message.payload.len() as u64;
        if self.held_bytes + bytes > self.held_bytes_max {
            return Err(SendError::new(SendRefusal::QueueFull, message.payload));
        }
        self.held_bytes += bytes;
        self.held.push_back((channel, message));
        Ok(())
    }

    /// The client's connection has ended, and what was held with it: `Closed` covers it where there are no receipts.
    fn give_up(&mut self, peer: PeerId) {
        self.held_bytes = 0;
        for (channel, message) in std::mem::take(&mut self.held) {
            if !self.settings.rule(channel).is_some_and(|rule| rule.receipts) {
                continue;
            }
            self.push_ready(Event::GivenUp { peer, id: message.id, channel, why: GivenUp::Closed });
        }
    }

    fn release(&mut self, to: &mut Handle, peer: PeerId) {
        self.held_bytes = 0;
        for (channel, message) in std::mem::take(&mut self.held) {
            let id = message.id;
            if to.send((peer, channel), message, Wake::Now).is_err() {
                self.push_ready(Event::GivenUp { peer, id, channel, why: GivenUp::QueueFull });
            }
        }
    }

    fn push_ready(&mut self, event: Event) {
        self.waiting_bytes += bytes_of(&event);
        self.ready.push_back(event);
    }

    /// Forgets a connection that was not chosen once its server has answered the close.
    fn part(&mut self) {
        let Some(parting) = &mut self.parting else { return };
        let is_over =
            std::iter::from_fn(|| parting.handle.poll_event()).any(|event| matches!(event, Event::Closed { .. }));
        if is_over || self.now() >= self.parting_until {
            self.parting = None;
        }
    }

    /// Takes the other server's events, as far as there is room for what must wait.
    fn hear_there(&mut self) {
        while self.waiting_bytes < self.held_bytes_max
            && let Some(event) = self.there.as_mut().and_then(|there| there.handle.poll_event())
        {
            match event {
                Event::Connected { settings, .. } if self.can_play_by(&settings) => self.moves.on_connected_there(),
                // A server with other channels cannot take this client's messages.
                Event::Connected { .. } => self.moves.on_closed_there(),
                Event::Message { channel, payload, .. } if channel == self.channel => {
                    self.moves.on_message_there(&payload, self.now());
                }
                Event::Closed { .. } if !self.moves.is_leaving() => self.moves.on_closed_there(),
                event if event.is_receipt_on(self.channel) => {}
                Event::Message { channel, .. } if !self.is_reliable(channel) => self.push_ready(event),
                event => {
                    self.waiting_bytes += bytes_of(&event);
                    self.late.push_back(event);
                }
            }
        }
    }

    fn can_play_by(&self, there: &Settings) -> bool {
        there.channels == self.settings.channels && there.moves_channel == self.settings.moves_channel
    }

    fn is_reliable(&self, channel: u16) -> bool {
        self.settings.rule(channel).is_some_and(|rule| rule.mode.is_reliable())
    }

    fn now(&self) -> Time {
        Time::ZERO + self.began.elapsed()
    }
}

/// Sends a message on the channel of moves, whatever the merging. What cannot be sent belongs to a connection that
/// ends.
fn tell(handle: &mut Handle, peer: PeerId, channel: u16, message: Vec<u8>) {
    let id = handle.next_id();
    let message = Submission { payload: Bytes::from(message), id, age: Duration::ZERO };
    let _ = handle.send((peer, channel), message, Wake::Now);
    let _ = handle.flush();
}

fn bytes_of(event: &Event) -> u64 {
    HELD_BYTES + if let Event::Message { payload, .. } = event { payload.len() as u64 } else { 0 }
}

/// Approximate bytes of a message or event that waits, without its payload.
const HELD_BYTES: u64 = 128;
/// How long a server that was not chosen may take to answer the close.
const PARTING_MAX: Duration = Duration::from_secs(1);
