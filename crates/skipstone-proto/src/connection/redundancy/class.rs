//! The protection against loss of one class of channels.

use super::repairs::Repairs;
use super::repeats::Repeats;
use crate::redundancy::fec::Encoder;
use crate::redundancy::loss_estimate::LossEstimate;
use crate::redundancy::policy::{Burst, BurstPlan, Policy};
use crate::wire::redundancy::RedundancyMode;

/// Redundancy state of the channels that share one mode.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) mode: RedundancyMode,
    pub(super) policy: Policy,
    pub(super) encoder: Option<Box<Encoder>>,
    /// The current burst.
    pub(super) burst: Option<BurstPlan>,
    pub(super) repairs: Repairs,
    pub(super) repeats: Option<Box<Repeats>>,
    /// The fraction of a burst that may be protected, accumulated from bursts that were not.
    share_owed: f32,
}

impl Class {
    pub(super) fn new(mode: RedundancyMode) -> Self {
        let repeats = match mode {
            RedundancyMode::Repeat { bursts } => Some(Box::new(Repeats::new(bursts))),
            _ => None,
        };
        Class {
            mode,
            policy: Policy::default(),
            encoder: None,
            burst: None,
            repairs: Repairs::default(),
            repeats,
            share_owed: 0.0,
        }
    }

    /// Whether repairs follow blocks of packets, and not bursts.
    pub(super) fn has_blocks(&self) -> bool {
        matches!(self.mode, RedundancyMode::Fixed { .. })
    }

    /// Whether retransmissions leave in packets of their own, and get copies.
    pub(super) fn sends_copies(&self) -> bool {
        self.mode != RedundancyMode::Off
    }

    /// Whether repairs are in use.
    pub(super) fn is_repairing(&self) -> bool {
        self.mode == RedundancyMode::Adaptive && self.encoder.is_some()
    }

    /// Whether bursts get repairs: the path loses enough, and a retransmission would not arrive before the next tick.
    /// If not, the state of earlier repairs is dropped.
    pub(super) fn protects(&mut self, losses: &LossEstimate, is_short: bool) -> bool {
        self.policy.update(losses);
        let protects = self.policy.is_active() && !is_short;
        if !protects {
            self.encoder = None;
            self.repairs.clear();
        }
        protects
    }

    /// On a full path, repairs would only displace the packets that they repair: a share of the bursts gets them, and
    /// only bursts in addition to which they fit.
    pub(super) fn begin_burst(
        &mut self,
        losses: &LossEstimate,
        burst: &Burst,
        share: f32,
        has_room: impl FnOnce(BurstPlan) -> bool,
    ) -> BurstPlan {
        self.share_owed += share;
        let is_next = self.share_owed >= 1.0;
        self.share_owed -= f32::from(u8::from(is_next));
        let wanted = if is_next { self.policy.plan(losses, burst) } else { burst.unprotected() };
        let plan = if wanted.repairs == 0 || has_room(wanted) { wanted } else { burst.unprotected() };
        if plan.repairs > 0 {
            self.encoder.get_or_insert_default().begin_burst();
            self.repairs.repeat_ack = false;
        } else if let Some(encoder) = self.encoder.as_mut().filter(|_| share == 0.0) {
            // No burst gets repairs for some time: the window moves on without them.
            encoder.begin_burst();
        }
        plan
    }

    /// A packet with new messages of the class left.
    pub(super) fn on_source(&mut self, number: u64, content: &[u8]) {
        if self.has_blocks() {
            self.encoder.get_or_insert_default();
        }
        if let Some(encoder) = &mut self.encoder
            && !content.is_empty()
        {
            encoder.on_source(number, content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BURST: Burst =
        Burst { messages: 2, bytes: 2_000, packet_overhead: 50, packet_bytes_max: 1_400, is_kept_whole: false };

    /// A class of which one burst got repairs.
    fn repairing() -> Class {
        let (mut class, losses) = (Class::new(RedundancyMode::Adaptive), LossEstimate::default());
        assert!(class.protects(&losses, false), "a new path counts as lossy");
        assert!(class.begin_burst(&losses, &BURST, 1.0, |_| true).repairs > 0);
        class.on_source(1, &[7; 1_000]);
        class
    }

    fn kept(class: &Class) -> Option<usize> {
        class.encoder.as_ref().map(|encoder| encoder.sources())
    }

    #[test]
    fn bursts_without_repairs_keep_no_more_packets_than_a_repair_covers() {
        let mut class = repairing();
        for number in 2..50 {
            assert_eq!(class.begin_burst(&LossEstimate::default(), &BURST, 0.0, |_| true).repairs, 0);
            class.on_source(number, &[7; 1_000]);
            assert!(kept(&class) <= Some(3), "of this burst and the two before");
        }
    }

    #[test]
    fn a_short_path_keeps_no_packets() {
        let mut class = repairing();
        assert!(!class.protects(&LossEstimate::default(), true));
        class.on_source(2, &[7; 1_000]);
        assert_eq!(kept(&class), None);
    }
}
