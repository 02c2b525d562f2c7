//! Settling: records the composed packet in the ledger, the congestion controller, redundancy and the statistics, and
//! seals it.

use super::compose::Composed;
use super::decide::{AckRepeat, Decision, RetransmitScope};
use crate::connection::Connection;
use crate::recovery::{Control, Record};
use crate::time::Time;
use crate::wire::datagram::HEADER_BYTES;

impl Connection {
    /// Notes the packet as sent, seals it, and returns the datagram's length.
    #[inline]
    pub(super) fn settle(&mut self, now: Time, buffer: &mut [u8], decision: &Decision, composed: &Composed) -> usize {
        let sealed = composed.content.end + decision.overhead;
        let class = decision.class.filter(|_| composed.new_payload_bytes > 0 || composed.messages > 0);
        if let Some(number) = composed.acked_up_to {
            self.receiving.window.told = composed.window;
            self.sending.ledger.record(Record::Control(Control::AckUpTo(number)));
        }
        self.stats.sent.messages += u64::from(composed.messages);
        self.stats.sent.payload_bytes += u64::from(composed.new_payload_bytes);
        self.stats.resent += u64::from(composed.resent);
        if let Some(class) = class {
            self.note_burst_packet(class, composed.acked_up_to.is_some());
        }
        // A stream carries packets of any length.
        if composed.is_full && decision.target == usize::MAX && !self.path.current.carrier.is_reliable {
            self.path.mtu.on_full();
        }
        if let Some(record) = self.size_record(sealed).filter(|_| composed.is_ack_eliciting) {
            self.sending.ledger.record(record);
        }
        self.log_sent(now, composed.number, sealed, &buffer[..composed.content.end]);
        self.commit(now, sealed, composed.is_ack_eliciting, composed.age_ms);
        self.settle_redundancy(now, buffer, decision, composed, sealed);
        if composed.is_ack_eliciting {
            self.sending.pending.probes = self.sending.pending.probes.saturating_sub(1);
        }
        self.security.seal(buffer, HEADER_BYTES..composed.content.end, composed.number)
    }

    /// Earns budget, feeds the encoder, schedules copies, and counts the cost of redundancy.
    #[inline]
    fn settle_redundancy(&mut self, now: Time, buffer: &[u8], decision: &Decision, composed: &Composed, sealed: usize) {
        let carrier = self.path.current.carrier;
        let class = decision.class.filter(|_| composed.new_payload_bytes > 0 || composed.messages > 0);
        if let Some(class) = class.filter(|_| !carrier.is_reliable) {
            self.redundancy.earn(sealed - composed.repeated_bytes + usize::from(carrier.overhead_bytes));
            let content = if composed.age_ms == 0 { composed.content.clone() } else { 0..0 };
            self.on_source(now, class, composed.number, &buffer[content]);
        }
        if composed.repeated_bytes > 0 {
            self.stats.redundancy.copies_sent += 1;
            self.stats.redundancy.bytes_sent += composed.repeated_bytes as u64;
        }
        let has_copies = decision.retransmission == RetransmitScope::WithCopies && composed.resent > 0;
        if composed.age_ms > 0 || has_copies {
            self.plan_copies(now, composed.number, decision.class.filter(|_| !has_copies), sealed);
        }
        if !self.channels.has_lost() {
            self.redundancy.on_nothing_to_retransmit();
        }
        if composed.is_repair {
            self.sending.ledger.on_repair_sent(now);
            self.stats.redundancy.repairs_sent += 1;
            self.stats.redundancy.bytes_sent += (sealed + usize::from(carrier.overhead_bytes)) as u64;
        }
    }

    /// After a packet that was void: whether another decision would differ.
    pub(super) fn settle_void(
        &mut self,
        now: Time,
        decision: &Decision,
        composed: &Composed,
        repeat: AckRepeat,
    ) -> bool {
        let is_ack_in_the_way =
            (composed.is_full || decision.repair) && composed.acked_up_to.is_some() && repeat == AckRepeat::Allowed;
        let are_repairs_dropped = decision.repair && !self.redundancy.has_repairs(now);
        // The messages that waited to be retransmitted have arrived meanwhile: until now, they held back new messages.
        let has_arrived = decision.retransmission == RetransmitScope::WithCopies && !self.has_lost_with_copies();
        if !self.channels.has_lost() {
            self.redundancy.on_nothing_to_retransmit();
        }
        is_ack_in_the_way || are_repairs_dropped || has_arrived
    }
}
