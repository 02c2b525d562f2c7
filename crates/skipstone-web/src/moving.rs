//! A client on its way to another server: both connections, and what waits for the one or the other.
//! [`ClientMoves`] decides; WIRE.md section 8.2. The page opens the carrier.

use crate::connections::{Connections, Link, Opened};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use bytes::Bytes;
use skipstone_proto::{
    ClientMoves, Duration, Event, GivenUp, MessageId, MoveAction, MoveMessage, Settings, Submission, Time,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// The moves of a client whose server can move it.
#[derive(Debug)]
pub(crate) struct Moving {
    moves: ClientMoves,
    settings: Arc<Settings>,
    channel: u16,
    here: Link,
    there: Option<Link>,
    /// Of a connection for which the page opens a carrier.
    token: Option<Vec<u8>>,
    /// Reliable messages that wait for the decision, by channel.
    held: VecDeque<(u16, Submission)>,
    held_bytes: usize,
    /// What can be polled: of this side, and the other server's unreliable messages.
    ready: VecDeque<Outcome>,
    /// What the other server sends and waits for the end of this one.
    late: VecDeque<Outcome>,
    /// Of both, estimated.
    waiting_bytes: usize,
}

impl Moving {
    /// The moves of a connection that was just established. The server hears that this client can be moved.
    pub(crate) fn begin(connections: &mut Connections, here: Link, settings: &Arc<Settings>) -> Option<Moving> {
        let channel = settings.moves_channel()?;
        let moving = Moving {
            moves: ClientMoves::default(),
            settings: Arc::clone(settings),
            channel,
            here,
            there: None,
            token: None,
            held: VecDeque::new(),
            held_bytes: 0,
            ready: VecDeque::new(),
            late: VecDeque::new(),
            waiting_bytes: 0,
        };
        moving.tell(connections, here, MoveMessage::Able.encode());
        Some(moving)
    }

    /// The present server's connection.
    pub(crate) fn here(&self) -> Link {
        self.here
    }

    /// The other server's.
    pub(crate) fn there(&self) -> Option<Link> {
        self.there
    }

    /// The page has opened a carrier to the other server.
    pub(crate) fn connect_there(&mut self, connections: &mut Connections, opened: Opened) -> Result<u32, Refusal> {
        let token = self.token.take().ok_or(Refusal::NotMoving)?;
        let begun = connections.begin(opened, &token, Some(self.here));
        match begun {
            Ok(link) => self.there = Some(link),
            Err(_) => self.moves.on_closed_there(),
        }
        begun.map(|link| link.socket)
    }

    /// The page cannot open one.
    pub(crate) fn fail(&mut self) {
        if self.token.take().is_some() {
            self.moves.on_closed_there();
        }
    }

    /// The application ends the client: one that has not chosen yet stays, so that what it held back is sent here. The
    /// other connection is to be ended too if it has chosen.
    pub(crate) fn stop(&mut self, connections: &mut Connections) -> Option<Link> {
        self.moves.on_closed_there();
        self.advance(connections);
        self.there
    }

    /// An event of the present server, as far as it is the application's.
    pub(crate) fn on_event(&mut self, event: Event, now: Time) -> Option<Event> {
        match event {
            Event::Message { channel, payload, .. } if channel == self.channel => {
                self.moves.on_message_here(&payload, now);
                None
            }
            event if event.is_receipt_on(self.channel) => None,
            Event::Settled { .. } => {
                self.moves.on_settled_here();
                None
            }
            Event::Closed { .. } if self.moves.on_closed_here(now) => None,
            Event::Closed { .. } => {
                self.give_up_held();
                self.push_ready(event, self.here);
                None
            }
            event => Some(event),
        }
    }

    /// Follows both connections.
    pub(crate) fn advance(&mut self, connections: &mut Connections) {
        self.moves.on_time(connections.now);
        self.hear_there(connections);
        while let Some(action) = self.moves.poll_action() {
            match action {
                MoveAction::Connect { destination, token } => {
                    self.token = Some(token);
                    self.push_outcome(Outcome::OPEN, 0, destination.into());
                }
                MoveAction::Settle => {
                    let now = connections.now;
                    connections.endpoint(self.here).settle(now, self.here.peer);
                }
                MoveAction::SendHere(message) => self.tell(connections, self.here, message),
                MoveAction::SendThere(message) => {
                    if let Some(there) = self.there {
                        self.tell(connections, there, message);
                    }
                }
                MoveAction::Switch => self.release(connections, self.there.unwrap_or(self.here)),
                MoveAction::Stay => {
                    self.token = None;
                    if let Some(there) = self.there.take() {
                        connections.part(there, "the client stays where it is");
                    }
                    self.release(connections, self.here);
                }
                MoveAction::Finish => {
                    if let Some(there) = self.there.take() {
                        // It may not have ended in time.
                        connections.part(self.here, "the client has moved");
                        self.push_outcome(Outcome::MOVED, there.socket, Bytes::new());
                        self.here = there;
                        self.ready.append(&mut self.late);
                    }
                }
            }
        }
    }

    /// What happened next, beside the events of the present connection.
    pub(crate) fn poll_outcome(&mut self) -> Option<Outcome> {
        let outcome = self.ready.pop_front()?;
        self.waiting_bytes -= bytes_of(&outcome);
        Some(outcome)
    }

    /// When [`Moving::advance`] is due.
    pub(crate) fn poll_timeout(&self) -> Time {
        self.moves.poll_timeout()
    }

    /// The connection that a message belongs to now; if it waits for the decision, it is kept here.
    pub(crate) fn route(&mut self, channel: u16, message: Submission) -> Result<Option<(Link, Submission)>, Refusal> {
        if channel == self.channel {
            return Err(Refusal::NoSuchChannel);
        }
        if self.moves.is_leaving()
            && let Some(there) = self.there
        {
            return Ok(Some((there, message)));
        }
        if !self.moves.holds_reliable() || !self.is_reliable(channel) {
            return Ok(Some((self.here, message)));
        }
        let bytes = WAITING_BYTES + message.payload.len();
        if self.held_bytes + bytes > HELD_BYTES_MAX {
            return Err(Refusal::QueueFull);
        }
        self.held_bytes += bytes;
        self.held.push_back((channel, message));
        Ok(None)
    }

    /// The number and bytes of the messages of a channel that wait for the decision.
    pub(crate) fn held(&self, channel: u16) -> (u64, u64) {
        let held = self.held.iter().filter(|(one, _)| *one == channel);
        held.fold((0, 0), |(count, bytes), (_, message)| (count + 1, bytes + message.payload.len() as u64))
    }

    /// A message that was accepted will not be sent.
    pub(crate) fn give_up(&mut self, id: MessageId, channel: u16, why: GivenUp) {
        self.push_ready(Event::GivenUp { peer: self.here.peer, id, channel, why }, self.here);
    }

    /// The client's connection has ended, and what was held with it: `Closed` covers it where there are no receipts.
    fn give_up_held(&mut self) {
        self.held_bytes = 0;
        for (channel, message) in std::mem::take(&mut self.held) {
            if self.settings.rule(channel).is_some_and(|rule| rule.receipts) {
                self.give_up(message.id, channel, GivenUp::Closed);
            }
        }
    }

    fn release(&mut self, connections: &mut Connections, to: Link) {
        self.held_bytes = 0;
        for (channel, message) in std::mem::take(&mut self.held) {
            connections.submit_accepted(to, channel, message);
        }
    }

    /// Takes the other server's events, as far as there is room for what must wait.
    fn hear_there(&mut self, connections: &mut Connections) {
        while self.waiting_bytes < HELD_BYTES_MAX
            && let Some(there) = self.there
            && let Some((link, event)) = connections.poll_event_beside(there)
        {
            match event {
                // Another one that ends.
                _ if link != there => {}
                Event::Connected { settings, .. } if self.can_play_by(&settings) => self.moves.on_connected_there(),
                // A server with other channels cannot take this client's messages.
                Event::Connected { .. } => self.moves.on_closed_there(),
                Event::Message { channel, payload, .. } if channel == self.channel => {
                    self.moves.on_message_there(&payload, connections.now);
                }
                Event::Closed { .. } if !self.moves.is_leaving() => self.moves.on_closed_there(),
                event if event.is_receipt_on(self.channel) => {}
                Event::Message { channel, .. } if !self.is_reliable(channel) => self.push_ready(event, self.here),
                event => {
                    if let Some(outcome) = Outcome::of(event, there.socket) {
                        self.waiting_bytes += bytes_of(&outcome);
                        self.late.push_back(outcome);
                    }
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

    fn push_ready(&mut self, event: Event, link: Link) {
        if let Some(outcome) = Outcome::of(event, link.socket) {
            self.waiting_bytes += bytes_of(&outcome);
            self.ready.push_back(outcome);
        }
    }

    fn push_outcome(&mut self, kind: u32, number: u32, bytes: Bytes) {
        let outcome = Outcome { kind, socket: self.here.socket, numbers: [f64::from(number), 0.0, 0.0], bytes };
        self.waiting_bytes += bytes_of(&outcome);
        self.ready.push_back(outcome);
    }

    /// Sends a message on the channel of moves, whatever the merging. The application's receipts have other ids, and
    /// those of this channel do not reach it.
    fn tell(&self, connections: &mut Connections, link: Link, message: Vec<u8>) {
        let message = Submission { payload: message.into(), id: MessageId(0), age: Duration::ZERO };
        connections.submit_accepted(link, self.channel, message);
        connections.flush();
    }
}

fn bytes_of(outcome: &Outcome) -> usize {
    WAITING_BYTES + outcome.bytes.len()
}

/// Maximum bytes of messages that are held back, and of outcomes that wait: as much as a page's queue by default.
const HELD_BYTES_MAX: usize = 16 << 20;
/// Approximate bytes of a message or an outcome that waits, without its payload.
const WAITING_BYTES: usize = 128;
