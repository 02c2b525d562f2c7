//! Events of handles that another thread ended. The thread that polled them may still read them, so they are kept until
//! that thread polls again or ends, or until everything is released.

use crate::slot::{Engine, Held, Slot};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

static KEPT: Mutex<Vec<(u64, Held)>> = Mutex::new(Vec::new());

/// Lives as long as its thread, which may read events.
struct Reader(Option<Arc<()>>);

thread_local! {
    static READER: Reader = Reader(Some(Arc::new(())));
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0 = None;
        // Does not wait: a process that is exiting may have stopped the thread that holds the lock. The thread that
        // ends a handle cleans up later.
        match KEPT.try_lock() {
            Ok(mut kept) => kept.retain(|(_, held)| held.has_reader()),
            Err(TryLockError::Poisoned(kept)) => kept.into_inner().retain(|(_, held)| held.has_reader()),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

/// Registers this thread as a reader of events for its lifetime.
pub(crate) fn reader() -> Weak<()> {
    let reader = READER.try_with(|reader| reader.0.as_ref().map(Arc::downgrade));
    reader.ok().flatten().unwrap_or_default()
}

/// Takes the server or client out of a slot, together with the events that another thread may still read, in one step,
/// so that no poll comes between.
pub(crate) fn end(handle: u64, slot: &Slot) -> Option<Engine> {
    let mut state = slot.lock_even_if_failed();
    let mut kept = kept();
    kept.retain(|(_, held)| held.has_reader());
    if state.held.is_read_elsewhere() {
        kept.push((handle, std::mem::take(&mut state.held)));
    }
    state.engine.take()
}

/// The thread that polled this handle polls again, and so reads no earlier events any more.
pub(crate) fn give_back(handle: u64) {
    kept().retain(|(of, held)| *of != handle || held.is_read_elsewhere());
}

/// No thread reads any event any more.
pub(crate) fn clear() {
    kept().clear();
}

fn kept() -> MutexGuard<'static, Vec<(u64, Held)>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
