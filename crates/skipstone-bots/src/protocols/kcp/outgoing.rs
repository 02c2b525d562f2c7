//! Messages that leave: cut into fragments, numbered when the window has room, sent again until they are acknowledged.

use super::round_trip::RoundTrip;
use super::segment::distance;
use crate::protocols::limits::queue_cost;
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;
use std::collections::VecDeque;

/// The outgoing half of a conversation.
#[derive(Debug)]
pub(super) struct OutgoingSegments {
    rules: ResendRules,
    waiting: VecDeque<Fragment>,
    /// The first one has the number `first`; acknowledged ones stay until they are first.
    in_flight: VecDeque<InFlight>,
    first: u32,
    /// What is in both queues, each fragment with its cost.
    bytes: usize,
    resend_at: Option<Time>,
    retransmitted: u64,
}

/// When a segment is sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResendRules {
    /// After this number of acknowledgements of later segments, each in a datagram of its own; 0: never early.
    pub(super) skips: u32,
    /// Transmissions of one segment after which the peer counts as gone.
    pub(super) transmissions_max: u32,
}

#[derive(Debug)]
struct Fragment {
    fragments_left: u8,
    data: Bytes,
}

#[derive(Debug)]
struct InFlight {
    fragment: Fragment,
    is_acknowledged: bool,
    transmissions: u32,
    skips: u32,
    resend_after: Duration,
    resend_at: Time,
}

/// The transmissions of a segment that are answered early; later ones wait for the timer.
const EARLY_TRANSMISSIONS_MAX: u32 = 5;

/// A segment that is due, as `OutgoingSegments` passes it on.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) number: u32,
    pub(super) fragments_left: u8,
    pub(super) data: Bytes,
}

impl OutgoingSegments {
    pub(super) fn new(rules: ResendRules) -> Self {
        OutgoingSegments {
            rules,
            waiting: VecDeque::new(),
            in_flight: VecDeque::new(),
            first: 0,
            bytes: 0,
            resend_at: None,
            retransmitted: 0,
        }
    }

    /// Queues a message in fragments of `size` bytes. The caller has checked that there are at most 255.
    pub(super) fn push(&mut self, message: Bytes, size: usize) {
        let count = message.len().div_ceil(size).max(1);
        assert!(count <= usize::from(u8::MAX), "a message has at most 255 fragments");
        for index in 0..count {
            let data = message.slice(index * size..message.len().min((index + 1) * size));
            self.bytes += queue_cost(&data);
            self.waiting.push_back(Fragment { fragments_left: (count - 1 - index) as u8, data });
        }
    }

    /// What waits or is not acknowledged, each fragment with its cost.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Segments sent again, so far.
    pub(super) fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Whether a new segment may leave.
    pub(super) fn may_send(&self, window: usize) -> bool {
        !self.waiting.is_empty() && self.in_flight.len() < window
    }

    /// Whether something waits or is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_empty()
    }

    /// When the first segment is sent again.
    pub(super) fn resend_at(&self) -> Option<Time> {
        self.resend_at
    }

    /// The peer has everything below `number`.
    pub(super) fn on_unacknowledged(&mut self, number: u32) {
        let ahead = usize::try_from(distance(number, self.first)).unwrap_or(0);
        // A number that was never sent is no acknowledgement.
        if ahead <= self.in_flight.len() {
            self.in_flight.iter_mut().take(ahead).for_each(|segment| segment.is_acknowledged = true);
            self.remove_acknowledged();
        }
    }

    /// The peer has `number`.
    pub(super) fn on_acknowledged(&mut self, number: u32) {
        let Ok(index) = usize::try_from(distance(number, self.first)) else { return };
        let Some(segment) = self.in_flight.get_mut(index) else { return };
        segment.is_acknowledged = true;
        self.remove_acknowledged();
    }

    /// Whether `number` is on its way, as far as is known.
    pub(super) fn is_in_flight(&self, number: u32) -> bool {
        usize::try_from(distance(number, self.first)).is_ok_and(|index| index < self.in_flight.len())
    }

    /// A datagram acknowledged `number`, and nothing later: what was sent before it was skipped once more.
    pub(super) fn on_skipped_until(&mut self, now: Time, number: u32) {
        // What was never sent skipped nothing.
        if !self.is_in_flight(number) {
            return;
        }
        let until = distance(number, self.first) as usize;
        let rules = self.rules;
        for segment in self.in_flight.iter_mut().take(until).filter(|segment| !segment.is_acknowledged) {
            segment.skips += 1;
            if segment.is_skipped(rules) {
                self.resend_at = Some(now);
            }
        }
    }

    /// Calls `send` for each segment that is due: again, or for the first time while `window` has room. Returns
    /// whether the peer counts as gone.
    pub(super) fn flush(
        &mut self,
        now: Time,
        window: usize,
        round_trip: &RoundTrip,
        mut send: impl FnMut(Due),
    ) -> PeerState {
        while self.in_flight.len() < window {
            let Some(fragment) = self.waiting.pop_front() else { break };
            self.in_flight.push_back(InFlight::new(fragment));
        }
        let mut state = PeerState::Present;
        self.resend_at = None;
        for (index, segment) in self.in_flight.iter_mut().enumerate() {
            if segment.is_acknowledged {
                continue;
            }
            if segment.transmit_if_due(now, round_trip, self.rules) {
                self.retransmitted += u64::from(segment.transmissions > 1);
                send(segment.due(self.first.wrapping_add(index as u32)));
            }
            if segment.transmissions >= self.rules.transmissions_max {
                state = PeerState::Gone;
            }
            self.resend_at = Some(self.resend_at.map_or(segment.resend_at, |at| at.min(segment.resend_at)));
        }
        state
    }

    fn remove_acknowledged(&mut self) {
        while self.in_flight.front().is_some_and(|segment| segment.is_acknowledged) {
            let gone = self.in_flight.pop_front();
            self.bytes -= gone.map_or(0, |segment| queue_cost(&segment.fragment.data));
            self.first = self.first.wrapping_add(1);
        }
        if self.in_flight.is_empty() {
            self.resend_at = None;
        }
    }
}

