//! The sending side: every packet in flight, what it held, and which of them are lost.
//!
//! A packet is lost when a later one was acknowledged and `RTT + reorder window` has passed since it left (RACK, RFC
//! 8985). When nothing at all comes back, a probe timeout asks (RFC 9002, section 6.2), without back-off for the first
//! three. The ledger decides about packets; their frames are handed up as [`Resolved`] records.

use crate::rtt::Rtt;
use crate::seq::Seq;
use crate::time::{Duration, Time};
use core::ops::RangeInclusive;
use std::collections::VecDeque;

/// What a packet held that its sender cares about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// `count` whole messages of a channel, from this sequence on.
    Messages {
        /// The channel.
        channel: u16,
        /// Sequence of the first.
        first: Seq,
        /// How many.
        count: u16,
    },
    /// Part of a message.
    Fragment {
        /// The channel.
        channel: u16,
        /// Sequence of the message.
        sequence: Seq,
        /// First byte.
        offset: u32,
        /// Bytes.
        length: u32,
    },
    /// A frame of the connection's own.
    Control(Control),
}

/// Frames of the connection itself that are sent until they are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The server's settings.
    Accept,
    /// The client's token.
    Connect,
    /// An acknowledgement of everything received up to this number.
    AckUpTo(u64),
    /// A datagram of so many bytes, sent to see whether the path carries it.
    SizeProbe(u16),
    /// A datagram of so many bytes, which not every path carries.
    Large(u16),
}

/// A record whose packet's fate is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Number of the packet.
    pub packet: u64,
    /// What it held.
    pub record: Record,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Asks for no acknowledgement: never lost, never in flight.
    Untracked,
    InFlight,
    Acked,
    Lost,
}

#[derive(Debug)]
struct Sent {
    at: Time,
    /// Where its records begin, counted over the connection's life.
    records: u64,
    record_count: u16,
    bytes: u16,
    state: State,
}

/// What an acknowledgement brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acked {
    /// Bytes of packets that were in flight until now.
    pub bytes: u32,
    /// Packets that were in flight until now.
    pub packets: u32,
    /// Packets that had been declared lost, wrongly.
    pub spurious: u32,
    /// Time since the greatest number left, if it was acknowledged for the first time.
    pub rtt_sample: Option<Duration>,
}

/// All packets sent and not settled.
#[derive(Debug)]
pub struct Ledger {
    /// Number of `sent[0]`.
    base: u64,
    sent: VecDeque<Sent>,
    records: VecDeque<Record>,
    /// Count of the records that were dropped from the front.
    records_base: u64,
    records_open: u16,
    bytes_in_flight: u32,
    eliciting_in_flight: u32,
    largest_acked: Option<u64>,
    /// When the latest-sent of the acknowledged packets left.
    latest_acked_sent_at: Time,
    last_eliciting_at: Time,
    loss_due: Time,
    reorder_window: Duration,
    probes: u32,
    /// For how long a lost packet's acknowledgement is awaited.
    patience: Duration,
    /// Packets with lower numbers were sent more than once: their acknowledgement measures nothing.
    measured_from: u64,
}

const REORDER_WINDOW_MIN: Duration = Duration::from_millis(2);
/// Packets in flight at most, so that a truncated number of 14 bits in an ACK is never ambiguous (WIRE.md 4.1), not even
/// in one that 2,000 packets have overtaken.
const PACKETS_IN_FLIGHT_MAX: usize = 6_000;
const PROBES_WITHOUT_BACKOFF: u32 = 3;
const PROBE_SPACING_MAX: Duration = Duration::from_secs(4);

impl Default for Ledger {
    fn default() -> Self {
        Ledger {
            base: 0,
            sent: VecDeque::new(),
            records: VecDeque::new(),
            records_base: 0,
            records_open: 0,
            bytes_in_flight: 0,
            eliciting_in_flight: 0,
            largest_acked: None,
            latest_acked_sent_at: Time::ZERO,
            last_eliciting_at: Time::ZERO,
            loss_due: Time::NEVER,
            reorder_window: REORDER_WINDOW_MIN,
            probes: 0,
            patience: Duration::ZERO,
            measured_from: 0,
        }
    }
}

