//! Packets whose acknowledgement is overdue.
//!
//! Each packet has a probe timeout of its own (RFC 9002, section 6.2, counts from the last one sent: under a steady
//! stream of ticks that would never come up). When it is over, the packet is doubted: what it held is sent once more,
//! though nothing says yet that it is lost. A peer from whom nothing at all has come for three timeouts is silent:
//! then only single probes go out, at growing intervals, until it is heard again.

use super::{Ledger, Resolved, State};
use crate::rtt::Rtt;
use crate::time::{Duration, Time};

/// Which packets were doubted, and how long the peer has been silent.
#[derive(Debug)]
pub(super) struct Doubt {
    /// The first packet that may still be doubted.
    from: u64,
    last_eliciting_at: Time,
    /// When the peer last acknowledged anything new, or began to owe it.
    progress_at: Time,
    /// What the timeout is longer by, because packets were doubted in vain on a path that loses nothing: it is the
    /// machines that stop now and then.
    slack: Duration,
}

/// What a doubt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubted {
    /// Packets doubted.
    pub packets: u32,
    /// The peer is silent, and this is a probe.
    pub is_silent: bool,
}

const SLACK_MIN: Duration = Duration::from_millis(2);
const SLACK_MAX: Duration = Duration::from_millis(64);
const TIMEOUTS_UNTIL_SILENCE: u32 = 3;
/// Probes into silence are a timeout apart, or this part of the time that the silence has lasted.
const PROBES_PER_SILENCE: u32 = 8;
const PROBE_SPACING_MAX: Duration = Duration::from_secs(2);
/// A burst of which nothing was acknowledged is more likely to have arrived, and its acknowledgement to be lost, as long
/// as the chance that all of it was lost is below this part of the chance that one packet was.
const ALL_LOST_MAX: f32 = 1e-3;
/// Packets that left within this time are one burst.
const BURST_SPAN: Duration = Duration::from_micros(500);

impl Doubt {
    pub(super) fn starting_at(next: u64) -> Self {
        Doubt { from: next, last_eliciting_at: Time::ZERO, progress_at: Time::ZERO, slack: Duration::ZERO }
    }

    pub(super) fn on_sent(&mut self, now: Time, is_first_in_flight: bool) {
        self.last_eliciting_at = now;
        if is_first_in_flight {
            self.progress_at = now;
        }
    }

    pub(super) fn on_progress(&mut self, now: Time) {
        self.progress_at = now;
    }

    /// What was doubted had arrived, and nothing is ever lost here.
    pub(super) fn on_vain(&mut self) {
        self.slack = (self.slack * 2).clamp(SLACK_MIN, SLACK_MAX);
    }

    /// Losses happen here, and are to be found out soon.
    pub(super) fn on_loss(&mut self) {
        self.slack = if self.slack > SLACK_MIN { self.slack / 2 } else { Duration::ZERO };
    }

    /// From when on the peer counts as silent.
    fn silent_from(&self, timeout: Duration) -> Time {
        self.progress_at + timeout * TIMEOUTS_UNTIL_SILENCE
    }
}

impl Ledger {
    /// When the next packet is overdue, or the next probe is due. While the path `is_full`, later packets tell of losses,
    /// and only silence is probed.
    pub fn doubt_due(&self, rtt: &Rtt, ack_delay: Duration, is_full: bool) -> Time {
        if self.eliciting_in_flight == 0 {
            return Time::NEVER;
        }
        let timeout = rtt.probe_timeout(ack_delay) + self.doubt.slack;
        let silent_from = self.doubt.silent_from(timeout);
        let overdue = self.first_undoubted().map_or(Time::NEVER, |packet| packet.at + timeout);
        if overdue <= silent_from && !is_full {
            return overdue;
        }
        let silence = self.doubt.last_eliciting_at.since(self.doubt.progress_at);
        let spacing = (silence / PROBES_PER_SILENCE).min(PROBE_SPACING_MAX).max(timeout);
        silent_from.max(self.doubt.last_eliciting_at + spacing)
    }

    /// When the last packet that asks for an acknowledgement left, or the last probe was due.
    pub fn last_sent_at(&self) -> Time {
        self.doubt.last_eliciting_at
    }

    /// It is due: `resolved` receives what is to be sent once more. It stays in flight: nothing says yet that it is lost.
    pub fn on_doubt(
        &mut self,
        now: Time,
        rtt: &Rtt,
        ack_delay: Duration,
        is_full: bool,
        resolved: &mut Vec<Resolved>,
    ) -> Doubted {
        let timeout = rtt.probe_timeout(ack_delay) + self.doubt.slack;
        let silent_from = self.doubt.silent_from(timeout);
        let mut doubted = Doubted { packets: 0, is_silent: false };
        while let Some(overdue) = self.first_undoubted().map(|packet| packet.at + timeout)
            && overdue <= now.min(silent_from)
            && !is_full
        {
            let index = (self.doubt.from - self.base) as usize;
            self.doubt_packet(index, resolved);
            doubted.packets += 1;
            self.doubt.from += self.packets_spared(index);
            self.skip_settled_doubts();
        }
        if doubted.packets == 0 {
            doubted.is_silent = true;
            self.doubt.last_eliciting_at = now;
            self.doubt.from = self.next();
            let oldest =
                self.sent.iter().position(|packet| packet.state == State::InFlight && self.has_content(packet));
            if let Some(index) = oldest {
                self.doubt_packet(index, resolved);
                doubted.packets = 1;
            }
        }
        doubted
    }

