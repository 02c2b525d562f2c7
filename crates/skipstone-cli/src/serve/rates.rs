//! The counters from which rates are computed.

use skipstone::Stats;
use std::time::Instant;

/// Counters at one session's last `stats`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(super) at: Instant,
    pub(super) stats: Stats,
    pub(super) lines: u64,
    pub(super) ticks: u64,
}
