//! A client on its way to another server: both connections. [`Crossing`] decides, and keeps what waits for the one or
//! the other; WIRE.md section 8.2. The page opens the carrier.

use crate::connections::{Connections, Link, Opened};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use bytes::Bytes;
use skipstone_proto::{
    Crossing, Duration, Event, GivenUp, MessageId, MoveAction, MoveMessage, Route, Settings, Submission, Time,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// The moves of a client whose server can move it.
#[derive(Debug)]
pub(crate) struct Moving {
    crossing: Crossing,
    here: Link,
    there: Option<Link>,
    /// Of a connection for which the page opens a carrier.
    token: Option<Vec<u8>>,
    /// What can be polled.
    ready: VecDeque<Outcome>,
}

impl Moving {
    /// The moves of a connection that was just established. The server hears that this client can be moved.
    pub(crate) fn begin(connections: &mut Connections, here: Link, settings: &Arc<Settings>) -> Option<Moving> {
        let crossing = Crossing::new(settings, WAITING_BYTES_MAX)?;
        let moving = Moving { crossing, here, there: None, token: None, ready: VecDeque::new() };
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
            Err(_) => self.crossing.stay(),
        }
        begun.map(|link| link.socket)
    }

    /// The page cannot open one.
    pub(crate) fn fail(&mut self) {
        if self.token.take().is_some() {
            self.crossing.stay();
        }
    }

    /// The application ends the client: one that has not chosen yet stays, so that what it held back is sent here. The
    /// other connection is to be ended too if it has chosen.
    pub(crate) fn stop(&mut self, connections: &mut Connections) -> Option<Link> {
        self.crossing.stay();
        self.advance(connections);
        self.there
    }

    /// An event of the present server, as far as it is the application's.
    pub(crate) fn on_event(&mut self, event: Event, now: Time) -> Option<Event> {
        self.crossing.on_event_here(event, now)
    }

    /// Follows both connections.
    pub(crate) fn advance(&mut self, connections: &mut Connections) {
        self.crossing.on_time(connections.now);
        self.hear_there(connections);
        loop {
            // What comes of an action is behind what came before.
            self.take_events();
            let Some(action) = self.crossing.poll_action() else { break };
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
                    }
                }
            }
        }
    }

    /// What happened next, beside the events of the present connection.
    pub(crate) fn poll_outcome(&mut self) -> Option<Outcome> {
        self.ready.pop_front()
    }

    /// When [`Moving::advance`] is due.
    pub(crate) fn poll_timeout(&self) -> Time {
        self.crossing.poll_timeout()
    }

    /// The connection that a message belongs to now; if it waits for the decision, it is kept here.
    pub(crate) fn route(&mut self, channel: u16, message: Submission) -> Result<Option<(Link, Submission)>, Refusal> {
        match self.crossing.route(channel) {
            Route::Refused => Err(Refusal::NoSuchChannel),
            Route::Held => self.crossing.hold(channel, message).map(|()| None).map_err(|_| Refusal::QueueFull),
            Route::There => Ok(Some((self.there.unwrap_or(self.here), message))),
            Route::Here => Ok(Some((self.here, message))),
        }
    }

    /// The number and bytes of the messages of a channel that wait for the decision.
    pub(crate) fn held(&self, channel: u16) -> (u64, u64) {
        self.crossing.held(channel)
    }

    /// A message that was accepted will not be sent.
    pub(crate) fn give_up(&mut self, id: MessageId, channel: u16, why: GivenUp) {
        self.crossing.give_up(self.here.peer, id, channel, why);
    }

    fn release(&mut self, connections: &mut Connections, to: Link) {
        for (channel, message) in self.crossing.take_held() {
            connections.submit_accepted(to, channel, message);
        }
    }

    /// Takes the other server's events, as far as there is room for what must wait, once the page has polled those
    /// before.
    fn hear_there(&mut self, connections: &mut Connections) {
        while self.ready.is_empty()
            && self.crossing.has_room()
            && let Some(there) = self.there
            && let Some((link, event)) = connections.poll_event_beside(there)
        {
            // Another one ends.
            if link == there {
                self.crossing.on_event_there(event, connections.now);
            }
        }
    }

    /// Makes outcomes of the events that the application may have.
    fn take_events(&mut self) {
        while let Some(event) = self.crossing.poll_event() {
            self.ready.extend(Outcome::of(event, self.here.socket));
        }
    }

    fn push_outcome(&mut self, kind: u32, number: u32, bytes: Bytes) {
        let numbers = [f64::from(number), 0.0, 0.0];
        self.ready.push_back(Outcome { kind, socket: self.here.socket, numbers, bytes });
    }

    /// Sends a message on the channel of moves, whatever the merging. The application's receipts have other ids, and
    /// those of this channel do not reach it.
    fn tell(&self, connections: &mut Connections, link: Link, message: Vec<u8>) {
        let message = Submission { payload: message.into(), id: MessageId(0), age: Duration::ZERO };
        connections.submit_accepted(link, self.crossing.channel(), message);
        connections.flush();
    }
}

/// Bytes of messages that are held back, and of events that wait: as much as a page's queue by default.
const WAITING_BYTES_MAX: u64 = 16 << 20;
