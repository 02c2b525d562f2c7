//! The sending side: every packet in flight, its content, and the detection of loss.
//!
//! A packet is lost when a later one was acknowledged and time has passed (`loss`). Before that, a packet whose
//! acknowledgement is overdue is suspected lost, and its content is retransmitted (`probe`). The folder of
//! each has its state. The ledger decides about packets; their frames are returned as [`Resolved`] records.

mod contents;
mod loss;
mod packet;
#[cfg(test)]
mod played;
mod probe;

use super::record::{Record, Resolved};
use crate::path::Lateness;
use crate::redundancy::copies::CopySchedule;
use crate::redundancy::loss_estimate::LossEstimate;
use crate::rtt::Rtt;
use crate::shrink_queue::shrink_queue;
use crate::time::{Duration, Time};
use contents::Contents;
use core::ops::RangeInclusive;
use loss::LossDetection;
pub(crate) use packet::{AckedPackets, Leaving, LostPackets};
use packet::{PacketState, SentPacket};
use probe::Probing;
use skipstone_prefetch::prefetch;
use std::collections::VecDeque;

/// All packets sent and not settled.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// Number of `sent[0]`.
    base: u64,
    sent: VecDeque<SentPacket>,
    contents: Contents,
    bytes_in_flight: u32,
    eliciting_in_flight: u32,
    largest_acked: Option<u64>,
    /// The same, whether they asked for an acknowledgement or not.
    newest_acked: Option<u64>,
    /// Sending time of the latest-sent of the acknowledged packets.
    latest_acked_sent_at: Time,
    loss: LossDetection,
    probing: Probing,
    copies: CopySchedule,
    losses: LossEstimate,
    /// Time for which a lost packet's acknowledgement is awaited.
    patience: Duration,
    /// Packets with lower numbers were sent more than once: their acknowledgement measures nothing.
    measured_from: u64,
    /// Numbers and bytes of the packets that were lost, if they are collected.
    lost_numbers: Option<Vec<(u64, u16)>>,
    /// Additional delay that a loss may cause for a packet.
    lateness: Lateness,
}

/// Capacity for packets and records beyond twice their current number.
const CAPACITY_KEPT: usize = 8;
/// Number of packets after which unused memory is released.
const PACKETS_PER_TRIM: u64 = 1_024;
/// Maximum number of packets in flight, so that a truncated number of 14 bits in an ACK is never ambiguous (WIRE.md
/// 4.1), not even in one that 2,000 packets have overtaken.
const PACKETS_IN_FLIGHT_MAX: usize = 6_000;

impl Default for Ledger {
    fn default() -> Self {
        Ledger::starting_at(0)
    }
}

impl Ledger {
    /// Prefetches both ends: the packet that is acknowledged next, and the place of the next packet.
    pub(crate) fn prefetch(&self) {
        self.sent.front().into_iter().chain(self.sent.back()).for_each(prefetch);
        self.contents.prefetch();
    }

    /// A ledger without packets, whose next has this number.
    pub(crate) fn starting_at(next: u64) -> Self {
        Ledger {
            base: next,
            sent: VecDeque::new(),
            contents: Contents::default(),
            bytes_in_flight: 0,
            eliciting_in_flight: 0,
            largest_acked: None,
            newest_acked: None,
            latest_acked_sent_at: Time::ZERO,
            loss: LossDetection::default(),
            probing: Probing::starting_at(next),
            copies: CopySchedule::default(),
            losses: LossEstimate::default(),
            patience: Duration::ZERO,
            measured_from: 0,
            lost_numbers: None,
            lateness: Lateness::NONE,
        }
    }

    /// The number of the next packet.
    pub(crate) fn next(&self) -> u64 {
        self.base + self.sent.len() as u64
    }

    /// Maximum distance of the next number from the peer's reference.
    pub(crate) fn distance(&self) -> u64 {
        self.next() - self.largest_acked.map_or(0, |acked| acked.min(self.next()))
    }

    /// Releases memory if there is room for many more packets than needed.
    pub(crate) fn shrink(&mut self) {
        shrink_queue(&mut self.sent, CAPACITY_KEPT);
        self.contents.shrink(CAPACITY_KEPT);
    }

    /// Whether it is time to release memory that a backlog needed.
    pub(crate) fn is_time_to_trim(&self) -> bool {
        self.next().is_multiple_of(PACKETS_PER_TRIM)
    }

    /// Bytes of packets in flight.
    pub(crate) fn bytes_in_flight(&self) -> u32 {
        self.bytes_in_flight
    }

    /// Whether any packet in flight waits for an acknowledgement.
    pub(crate) fn is_waiting(&self) -> bool {
        self.eliciting_in_flight > 0
    }

