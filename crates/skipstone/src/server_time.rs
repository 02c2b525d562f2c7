//! The server's clock, as its clients estimate it.

use skipstone_proto::{Duration, Time};

/// A driver's clock when it begins, in µs. Not zero, so that times before the beginning can be expressed.
pub(crate) const CLOCK_FIRST: u64 = 1_000_000;

/// An estimate of the server's clock, with its error.
///
/// The estimate advances with the client's own clock. When an answer of the server corrects it, it may step back by at
/// most the sum of both errors; a game that cannot accept this keeps the greatest value: `last = last.max(time.at)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerTime {
    /// How long the server has been running: the current value of its [`Server::time`](crate::Server::time).
    pub at: Duration,
    /// Maximum difference between the server's clock and `at`, in both directions: half of the best round-trip time,
    /// however unequal the two one-way delays are, and 200 millionths of the time since then, for clock drift.
    pub error: Duration,
}

impl ServerTime {
    pub(crate) fn new(estimate: skipstone_proto::ServerTime) -> Self {
        ServerTime { at: estimate.at.since(Time::from_micros(CLOCK_FIRST)), error: estimate.error }
    }
}