    /// How many packets from this one on need not be doubted once it was. Nothing of their burst, or later, was
    /// acknowledged: rather than all of them the acknowledgement was lost, and that of the copy will tell.
    fn packets_spared(&self, index: usize) -> u64 {
        let at = self.sent[index].at;
        let is_same = |packet: &&super::Sent| packet.at.since(at) <= BURST_SPAN;
        let is_heard_of = self.latest_acked_sent_at + BURST_SPAN >= at;
        let count = self.sent.range(index..).take_while(is_same).count();
        let all_lost = (1.0 - 1.0 / self.losses.burst_length()).max(self.losses.rate()).powi(count as i32 - 1);
        if !is_heard_of && all_lost < ALL_LOST_MAX { count as u64 } else { 1 }
    }

    /// The content of this packet is wanted in another copy: hands it up if it is still in flight.
    pub fn copy(&mut self, number: u64, resolved: &mut Vec<Resolved>) {
        let Some(index) = number.checked_sub(self.base).map(|index| index as usize) else { return };
        if self.sent.get(index).is_some_and(|packet| packet.state == State::InFlight) {
            self.doubt_packet(index, resolved);
        }
    }

    fn doubt_packet(&mut self, index: usize, resolved: &mut Vec<Resolved>) {
        self.resolve(index, resolved);
        self.sent[index].is_doubted = true;
    }

    fn first_undoubted(&self) -> Option<&super::Sent> {
        self.sent.get(self.doubt.from.checked_sub(self.base)? as usize)
    }

    /// Moves on to the next packet that may be doubted.
    pub(super) fn skip_settled_doubts(&mut self) {
        self.doubt.from = self.doubt.from.max(self.base);
        while self.first_undoubted().is_some_and(|packet| packet.state != State::InFlight || packet.is_doubted) {
            self.doubt.from += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Acked;
    use super::super::played::{ms, send, steady_rtt};
    use super::*;

    #[test]
    fn each_packet_is_doubted_once_though_later_ones_leave() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        send(&mut ledger, ms(0), 0);
        send(&mut ledger, ms(16), 1);
        assert_eq!(ledger.doubt_due(&rtt, Duration::ZERO, false), ms(22));
        let mut resolved = Vec::new();
        let doubted = ledger.on_doubt(ms(22), &rtt, Duration::ZERO, false, &mut resolved);
        assert_eq!(doubted, Doubted { packets: 1, is_silent: false });
        assert_eq!(resolved[0].packet, 0);
        assert_eq!(ledger.doubt_due(&rtt, Duration::ZERO, false), ms(38));
        let mut acked = Acked::default();
        ledger.on_ack(ms(37), 1..=1, &mut acked, &mut resolved);
        ledger.on_ack_done(ms(37), &acked, &rtt, true);
        assert_eq!(ledger.doubt_due(&rtt, Duration::ZERO, false), ms(37 + 66), "the doubted one is left to a probe");
    }

    #[test]
    fn who_doubts_in_vain_grows_patient_where_nothing_is_ever_lost() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        let doubt_in_vain = |ledger: &mut Ledger, at: Time, number: u64| {
            let mut resolved = Vec::new();
            send(ledger, at, number as u32);
            let due = ledger.doubt_due(&rtt, Duration::ZERO, false);
            ledger.on_doubt(due, &rtt, Duration::ZERO, false, &mut resolved);
            let mut acked = Acked::default();
            ledger.on_ack(due, number..=number, &mut acked, &mut resolved);
            ledger.on_ack_done(due, &acked, &rtt, true);
            due.since(at)
        };
        let waits: Vec<_> =
            (0..7).map(|at| doubt_in_vain(&mut ledger, ms(at * 1_000), at).as_millis() as u64).collect();
        assert_eq!(waits, [22, 24, 26, 30, 38, 54, 86]);
        send(&mut ledger, ms(8_000), 7);
        send(&mut ledger, ms(8_001), 8);
        ledger.on_ack(ms(8_021), 8..=8, &mut Acked::default(), &mut Vec::new());
        ledger.detect_losses(ms(8_030), &rtt, &mut Vec::new());
        assert_eq!(doubt_in_vain(&mut ledger, ms(9_000), 9).as_millis(), 22 + 32, "less after a loss");
    }

    #[test]
    fn a_silent_peer_gets_single_probes_at_growing_intervals() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        let (mut now, mut sequence, mut probes) = (ms(0), 0, Vec::new());
        while now < ms(2_000) {
            send(&mut ledger, now, sequence);
            sequence += 1;
            let next = ledger.doubt_due(&rtt, Duration::ZERO, false);
            let mut resolved = Vec::new();
            let doubted = ledger.on_doubt(next, &rtt, Duration::ZERO, false, &mut resolved);
            if doubted.is_silent {
                probes.push(next.since(now).as_millis());
            }
            now = next;
        }
        assert!(probes.iter().is_sorted() && probes[0] == 22 && probes.len() > 15, "{probes:?}");
    }
}
