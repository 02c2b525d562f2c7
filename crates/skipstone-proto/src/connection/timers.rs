//! Deadlines of the connection itself, and how long messages wait for company.

use crate::time::{Duration, Time};

/// Deadlines that belong to the connection itself. Those of a mechanism lie with the mechanism.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub(super) last_received: Time,
    pub(super) last_ping: Time,
    /// The handshake ends with this, one way or the other.
    pub(super) handshake_due: Time,
    /// The latest that it may come to be.
    handshake_end: Time,
    /// When what was merged so far leaves.
    pub(super) merge: MergeTimer,
    /// When incomplete unreliable messages are dropped.
    pub(super) expire_due: Time,
    /// The server seems not to know this connection any more: if nothing authentic comes until then, it is over.
    pub(super) gone_due: Time,
    /// Server: the client's token was handed to the application.
    pub(super) is_requested: bool,
    /// The peer has shown that it knows the connection stands.
    pub(super) is_confirmed: bool,
}

/// How long a client may say nothing in the midst of a handshake. Flights are repeated three times in that time.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// How long an acknowledgement may be held back on a path that loses nothing: of a stream of 60 ticks a second it then
/// covers five.
pub(super) const QUIET_ACK_DELAY: Duration = Duration::from_millis(70);

/// How long the fragments of an unreliable message may take, at least; at most twice as long.
pub(super) const INCOMPLETE_MAX: Duration = Duration::from_secs(2);

/// Messages that wait for company. Begins anew with each message before which none waited.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergeTimer {
    /// When they leave; in the past if only the peer or the path holds them back.
    due: Time,
    /// Payload bytes that came together.
    bytes: usize,
    /// They were due when packets were last written. What is left waits for acknowledgements, not for time.
    is_tried: bool,
}

impl Default for MergeTimer {
    fn default() -> Self {
        MergeTimer { due: Time::NEVER, bytes: 0, is_tried: false }
    }
}

impl MergeTimer {
    /// Messages join, which wait for `span` at most, or until there are `full` bytes. True if they may leave now.
    pub(super) fn on_messages(&mut self, now: Time, span: Duration, bytes: usize, full: usize) -> bool {
        self.bytes += bytes;
        self.due = if self.bytes >= full { now } else { self.due.min(now + span) };
        self.is_over(now)
    }

    /// Everything that waits leaves.
    pub(super) fn end(&mut self, now: Time) {
        self.due = self.due.min(now);
    }

    pub(super) fn is_over(&self, now: Time) -> bool {
        self.due <= now
    }

    /// Packets are written at this moment.
    pub(super) fn on_write(&mut self, now: Time) {
        self.is_tried |= self.is_over(now);
    }

    /// When waiting ends by time alone.
    pub(super) fn wakes_at(&self) -> Time {
        if self.is_tried { Time::NEVER } else { self.due }
    }
}

impl Timers {
    pub(super) fn new(now: Time, handshake_due: Time) -> Self {
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

    /// The deadline of a server's encrypted handshake moves: a client that went away without a word, because it does not
    /// like the certificate, is not waited for as long as one that answers.
    pub(super) fn expect_answer(&mut self, now: Time) {
        self.handshake_due = self.handshake_end.min(now + ANSWER_MAX);
    }

    /// Keys stand: the application decides, in its time.
    pub(super) fn expect_request(&mut self) {
        self.handshake_due = self.handshake_end;
    }
}
