//! The events that wait for the application, bounded by number and by bytes.

use super::event::{BusEvent, NoAnswer};
use super::kv::answer::{KvAnswer, KvOutcome};
use bytes::Bytes;
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

    /// Adds an event whose number others decide, such as a message, or counts it as dropped.
    pub(super) fn push_bounded(&mut self, event: BusEvent) {
        if self.push_if_room(event).is_err() {
            self.count_dropped();
        }
    }

    /// Adds an event, or returns it. An empty queue takes one of any size.
    pub(super) fn push_if_room(&mut self, event: BusEvent) -> Result<(), BusEvent> {
        let has_room = self.events.len() < self.events_max && self.bytes + weight(&event) <= self.bytes_max;
        if !has_room && !self.events.is_empty() {
            return Err(event);
        }
        self.push(event);
        Ok(())
    }

    /// Adds an event about the connection, for which places are kept.
    pub(super) fn push_connection(&mut self, event: BusEvent) {
        match self.events.len() < self.events_max + RESERVE {
            true => self.push(event),
            false => self.count_dropped(),
        }
    }

    /// Adds an answer, whose number is bounded where the question was accepted. Without room it loses its content.
    pub(super) fn push_answer(&mut self, event: BusEvent) {
        let has_room = self.bytes + weight(&event) <= self.bytes_max;
        let event = match event {
            BusEvent::Answer { request, result: Ok(_) } if !has_room => {
                self.dropped += 1;
                BusEvent::Answer { request, result: Err(NoAnswer::Dropped) }
            }
            BusEvent::KvAnswer(KvAnswer { bucket, request, .. }) if !has_room => {
                self.dropped += 1;
                let why = NoAnswer::Dropped.to_string();
                BusEvent::KvAnswer(KvAnswer { bucket, request, outcome: KvOutcome::Unavailable { why } })
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

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn events_max(&self) -> usize {
        self.events_max
    }

    fn count_dropped(&mut self) {
        self.dropped += 1;
        match self.events.back_mut() {
            Some(BusEvent::Lagged { dropped }) => *dropped += 1,
            // One for each gap: it needs a place only where something was polled or reserved in between.
            _ => self.push(BusEvent::Lagged { dropped: 1 }),
        }
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
        BusEvent::KvAnswer(KvAnswer { outcome, .. }) => outcome_weight(outcome),
        BusEvent::KvChange(change) => change.key.len() + change.value.as_ref().map_or(0, Bytes::len),
        BusEvent::Refused { why } | BusEvent::ConnectFailed { why } => why.len(),
        _ => 0,
    };
    size_of::<BusEvent>() + content
}

fn outcome_weight(outcome: &KvOutcome) -> usize {
    match outcome {
        KvOutcome::Found { value, .. } | KvOutcome::Exists { value, .. } => value.len(),
        KvOutcome::Refused { why } | KvOutcome::Unavailable { why } => why.len(),
        _ => 0,
    }
}

/// Places for events about the connection. There are a few of them each second at most.
const RESERVE: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::event::BusMessage;
    use crate::bus::ids::{RequestId, SubscriptionId};

    fn message(bytes: usize) -> BusEvent {
        let (subject, payload) = (String::new(), vec![0; bytes].into());
        BusEvent::Message(BusMessage { subscription: SubscriptionId(1), subject, reply: None, payload })
    }

    #[test]
    fn what_finds_the_queue_full_is_counted_where_it_would_have_stood() {
        let mut queue = EventQueue::new(2, usize::MAX);
        (0..5).for_each(|_| queue.push_bounded(message(0)));
        queue.push_connection(BusEvent::Reconnected);
        assert!(matches!((queue.pop(), queue.pop()), (Some(BusEvent::Message(_)), Some(BusEvent::Message(_)))));
        queue.push_bounded(message(0));
        assert_eq!(queue.pop(), Some(BusEvent::Lagged { dropped: 3 }));
        assert_eq!(queue.pop(), Some(BusEvent::Reconnected));
        assert_eq!((queue.pop(), queue.dropped(), queue.bytes), (Some(BusEvent::Lagged { dropped: 1 }), 4, 0));
    }

    #[test]
    fn bytes_are_a_bound_as_well_and_an_answer_beyond_it_loses_its_content() {
        let mut queue = EventQueue::new(100, 10_000);
        (0..20).for_each(|_| queue.push_bounded(message(1_000)));
        assert!(queue.bytes <= 10_000 + size_of::<BusEvent>(), "{}", queue.bytes);
        let (request, result) = (RequestId(7), Ok(vec![0; 5_000].into()));
        queue.push_answer(BusEvent::Answer { request, result });
        let events: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(events.last(), Some(&BusEvent::Answer { request, result: Err(NoAnswer::Dropped) }));
    }

    #[test]
    fn a_queue_that_is_never_polled_stays_bounded_whatever_happens() {
        let mut queue = EventQueue::new(10, 10_000);
        for _ in 0..100_000 {
            queue.push_bounded(message(10));
            queue.push_connection(BusEvent::Disconnected { unconfirmed: 1 });
            queue.push_connection(BusEvent::Reconnected);
        }
        assert!(queue.len() <= 10 + RESERVE + 1, "{}", queue.len());
    }
}
