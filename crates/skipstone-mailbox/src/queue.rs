//! The two queues between an application and its driver's thread, and how each side wakes the other: commands go down,
//! events come up. Both queues are bounded by number and by bytes, and neither side ever waits for the other's lock.
//!
//! Each queue has one producer and one consumer. The producer counts what it has put in, the consumer publishes what it
//! has taken out, so that no counter is written from both sides. The difference of the two counts is the queue's load,
//! which the bound limits.

use self::sync::{AtomicBool, AtomicU64, Condvar, Items, Mutex, Ordering};
use std::sync::PoisonError;
use std::time::Duration;

/// Limits of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Maximum number of entries.
    pub entries: u64,
    /// Maximum sum of their weights.
    pub bytes: u64,
}

/// One direction: a bounded queue with one producer and one consumer.
#[derive(Debug)]
pub struct Queue<T> {
    items: Items<T>,
    bound: Bound,
    /// Approximate bytes of memory of an entry, which count against the bound.
    weigh: fn(&T) -> u64,
    /// Entries and bytes that the consumer has taken out since the beginning.
    taken_entries: AtomicU64,
    taken_bytes: AtomicU64,
}

/// The producer's account of what it has put into a queue since the beginning.
#[derive(Debug, Default)]
pub struct Produced {
    entries: u64,
    bytes: u64,
}

/// The consumer's account of what it has taken out of a queue.
#[derive(Debug, Default)]
pub struct Consumed {
    entries: u64,
    bytes: u64,
}

impl<T> Queue<T> {
    /// An empty queue, whose entries have the weight that `weigh` returns.
    pub fn new(bound: Bound, weigh: fn(&T) -> u64) -> Self {
        let (taken_entries, taken_bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Queue { items: Items::default(), bound, weigh, taken_entries, taken_bytes }
    }

    /// Whether an entry of this weight fits. A queue that holds less than half of its bound takes one of any weight.
    pub fn has_room(&self, produced: &Produced, weight: u64) -> bool {
        let entries = produced.entries - self.taken_entries.load(Ordering::Acquire);
        let bytes = produced.bytes - self.taken_bytes.load(Ordering::Acquire);
        entries < self.bound.entries && (bytes + weight <= self.bound.bytes || bytes < self.bound.bytes / 2)
    }

    /// Whether the queue is more than half full, so that its consumer should be woken regardless of what it waits for.
    pub fn is_filling(&self, produced: &Produced) -> bool {
        let entries = produced.entries - self.taken_entries.load(Ordering::Acquire);
        let bytes = produced.bytes - self.taken_bytes.load(Ordering::Acquire);
        entries > self.bound.entries / 2 || bytes > self.bound.bytes / 2
    }

    /// Adds an entry, regardless of the bound: the producer asks [`Queue::has_room`] first, except for entries whose
    /// number is bounded elsewhere.
    pub fn push(&self, produced: &mut Produced, item: T) {
        produced.entries += 1;
        produced.bytes += (self.weigh)(&item);
        self.items.push(item);
    }

    /// Removes the oldest entry.
    pub fn pop(&self, consumed: &mut Consumed) -> Option<T> {
        let item = self.items.pop()?;
        consumed.entries += 1;
        consumed.bytes += (self.weigh)(&item);
        self.taken_entries.store(consumed.entries, Ordering::Release);
        self.taken_bytes.store(consumed.bytes, Ordering::Release);
        Some(item)
    }

    /// Whether the consumer would find the queue empty.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Whether a thread waits for its sockets and must be woken through them.
#[derive(Debug, Default)]
pub struct Sleep {
    is_asleep: AtomicBool,
}

impl Sleep {
    /// The thread is about to wait; true if it may. `has_work` is called only after other threads can see that the
    /// thread sleeps.
    pub fn begin(&self, has_work: impl FnOnce() -> bool) -> bool {
        self.is_asleep.store(true, Ordering::SeqCst);
        !has_work()
    }

    /// The thread has stopped waiting.
    pub fn end(&self) {
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    /// Whether the caller must wake the thread; true once for each time that the thread sleeps.
    pub fn must_wake(&self) -> bool {
        self.is_asleep.swap(false, Ordering::SeqCst)
    }
}

/// Wakes an application that waits for events, possibly from several drivers.
#[derive(Debug, Default)]
pub struct Wakeup {
    is_asleep: AtomicBool,
    condition: Condvar,
    lock: Mutex<()>,
}

impl Wakeup {
    /// Waits for a wakeup, for `span` at most; returns at once if something has happened already.
    pub fn wait(&self, span: Duration, has_happened: impl Fn() -> bool) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_asleep.store(true, Ordering::SeqCst);
        if !has_happened() {
            drop(self.condition.wait_timeout(lock, span));
        }
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    /// Wakes the application if it waits.
    pub fn wake(&self) {
        if self.is_asleep.load(Ordering::SeqCst) {
            let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.condition.notify_one();
        }
    }
}

/// The primitives of the standard library, or of the model checker.
mod sync {
    #[cfg(not(loom))]
    pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    #[cfg(not(loom))]
    pub(super) use std::sync::{Condvar, Mutex};

    #[cfg(loom)]
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    #[cfg(loom)]
    pub(super) use loom::sync::{Condvar, Mutex};

    /// A lock-free unbounded queue.
    #[cfg(not(loom))]
    pub(super) type Items<T> = crossbeam_queue::SegQueue<T>;

    /// The model checker sees only its own lock.
    #[cfg(loom)]
    #[derive(Debug)]
    pub(super) struct Items<T>(Mutex<std::collections::VecDeque<T>>);

    #[cfg(loom)]
    impl<T> Default for Items<T> {
        fn default() -> Self {
            Items(Mutex::new(std::collections::VecDeque::new()))
        }
    }

    #[cfg(loom)]
    impl<T> Items<T> {
        pub(super) fn push(&self, item: T) {
            self.0.lock().expect("no panic holds it").push_back(item);
        }

        pub(super) fn pop(&self) -> Option<T> {
            self.0.lock().expect("no panic holds it").pop_front()
        }

        pub(super) fn is_empty(&self) -> bool {
            self.0.lock().expect("no panic holds it").is_empty()
        }
    }
}

#[cfg(test)]
mod tests;