    /// Whether the peer acknowledges nothing, however much is sent to it. A peer that follows the protocol is never
    /// this far behind: it acknowledges a PING among acknowledgements, and without acknowledgements its own window is
    /// closed.
    pub(crate) fn is_ignored(&self) -> bool {
        self.sent.len() > 3 * PACKETS_IN_FLIGHT_MAX
    }

    /// Whether another packet may be numbered. Lost packets are dropped when the ledger is full: waiting for their late
    /// acknowledgements with nothing in flight would block until the peer sends something else.
    pub(crate) fn has_room(&mut self, now: Time) -> bool {
        if self.sent.len() >= PACKETS_IN_FLIGHT_MAX {
            self.settle(now, Duration::ZERO);
        }
        self.sent.len() < PACKETS_IN_FLIGHT_MAX
    }

    /// The estimate of the path's losses.
    pub(crate) fn losses(&self) -> &LossEstimate {
        &self.losses
    }

    /// The schedule of the copies that are still to be sent.
    pub(crate) fn copies(&mut self) -> &mut CopySchedule {
        &mut self.copies
    }

    /// When the next copy is due.
    pub(crate) fn copy_due(&self) -> Time {
        self.copies.due()
    }

    /// Adds a record to the packet under construction. Consecutive whole messages are joined.
    pub(crate) fn record(&mut self, record: Record) {
        self.contents.add(record);
    }

    /// Begins a part of the packet under construction: later records are listed separately from earlier ones.
    pub(crate) fn begin_part(&mut self) {
        self.contents.begin_part();
    }

