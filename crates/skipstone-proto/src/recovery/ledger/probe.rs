//! Packets whose acknowledgement is overdue: suspected lost (probe timeout, PTO).
//!
//! Each packet has its own probe timeout (RFC 9002, section 6.2, counts from the last one sent: under a steady stream
//! of ticks that would never expire). When it expires, the packet is suspected lost: its content is retransmitted,
//! although the packet is not yet declared lost. A peer from which nothing was received for three timeouts is silent:
//! then only single probes are sent, at growing intervals, until a packet of the peer arrives.

mod state;

use super::Ledger;
use super::packet::{PacketState, SentPacket};
use crate::recovery::record::Resolved;
use crate::rtt::Rtt;
use crate::time::{Duration, Time};
pub(super) use state::Probing;

/// The result of a probe timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suspected {
    /// Packets suspected lost.
    pub packets: u32,
    /// The peer is silent, and this is a probe.
    pub is_silent: bool,
}

/// Probes of a silent peer are one timeout apart, or this fraction of the time that it has been silent.
const PROBES_PER_SILENCE: u32 = 16;
const PROBE_SPACING_MAX: Duration = Duration::from_secs(2);
/// A burst of which nothing was acknowledged has more likely arrived while its acknowledgement was lost, as long as the
/// probability that all of it was lost is below this fraction of the probability that one packet was lost.
const ALL_LOST_MAX: f32 = 1e-3;
/// Packets that left within this time are one burst.
const BURST_SPAN: Duration = Duration::from_micros(500);

impl Ledger {
    /// The time when the next packet is overdue, or the next probe is due. While the path `is_full`, later packets
    /// reveal losses, and only a whole timeout without anything from the peer is probed: after a move, neither side
    /// receives anything until one of them sends.
    pub(crate) fn probe_due(&self, rtt: &Rtt, ack_delay: Duration, is_full: bool) -> Time {
        if self.eliciting_in_flight == 0 {
            return Time::NEVER;
        }
        let is_full = is_full || !rtt.is_measured();
        let (timeout, lateness) = (rtt.probe_timeout(ack_delay) + self.probing.slack, self.lateness(rtt));
        let silent_from = self.probing.silent_from(timeout, rtt) + lateness;
        let overdue = self.first_unsuspected().map_or(Time::NEVER, |packet| packet.at + timeout + lateness);
        if overdue <= silent_from && !is_full {
            return overdue;
        }
        // WHY: the spacing counts from the last probe and not from the last packet: under a steady stream of ticks it
        // would never end.
        let silence = self.probing.last_probe_at.since(self.probing.progress_at);
        let spacing = (silence / PROBES_PER_SILENCE).min(PROBE_SPACING_MAX).max(timeout);
        let spaced = self.probing.last_probe_at + spacing;
        if is_full { spaced.max(self.probing.progress_at + timeout + lateness) } else { spaced.max(silent_from) }
    }

    /// Sending time of the last packet that asks for an acknowledgement, or the time at which the last probe was due.
    pub(crate) fn last_sent_at(&self) -> Time {
        self.probing.last_eliciting_at
    }

    /// The probe timeout expired: `resolved` receives the records to retransmit. The packet stays in flight: it is not
    /// yet declared lost.
    pub(crate) fn on_probe_timeout(
        &mut self,
        now: Time,
        rtt: &Rtt,
        ack_delay: Duration,
        is_full: bool,
        resolved: &mut Vec<Resolved>,
    ) -> Suspected {
        let is_full = is_full || !rtt.is_measured();
        let (timeout, lateness) = (rtt.probe_timeout(ack_delay) + self.probing.slack, self.lateness(rtt));
        let silent_from = self.probing.silent_from(timeout, rtt) + lateness;
        let mut suspected = Suspected { packets: 0, is_silent: false };
        self.probing.last_probe_at = now;
        while let Some(overdue) = self.first_unsuspected().map(|packet| packet.at + timeout + lateness)
            && overdue <= now.min(silent_from)
            && !is_full
        {
            let index = (self.probing.from - self.base) as usize;
            self.suspect_packet(index, resolved);
            suspected.packets += 1;
            self.probing.from += self.burst_packets(index);
            self.skip_settled();
        }
        if suspected.packets == 0 {
            suspected.is_silent = now >= silent_from;
            self.probing.last_eliciting_at = now;
            self.probing.from = self.next();
            let oldest = self.sent.iter().position(|packet| {
                packet.state == PacketState::InFlight && self.contents.are_worth_sending(packet.contents)
            });
            if let Some(index) = oldest {
                self.suspect_packet(index, resolved);
                suspected.packets = 1;
            }
        }
        suspected
    }