impl Ledger {
    /// A ledger without packets, whose next has this number.
    pub fn starting_at(next: u64) -> Self {
        Ledger { base: next, ..Ledger::default() }
    }

    /// The number of the next packet.
    pub fn next(&self) -> u64 {
        self.base + self.sent.len() as u64
    }

    /// How far the next number may be from the peer's reference.
    pub fn distance(&self) -> u64 {
        self.next() - self.largest_acked.map_or(0, |acked| acked.min(self.next()))
    }

    /// Bytes of packets in flight.
    pub fn bytes_in_flight(&self) -> u32 {
        self.bytes_in_flight
    }

    /// Whether any packet in flight waits for an acknowledgement.
    pub fn is_waiting(&self) -> bool {
        self.eliciting_in_flight > 0
    }

    /// Whether the peer acknowledges nothing, however long it is talked to. One that keeps to the protocol is never so far
    /// behind: it answers a PING among acknowledgements, and without answers its own window is closed.
    pub fn is_ignored(&self) -> bool {
        self.sent.len() > 3 * PACKETS_IN_FLIGHT_MAX
    }

    /// Whether another packet may be numbered.
    pub fn has_room(&self) -> bool {
        self.sent.len() < PACKETS_IN_FLIGHT_MAX
    }

    /// Adds a record to the packet that is being written. Whole messages that follow each other join.
    pub fn record(&mut self, record: Record) {
        if self.records_open > 0
            && let (
                Some(Record::Messages { channel, first, count }),
                Record::Messages { channel: new_channel, first: new_first, count: 1 },
            ) = (self.records.back_mut(), record)
            && *channel == new_channel
            && first.plus(u32::from(*count)) == new_first
            && *count < u16::MAX
        {
            *count += 1;
            return;
        }
        self.records.push_back(record);
        self.records_open += 1;
    }

    /// Numbers the packet that was written, of so many bytes, together with the records added since the last one.
    pub fn commit(&mut self, now: Time, bytes: usize, is_ack_eliciting: bool) {
        let record_count = core::mem::take(&mut self.records_open);
        let records = self.records_base + (self.records.len() - usize::from(record_count)) as u64;
        let bytes = bytes as u16;
        let state = if is_ack_eliciting { State::InFlight } else { State::Untracked };
        if is_ack_eliciting {
            self.last_eliciting_at = now;
            self.bytes_in_flight += u32::from(bytes);
            self.eliciting_in_flight += 1;
        }
        self.sent.push_back(Sent { at: now, records, record_count, bytes, state });
        // Else acknowledgements alone, which nobody acknowledges, would pile up behind a lost packet.
        self.settle(now, self.patience);
    }

    /// The latest packet was sent once more as it is.
    pub fn on_sent_again(&mut self) {
        self.measured_from = self.next();
    }

    /// Takes the acknowledgement of a range of numbers; `resolved` receives what those packets held. Numbers that were
    /// never sent are the caller's to refuse beforehand.
    pub fn on_ack(&mut self, now: Time, range: RangeInclusive<u64>, acked: &mut Acked, resolved: &mut Vec<Resolved>) {
        let first = (*range.start()).max(self.base);
        for number in first..(range.end() + 1).min(self.next()) {
            let packet = &mut self.sent[(number - self.base) as usize];
            match packet.state {
                State::Untracked | State::Acked => continue,
                State::InFlight => {
                    self.bytes_in_flight -= u32::from(packet.bytes);
                    self.eliciting_in_flight -= 1;
                    acked.bytes += u32::from(packet.bytes);
                    acked.packets += 1;
                }
                State::Lost => acked.spurious += 1,
            }
            packet.state = State::Acked;
            let at = packet.at;
            let begin = (packet.records - self.records_base) as usize;
            let records = self.records.range(begin..begin + usize::from(packet.record_count));
            resolved.extend(records.map(|record| Resolved { packet: number, record: *record }));
            self.latest_acked_sent_at = self.latest_acked_sent_at.max(at);
            if self.largest_acked.is_none_or(|largest| number > largest) {
                self.largest_acked = Some(number);
                acked.rtt_sample = (number >= self.measured_from).then(|| now.since(at));
            }
        }
    }

