//! The datagrams in flight, ordered by arrival, and the reused buffers that carry them.

use core::{cmp::Ordering, time::Duration};
use std::collections::BinaryHeap;

/// One datagram on its way.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) arrives: Duration,
    pub(crate) sent: Duration,
    pub(crate) tag: u64,
    pub(crate) waited: Duration,
    pub(crate) corrupted: bool,
    pub(crate) copy: bool,
    pub(crate) bytes: Vec<u8>,
}

/// All datagrams on their way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights {
    heap: BinaryHeap<Numbered>,
    next_number: u64,
    spare: Vec<Vec<u8>>,
    bytes: usize,
}

/// A place in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SendNumber(u64);

impl Flights {
    /// A buffer with these bytes in it, recycled if there is one.
    pub(crate) fn buffer(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.extend_from_slice(bytes);
        buffer
    }

    /// Takes back a buffer.
    pub(crate) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS_MAX {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    pub(crate) fn push(&mut self, flight: Flight) {
        let number = SendNumber(self.next_number);
        self.next_number += 1;
        self.bytes += flight.bytes.len();
        self.heap.push(Numbered { number, flight });
    }

    /// The next that has arrived by `now`.
    pub(crate) fn pop(&mut self, now: Duration) -> Option<(SendNumber, Flight)> {
        if self.next_arrival()? > now {
            return None;
        }
        let next = self.heap.pop()?;
        self.bytes -= next.flight.bytes.len();
        Some((next.number, next.flight))
    }

    pub(crate) fn next_arrival(&self) -> Option<Duration> {
        self.heap.peek().map(|next| next.flight.arrives)
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// How many buffers to keep after a peak: 20 MB of them at 1,200 bytes, more than a game ever has in flight.
const SPARE_BUFFERS_MAX: usize = 16_384;

#[derive(Clone, Debug)]
struct Numbered {
    number: SendNumber,
    flight: Flight,
}

impl Numbered {
    fn key(&self) -> (Duration, SendNumber) {
        (self.flight.arrives, self.number)
    }
}

/// Reversed, because the heap gives the greatest first: the earliest arrival, and of several the first sent.
impl Ord for Numbered {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Numbered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numbered {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Numbered {}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(arrives: u64, bytes: Vec<u8>) -> Flight {
        let arrives = Duration::from_millis(arrives);
        Flight { arrives, sent: Duration::ZERO, tag: 0, waited: Duration::ZERO, corrupted: false, copy: false, bytes }
    }

    #[test]
    fn ties_arrive_in_sending_order() {
        let mut flights = Flights::default();
        for name in 0..100 {
            flights.push(flight(5, vec![name]));
        }
        flights.push(flight(4, vec![100]));
        let order: Vec<u8> =
            core::iter::from_fn(|| flights.pop(Duration::from_millis(5))).map(|(_, flight)| flight.bytes[0]).collect();
        let expected: Vec<u8> = core::iter::once(100).chain(0..100).collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn nothing_arrives_early() {
        let mut flights = Flights::default();
        flights.push(flight(5, Vec::new()));
        assert!(flights.pop(Duration::from_nanos(4_999_999)).is_none());
        assert!(flights.pop(Duration::from_millis(5)).is_some());
    }

    #[test]
    fn a_peak_does_not_retain_memory() {
        let mut flights = Flights::default();
        for _ in 0..SPARE_BUFFERS_MAX + 10 {
            flights.recycle(vec![0]);
        }
        assert_eq!(flights.spare.len(), SPARE_BUFFERS_MAX);
    }

    impl Flights {
        /// The addresses and sizes of all buffers, and the size of the structures that hold them.
        pub(crate) fn memory(&self) -> (Vec<(usize, usize)>, usize, usize) {
            let in_flight = self.heap.iter().map(|next| &next.flight.bytes);
            let mut buffers: Vec<_> =
                in_flight.chain(&self.spare).map(|buffer| (buffer.as_ptr() as usize, buffer.capacity())).collect();
            buffers.sort_unstable();
            (buffers, self.heap.capacity(), self.spare.capacity())
        }
    }
}
