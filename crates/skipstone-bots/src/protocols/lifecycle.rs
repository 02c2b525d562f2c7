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

/// Where a client is.
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

    /// The handshake is complete.
    pub(super) fn open(&mut self) {
        if self.phase == Phase::Connecting {
            self.phase = Phase::Open;
            self.events.push_back(Event::Connected);
        }
    }

    /// A message arrived.
    pub(super) fn message(&mut self, channel: u16, data: Bytes) {
        if self.phase == Phase::Open {
            self.events.push_back(Event::Message { channel, data });
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
        let text = match end {
            SocketEnd::TimedOut => return self.end(Cause::TimedOut, "the server did not answer in time"),
            SocketEnd::Finished => "the socket ended".into(),
            SocketEnd::PortClosed => "nobody listens on the server's port".into(),
            SocketEnd::Failed(why) => why,
        };
        self.end(Cause::Unreachable, text);
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
