//! The optional record of a link's events, by datagram.

use core::{fmt, time::Duration};
use std::collections::VecDeque;

use crate::fate::Fate;

/// One line of a [`Link`](crate::Link)'s trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// When it happened: the time of sending, or of the arrival.
    pub time: Duration,
    /// The tag of the datagram that it happened to.
    pub tag: u64,
    /// The event.
    pub event: TraceEvent,
}

/// An event of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// The datagram was sent, and is in flight or lost.
    Sent(Fate),
    /// The datagram will arrive later than planned, by this long.
    HeldBack(Duration),
    /// Some bits of the datagram were flipped.
    Corrupted,
    /// A copy of it was made.
    Duplicated,
    /// The datagram, or its copy, was received.
    Arrived {
        /// When it was sent.
        sent: Duration,
    },
}

impl fmt::Display for TraceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanoseconds) = (self.time.as_secs(), self.time.subsec_nanos());
        write!(f, "{seconds}.{nanoseconds:09} s, tag {}: {}", self.tag, self.event)
    }
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent(Fate::Queued) => write!(f, "sent"),
            Self::Sent(Fate::Lost(cause)) => write!(f, "lost ({cause})"),
            Self::HeldBack(by) => write!(f, "held back by {by:?}"),
            Self::Corrupted => write!(f, "corrupted"),
            Self::Duplicated => write!(f, "duplicated"),
            Self::Arrived { sent } => write!(f, "arrived, sent at {}.{:09} s", sent.as_secs(), sent.subsec_nanos()),
        }
    }
}

/// The latest lines, up to a number of them; none at first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    lines: VecDeque<TraceLine>,
    capacity: usize,
}

impl Trace {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { lines: VecDeque::new(), capacity }
    }

    pub(crate) fn record(&mut self, time: Duration, tag: u64, event: TraceEvent) {
        if self.capacity == 0 {
            return;
        }
        if self.lines.len() == self.capacity {
            self.lines.pop_front();
        }
        self.lines.push_back(TraceLine { time, tag, event });
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &TraceLine> {
        self.lines.iter()
    }
}
