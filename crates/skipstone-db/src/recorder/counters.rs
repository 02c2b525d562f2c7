//! The numbers of queued, written and dropped records: updated by the writer, readable from any thread.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until, timeout};

/// The counters of a recorder. They only grow, except the counts of waiting notes.
#[derive(Debug)]
pub(super) struct Counters {
    queue_bytes_max: u64,
    queued_bytes: AtomicU64,
    queued: AtomicU64,
    written: AtomicU64,
    batches: AtomicU64,
    dropped: AtomicU64,
    retries: AtomicU64,
    is_connected: AtomicBool,
    /// Locked for a moment, by the writer when a batch fails.
    last_failure: Mutex<Option<String>>,
    /// When everything must have ended; `None` as long as the server runs.
    close_by: watch::Sender<Option<Instant>>,
}

/// The fate of a server's notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecorderStats {
    /// Notes that wait, and notes of the batch that is being written.
    pub queued: u64,
    /// Their size.
    pub queued_bytes: u64,
    /// Notes whose batch was committed.
    pub written: u64,
    /// Batches that were committed.
    pub batches: u64,
    /// Notes that were dropped: the queue was full, or the server ended first.
    pub dropped: u64,
    /// Times that a batch was tried again.
    pub retries: u64,
    /// Whether the last batch went well.
    pub is_connected: bool,
    /// Why the last batch that failed did so.
    pub last_failure: Option<String>,
}

impl Counters {
    pub(super) fn new(queue_bytes_max: u64) -> Counters {
        Counters {
            queue_bytes_max,
            queued_bytes: AtomicU64::new(0),
            queued: AtomicU64::new(0),
            written: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            is_connected: AtomicBool::new(true),
            last_failure: Mutex::default(),
            close_by: watch::Sender::new(None),
        }
    }

    /// Takes room for a note; without room it counts the note as dropped.
    pub(super) fn reserve(&self, bytes: u64) -> bool {
        let taken = self.queued_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if taken > self.queue_bytes_max {
            self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        self.queued.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Notes left the queue for the database.
    pub(super) fn written(&self, notes: u64, bytes: u64) {
        self.written.fetch_add(notes, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.is_connected.store(true, Ordering::Relaxed);
        self.release(notes, bytes);
    }

    /// Notes that had room left the queue for nowhere.
    pub(super) fn dropped(&self, notes: u64, bytes: u64) {
        self.dropped.fetch_add(notes, Ordering::Relaxed);
        self.release(notes, bytes);
    }

    fn release(&self, notes: u64, bytes: u64) {
        self.queued.fetch_sub(notes, Ordering::Relaxed);
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn failed(&self, sentence: &str) {
        self.is_connected.store(false, Ordering::Relaxed);
        self.retries.fetch_add(1, Ordering::Relaxed);
        self.remember(sentence);
    }

    /// Why notes do not reach the database.
    pub(super) fn remember(&self, sentence: &str) {
        *self.last_failure.lock().expect("the lock is not poisoned") = Some(sentence.to_owned());
    }

    pub(super) fn close_by(&self, moment: Instant) {
        self.close_by.send_replace(Some(moment));
    }

    /// How long the last batches may still take; `None` as long as the server runs.
    pub(super) fn left(&self) -> Option<Duration> {
        self.close_by.borrow().map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// The time for the last batches is over. Callable while another thread waits here.
    pub(super) async fn over(&self) {
        sleep_until(self.closing().await.into()).await;
    }

    /// Sleeps for this long, or until the server ends.
    pub(super) async fn sleep(&self, wait: Duration) {
        match self.left() {
            Some(left) => sleep(wait.min(left)).await,
            None => drop(timeout(wait, self.closing()).await),
        }
    }

    async fn closing(&self) -> Instant {
        let mut told = self.close_by.subscribe();
        let end = *told.wait_for(Option::is_some).await.expect("the sender is ours");
        end.expect("it is some")
    }

    pub(super) fn stats(&self) -> RecorderStats {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RecorderStats {
            queued: load(&self.queued),
            queued_bytes: load(&self.queued_bytes),
            written: load(&self.written),
            batches: load(&self.batches),
            dropped: load(&self.dropped),
            retries: load(&self.retries),
            is_connected: self.is_connected.load(Ordering::Relaxed),
            last_failure: self.last_failure.lock().expect("the lock is not poisoned").clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_is_dropped_and_counted_and_space_is_freed() {
        let counters = Counters::new(100);
        assert!(counters.reserve(60) && counters.reserve(40) && !counters.reserve(1));
        counters.written(1, 60);
        assert!(counters.reserve(50));
        let stats = counters.stats();
        assert_eq!((stats.queued, stats.queued_bytes, stats.written, stats.dropped), (2, 90, 1, 1));
    }
}
