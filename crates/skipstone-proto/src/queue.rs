//! Queues that are filled and emptied with every tick.

use std::collections::VecDeque;

/// Lets an empty queue go on at the beginning of its memory: what is used again and again stays in the processor's caches.
pub(crate) fn begin_anew_if_empty<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() {
        queue.clear();
    }
}