    /// After all ranges of an acknowledgement: adapts the reorder window, settles what is decided.
    pub fn on_ack_done(&mut self, now: Time, acked: &Acked, rtt: &Rtt) {
        if acked.packets + acked.spurious > 0 {
            self.probes = 0;
        }
        if acked.spurious > 0 {
            self.reorder_window = (self.reorder_window * 2).min(rtt.smoothed()).max(REORDER_WINDOW_MIN);
        }
        self.patience = rtt.probe_timeout(Duration::ZERO) * 3;
        self.settle(now, self.patience);
    }

    /// Declares lost what is lost by now; `resolved` receives what those packets held. Returns how many packets and
    /// when the latest of them left.
    pub fn detect_losses(&mut self, now: Time, rtt: &Rtt, resolved: &mut Vec<Resolved>) -> (u32, Time) {
        self.loss_due = Time::NEVER;
        let mut lost = (0, Time::ZERO);
        let Some(largest) = self.largest_acked else { return lost };
        let patience = rtt.smoothed().max(rtt.latest()) + self.reorder_window;
        let end = ((largest + 1).saturating_sub(self.base) as usize).min(self.sent.len());
        for (index, packet) in self.sent.range_mut(..end).enumerate() {
            if packet.state != State::InFlight || packet.at > self.latest_acked_sent_at {
                continue;
            }
            let due = packet.at + patience;
            if due > now {
                self.loss_due = self.loss_due.min(due);
                continue;
            }
            packet.state = State::Lost;
            self.bytes_in_flight -= u32::from(packet.bytes);
            self.eliciting_in_flight -= 1;
            lost = (lost.0 + 1, lost.1.max(packet.at));
            let begin = (packet.records - self.records_base) as usize;
            let records = self.records.range(begin..begin + usize::from(packet.record_count));
            let number = self.base + index as u64;
            resolved.extend(records.map(|record| Resolved { packet: number, record: *record }));
        }
        lost
    }

    /// When the next packet may have to be declared lost.
    pub fn loss_due(&self) -> Time {
        self.loss_due
    }

    /// When to ask for an acknowledgement, if none came.
    pub fn probe_due(&self, rtt: &Rtt, ack_delay: Duration) -> Time {
        if self.eliciting_in_flight == 0 {
            return Time::NEVER;
        }
        let doublings = self.probes.saturating_sub(PROBES_WITHOUT_BACKOFF - 1).min(10);
        let spacing = (rtt.probe_timeout(ack_delay) * (1 << doublings)).min(PROBE_SPACING_MAX);
        self.last_eliciting_at + spacing
    }

    /// A probe timeout: `resolved` receives what the oldest packet in flight held, to be sent once more. It stays in
    /// flight: nothing says yet that it is lost.
    pub fn on_probe(&mut self, now: Time, resolved: &mut Vec<Resolved>) {
        self.probes += 1;
        self.last_eliciting_at = now;
        let has_content = |packet: &Sent| {
            let begin = (packet.records - self.records_base) as usize;
            let mut records = self.records.range(begin..begin + usize::from(packet.record_count));
            records.any(|record| !matches!(record, Record::Control(Control::Large(_) | Control::SizeProbe(_))))
        };
        let oldest = self.sent.iter().position(|packet| packet.state == State::InFlight && has_content(packet));
        let Some(index) = oldest else { return };
        let packet = &self.sent[index];
        let begin = (packet.records - self.records_base) as usize;
        let records = self.records.range(begin..begin + usize::from(packet.record_count));
        let number = self.base + index as u64;
        resolved.extend(records.map(|record| Resolved { packet: number, record: *record }));
    }

