//! Deadlines of the application's calls, which may wait for any span.

use std::time::{Duration, Instant};

/// The time a span after now; a span beyond what the system's clock can hold ends in a year.
pub(crate) fn deadline_in(span: Duration) -> Instant {
    deadline_from(Instant::now(), span)
}

/// The time a span after `start`, as [`deadline_in`].
pub(crate) fn deadline_from(start: Instant, span: Duration) -> Instant {
    start.checked_add(span).unwrap_or_else(|| start + FAR)
}

const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
