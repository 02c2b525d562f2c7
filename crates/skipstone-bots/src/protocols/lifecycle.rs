//! The events of a client in their order: `Connected` at most once, messages, `Closed` once and last.

use crate::protocol::{Cause, Ending, Event, SocketEnd};
use bytes::Bytes;
use std::collections::VecDeque;

/// Where a client is, and events that its caller has not taken.
#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    phase: Phase,
    events: VecDeque<Event>,
}

/// Where a client is; it never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// No socket yet.
    #[default]
    New,
    /// The handshake goes on.
    Connecting,
    /// Messages may be sent.
    Open,
    /// Ended.
    Closed,
}

impl Lifecycle {
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Whether it is not open yet, and has not ended.
    pub(super) fn is_connecting(&self) -> bool {
        matches!(self.phase, Phase::New | Phase::Connecting)
    }

    /// Whether the connection is being made, or is there.
    pub(super) fn is_alive(&self) -> bool {
        matches!(self.phase, Phase::Connecting | Phase::Open)
    }

    /// The handshake begins. Returns false if it has begun before.
    pub(super) fn begin(&mut self) -> bool {
        let is_new = self.phase == Phase::New;
        if is_new {
            self.phase = Phase::Connecting;
        }
        is_new
    }

    /// The handshake is complete; a protocol without one has begun now.
    pub(super) fn open(&mut self) {
        if self.is_connecting() {
            self.phase = Phase::Open;
            self.events.push_back(Event::Connected);
        }
    }

    /// A message arrived.
    pub(super) fn message(&mut self, channel: u16, data: impl Into<Bytes>) {
        if self.is_open() {
            self.events.push_back(Event::Message { channel, data: data.into() });
        }
    }

    /// The connection ends, unless it has.
    pub(super) fn end(&mut self, cause: Cause, text: impl Into<String>) {
        if self.phase != Phase::Closed {
            self.phase = Phase::Closed;
            self.events.push_back(Event::Closed(Ending::new(cause, text)));
        }
    }

    /// The socket ended, or the server's machine refuses the port.
    pub(super) fn end_with_socket(&mut self, end: SocketEnd) {
        match end {
            SocketEnd::Finished => self.end(Cause::ByServer, "the server ended the stream"),
            SocketEnd::PortClosed => self.end(Cause::Unreachable, "no program listens on the server's port"),
            SocketEnd::TimedOut => self.end(Cause::TimedOut, "the server did not answer in time"),
            SocketEnd::Failed(why) => self.end(Cause::Unreachable, why),
        }
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_opens_once_and_its_end_is_the_last_event() {
        let mut lifecycle = Lifecycle::default();
        lifecycle.message(0, "early");
        assert!(lifecycle.begin() && !lifecycle.begin());
        lifecycle.open();
        lifecycle.open();
        lifecycle.message(1, "data");
        lifecycle.end(Cause::Closed, "first");
        lifecycle.end_with_socket(SocketEnd::Finished);
        lifecycle.message(0, "late");
        lifecycle.open();
        let events: Vec<Event> = core::iter::from_fn(|| lifecycle.pop()).collect();
        let message = Event::Message { channel: 1, data: "data".into() };
        assert_eq!(events, [Event::Connected, message, Event::Closed(Ending::new(Cause::Closed, "first"))]);
    }
}