    /// Number of packets from this one on that need not be suspected once it was. Nothing of their burst, or later, was
    /// acknowledged: it is more likely that the acknowledgement was lost than all of the packets, and the
    /// acknowledgement of the copy decides.
    fn burst_packets(&self, index: usize) -> u64 {
        let at = self.sent[index].at;
        let is_same = |packet: &&SentPacket| packet.at.since(at) <= BURST_SPAN;
        let is_heard_of = self.latest_acked_sent_at + BURST_SPAN >= at;
        let count = self.sent.range(index..).take_while(is_same).count();
        let all_lost = (1.0 - 1.0 / self.losses.burst_length()).max(self.losses.rate()).powi(count as i32 - 1);
        if !is_heard_of && all_lost < ALL_LOST_MAX { count as u64 } else { 1 }
    }

    /// The content of this packet must be copied again: returns it if it is still in flight.
    pub(crate) fn copy(&mut self, number: u64, resolved: &mut Vec<Resolved>) {
        let Some(index) = number.checked_sub(self.base).map(|index| index as usize) else { return };
        if self.sent.get(index).is_some_and(|packet| packet.state == PacketState::InFlight) {
            self.suspect_packet(index, resolved);
        }
    }

    fn suspect_packet(&mut self, index: usize, resolved: &mut Vec<Resolved>) {
        self.resolve(index, resolved);
        self.sent[index].is_suspected = true;
    }

    fn first_unsuspected(&self) -> Option<&SentPacket> {
        self.sent.get(self.probing.from.checked_sub(self.base)? as usize)
    }

    /// Moves on to the next packet that may be suspected.
    pub(super) fn skip_settled(&mut self) {
        self.probing.from = self.probing.from.max(self.base);
        while self
            .first_unsuspected()
            .is_some_and(|packet| packet.state != PacketState::InFlight || packet.is_suspected)
        {
            self.probing.from += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::AckedPackets;
    use super::super::played::{ms, send, steady_rtt};
    use super::*;

    #[test]
    fn each_packet_is_suspected_once_even_if_later_ones_leave() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        send(&mut ledger, ms(0), 0);
        send(&mut ledger, ms(16), 1);
        assert_eq!(ledger.probe_due(&rtt, Duration::ZERO, false), ms(22));
        let mut resolved = Vec::new();
        let suspected = ledger.on_probe_timeout(ms(22), &rtt, Duration::ZERO, false, &mut resolved);
        assert_eq!(suspected, Suspected { packets: 1, is_silent: false });
        assert_eq!(resolved[0].packet, 0);
        assert_eq!(ledger.probe_due(&rtt, Duration::ZERO, false), ms(38));
        let mut acked = AckedPackets::default();
        ledger.on_ack(ms(37), 1..=1, &mut acked, &mut resolved);
        ledger.on_ack_done(ms(37), &acked, &rtt, true);
        assert_eq!(ledger.probe_due(&rtt, Duration::ZERO, false), ms(37 + 66), "the suspected one is left to a probe");
    }

    #[test]
    fn spurious_suspicions_lengthen_the_timeout_on_a_lossless_path() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        let suspect_spuriously = |ledger: &mut Ledger, at: Time, number: u64| {
            let mut resolved = Vec::new();
            send(ledger, at, number as u32);
            let due = ledger.probe_due(&rtt, Duration::ZERO, false);
            ledger.on_probe_timeout(due, &rtt, Duration::ZERO, false, &mut resolved);
            let mut acked = AckedPackets::default();
            ledger.on_ack(due, number..=number, &mut acked, &mut resolved);
            ledger.on_ack_done(due, &acked, &rtt, true);
            due.since(at)
        };
        let waits: Vec<_> =
            (0..7).map(|at| suspect_spuriously(&mut ledger, ms(at * 1_000), at).as_millis() as u64).collect();
        assert_eq!(waits, [22, 24, 26, 30, 38, 54, 86]);
        send(&mut ledger, ms(8_000), 7);
        send(&mut ledger, ms(8_001), 8);
        ledger.on_ack(ms(8_021), 8..=8, &mut AckedPackets::default(), &mut Vec::new());
        ledger.detect_losses(ms(8_030), &rtt, &mut Vec::new());
        assert_eq!(suspect_spuriously(&mut ledger, ms(9_000), 9).as_millis(), 22 + 32, "less after a loss");
    }

