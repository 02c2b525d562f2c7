//! The outcome of this side's packets: acknowledged, or recovered by the peer.

use crate::congestion::{AckSample, LossSample};
use crate::connection::packet_log::{LossTrigger, PacketEvent};
use crate::connection::{Connection, Context};
use crate::recovery::ledger::{AckedPackets, LostPackets};
use crate::recovery::{Control, Record, Resolved};
use crate::time::{Duration, Time};
use crate::wire::ack::{Ack, Repaired};

/// An acknowledgement may leave this much later than agreed without being overdue: machines are busy now and then.
const ACK_DELAY_TOLERANCE: Duration = Duration::from_millis(10);

impl Connection {
    pub(super) fn on_ack(&mut self, cx: &mut Context<'_>, number: u64, ack: &Ack<'_>) {
        let largest = ack.largest.resolve(self.sending.ledger.next());
        let mut acked = AckedPackets::default();
        for range in ack.ranges(largest).flatten() {
            self.sending.ledger.on_ack(cx.now, range, &mut acked, &mut cx.scratch.resolved);
        }
        if let Some(sample) = acked.rtt_sample() {
            // The delay may be greater than the settings allow: an acknowledgement that was lost is repeated later.
            let ack_delay = Duration::from_micros(ack.delay_us);
            if self.path.current.carrier.is_reliable {
                // Every acknowledgement is delayed there, so the smallest sample contains a delay, too, and the caution
                // of RFC 9002 would never subtract it. The peer's value is only used for statistics, because nothing is
                // retransmitted on a stream.
                self.path.rtt.on_sample(sample.saturating_sub(ack_delay), Duration::ZERO);
            } else {
                let greatest = self.terms.settings.greatest_ack_delay();
                self.stats.acks_overdue += u64::from(ack_delay > greatest + ACK_DELAY_TOLERANCE);
                self.path.rtt.on_delayed_sample(sample, ack_delay, greatest);
            }
        }
        if number >= self.sending.window_from {
            self.sending.window_from = number;
            self.channels.on_window(ack.window.unwrap_or(u64::from(self.terms.sends.window_bytes)));
        }
        if let Some((sent_at, stamp)) = acked.latest {
            self.path.congestion.on_ack(&AckSample {
                now: cx.now,
                bytes: acked.bytes,
                sent_at,
                stamp,
                rtt: acked.rtt_sample().map(|_| self.path.rtt.latest()),
                smoothed: self.path.rtt.smoothed(),
                bytes_in_flight: self.sending.ledger.bytes_in_flight(),
            });
        }
        self.stats.packets_spurious += u64::from(acked.spurious);
        if acked.spurious > 0 {
            self.log(cx.now, || PacketEvent::Spurious { packets: acked.spurious });
        }
        self.note_sizes_acked(&cx.scratch.resolved);
        self.settle_arrived(cx);
        if !self.path.current.carrier.is_reliable {
            self.detect_losses(cx);
        }
        let is_paused = acked.suspected && self.has_peer_paused(cx.now);
        self.sending.ledger.on_ack_done(cx.now, &acked, &self.path.rtt, is_paused);
        self.log_metrics(cx.now);
    }

    /// Packets that were suspected lost had arrived: either their acknowledgement was lost, or the peer's machine
    /// paused.
    fn has_peer_paused(&self, now: Time) -> bool {
        let is_ack_lost = self.receiving.received.had_gap(now, self.path.rtt.probe_timeout(self.peers_delay()) * 2);
        self.is_calm(now) && !is_ack_lost
    }

    /// The content of lost packets that the peer recovered has arrived, but the packets still count as losses of the
    /// path.
    pub(super) fn on_repaired(&mut self, cx: &mut Context<'_>, repaired: &Repaired<'_>) {
        let largest = repaired.largest.resolve(self.sending.ledger.next());
        let mut lost = LostPackets::default();
        for range in repaired.ranges(largest).flatten() {
            lost.add(self.sending.ledger.on_repaired(cx.now, range, &mut cx.scratch.resolved));
        }
        self.note_sizes_recovered(&cx.scratch.resolved);
        // Repairs do not recover acknowledgements: the peer has not received those in the lost packets.
        let is_ack = |resolved: &Resolved| matches!(resolved.record, Record::Control(Control::AckUpTo(_)));
        let are_acks_lost = cx.scratch.resolved.iter().any(is_ack);
        cx.scratch.resolved.retain(|resolved| !is_ack(resolved));
        if are_acks_lost && self.receiving.window.news_from.is_some() {
            self.tell_window(cx.now);
        }
        if lost.packets > 0 {
            self.log_lost(cx.now, LossTrigger::RepairedByPeer);
            self.stats.packets_lost += u64::from(lost.packets);
            self.stats.redundancy.packets_recovered_by_peer += u64::from(lost.packets);
            self.path.congestion.on_loss(cx.now, LossSample { bytes: lost.bytes, sent_at: lost.last_sent });
        }
        self.settle_arrived(cx);
    }

    /// Everything resolved has arrived at the peer.
    fn settle_arrived(&mut self, cx: &mut Context<'_>) {
        for resolved in cx.scratch.resolved.drain(..) {
            match resolved.record {
                Record::Control(Control::AckUpTo(number)) => {
                    self.receiving.received.on_ack_confirmed(resolved.packet, number);
                    self.receiving.window.news_from =
                        self.receiving.window.news_from.filter(|from| resolved.packet < *from);
                }
                Record::Control(Control::Accept) => {
                    self.timers.is_confirmed = true;
                    self.sending.pending.accept = false;
                }
                Record::Control(Control::Connect | Control::NewId(_)) => {}
                _ => self.channels.on_acked(resolved, &mut cx.scratch.receipts),
            }
        }
        self.push_receipts(cx);
    }
}
