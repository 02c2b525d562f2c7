//! How a run stands, for another thread that shows it.

use super::tally::Tally;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

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
    /// What each worker has found so far, if anybody wants to know.
    tallies: Option<Mutex<HashMap<ThreadId, Tally>>>,
}

impl Progress {
    /// One to which workers tell each second what they have found.
    pub(crate) fn published() -> Self {
        Progress { tallies: Some(Mutex::default()), ..Progress::default() }
    }

    /// Whether workers tell what they have found.
    pub(super) fn is_published(&self) -> bool {
        self.tallies.is_some()
    }

    /// What this thread's worker has found so far.
    pub(super) fn publish(&self, tally: Tally) {
        if let Some(tallies) = &self.tallies {
            tallies.lock().unwrap_or_else(PoisonError::into_inner).insert(std::thread::current().id(), tally);
        }
    }

    /// What all workers have found, a second ago or less.
    pub(crate) fn published_tally(&self) -> Tally {
        let mut whole = Tally::default();
        if let Some(tallies) = &self.tallies {
            let tallies = tallies.lock().unwrap_or_else(PoisonError::into_inner);
            tallies.values().for_each(|tally| whole.merge(tally.clone()));
        }
        whole
    }

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