    #[test]
    fn a_full_window_is_probed_after_a_silent_timeout() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        for number in 0..10 {
            send(&mut ledger, ms(u64::from(number)), number);
        }
        assert_eq!(ledger.probe_due(&rtt, Duration::ZERO, true), ms(22), "later packets do not postpone a probe");
        let (mut acked, mut resolved) = (AckedPackets::default(), Vec::new());
        ledger.on_ack(ms(25), 0..=0, &mut acked, &mut resolved);
        ledger.on_ack_done(ms(25), &acked, &rtt, true);
        assert_eq!(ledger.probe_due(&rtt, Duration::ZERO, true), ms(25 + 22), "something came");
        let suspected = ledger.on_probe_timeout(ms(47), &rtt, Duration::ZERO, true, &mut resolved);
        assert_eq!(suspected, Suspected { packets: 1, is_silent: false });
        let mut probes = vec![47];
        while probes.len() < 5 {
            let due = ledger.probe_due(&rtt, Duration::ZERO, true);
            let is_silent = ledger.on_probe_timeout(due, &rtt, Duration::ZERO, true, &mut Vec::new()).is_silent;
            assert_eq!(is_silent, due >= ms(25 + 66), "silence is three timeouts");
            probes.push(due.since(ms(0)).as_millis());
        }
        assert_eq!(probes, [47, 69, 91, 113, 135]);
    }

    #[test]
    fn a_steady_stream_does_not_postpone_the_probes_of_a_silent_peer() {
        for rtt in [Rtt::new(), steady_rtt()] {
            let timeout = rtt.probe_timeout(Duration::ZERO);
            let (mut ledger, mut silent_probes) = (Ledger::default(), Vec::new());
            for number in 0..120 {
                let now = ms(16 * u64::from(number));
                send(&mut ledger, now, number);
                let due = ledger.probe_due(&rtt, Duration::ZERO, false);
                if due < now + Duration::from_millis(16) {
                    let suspected = ledger.on_probe_timeout(due, &rtt, Duration::ZERO, false, &mut Vec::new());
                    silent_probes.extend(suspected.is_silent.then_some(due));
                }
            }
            let silent_from = timeout * if rtt.is_measured() { 3 } else { 1 };
            assert!(silent_probes[0] <= ms(0) + silent_from + timeout, "{silent_probes:?}");
            let gaps: Vec<_> = silent_probes.windows(2).map(|pair| pair[1].since(pair[0])).collect();
            assert!(gaps.iter().all(|gap| *gap <= timeout * 6) && gaps.len() > 2, "{gaps:?}");
        }
    }

    #[test]
    fn a_silent_peer_gets_single_probes_with_backoff() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        let (mut now, mut sequence, mut probes) = (ms(0), 0, Vec::new());
        while now < ms(2_000) {
            send(&mut ledger, now, sequence);
            sequence += 1;
            let next = ledger.probe_due(&rtt, Duration::ZERO, false);
            let mut resolved = Vec::new();
            let suspected = ledger.on_probe_timeout(next, &rtt, Duration::ZERO, false, &mut resolved);
            if suspected.is_silent {
                probes.push(next.since(now).as_millis());
            }
            now = next;
        }
        assert!(probes.iter().is_sorted() && probes[0] == 22 && probes.len() > 15, "{probes:?}");
    }
}
