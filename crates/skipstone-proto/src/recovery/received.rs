//! The receiving side: which packet numbers were opened, and when to acknowledge them. WIRE.md sections 3 and 4.1.

use super::clean::CLEAN_PACKETS;
use super::out_of_order::OutOfOrder;
use super::recovered::Recovered;
use crate::ranges::RangeSet;
use crate::time::{Duration, Time};
use core::ops::RangeInclusive;

/// Numbers of the packets received, and the acknowledgement that is due for them.
#[derive(Debug)]
pub(crate) struct Received {
    ranges: RangeSet,
    /// Everything below was received or is no longer waited for.
    floor: u64,
    /// The peer knows that everything received below this was received.
    confirmed: u64,
    out_of_order: OutOfOrder,
    /// Received packets that were recovered from repairs, and that the peer does not yet know as recovered.
    repaired: RangeSet,
    recovered: Recovered,
    /// The time of the newest gap, if there was one, and the number of packets received by then.
    gap_at: Time,
    gap_count: Option<u64>,
    /// The time of the last repair, which shows that its sender does not trust the path; or of the first packet.
    repair_at: Time,
    largest_at: Time,
    ack_due: Time,
    is_news: bool,
    /// Packets that asked for an acknowledgement since the last one left.
    unacked: u32,
    /// Number of packets received since the beginning.
    count: u64,
}

/// Time without a missing packet after which the path is quiet, which its sender knows as well (`Ledger::is_calm`).
const QUIET_AFTER: Duration = Duration::from_secs(3);
/// Number of packets after which an acknowledgement leaves on a quiet path.
const UNACKED_MAX: u32 = 12;
/// Packets that are further apart are not a stream: the next one may arrive much later, and reveals nothing about this
/// one.
const STREAM_GAP_MAX: Duration = Duration::from_millis(40);

/// The number of ranges that are kept. Numbers below the kept ranges count as received; if such a packet was only late,
/// the peer sends its frames again.
const RANGES_MAX: usize = 64;

impl Default for Received {
    fn default() -> Self {
        Received {
            ranges: RangeSet::default(),
            floor: 0,
            confirmed: 0,
            out_of_order: OutOfOrder::new(),
            repaired: RangeSet::default(),
            recovered: Recovered::default(),
            gap_at: Time::ZERO,
            gap_count: None,
            repair_at: Time::ZERO,
            largest_at: Time::ZERO,
            ack_due: Time::NEVER,
            is_news: false,
            unacked: 0,
            count: 0,
        }
    }
}

impl Received {
    /// Whether a packet of this number was neither opened nor recovered before.
    pub(crate) fn is_new(&self, number: u64) -> bool {
        number >= self.floor && !self.ranges.contains(number) && !self.recovered.holds(number)
    }

    /// One more than the greatest number: the reference for truncated numbers.
    pub(crate) fn next(&self) -> u64 {
        self.ranges.last().map_or(self.floor, |last| last + 1)
    }

    /// Packets received since the beginning, without those recovered from repairs.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// A repair arrived.
    pub(crate) fn on_repair(&mut self, now: Time) {
        self.repair_at = now;
    }

    /// Whether the next packet's acknowledgement may wait for further packets. It may if the stream has been steady,
    /// without missing packets or repairs, for some time. The first gap is acknowledged at once.
    pub(crate) fn is_quiet(&self, now: Time) -> bool {
        let is_stream = now.since(self.largest_at) <= STREAM_GAP_MAX && self.unacked < UNACKED_MAX;
        let is_rarely_lossy = self.gap_count.is_none_or(|count| self.count - count >= CLEAN_PACKETS);
        is_stream && is_rarely_lossy && now.since(self.gap_at.max(self.repair_at)) >= QUIET_AFTER
    }

    /// Whether packets were missing within this time: the peer's acknowledgements may be among them.
    pub(crate) fn had_gap(&self, now: Time, within: Duration) -> bool {
        self.gap_count.is_some() && now.since(self.gap_at) <= within
    }

    /// Packets that asked for an acknowledgement since the last one left.
    pub(crate) fn unacked(&self) -> u32 {
        self.unacked
    }

