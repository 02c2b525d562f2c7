//! The loss rate below which acknowledgements are held back.
//!
//! Holding them back assumes that nothing is lost: if a packet is lost, some ticks are late unnecessarily. After `n`
//! packets without a loss, the loss rate is below about `3 / n` (with 95% confidence: the "rule of three").
//! Acknowledgements are held back while that rate, times the ticks that would be late, stays below the promised
//! percentile.

/// Ticks of 60 in a second that are late when a loss is reported 70 ms later.
const TICKS_LATE: u64 = 4;
/// Updates in a thousand that may be late: the 99.8th percentile.
const LATE_PER_THOUSAND: u64 = 2;

/// Packets without a loss, after the first one, until acknowledgements are held back again. A path that never lost
/// anything is trusted sooner: most never do.
pub(super) const CLEAN_PACKETS: u64 = 3 * TICKS_LATE * 1_000 / LATE_PER_THOUSAND;
