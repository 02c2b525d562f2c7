//! The events that wait for the application, bounded by number and by bytes.

use super::event::{BusEvent, BusMessage, NoAnswer};
use std::collections::VecDeque;

/// A bounded queue of events. What finds it full is counted where it would have stood.
#[derive(Debug)]
pub(super) struct EventQueue {
    events: VecDeque<BusEvent>,
    bytes: usize,
    events_max: usize,
    bytes_max: usize,
    dropped: u64,
}

impl EventQueue {
    pub(super) fn new(events_max: usize, bytes_max: usize) -> EventQueue {
        EventQueue { events: VecDeque::new(), bytes: 0, events_max, bytes_max, dropped: 0 }
    }

    /// Adds a message, or counts it as dropped.
    pub(super) fn push_message(&mut self, message: BusMessage) {
        let event = BusEvent::Message(message);
        if self.has_room(weight(&event)) {
            self.push(event);
            return;
        }
        self.dropped += 1;
        match self.events.back_mut() {
            Some(BusEvent::Lagged { dropped }) => *dropped += 1,
            _ => self.push(BusEvent::Lagged { dropped: 1 }),
        }
    }

    /// Adds an event whose number is bounded by the caller. An answer without room loses its content.
    pub(super) fn push_always(&mut self, event: BusEvent) {
        let has_room = self.bytes + weight(&event) <= self.bytes_max;
        let event = match event {
            BusEvent::Answer { request, result: Ok(_) } if !has_room => {
                self.dropped += 1;
                BusEvent::Answer { request, result: Err(NoAnswer::Dropped) }
            }
            event => event,
        };
        self.push(event);
    }

    pub(super) fn pop(&mut self) -> Option<BusEvent> {
        let event = self.events.pop_front()?;
        self.bytes -= weight(&event);
        Some(event)
    }

    /// Messages and answers that were dropped since the beginning.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn has_room(&self, weight: usize) -> bool {
        self.events.len() < self.events_max && self.bytes + weight <= self.bytes_max
    }

    fn push(&mut self, event: BusEvent) {
        self.bytes += weight(&event);
        self.events.push_back(event);
    }
}

/// Bytes of memory, about.
fn weight(event: &BusEvent) -> usize {
    let content = match event {
        BusEvent::Message(message) => {
            message.payload.len() + message.subject.len() + message.reply.as_ref().map_or(0, String::len)
        }
        BusEvent::Answer { result: Ok(payload), .. } => payload.len(),
        BusEvent::Refused { why } | BusEvent::ReconnectFailed { why } => why.len(),
        _ => 0,
    };
    size_of::<BusEvent>() + content
}
