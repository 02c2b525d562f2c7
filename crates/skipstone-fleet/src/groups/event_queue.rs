//! Events that wait for the application, bounded in bytes.

use super::event::GroupEvent;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Events {
    queue: VecDeque<GroupEvent>,
    bytes: usize,
    bytes_max: usize,
}

impl Events {
    pub(super) fn new(bytes_max: usize) -> Events {
        Events { queue: VecDeque::new(), bytes: 0, bytes_max }
    }

    /// Whether more events may be added. The batch that exceeds the bound is still taken whole.
    pub(super) fn has_room(&self) -> bool {
        self.bytes < self.bytes_max
    }

    pub(super) fn push(&mut self, event: GroupEvent) {
        self.bytes += event.weight();
        self.queue.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<GroupEvent> {
        let event = self.queue.pop_front()?;
        self.bytes -= event.weight();
        Some(event)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
