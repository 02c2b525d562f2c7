//! Events that the application has not polled yet.

use crate::channel::inbox::Messages;
use crate::channel::window_cost;
use crate::connection::event::{Event, PeerId};
use crate::time::Duration;
use std::collections::VecDeque;

/// Events of all connections, the oldest first. The messages of a run are one entry and become events only when they
/// are polled: a thousand queued runs do not fill the processor's caches.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    entries: VecDeque<QueuedEvent>,
    /// Events in all entries.
    count: usize,
    /// Memory of all entries.
    bytes: u64,
}

/// The cost of one entry of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryCost {
    /// The bytes left in the peer's receive window.
    pub(crate) window: u64,
    /// Bytes of memory, the place in the queue included.
    pub(crate) memory: u64,
}

impl EntryCost {
    /// The cost of a message of `bytes` bytes.
    pub(in crate::connection) fn of_message(bytes: usize) -> EntryCost {
        EntryCost { window: window_cost(bytes), memory: ENTRY_BYTES + bytes as u64 }
    }

    pub(in crate::connection) fn of_run(messages: &Messages) -> EntryCost {
        EntryCost { window: messages.window_cost, memory: ENTRY_BYTES + messages.frame_bytes() as u64 }
    }

    pub(in crate::connection) fn add(&mut self, other: EntryCost) {
        self.window += other.window;
        self.memory += other.memory;
    }

    pub(in crate::connection) fn subtract(&mut self, other: EntryCost) {
        self.window -= other.window;
        self.memory -= other.memory;
    }
}

/// A place in the queue. Of the places beyond its end most were never written, and take no memory.
const ENTRY_BYTES: u64 = size_of::<QueuedEvent>() as u64;

#[derive(Debug)]
enum QueuedEvent {
    One(Event),
    Run(QueuedRun),
}

#[derive(Debug)]
pub(crate) struct QueuedRun {
    peer: PeerId,
    channel: u16,
    age: Duration,
    messages: Messages,
}

impl QueuedEvent {
    fn cost(&self) -> EntryCost {
        let without = |bytes| EntryCost { window: 0, memory: ENTRY_BYTES + bytes as u64 };
        match self {
            QueuedEvent::One(Event::Message { payload, .. }) => EntryCost::of_message(payload.len()),
            QueuedEvent::One(Event::Requested { token, .. }) => without(token.len()),
            QueuedEvent::One(_) => without(0),
            QueuedEvent::Run(run) => EntryCost::of_run(&run.messages),
        }
    }

    /// The peer whose messages the entry holds, and their number.
    fn messages(&self) -> Option<(PeerId, usize)> {
        match self {
            QueuedEvent::One(Event::Message { peer, .. }) => Some((*peer, 1)),
            QueuedEvent::Run(run) => Some((run.peer, run.messages.left as usize)),
            QueuedEvent::One(_) => None,
        }
    }
}

impl QueuedRun {
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Event> {
        let payload = self.messages.next()?;
        Some(Event::Message { peer: self.peer, channel: self.channel, payload, age: self.age })
    }
}

impl EventQueue {
    pub(crate) fn push(&mut self, event: Event) {
        self.count += 1;
        self.push_entry(QueuedEvent::One(event));
    }

    /// Messages of one packet, of which there is at least one.
    pub(in crate::connection) fn push_run(&mut self, peer: PeerId, channel: u16, age: Duration, messages: Messages) {
        self.count += messages.left as usize;
        self.push_entry(QueuedEvent::Run(QueuedRun { peer, channel, age, messages }));
    }

    fn push_entry(&mut self, entry: QueuedEvent) {
        self.bytes += entry.cost().memory;
        self.entries.push_back(entry);
    }

    /// Memory of all queued entries.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Drops the messages of some peers that the application has not polled; returns their number. It looks at every
    /// entry.
    pub(crate) fn forget_messages(&mut self, is_forgotten: impl Fn(PeerId) -> bool) -> usize {
        let before = self.count;
        self.entries.retain(|entry| {
            let Some((_, messages)) = entry.messages().filter(|(peer, _)| is_forgotten(*peer)) else { return true };
            self.count -= messages;
            self.bytes -= entry.cost().memory;
            false
        });
        before - self.count
    }