    /// Notes a packet that was opened and is new. One that asks for an acknowledgement gets it within `ack_delay`; at
    /// once if it arrived after a gap or out of order.
    pub(crate) fn on_packet(&mut self, now: Time, number: u64, is_ack_eliciting: bool, ack_delay: Duration) {
        let next = self.next();
        if next == 0 {
            self.repair_at = now;
        }
        self.ranges.insert(number);
        self.count += 1;
        self.is_news = true;
        if number >= next {
            self.largest_at = now;
        } else {
            self.out_of_order.on_arrival(number);
        }
        // A late packet is new to the peer, below the numbers that it knows already.
        self.confirmed = self.confirmed.min(number);
        if number > next {
            self.gap_at = now;
            self.gap_count = Some(self.count);
        }
        if is_ack_eliciting {
            let due = if number == next { now + ack_delay } else { now };
            self.ack_due = self.ack_due.min(due);
            self.unacked += 1;
        }
        if self.ranges.range_count() > RANGES_MAX
            && let Some(oldest) = self.ranges.pop_first_range()
        {
            // A packet recovered below the floor is reported late, and does not make older packets reportable again.
            self.floor = self.floor.max(oldest.end() + 1);
        }
    }

    /// Records a packet that did not arrive but was recovered, and returns how long it has been missing.
    pub(crate) fn on_repaired(&mut self, now: Time, number: u64) -> Duration {
        if !self.recovered.on_recovered(now, number) {
            self.report_recovered(now, number);
        }
        now.since(self.gap_at)
    }

    /// A packet that is not new arrived. If it was recovered before, it was late and not lost.
    pub(crate) fn on_late(&mut self, now: Time, number: u64) {
        if self.recovered.on_late(now, number) {
            self.on_packet(now, number, true, Duration::ZERO);
        }
    }

    /// Packets that were recovered some time ago, and that did not arrive, were lost.
    pub(crate) fn report_missing(&mut self, now: Time) {
        while let Some(number) = self.recovered.pop_due(now) {
            self.report_recovered(now, number);
        }
    }

    /// Reports to the peer that a packet was lost and recovered.
    fn report_recovered(&mut self, now: Time, number: u64) {
        self.on_packet(now, number, true, Duration::ZERO);
        self.ack_due = now;
        self.repaired.insert(number);
        // The peer may never confirm the report; the peer then counts the oldest as lost.
        if self.repaired.range_count() > RANGES_MAX {
            self.repaired.pop_first_range();
        }
        // The recovery is news for the peer, even of the greatest number.
        self.out_of_order.on_arrival(number);
    }

