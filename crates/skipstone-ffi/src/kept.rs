//! Events of handles that another thread ended: the thread that polled them may still read them, so they stay until it asks for
//! more, or ends, or everything is released.

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
        // Does not wait: a process that ends may have stopped the thread that has the lock. Who ends a handle looks again.
        match KEPT.try_lock() {
            Ok(mut kept) => kept.retain(|(_, held)| held.has_reader()),
            Err(TryLockError::Poisoned(kept)) => kept.into_inner().retain(|(_, held)| held.has_reader()),
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

/// This thread as a reader of events, for as long as it lives.
pub(crate) fn reader() -> Weak<()> {
    let reader = READER.try_with(|reader| reader.0.as_ref().map(Arc::downgrade));
    reader.ok().flatten().unwrap_or_default()
}

/// Takes out of a slot what its handle stood for, and the events that another thread may still read: at once, so that no poll
/// comes between.
pub(crate) fn end(handle: u64, slot: &Slot) -> Option<Engine> {
    let mut state = slot.lock_even_if_failed();
    let mut kept = kept();
    kept.retain(|(_, held)| held.has_reader());
    if state.held.is_read_elsewhere() {
        kept.push((handle, std::mem::take(&mut state.held)));
    }
    state.engine.take()
}

/// The thread that polled this handle asks for more, and so reads nothing any more.
pub(crate) fn give_back(handle: u64) {
    kept().retain(|(of, held)| *of != handle || held.is_read_elsewhere());
}

/// Nobody reads anything any more.
pub(crate) fn clear() {
    kept().clear();
}

fn kept() -> MutexGuard<'static, Vec<(u64, Held)>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
