//! Counters of an endpoint, in addition to its connections' counters.

use crate::connection::stats::Stats;

/// Counters of the endpoint as a whole.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Counters of connections that have ended, and of datagrams that belong to none.
    pub(super) past: Stats,
    pub(super) work: Work,
}

/// Number of times that connections were processed. An idle connection must not add to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// Timers that expired, whether or not anything was due.
    pub entries: u64,
    /// Connections that had work in [`Endpoint::handle_timeout`](crate::Endpoint::handle_timeout).
    pub timeouts: u64,
    /// Connections that [`Endpoint::poll_transmit`](crate::Endpoint::poll_transmit) asked for something to send.
    pub transmits: u64,
    /// Timers that wait now.
    pub timers: usize,
    /// Connection ids that are in use now: up to two for each connection.
    pub ids: usize,
}
