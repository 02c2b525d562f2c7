//! The two queues between an application and its driver's thread, and how each side wakes the other: commands go down,
//! events come up. Both queues are bounded by number and by bytes, and neither side ever waits for the other's lock.
//!
//! Each queue has one producer and one consumer. The producer counts what it has put in, the consumer publishes what it
//! has taken out, so that no counter is written from both sides. The difference of the two counts is the queue's load,
//! which the bound limits.

use self::sync::{AtomicBool, AtomicU64, Condvar, Items, Mutex, Ordering};
use std::sync::PoisonError;
use std::time::Duration;

/// The weight of an entry, which counts against a queue's bound.
pub(crate) trait Weigh {
    /// Approximate bytes of memory.
    fn weight(&self) -> u64;
}

/// Limits of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

/// One direction: a bounded queue with one producer and one consumer.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    items: Items<T>,
    bound: Bound,
    /// Entries and bytes that the consumer has taken out since the beginning.
    taken_entries: AtomicU64,
    taken_bytes: AtomicU64,
}

/// The producer's account of what it has put into a queue since the beginning.
#[derive(Debug, Default)]
pub(crate) struct Produced {
    entries: u64,
    bytes: u64,
}

/// The consumer's account of what it has taken out of a queue.
#[derive(Debug, Default)]
pub(crate) struct Consumed {
    entries: u64,
    bytes: u64,
}

impl<T: Weigh> Queue<T> {
    pub(crate) fn new(bound: Bound) -> Self {
        Queue { items: Items::default(), bound, taken_entries: AtomicU64::new(0), taken_bytes: AtomicU64::new(0) }
    }

    /// Whether an entry of this weight fits. A queue that holds less than half of its bound takes one of any weight.
    pub(crate) fn has_room(&self, produced: &Produced, weight: u64) -> bool {
        let entries = produced.entries - self.taken_entries.load(Ordering::Acquire);
        let bytes = produced.bytes - self.taken_bytes.load(Ordering::Acquire);
        entries < self.bound.entries && (bytes + weight <= self.bound.bytes || bytes < self.bound.bytes / 2)
    }

    /// Whether the queue is more than half full, so that its consumer should be woken whatever it waits for.
    pub(crate) fn is_filling(&self, produced: &Produced) -> bool {
        let entries = produced.entries - self.taken_entries.load(Ordering::Acquire);
        let bytes = produced.bytes - self.taken_bytes.load(Ordering::Acquire);
        entries > self.bound.entries / 2 || bytes > self.bound.bytes / 2
    }

    /// Adds an entry, regardless of the bound: the producer asks [`Queue::has_room`] first, except for entries whose
    /// number is bounded elsewhere.
    pub(crate) fn push(&self, produced: &mut Produced, item: T) {
        produced.entries += 1;
        produced.bytes += item.weight();
        self.items.push(item);
    }

    /// Removes the oldest entry.
    pub(crate) fn pop(&self, consumed: &mut Consumed) -> Option<T> {
        let item = self.items.pop()?;
        consumed.entries += 1;
        consumed.bytes += item.weight();
        self.taken_entries.store(consumed.entries, Ordering::Release);
        self.taken_bytes.store(consumed.bytes, Ordering::Release);
        Some(item)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Whether a thread waits for its sockets and must be woken through them.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    is_asleep: AtomicBool,
}

impl Sleep {
    /// The thread is about to wait; true if it may. `has_work` is called only after other threads can see that the
    /// thread sleeps.
    pub(crate) fn begin(&self, has_work: impl FnOnce() -> bool) -> bool {
        self.is_asleep.store(true, Ordering::SeqCst);
        !has_work()
    }

    /// The thread has stopped waiting.
    pub(crate) fn end(&self) {
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    /// Whether the caller must wake the thread; true once for each time that the thread sleeps.
    pub(crate) fn must_wake(&self) -> bool {
        self.is_asleep.swap(false, Ordering::SeqCst)
    }
}

/// Wakes an application that waits for events, perhaps those of several drivers.
#[derive(Debug, Default)]
pub(crate) struct Wakeup {
    is_asleep: AtomicBool,
    condition: Condvar,
    lock: Mutex<()>,
}

impl Wakeup {
    /// Waits for a wakeup, for `span` at most; returns at once if something has happened already.
    pub(crate) fn wait(&self, span: Duration, has_happened: impl Fn() -> bool) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_asleep.store(true, Ordering::SeqCst);
        if !has_happened() {
            drop(self.condition.wait_timeout(lock, span));
        }
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    pub(crate) fn wake(&self) {
        if self.is_asleep.load(Ordering::SeqCst) {
            let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.condition.notify_one();
        }
    }
}

/// The standard library's tools, or those of the model checker.
mod sync {
    #[cfg(not(loom))]
    pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    #[cfg(not(loom))]
    pub(super) use std::sync::{Condvar, Mutex};

    #[cfg(loom)]
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    #[cfg(loom)]
    pub(super) use loom::sync::{Condvar, Mutex};

    /// An unbounded queue without locks.
    #[cfg(not(loom))]
    pub(super) type Items<T> = crossbeam_queue::SegQueue<T>;

    /// The model checker sees through its own lock only.
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
