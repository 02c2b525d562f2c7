//! The server's clock as one process knows it, which has many clients of that server.

use skipstone::ServerTime;
use std::time::Duration;

/// The server's clock, and how wrong that may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerClock {
    pub(crate) at: Duration,
    pub(crate) error: Duration,
}

impl ServerClock {
    /// What these estimates, made by one clock at one moment, have in common: the truth lies within each of them
    /// (Marzullo 1984). If two contradict each other, the one with the least error counts.
    pub(crate) fn common(estimates: impl Iterator<Item = ServerTime> + Clone) -> Option<Self> {
        let best = estimates.clone().min_by_key(|estimate| estimate.error)?;
        let low = estimates.clone().map(|estimate| estimate.at.saturating_sub(estimate.error)).max()?;
        let high = estimates.map(|estimate| estimate.at + estimate.error).min()?;
        Some(match high.checked_sub(low) {
            Some(span) => ServerClock { at: low + span / 2, error: span / 2 },
            None => ServerClock { at: best.at, error: best.error },
        })
    }
}