    /// The run that holds the next event, unless that is the run's last message: [`QueuedRun::next`] must follow, and
    /// frees nothing of any window.
    #[inline]
    pub(crate) fn unfinished_run(&mut self) -> Option<&mut QueuedRun> {
        match self.entries.front_mut()? {
            QueuedEvent::Run(run) if run.messages.left > 1 => {
                self.count -= 1;
                Some(run)
            }
            _ => None,
        }
    }

    /// The next event, if no run continues. `freed` becomes the cost of the event's entry; a run frees its whole cost
    /// with its last message.
    pub(crate) fn pop(&mut self, freed: &mut EntryCost) -> Option<Event> {
        let goes_on = matches!(self.entries.front(), Some(QueuedEvent::Run(run)) if run.messages.left > 1);
        debug_assert!(!goes_on, "the rest of a run would be lost");
        let entry = self.entries.pop_front()?;
        self.count -= 1;
        *freed = entry.cost();
        self.bytes -= freed.memory;
        match entry {
            QueuedEvent::One(event) => Some(event),
            QueuedEvent::Run(mut run) => run.next(),
        }
    }

    /// The next event, if it is not a message of a run.
    pub(crate) fn front(&self) -> Option<&Event> {
        match self.entries.front()? {
            QueuedEvent::One(event) => Some(event),
            QueuedEvent::Run(_) => None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::inbox::Inbox;
    use crate::wire::cursor::Writer;
    use crate::wire::frame::Frames;
    use crate::wire::message::MessageEncoder;
    use crate::wire::number::Truncated;
    use std::sync::Arc;

    const PEER: PeerId = PeerId { index: 3, generation: 1 };

    /// Messages of these lengths after a first one, as in a packet.
    fn run_of(lengths: &[usize]) -> Messages {
        let (mut buffer, mut run) = (vec![0; 100_000], MessageEncoder::default());
        let mut writer = Writer::new(&mut buffer);
        for (at, length) in (0..).zip([0].iter().chain(lengths)) {
            run.encode_header(&mut writer, 3, Some((at, Truncated::new(at.into(), 10))), None, *length);
            writer.bytes(&vec![at as u8; *length]);
        }
        let mut frames = Frames::new(writer.written());
        assert!(matches!(frames.next(), Some(Ok(_))));
        Inbox::default().copy_run(&frames.run())
    }

    #[test]
    fn a_run_is_polled_message_by_message_in_its_place_among_events() {
        for lengths in [&[100; 17][..], &[5, 0, 700, 1], &[9_000, 9_000, 9_000]] {
            let mut events = EventQueue::default();
            let connected = Event::Connected { peer: PEER, settings: Arc::default() };
            events.push(connected.clone());
            events.push_run(PEER, 3, Duration::ZERO, run_of(lengths));
            events.push(Event::Message { peer: PEER, channel: 4, payload: vec![7; 30].into(), age: Duration::ZERO });
            assert_eq!(events.len(), lengths.len() + 2);
            let mut freed = EntryCost::default();
            assert_eq!((events.pop(&mut freed), freed.window), (Some(connected), 0));
            let mut freed_by_run = 0;
            for (number, length) in (1..).zip(lengths) {
                assert!(events.front().is_none(), "a message of a run is next");
                let payload = vec![number; *length].into();
                let expected = Event::Message { peer: PEER, channel: 3, payload, age: Duration::ZERO };
                freed = EntryCost::default();
                let within = events.unfinished_run().map(|run| run.next());
                assert_eq!(within.unwrap_or_else(|| events.pop(&mut freed)), Some(expected));
                freed_by_run += freed.window;
            }
            assert_eq!(freed_by_run, lengths.iter().map(|length| window_cost(*length)).sum::<u64>());
            assert!(events.pop(&mut freed).is_some());
            assert_eq!(freed.window, window_cost(30));
            assert_eq!((events.len(), events.pop(&mut freed)), (0, None));
        }
    }
}