    /// Packet numbers that were recovered, greatest first, as far as the peer does not know of them.
    pub(crate) fn repaired(&self) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        self.repaired.iter().rev()
    }

    /// The latest time at which an acknowledgement must be sent.
    pub(crate) fn ack_due(&self) -> Time {
        self.ack_due.min(self.recovered.due())
    }

    /// Asks for an acknowledgement at once: a receive window opened again.
    pub(crate) fn ack_now(&mut self, now: Time) {
        if self.ranges.last().is_some() {
            self.ack_due = self.ack_due.min(now);
            self.is_news = true;
        }
    }

    /// Whether an acknowledgement would have new content for the peer, so that it is worth adding to a packet that is
    /// sent anyway.
    pub(crate) fn has_news(&self) -> bool {
        self.is_news && self.ack_due != Time::NEVER
    }

    /// The ranges to acknowledge, greatest numbers first.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        self.ranges.iter().rev().take_while(|range| *range.end() >= self.confirmed)
    }

    /// Whether the peer may not know of all that was received.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.ranges.last().is_some_and(|last| last > self.confirmed)
    }

    /// Number of ranges to acknowledge.
    pub(crate) fn range_count(&self) -> usize {
        self.ranges().count()
    }

    /// Time for which the greatest number has been held back.
    pub(crate) fn delay(&self, now: Time) -> Duration {
        now.since(self.largest_at)
    }

    /// Our packet of this number carries an acknowledgement of all received packets.
    pub(crate) fn on_ack_sent(&mut self, packet: u64) {
        self.out_of_order.on_ack_sent(packet);
        self.ack_due = Time::NEVER;
        self.is_news = false;
        self.unacked = 0;
    }

    /// The peer has received our packet `packet`, which acknowledged everything received up to `number` by then. These
    /// numbers need not be acknowledged again; packets that arrived later, below `number`, must be.
    pub(crate) fn on_ack_confirmed(&mut self, packet: u64, number: u64) {
        let known = number.min(self.out_of_order.known_below(packet).saturating_sub(1));
        self.confirmed = self.confirmed.max(known);
        self.repaired.remove_below(self.confirmed + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(2);

    #[test]
    fn a_gap_is_acknowledged_at_once_and_a_burst_with_one_ack() {
        let mut received = Received::default();
        let now = Time::from_micros(1_000);
        received.on_packet(now, 0, true, DELAY);
        received.on_packet(now, 1, true, DELAY);
        assert_eq!(received.ack_due(), now + DELAY);
        received.on_packet(now, 3, true, DELAY);
        assert_eq!(received.ack_due(), now);
        assert_eq!(received.ranges().collect::<Vec<_>>(), [3..=3, 0..=1]);
    }

    #[test]
    fn a_replayed_number_is_a_duplicate_at_any_age() {
        let mut received = Received::default();
        for number in (0..1_000).step_by(2) {
            assert!(received.is_new(number));
            received.on_packet(Time::ZERO, number, true, DELAY);
        }
        assert!((0..1_000).step_by(2).all(|number| !received.is_new(number)));
        assert!(received.ranges().count() <= RANGES_MAX);
    }

    #[test]
    fn a_late_recovery_makes_no_number_new_again() {
        let mut received = Received::default();
        let at = |millis: u64| Time::from_micros(millis * 1_000);
        // Recovered packets arrive later: reports wait from now on.
        for number in 0..10 {
            received.on_packet(at(number * 50), 3 * number, true, DELAY);
            received.on_repaired(at(number * 50), 3 * number + 1);
            received.on_late(at(number * 50 + 20), 3 * number + 1);
        }
        received.on_repaired(at(1_000), 32);
        assert!(received.recovered.holds(32));
        // Meanwhile more gaps than are remembered.
        for number in (40..1_000).step_by(2) {
            received.on_packet(at(1_001), number, true, DELAY);
        }
        received.report_missing(at(1_200));
        assert!(!received.recovered.holds(32));
        let mut seen =
            (0..10).flat_map(|number| [3 * number, 3 * number + 1]).chain([32]).chain((40..1_000).step_by(2));
        assert_eq!(seen.find(|number| received.is_new(*number)), None);
    }

    #[test]
    fn a_late_packet_below_the_acknowledged_range_is_acknowledged() {
        let mut received = Received::default();
        for number in [0, 1, 5, 6, 9] {
            received.on_packet(Time::ZERO, number, true, DELAY);
        }
        received.on_ack_sent(0);
        received.on_ack_sent(1);
        received.on_ack_confirmed(0, 9);
        received.on_packet(Time::ZERO, 3, true, DELAY);
        let all = [9..=9, 5..=6, 3..=3];
        assert_eq!(received.ranges().collect::<Vec<_>>(), all);
        received.on_ack_confirmed(1, 9);
        assert_eq!(received.ranges().collect::<Vec<_>>(), all, "that acknowledgement left before it came");
        received.on_ack_sent(2);
        received.on_ack_confirmed(2, 9);
        assert_eq!(received.ranges().collect::<Vec<_>>(), [9..=9]);
    }

    #[test]
    fn recovered_packets_are_reported_until_the_peer_acknowledges() {
        let mut received = Received::default();
        for number in [0, 2] {
            received.on_packet(Time::ZERO, number, true, DELAY);
        }
        received.on_ack_sent(0);
        received.on_repaired(Time::from_micros(500), 1);
        received.on_ack_confirmed(0, 2);
        assert_eq!(received.repaired().collect::<Vec<_>>(), [1..=1]);
        received.on_ack_sent(1);
        received.on_ack_confirmed(1, 2);
        assert_eq!(received.repaired().count(), 0);
    }

    #[test]
    fn a_lost_tail_is_missing_since_the_packet_that_revealed_it() {
        let mut received = Received::default();
        received.on_packet(Time::from_micros(1_000_000), 0, true, DELAY);
        // A repair, which asks for no acknowledgement, is the first after the lost one.
        received.on_packet(Time::from_micros(2_000_000), 2, false, DELAY);
        assert_eq!(received.on_repaired(Time::from_micros(2_000_000), 1), Duration::ZERO);
    }

    #[test]
    fn a_path_is_quiet_after_three_seconds_of_steady_packets_without_a_gap() {
        let mut received = Received::default();
        let at = |number: u64| Time::from_micros(1_000_000 + number * 16_000);
        for number in 0..400 {
            assert_eq!(received.is_quiet(at(number)), number * 16 >= 3_000, "{number}");
            received.on_packet(at(number), number, true, DELAY);
            received.on_ack_sent(number);
        }
        assert!(!received.is_quiet(at(399) + Duration::from_millis(41)), "the stream has stopped");
        let next = 400 + u64::from(UNACKED_MAX);
        for number in 400..next {
            assert!(received.is_quiet(at(400)));
            received.on_packet(at(400), number, true, DELAY);
        }
        assert!(!received.is_quiet(at(400)), "enough wait for an acknowledgement");
        received.on_ack_sent(400);
        received.on_packet(at(401), next + 1, true, DELAY);
        assert!(!received.is_quiet(at(402)), "there is a gap");
    }

    #[test]
    fn packets_with_only_acks_are_not_acknowledged() {
        let mut received = Received::default();
        received.on_packet(Time::ZERO, 0, false, DELAY);
        assert_eq!(received.ack_due(), Time::NEVER);
        assert!(!received.has_news());
    }
}
