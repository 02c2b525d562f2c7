//! What a stage is to do, and who watches.

use crate::progress::Watcher;
use indicatif::ProgressBar;
use std::time::Duration;

/// What a stage is to do.
pub(super) struct Task {
    pub(super) seed: u64,
    pub(super) records: i64,
    /// Of one measurement.
    pub(super) duration: Duration,
}

/// Who watches, and the bar.
pub(super) struct Show<'a> {
    pub(super) watcher: Watcher<'a>,
    pub(super) bar: ProgressBar,
}
