//! Memory that a queue does not need any more.

use std::collections::VecDeque;

/// Shrinks the queue's memory to twice its length, and `kept` more. A queue that has less than twice that keeps its
/// memory, so that one whose length swings takes no new memory each time.
pub(crate) fn shrink_queue<T>(queue: &mut VecDeque<T>, kept: usize) {
    let enough = 2 * queue.len() + kept;
    if queue.capacity() > 2 * enough {
        queue.shrink_to(enough);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_shrinks_after_a_spike_and_keeps_its_usual_capacity() {
        let mut queue: VecDeque<u64> = (0..10_000).collect();
        queue.truncate(20);
        shrink_queue(&mut queue, 8);
        assert!(queue.capacity() < 100 && queue.len() == 20);
        let capacity = queue.capacity();
        for length in [30, 12, 20, 40, 16] {
            queue.resize(length, 0);
            shrink_queue(&mut queue, 8);
            assert_eq!(queue.capacity(), capacity, "{length} of {capacity}");
        }
    }
}
