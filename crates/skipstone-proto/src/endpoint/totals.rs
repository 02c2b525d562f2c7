//! What an endpoint counts besides what its connections count themselves.

use crate::connection::stats::Stats;

/// Counters of the endpoint as a whole.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Of connections that are gone, and of datagrams that belong to none.
    pub(super) past: Stats,
    pub(super) work: Work,
}

/// How often connections were touched: what an idle one must not cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Timers that expired, whether or not anything was due.
    pub entries: u64,
    /// Connections that had something to do in [`Endpoint::handle_timeout`](crate::Endpoint::handle_timeout).
    pub timeouts: u64,
    /// Connections that [`Endpoint::poll_transmit`](crate::Endpoint::poll_transmit) asked for something to send.
    pub transmits: u64,
    /// Timers that wait now.
    pub timers: usize,
}
