//! The bursts in which new messages of a class leave: planned, followed by repairs, ended.

use super::class::Class;
use crate::channel::classes::ClassId;
use crate::connection::Connection;
use crate::redundancy::policy::{Burst, BurstPlan};
use crate::time::{Duration, Time};
use crate::wire::redundancy::RedundancyMode;

/// Maximum spacing of repairs and copies, which is a fraction of the round-trip time.
const SPACING_MAX: Duration = Duration::from_millis(5);
const SPACING_MIN: Duration = Duration::from_millis(1);
/// Mean number of consecutive losses from which the second repair of a burst is spaced from the first.
const BURSTY: f32 = 1.3;
const REPAIRS_PER_RTT: u32 = 10;
/// Two round trips of this and the time to notice are less than a tick of 60 in a second.
const SHORT_PATH: Duration = Duration::from_millis(4);

impl Connection {
    /// The spacing of copies, or of repairs of one burst: a fraction of the round-trip time.
    pub(super) fn spacing(&self, per_rtt: u32) -> Duration {
        (self.path.rtt.smoothed() / per_rtt).clamp(SPACING_MIN, SPACING_MAX)
    }

    /// How long a packet may wait for a spaced repair.
    pub(in crate::connection) fn repair_grace(&self) -> Duration {
        let is_repairing = self.redundancy.classes.iter().any(Class::is_repairing);
        if self.is_bursty() && is_repairing { self.spacing(REPAIRS_PER_RTT) } else { Duration::ZERO }
    }

    /// Whether losses come in bursts, so that repairs of one burst should not leave together.
    fn is_bursty(&self) -> bool {
        self.sending.ledger.losses().burst_length() >= BURSTY
    }

    /// Plans the burst of a class whose new messages are about to leave, if there is no plan yet, and returns the
    /// target size of the next packet.
    pub(in crate::connection) fn burst_target(
        &mut self,
        now: Time,
        id: ClassId,
        overhead: usize,
        capacity: usize,
    ) -> usize {
        let class = &mut self.redundancy.classes[usize::from(id)];
        if class.mode != RedundancyMode::Adaptive || self.path.current.carrier.is_reliable {
            return usize::MAX;
        }
        let is_protected = match class.burst {
            Some(plan) => plan.repairs > 0,
            None => {
                let is_short = self.path.rtt.is_measured() && self.path.rtt.smoothed() < SHORT_PATH;
                class.protects(self.sending.ledger.losses(), is_short)
            }
        };
        if !is_protected {
            // As few packets as possible; the size of the queue does not matter.
            class.burst.get_or_insert(BurstPlan { packets: 1, repairs: 0 });
            return usize::MAX;
        }
        let (messages, bytes) = self.channels.new_size(id);
        let plan = match class.burst {
            Some(plan) => plan,
            None => {
                let carrier = &self.path.current.carrier;
                let burst = Burst {
                    messages,
                    bytes,
                    packet_overhead: overhead + usize::from(carrier.overhead_bytes),
                    packet_bytes_max: capacity,
                    is_kept_whole: carrier.is_loss_limited,
                };
                let is_settling = self.path.roaming.is_settling(now, &self.path.rtt);
                let yields = is_settling || self.path.congestion.is_congested(now);
                let share = if yields { 0.0 } else { self.path.congestion.repair_share() };
                self.path.congestion.begin_burst(now);
                let bytes = burst.cost(burst.unprotected());
                // The average saving of repairs: for each lost packet, a round trip and the time until the loss is
                // detected.
                let losses = self.sending.ledger.losses().rate().min(1.0);
                let saved = self.path.rtt.smoothed().mul_f32(2.0 * losses);
                let has_room = |plan| {
                    let more = burst.cost(plan).saturating_sub(bytes);
                    self.path.congestion.has_room_beside(now, bytes, more, saved)
                };
                class.begin_burst(self.sending.ledger.losses(), &burst, share, has_room)
            }
        };
        let packets = plan.packets.saturating_sub(1).max(1);
        class.burst = Some(BurstPlan { packets, ..plan });
        if plan.repairs == 0 || plan.packets <= 1 { usize::MAX } else { bytes.div_ceil(plan.packets) }
    }

    /// Whether the burst of the next packet has more packets.
    pub(in crate::connection) fn is_in_burst(&self) -> bool {
        let burst = self.channels.next_class().and_then(|class| self.redundancy.class(class).burst);
        burst.is_some_and(|plan| plan.repairs > 0)
    }

    /// A packet with new messages of a class left; `content` is the part that a repair covers.
    pub(in crate::connection) fn on_source(&mut self, now: Time, id: ClassId, number: u64, content: &[u8]) {
        let class = self.redundancy.class_mut(id);
        class.on_source(number, content);
        match class.mode {
            RedundancyMode::Fixed { sources, repairs } => {
                let is_full = class.encoder.as_ref().is_some_and(|encoder| encoder.sources() >= sources.into());
                if is_full {
                    class.repairs.now = repairs.into();
                }
            }
            _ if !self.channels.has_new_of(id) => self.end_burst(now, id),
            _ => {}
        }
    }

    /// All new messages of a class have left: only the repairs remain.
    fn end_burst(&mut self, now: Time, id: ClassId) {
        let (is_bursty, spacing) = (self.is_bursty(), self.spacing(REPAIRS_PER_RTT));
        let class = self.redundancy.class_mut(id);
        let Some(plan) = class.burst.take() else { return };
        let now_count = if is_bursty { plan.repairs.div_ceil(2) } else { plan.repairs };
        class.repairs.follow(now_count, plan.repairs - now_count, now + spacing);
    }

    /// Whether a burst of this class that begins now repeats the last acknowledgement, because the peer may not have
    /// received it.
    pub(in crate::connection) fn repeats_ack(&self, id: ClassId) -> bool {
        let class = self.redundancy.class(id);
        let is_first = class.burst.is_none() && class.sends_copies();
        is_first && class.policy.is_active() && self.receiving.received.is_unconfirmed()
    }

    /// A packet of a burst left, with or without an acknowledgement.
    pub(in crate::connection) fn note_burst_packet(&mut self, id: ClassId, has_ack: bool) {
        let class = self.redundancy.class_mut(id);
        class.repairs.repeat_ack |= has_ack && class.burst.is_some();
    }
}