    /// Probes sent since the last acknowledgement.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// Forgets packets from the front whose fate no longer changes. A lost one is kept for `patience`, because its
    /// acknowledgement may still come.
    fn settle(&mut self, now: Time, patience: Duration) {
        while let Some(packet) = self.sent.front() {
            let is_settled = match packet.state {
                State::InFlight => false,
                State::Untracked | State::Acked => true,
                State::Lost => packet.at + patience <= now,
            };
            if !is_settled {
                break;
            }
            self.records.drain(..usize::from(packet.record_count));
            self.records_base += u64::from(packet.record_count);
            self.sent.pop_front();
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(sequence: u32) -> Record {
        Record::Messages { channel: 1, first: Seq(sequence), count: 1 }
    }

    fn ms(millis: u64) -> Time {
        Time::from_micros(millis * 1_000)
    }

    fn rtt_of(millis: u64) -> Rtt {
        let mut rtt = Rtt::new();
        rtt.on_sample(Duration::from_millis(millis), Duration::ZERO);
        rtt
    }

    #[test]
    fn messages_that_follow_each_other_share_a_record() {
        let mut ledger = Ledger::default();
        (5..9).for_each(|sequence| ledger.record(message(sequence)));
        ledger.commit(ms(0), 100, true);
        let (mut acked, mut resolved) = (Acked::default(), Vec::new());
        ledger.on_ack(ms(10), 0..=0, &mut acked, &mut resolved);
        let joined = Record::Messages { channel: 1, first: Seq(5), count: 4 };
        assert_eq!(resolved, [Resolved { packet: 0, record: joined }]);
        assert_eq!(acked.rtt_sample, Some(Duration::from_millis(10)));
        assert_eq!(ledger.bytes_in_flight(), 0);
    }

    #[test]
    fn a_packet_is_lost_only_when_a_later_one_was_acked_and_its_time_has_passed() {
        let (mut ledger, rtt) = (Ledger::default(), rtt_of(20));
        for number in 0..3 {
            ledger.record(message(number));
            ledger.commit(ms(u64::from(number)), 100, true);
        }
        let (mut acked, mut resolved) = (Acked::default(), Vec::new());
        assert_eq!(ledger.detect_losses(ms(100), &rtt, &mut resolved).0, 0);
        ledger.on_ack(ms(21), 1..=1, &mut acked, &mut resolved);
        resolved.clear();
        assert_eq!(ledger.detect_losses(ms(21), &rtt, &mut resolved).0, 0);
        assert_eq!(ledger.loss_due(), ms(22));
        assert_eq!(ledger.detect_losses(ms(22), &rtt, &mut resolved), (1, ms(0)));
        assert_eq!(resolved, [Resolved { packet: 0, record: message(0) }]);
        assert!(ledger.is_waiting(), "packet 2 left after the one that was acknowledged");
    }

    #[test]
    fn a_late_acknowledgement_of_a_lost_packet_widens_the_reorder_window() {
        let (mut ledger, rtt) = (Ledger::default(), rtt_of(20));
        for number in 0..2 {
            ledger.record(message(number));
            ledger.commit(ms(0), 100, true);
        }
        let (mut acked, mut resolved) = (Acked::default(), Vec::new());
        ledger.on_ack(ms(20), 1..=1, &mut acked, &mut resolved);
        assert_eq!(ledger.detect_losses(ms(30), &rtt, &mut resolved).0, 1);
        ledger.on_ack(ms(31), 0..=0, &mut acked, &mut resolved);
        assert_eq!(acked.spurious, 1);
        ledger.on_ack_done(ms(31), &acked, &rtt);
        assert_eq!(ledger.reorder_window, REORDER_WINDOW_MIN * 2);
        assert!(ledger.sent.is_empty() && ledger.records.is_empty());
    }

    #[test]
    fn probes_back_off_only_after_three() {
        let (mut ledger, rtt) = (Ledger::default(), rtt_of(20));
        ledger.record(message(0));
        ledger.commit(ms(0), 100, true);
        let spacing = ledger.probe_due(&rtt, Duration::ZERO).since(ms(0));
        let mut resolved = Vec::new();
        let factors: Vec<u32> = (0..5)
            .map(|_| {
                ledger.on_probe(ms(0), &mut resolved);
                (ledger.probe_due(&rtt, Duration::ZERO).since(ms(0)).as_micros() / spacing.as_micros()) as u32
            })
            .collect();
        assert_eq!(factors, [1, 1, 2, 4, 8]);
        assert_eq!(resolved.len(), 5);
    }

    #[test]
    fn acknowledgements_alone_leave_nothing_behind() {
        let mut ledger = Ledger::default();
        (0..1_000).for_each(|_| ledger.commit(ms(0), 20, false));
        assert_eq!(ledger.next(), 1_000);
        assert!(ledger.sent.is_empty());
        assert_eq!(ledger.probe_due(&Rtt::new(), Duration::ZERO), Time::NEVER);
    }
}
