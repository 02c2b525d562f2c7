//! Packets that are lost: a later one was acknowledged, and `RTT + reorder window` has passed since they left (RACK,
//! RFC 8985); and the use of losses in the estimate of the path.

mod state;

use super::Ledger;
use super::packet::{LostPackets, PacketState};
use crate::recovery::clean::CLEAN_PACKETS;
use crate::recovery::record::Resolved;
use crate::rtt::Rtt;
use crate::time::{Duration, Time};
pub(super) use state::LossDetection;

/// Time without a loss after which the peer may hold its acknowledgements back. This is less than the peer's own time
/// (`Received::is_quiet`): the peer sees losses and repairs at about the same time as this side.
const CALM_AFTER: Duration = Duration::from_secs(2);
impl Ledger {
    /// Declares packets lost whose time has passed; `resolved` receives their records.
    pub(crate) fn detect_losses(&mut self, now: Time, rtt: &Rtt, resolved: &mut Vec<Resolved>) -> LostPackets {
        self.loss.due = Time::NEVER;
        let mut lost = LostPackets::default();
        let Some(largest) = self.largest_acked else { return lost };
        let patience = rtt.smoothed().max(rtt.latest()) + self.loss.reorder_window + self.lateness(rtt);
        let end = ((largest + 1).saturating_sub(self.base) as usize).min(self.sent.len());
        let mut run = 0;
        for index in 0..end {
            let packet = &mut self.sent[index];
            if packet.state != PacketState::InFlight || packet.at > self.latest_acked_sent_at {
                run = packet.state.continued(run);
                continue;
            }
            let due = packet.at + patience;
            if due > now {
                self.loss.due = self.loss.due.min(due);
                continue;
            }
            packet.state = PacketState::Lost;
            self.bytes_in_flight -= u32::from(packet.bytes);
            self.eliciting_in_flight -= 1;
            run += 1;
            lost.add_packet(packet, run);
            if let Some(numbers) = &mut self.lost_numbers {
                numbers.push((self.base + index as u64, packet.bytes));
            }
            self.resolve(index, resolved);
        }
        if lost.packets > 0 {
            self.loss.on_lost(now);
            self.loss.on_found(lost.packets);
            self.probing.on_loss();
        }
        lost
    }

    /// When the next packet may have to be declared lost.
    pub(crate) fn loss_due(&self) -> Time {
        self.loss.due
    }

    /// A repair left: the path is not trusted.
    pub(crate) fn on_repair_sent(&mut self, now: Time) {
        self.loss.troubled_at = now;
    }

    /// Whether the path has lost nothing for some time, and loses packets rarely.
    pub(crate) fn is_calm(&self, now: Time) -> bool {
        now.since(self.loss.troubled_at) >= CALM_AFTER && self.is_rarely_lossy(CLEAN_PACKETS - CLEAN_PACKETS / 8)
    }

    /// Whether anything was lost recently: then acknowledgements may be lost, too.
    pub(crate) fn has_lost_lately(&self, now: Time) -> bool {
        now.since(self.loss.lost_at) < CALM_AFTER && self.loss.lost_at > Time::ZERO
            || !self.is_rarely_lossy(CLEAN_PACKETS)
    }

    /// Whether nothing was ever lost, or nothing of this many packets since the last loss.
    fn is_rarely_lossy(&self, packets: u64) -> bool {
        self.losses.clean_since_loss().is_none_or(|clean| u64::from(clean) >= packets)
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::AckedPackets;
    use super::super::played::{ms, send, steady_rtt};
    use super::state::REORDER_WINDOW_MIN;
    use super::*;
    use crate::path::Lateness;
    use crate::recovery::record::Record;
    use crate::seq::Seq;

    #[test]
    fn a_packet_is_lost_only_after_a_later_ack_and_its_reorder_time() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        (0..3).for_each(|number| send(&mut ledger, ms(u64::from(number)), number));
        let (mut acked, mut resolved) = (AckedPackets::default(), Vec::new());
        assert_eq!(ledger.detect_losses(ms(100), &rtt, &mut resolved).packets, 0);
        ledger.on_ack(ms(21), 1..=1, &mut acked, &mut resolved);
        resolved.clear();
        assert_eq!(ledger.detect_losses(ms(21), &rtt, &mut resolved).packets, 0);
        assert_eq!(ledger.loss_due(), ms(22));
        let lost = LostPackets { packets: 1, bytes: 100, last_sent: ms(0) };
        assert_eq!(ledger.detect_losses(ms(22), &rtt, &mut resolved), lost);
        let record = Record::Messages { channel: 1, first: Seq(0), count: 1 };
        assert_eq!(resolved, [Resolved { packet: 0, record, born: ms(0), was_suspected: false }]);
        assert!(ledger.is_waiting(), "packet 2 left after the one that was acknowledged");
    }

    #[test]
    fn a_retransmitting_carrier_adds_four_round_trips_to_the_reorder_time() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        ledger.set_lateness(Lateness::QUIC);
        (0..2).for_each(|number| send(&mut ledger, ms(number), number as u32));
        let (mut acked, mut resolved) = (AckedPackets::default(), Vec::new());
        let alone = ledger.probe_due(&rtt, Duration::ZERO, false);
        assert!(alone >= ms(20 + 4 * 20 + 25), "{alone:?}");
        ledger.on_ack(ms(21), 1..=1, &mut acked, &mut resolved);
        resolved.clear();
        assert_eq!(ledger.detect_losses(ms(22 + 4 * 20 + 24), &rtt, &mut resolved).packets, 0);
        assert_eq!(ledger.detect_losses(ms(22 + 4 * 20 + 25), &rtt, &mut resolved).packets, 1);
        // An acknowledgement that arrives later still counts.
        let mut late = AckedPackets::default();
        ledger.on_ack_done(ms(22 + 4 * 20 + 25), &acked, &rtt, false);
        ledger.on_ack(ms(22 + 4 * 20 + 30), 0..=0, &mut late, &mut resolved);
        assert_eq!(late.spurious, 1);
    }

    #[test]
    fn the_eight_packet_threshold_applies_to_late_reports_too() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        // 40 are lost in a row, then every other one.
        (0..60).for_each(|number| send(&mut ledger, ms(u64::from(number)), number));
        let (mut acked, mut resolved, mut bytes) = (AckedPackets::default(), Vec::new(), 0);
        for number in (41..60).step_by(2) {
            ledger.on_ack(ms(number + 20), number..=number, &mut acked, &mut resolved);
            bytes += ledger.detect_losses(ms(number + 20), &rtt, &mut resolved).bytes;
        }
        assert_eq!(bytes, 100 * (8 + 8));
    }

    #[test]
    fn a_late_acknowledgement_of_a_lost_packet_widens_the_reorder_window() {
        let (mut ledger, rtt) = (Ledger::default(), steady_rtt());
        (0..2).for_each(|number| send(&mut ledger, ms(0), number));
        let (mut acked, mut resolved) = (AckedPackets::default(), Vec::new());
        ledger.on_ack(ms(20), 1..=1, &mut acked, &mut resolved);
        assert_eq!(ledger.detect_losses(ms(30), &rtt, &mut resolved).packets, 1);
        ledger.on_ack(ms(31), 0..=0, &mut acked, &mut resolved);
        assert_eq!(acked.spurious, 1);
        ledger.on_ack_done(ms(31), &acked, &rtt, false);
        assert_eq!(ledger.loss.reorder_window, REORDER_WINDOW_MIN * 2);
        assert!(ledger.sent.is_empty() && ledger.contents.is_empty());
    }
}
