//! What protocols have in common: the phase, the events that wait, and exactly one end.

use crate::protocol::{Cause, Ending, Event, SocketEnd};
use std::collections::VecDeque;

/// The phase of a connection, and its events.
#[derive(Debug, Default)]
pub(super) struct ConnectionState {
    phase: Phase,
    events: VecDeque<Event>,
}

/// The phases; a connection never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// The socket is not ready.
    #[default]
    New,
    /// The handshake runs.
    Connecting,
    /// Messages may be sent.
    Open,
    /// The last event was given.
    Closed,
}

impl ConnectionState {
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Whether it was neither open nor closed.
    pub(super) fn is_connecting(&self) -> bool {
        self.phase < Phase::Open
    }

    pub(super) fn connecting(&mut self) {
        self.phase = self.phase.max(Phase::Connecting);
    }

    /// The handshake is complete.
    pub(super) fn connected(&mut self) {
        if self.phase < Phase::Open {
            self.phase = Phase::Open;
            self.events.push_back(Event::Connected);
        }
    }

    /// A message arrived.
    pub(super) fn message(&mut self, channel: u16, data: impl Into<bytes::Bytes>) {
        if self.is_open() {
            self.events.push_back(Event::Message { channel, data: data.into() });
        }
    }

    /// The connection is over; only the first end counts.
    pub(super) fn end(&mut self, cause: Cause, text: impl Into<String>) {
        if self.phase != Phase::Closed {
            self.phase = Phase::Closed;
            self.events.push_back(Event::Closed(Ending::new(cause, text)));
        }
    }

    /// The end of the socket is the end of the connection.
    pub(super) fn socket_ended(&mut self, end: SocketEnd) {
        match end {
            SocketEnd::Finished => self.end(Cause::ByServer, "the server ended the stream"),
            SocketEnd::PortClosed => self.end(Cause::Unreachable, "nobody listens on the server's port"),
            SocketEnd::TimedOut => self.end(Cause::TimedOut, "the server did not answer in time"),
            SocketEnd::Failed(why) => self.end(Cause::Unreachable, why),
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_ends_once_and_says_nothing_after() {
        let mut state = ConnectionState::default();
        state.connecting();
        state.message(0, vec![1]);
        state.connected();
        state.connected();
        state.message(0, vec![2]);
        state.end(Cause::Closed, "bye");
        state.socket_ended(SocketEnd::Finished);
        state.message(0, vec![3]);
        let names: Vec<String> = std::iter::from_fn(|| state.poll_event()).map(|event| format!("{event:?}")).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names[0] == "Connected" && names[1].starts_with("Message") && names[2].starts_with("Closed"));
    }
}
