//! How a run stands, for another thread that shows it.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that all workers add to.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Bots that began.
    pub(crate) started: AtomicU64,
    /// Bots that are connected now.
    connected: AtomicU64,
    connected_most: AtomicU64,
    /// Messages sent.
    pub(crate) sent: AtomicU64,
    /// Messages received.
    pub(crate) received: AtomicU64,
    /// Bots that ended by an error.
    pub(crate) faulted: AtomicU64,
}

impl Progress {
    /// Bots that are connected, and the most that were at once.
    pub(crate) fn connected(&self) -> (u64, u64) {
        (self.connected.load(Ordering::Relaxed), self.connected_most.load(Ordering::Relaxed))
    }

    pub(super) fn on_connected(&self) {
        let now = self.connected.fetch_add(1, Ordering::Relaxed) + 1;
        self.connected_most.fetch_max(now, Ordering::Relaxed);
    }

    pub(super) fn on_closed(&self) {
        self.connected.fetch_sub(1, Ordering::Relaxed);
    }
}
