//! Timers of the connection itself, and of the merging of messages.

use crate::time::{Duration, Time};

/// Timers that belong to the connection itself. The timers of a mechanism are kept with the mechanism.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) struct Timers {
    pub(in crate::connection) last_received: Time,
    pub(super) last_ping: Time,
    /// Time at which the handshake ends if it is not complete.
    pub(super) handshake_due: Time,
    /// The latest value of `handshake_due`.
    handshake_end: Time,
    /// Timer of the messages that wait to be merged.
    pub(in crate::connection) merge: MergeTimer,
    /// The time at which incomplete unreliable messages are dropped.
    pub(in crate::connection) expire_due: Time,
    /// The server may not know this connection any more: if no authentic packet arrives until this time, the connection
    /// ends.
    pub(in crate::connection) gone_due: Time,
    /// Server: the client's token was handed to the application.
    pub(in crate::connection) is_requested: bool,
    /// The peer has confirmed that the connection is established.
    pub(in crate::connection) is_confirmed: bool,
}

/// Longest silence of a client during a handshake. Flights are repeated three times in that time.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// How long the fragments of an unreliable message may take, at least; at most twice as long.
pub(in crate::connection) const INCOMPLETE_MAX: Duration = Duration::from_secs(2);

/// Timer of messages that wait to be merged. The timer restarts with each message before which none waited.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) struct MergeTimer {
    /// Time at which the messages leave; in the past if only the peer or the path holds them back.
    due: Time,
    /// Payload bytes that came together.
    bytes: usize,
    /// The messages were due when packets were last written. Those that are left wait for acknowledgements, not for
    /// time.
    is_tried: bool,
}

impl Default for MergeTimer {
    fn default() -> Self {
        MergeTimer { due: Time::NEVER, bytes: 0, is_tried: false }
    }
}

impl MergeTimer {
    /// Adds messages, which wait for `span` at most, or until there are `full` bytes. True if they may leave now.
    pub(in crate::connection) fn on_messages(&mut self, now: Time, span: Duration, bytes: usize, full: usize) -> bool {
        self.bytes += bytes;
        self.due = if self.bytes >= full { now } else { self.due.min(now + span) };
        self.is_over(now)
    }

    /// Ends the wait of all messages.
    pub(in crate::connection) fn end(&mut self, now: Time) {
        self.due = self.due.min(now);
    }

    pub(in crate::connection) fn is_over(&self, now: Time) -> bool {
        self.due <= now
    }

    /// Notes that packets are written now.
    pub(in crate::connection) fn on_write(&mut self, now: Time) {
        self.is_tried |= self.is_over(now);
    }

    /// Time at which the wait ends if only the timer ends it.
    pub(super) fn wakes_at(&self) -> Time {
        if self.is_tried { Time::NEVER } else { self.due }
    }
}

impl Timers {
    pub(in crate::connection) fn new(now: Time, handshake_due: Time) -> Self {
        Timers {
            last_received: now,
            last_ping: Time::ZERO,
            handshake_due,
            handshake_end: handshake_due,
            merge: MergeTimer::default(),
            expire_due: Time::NEVER,
            gone_due: Time::NEVER,
            is_requested: false,
            is_confirmed: false,
        }
    }

    /// Moves the deadline of a server's encrypted handshake: a client that left silently, because it rejects the
    /// certificate, has less time than one that answers.
    pub(in crate::connection) fn expect_answer(&mut self, now: Time) {
        self.handshake_due = self.handshake_end.min(now + ANSWER_MAX);
    }

    /// The keys are available: the application has the rest of the handshake timeout to decide.
    pub(in crate::connection) fn expect_request(&mut self) {
        self.handshake_due = self.handshake_end;
    }
}