    /// The records added since the part began.
    pub(crate) fn part(&self) -> impl Iterator<Item = Record> + '_ {
        self.contents.part()
    }

    /// Numbers the packet that was written, together with the records added since the last one.
    pub(crate) fn commit(&mut self, now: Time, leaving: Leaving) {
        let contents = self.contents.close();
        let Leaving { bytes, is_ack_eliciting, age_ms, stamp } = leaving;
        let bytes = bytes as u16;
        // The loss of a size probe is a result, not congestion.
        let is_size_probe = self.contents.is_size_probe(contents);
        let state = if is_ack_eliciting { PacketState::InFlight } else { PacketState::Untracked };
        self.loss.on_sent(now);
        if is_ack_eliciting {
            self.probing.on_sent(now, self.eliciting_in_flight == 0);
            self.bytes_in_flight += u32::from(bytes);
            self.eliciting_in_flight += 1;
        }
        self.sent.push_back(SentPacket {
            at: now,
            contents,
            bytes,
            age_ms,
            stamp,
            state,
            is_suspected: false,
            is_measured: is_ack_eliciting && !is_size_probe,
        });
        // Otherwise packets that carry only acknowledgements, and are never acknowledged, would accumulate after a lost
        // packet.
        self.settle(now, self.patience);
    }

    /// The carrier may retransmit lost data: a packet that is no later than this will most likely arrive.
    pub(crate) fn set_lateness(&mut self, lateness: Lateness) {
        self.lateness = lateness;
    }

    /// Additional delay that a loss may cause for a packet.
    fn lateness(&self, rtt: &Rtt) -> Duration {
        let Lateness { round_trips, delay_us } = self.lateness;
        rtt.smoothed() * u32::from(round_trips) + Duration::from_micros(delay_us.into())
    }

    /// From now on, the numbers of lost packets are kept for [`Ledger::take_lost_numbers`].
    pub(crate) fn note_lost_numbers(&mut self) {
        self.lost_numbers.get_or_insert_default();
    }

    /// Numbers and bytes of the packets that were lost since the last call.
    pub(crate) fn take_lost_numbers(&mut self) -> Vec<(u64, u16)> {
        self.lost_numbers.as_mut().map_or(Vec::new(), core::mem::take)
    }

    /// The latest packet was sent again unchanged.
    pub(crate) fn on_sent_again(&mut self) {
        self.measured_from = self.next();
    }

    /// From now on packets take another path, and all that are in flight on the old one count as lost: `resolved`
    /// receives their records. Their fate says nothing about either path.
    pub(crate) fn settle_flight(&mut self, now: Time, resolved: &mut Vec<Resolved>) {
        self.measured_from = self.next();
        self.loss.on_lost(now);
        self.copies.clear();
        for index in 0..self.sent.len() {
            let packet = &mut self.sent[index];
            packet.is_measured = false;
            if packet.state == PacketState::InFlight {
                packet.state = PacketState::Left;
                self.resolve(index, resolved);
            }
        }
        (self.bytes_in_flight, self.eliciting_in_flight) = (0, 0);
        self.loss.due = Time::NEVER;
        self.skip_settled();
    }

    /// Resets the estimate of the path's losses.
    pub(crate) fn forget_losses(&mut self) {
        self.losses = LossEstimate::default();
    }

    /// Takes the acknowledgement of a range of numbers; `resolved` receives the records of those packets. The caller
    /// has refused numbers that were never sent.
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        range: RangeInclusive<u64>,
        acked: &mut AckedPackets,
        resolved: &mut Vec<Resolved>,
    ) {
        let first = (*range.start()).max(self.base);
        for number in first..(range.end() + 1).min(self.next()) {
            let packet = &mut self.sent[(number - self.base) as usize];
            if self.newest_acked.is_none_or(|newest| number > newest) {
                self.newest_acked = Some(number);
                let is_sample = packet.state != PacketState::Repaired && number >= self.measured_from;
                acked.newest_age = is_sample.then(|| now.since(packet.at));
            }
            match packet.state {
                PacketState::Acked | PacketState::Repaired => continue,
                // Packets that only acknowledge are acknowledged in passing.
                PacketState::Untracked => {
                    packet.state = PacketState::Acked;
                    packet.is_measured = false;
                    self.resolve((number - self.base) as usize, resolved);
                    continue;
                }
                PacketState::InFlight => {
                    self.bytes_in_flight -= u32::from(packet.bytes);
                    self.eliciting_in_flight -= 1;
                    acked.bytes += u32::from(packet.bytes);
                    acked.packets += 1;
                    acked.suspected |= packet.is_suspected;
                    if acked.latest.is_none_or(|(at, _)| at <= packet.at) {
                        acked.latest = Some((packet.at, packet.stamp));
                    }
                }
                PacketState::Lost => acked.spurious += 1,
                PacketState::Left => {}
            }
            packet.state = PacketState::Acked;
            let at = packet.at;
            self.latest_acked_sent_at = self.latest_acked_sent_at.max(at);
            self.largest_acked = self.largest_acked.max(Some(number));
            acked.has_eliciting = true;
            self.resolve((number - self.base) as usize, resolved);
        }
    }

    /// Handles the report that a range of packets was lost and recovered from repair packets: their content has
    /// arrived.
    pub(crate) fn on_repaired(
        &mut self,
        now: Time,
        range: RangeInclusive<u64>,
        resolved: &mut Vec<Resolved>,
    ) -> LostPackets {
        let mut lost = LostPackets::default();
        let (first, mut run) = ((*range.start()).max(self.base), 0);
        for number in first..(range.end() + 1).min(self.next()) {
            let packet = &mut self.sent[(number - self.base) as usize];
            match packet.state {
                PacketState::Untracked | PacketState::Acked | PacketState::Repaired => continue,
                PacketState::InFlight => {
                    self.bytes_in_flight -= u32::from(packet.bytes);
                    self.eliciting_in_flight -= 1;
                    run += 1;
                    lost.add_packet(packet, run);
                    if let Some(numbers) = &mut self.lost_numbers {
                        numbers.push((number, packet.bytes));
                    }
                }
                PacketState::Lost | PacketState::Left => {}
            }
            packet.state = PacketState::Repaired;
            self.resolve((number - self.base) as usize, resolved);
        }
        if lost.packets > 0 {
            self.loss.on_lost(now);
        }
        lost
    }

    /// After all ranges of an acknowledgement: adapts the reorder window, removes packets whose fate is decided. If the
    /// peer `is_paused`, suspected packets were late, not lost.
    pub(crate) fn on_ack_done(&mut self, now: Time, acked: &AckedPackets, rtt: &Rtt, is_paused: bool) {
        if acked.packets + acked.spurious > 0 {
            self.probing.on_progress(now);
        }
        if acked.suspected && is_paused {
            self.probing.on_spurious_probe();
        }
        self.loss.on_acked(acked, rtt);
        self.patience = rtt.probe_timeout(Duration::ZERO) * 3 + self.lateness(rtt);
        self.settle(now, self.patience);
    }

    /// Adds the records of a packet to `resolved`.
    fn resolve(&self, index: usize, resolved: &mut Vec<Resolved>) {
        let packet = &self.sent[index];
        let number = self.base + index as u64;
        let born = packet.at - Duration::from_millis(packet.age_ms.into());
        let records = self.contents.of(packet.contents);
        let was_suspected = packet.is_suspected;
        resolved.extend(records.map(|record| Resolved { packet: number, record, born, was_suspected }));
    }

    /// Removes packets from the front whose fate no longer changes. A lost packet is kept for `patience`, because its
    /// acknowledgement may still come.
    fn settle(&mut self, now: Time, patience: Duration) {
        while let Some(packet) = self.sent.front() {
            let is_settled = match packet.state {
                PacketState::InFlight => false,
                PacketState::Acked | PacketState::Repaired => true,
                PacketState::Untracked => packet.contents.is_empty() || packet.at + patience <= now,
                PacketState::Lost | PacketState::Left => packet.at + patience <= now,
            };
            if !is_settled {
                break;
            }
            if packet.is_measured {
                self.losses.on_packet(packet.at, packet.state != PacketState::Acked);
            }
            self.contents.drop_first(packet.contents);
            self.sent.pop_front();
            self.base += 1;
        }
        self.skip_settled();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;

    fn message(sequence: u32) -> Record {
        Record::Messages { channel: 1, first: Seq(sequence), count: 1 }
    }

    fn packet() -> Leaving {
        Leaving { bytes: 100, is_ack_eliciting: true, ..Leaving::default() }
    }

    fn ms(millis: u64) -> Time {
        Time::from_micros(millis * 1_000)
    }

    #[test]
    fn consecutive_messages_share_a_record() {
        let mut ledger = Ledger::default();
        (5..9).for_each(|sequence| ledger.record(message(sequence)));
        ledger.commit(ms(0), packet());
        let (mut acked, mut resolved) = (AckedPackets::default(), Vec::new());
        ledger.on_ack(ms(10), 0..=0, &mut acked, &mut resolved);
        let joined = Record::Messages { channel: 1, first: Seq(5), count: 4 };
        assert_eq!(resolved, [Resolved { packet: 0, record: joined, born: ms(0), was_suspected: false }]);
        assert_eq!(acked.rtt_sample(), Some(Duration::from_millis(10)));
        assert_eq!(ledger.bytes_in_flight(), 0);
    }

    fn sample(eliciting: &[bool], ranges: &[RangeInclusive<u64>], repaired: Option<u64>) -> Option<Duration> {
        let mut ledger = Ledger::default();
        for (number, &is_ack_eliciting) in eliciting.iter().enumerate() {
            ledger.commit(ms(number as u64 * 100), Leaving { is_ack_eliciting, ..packet() });
        }
        let (mut acked, mut resolved) = (AckedPackets::default(), Vec::new());
        if let Some(number) = repaired {
            ledger.on_repaired(ms(1_000), number..=number, &mut resolved);
        }
        for range in ranges {
            ledger.on_ack(ms(1_000), range.clone(), &mut acked, &mut resolved);
        }
        acked.rtt_sample()
    }

    #[test]
    fn an_rtt_sample_is_taken_from_the_packet_that_started_the_ack_delay() {
        let age = |number: u64| Some(Duration::from_millis(1_000 - 100 * number));
        assert_eq!(sample(&[true, true, true], &[2..=2, 0..=0], None), age(2));
        assert_eq!(sample(&[true, false, false], &[0..=2], None), age(2), "the greatest did not ask for it");
        assert_eq!(sample(&[false, false, false], &[0..=2], None), None, "nobody asked for it");
        assert_eq!(sample(&[true, true, true], &[0..=2], Some(2)), None, "the greatest never arrived");
        assert_eq!(sample(&[true, true, true], &[0..=2], Some(1)), age(2));
    }

    /// At the front a lost packet, after it the maximum number of packets, which have all arrived.
    #[test]
    fn a_lost_packet_does_not_block_a_full_ledger() {
        let (mut ledger, rtt, last) = (Ledger::default(), Rtt::new(), PACKETS_IN_FLIGHT_MAX as u64 - 1);
        (0..=last).for_each(|_| ledger.commit(ms(0), packet()));
        assert!(!ledger.has_room(ms(0)), "all are in flight");
        let (mut acked, mut resolved) = (AckedPackets::default(), Vec::new());
        ledger.on_ack(ms(10), 1..=last, &mut acked, &mut resolved);
        ledger.on_ack_done(ms(10), &acked, &rtt, false);
        ledger.sent[0].state = PacketState::Lost;
        assert!(ledger.has_room(ms(11)) && ledger.sent.is_empty());
    }

    #[test]
    fn packets_with_only_acks_leave_no_record() {
        let mut ledger = Ledger::default();
        (0..1_000).for_each(|_| ledger.commit(ms(0), Leaving { bytes: 20, ..Leaving::default() }));
        assert_eq!(ledger.next(), 1_000);
        assert!(ledger.sent.is_empty());
        assert_eq!(ledger.probe_due(&Rtt::new(), Duration::ZERO, false), Time::NEVER);
    }
}
