//! Events of handles that another thread ended: the thread that polled them may still read them, so they stay until it asks for
//! more, or everything is released.

use crate::slot::{Held, Slot};
use std::sync::{Mutex, MutexGuard, PoisonError};

static KEPT: Mutex<Vec<(u64, Held)>> = Mutex::new(Vec::new());

/// Takes the events out of a slot whose handle has ended, if another thread may still read them.
pub(crate) fn keep(handle: u64, slot: &Slot) {
    let Ok(mut state) = slot.lock() else { return };
    if state.held.is_read_elsewhere() {
        kept().push((handle, std::mem::take(&mut state.held)));
    }
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