/// What repeated transmissions tell of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerState {
    /// It answers.
    Present,
    /// A segment was sent as often as the rules allow.
    Gone,
}

impl InFlight {
    fn new(fragment: Fragment) -> Self {
        InFlight {
            fragment,
            is_acknowledged: false,
            transmissions: 0,
            skips: 0,
            resend_after: Duration::ZERO,
            resend_at: Time::ZERO,
        }
    }

    fn is_skipped(&self, rules: ResendRules) -> bool {
        rules.skips > 0 && self.skips >= rules.skips && self.transmissions <= EARLY_TRANSMISSIONS_MAX
    }

    /// The three reasons to transmit: never sent, the timer, acknowledgements of later segments.
    fn transmit_if_due(&mut self, now: Time, round_trip: &RoundTrip, rules: ResendRules) -> bool {
        if self.transmissions == 0 {
            self.resend_after = round_trip.resend_after();
        } else if now >= self.resend_at {
            self.resend_after += self.resend_after / 2;
        } else if self.is_skipped(rules) {
            self.skips = 0;
        } else {
            return false;
        }
        self.transmissions += 1;
        self.resend_at = now + self.resend_after;
        true
    }

    fn due(&self, number: u32) -> Due {
        Due { number, fragments_left: self.fragment.fragments_left, data: self.fragment.data.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::limits::MESSAGE_COST;

    const MS: Duration = Duration::from_millis(1);

    fn outgoing() -> OutgoingSegments {
        OutgoingSegments::new(ResendRules { skips: 2, transmissions_max: 5 })
    }

    fn flush(outgoing: &mut OutgoingSegments, now: Time, window: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        outgoing.flush(now, window, &RoundTrip::new(30 * MS, 10 * MS), |due| numbers.push(due.number));
        numbers
    }

    #[test]
    fn the_window_holds_segments_back() {
        let mut outgoing = outgoing();
        outgoing.push(Bytes::from_static(&[0; 25]), 10);
        assert_eq!(flush(&mut outgoing, Time::ZERO, 2), [0, 1]);
        assert!(!outgoing.may_send(2));
        outgoing.on_unacknowledged(1);
        assert_eq!(flush(&mut outgoing, Time::ZERO + MS, 2), [2]);
        assert_eq!(outgoing.bytes(), 15 + 2 * MESSAGE_COST);
    }

    #[test]
    fn a_segment_leaves_again_after_its_time_or_when_skipped() {
        let mut outgoing = outgoing();
        outgoing.push(Bytes::from_static(&[0; 30]), 10);
        assert_eq!(flush(&mut outgoing, Time::ZERO, 9), [0, 1, 2]);
        outgoing.on_acknowledged(1);
        outgoing.on_skipped_until(Time::ZERO + 50 * MS, 1);
        assert!(flush(&mut outgoing, Time::ZERO + 50 * MS, 9).is_empty());
        outgoing.on_acknowledged(2);
        outgoing.on_skipped_until(Time::ZERO + 60 * MS, 2);
        assert_eq!(outgoing.resend_at(), Some(Time::ZERO + 60 * MS));
        assert_eq!(flush(&mut outgoing, Time::ZERO + 60 * MS, 9), [0]);
        assert!(flush(&mut outgoing, Time::ZERO + 259 * MS, 9).is_empty());
        assert_eq!(flush(&mut outgoing, Time::ZERO + 260 * MS, 9), [0]);
        assert_eq!(outgoing.retransmitted(), 2);
    }

    #[test]
    fn acknowledgements_of_numbers_that_were_never_sent_change_nothing() {
        let mut outgoing = outgoing();
        outgoing.push(Bytes::from_static(b"x"), 10);
        assert_eq!(flush(&mut outgoing, Time::ZERO, 9), [0]);
        let resend_at = outgoing.resend_at();
        for number in [2, 1000, 0x8000_0000, u32::MAX] {
            outgoing.on_unacknowledged(number);
            outgoing.on_acknowledged(number);
            assert!(!outgoing.is_in_flight(number));
            outgoing.on_skipped_until(Time::ZERO + MS, number);
        }
        assert_eq!((outgoing.bytes(), outgoing.resend_at()), (1 + MESSAGE_COST, resend_at));
        assert!(flush(&mut outgoing, Time::ZERO + MS, 9).is_empty(), "it was not skipped");
    }

    #[test]
    fn a_peer_that_acknowledges_nothing_is_gone() {
        let mut outgoing = outgoing();
        outgoing.push(Bytes::from_static(b"x"), 10);
        let round_trip = RoundTrip::new(30 * MS, 10 * MS);
        let mut flushed =
            (0..100).map(|second| outgoing.flush(Time::from_micros(second * 1_000_000), 9, &round_trip, |_| {}));
        assert!(flushed.any(|state| state == PeerState::Gone));
    }
}
