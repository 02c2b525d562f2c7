//! The events that wait for the application, bounded by number.

use super::event::DirectoryEvent;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct DirectoryEventQueue {
    waiting: VecDeque<DirectoryEvent>,
    waiting_max: usize,
    dropped: u64,
}

impl DirectoryEventQueue {
    pub(super) fn new(waiting_max: usize) -> Self {
        DirectoryEventQueue { waiting: VecDeque::new(), waiting_max, dropped: 0 }
    }

    pub(super) fn push(&mut self, event: DirectoryEvent) {
        match self.waiting.len() < self.waiting_max {
            true => self.waiting.push_back(event),
            false => self.dropped += 1,
        }
    }

    pub(super) fn poll(&mut self) -> Option<DirectoryEvent> {
        let event = self.waiting.pop_front();
        match std::mem::take(&mut self.dropped) {
            dropped if event.is_none() && dropped > 0 => Some(DirectoryEvent::Lagged { dropped }),
            dropped => {
                self.dropped = dropped;
                event
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_reports_how_many_events_it_dropped_behind_those_that_it_kept() {
        let mut events = DirectoryEventQueue::new(2);
        (0..5).for_each(|_| events.push(DirectoryEvent::Joined));
        let all: Vec<DirectoryEvent> = std::iter::from_fn(|| events.poll()).collect();
        let lagged = DirectoryEvent::Lagged { dropped: 3 };
        assert_eq!(all, [DirectoryEvent::Joined, DirectoryEvent::Joined, lagged]);
    }
}
