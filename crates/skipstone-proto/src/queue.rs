//! Queues that are filled and emptied with every tick.

use std::collections::VecDeque;

/// Lets an empty queue go on at the beginning of its memory: what is used again and again stays in the processor's caches.
pub(crate) fn begin_anew_if_empty<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() {
        queue.clear();
    }
}

/// Lets go of memory for many more entries than there are: what is kept lies elsewhere from now on, beside others of its size,
/// and not at the beginning of a large block of which the rest is free.
pub(crate) fn trim<T>(queue: &mut VecDeque<T>, spare: usize) {
    let wanted = 2 * queue.len() + spare;
    if queue.capacity() > 2 * wanted {
        let mut smaller = VecDeque::with_capacity(wanted);
        smaller.append(queue);
        *queue = smaller;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_trimmed_keeps_its_entries_and_little_else() {
        let mut queue: VecDeque<u32> = (0..1_000).collect();
        queue.drain(..995);
        trim(&mut queue, 8);
        assert_eq!(queue, [995, 996, 997, 998, 999]);
        assert!(queue.capacity() <= 18 * 2, "{}", queue.capacity());
        let before = queue.capacity();
        trim(&mut queue, 8);
        assert_eq!(queue.capacity(), before, "it is small enough");
    }
}
