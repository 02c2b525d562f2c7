//! Deadlines of any distance.

use std::time::{Duration, Instant};

/// The time after this long; a year, where it is longer.
pub(super) fn after(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(DISTANT)
}

const DISTANT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_without_end_is_one() {
        assert!(after(Duration::MAX) > Instant::now() + Duration::from_secs(1_000_000));
    }
}
