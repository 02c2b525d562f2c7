//! The task of a stage, and its watcher.

use crate::progress::Watcher;
use indicatif::ProgressBar;
use std::time::Duration;

/// The task of a stage.
pub(super) struct Task {
    pub(super) seed: u64,
    pub(super) records: i64,
    /// The duration of one measurement.
    pub(super) duration: Duration,
}

/// The watcher and the progress bar.
pub(super) struct Show<'a> {
    pub(super) watcher: Watcher<'a>,
    pub(super) bar: ProgressBar,
}
