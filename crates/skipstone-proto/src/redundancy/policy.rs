//! The redundancy that a path needs: the number of packets into which a burst is divided, and the number of repairs
//! after it.
//!
//! A repair costs as much as the longest packet that it covers. The more packets a burst is divided into, the cheaper
//! are its repairs, and the more headers it has. With equal packets the least is at `sqrt(r D / o)` of them, for `r`
//! repairs and `D` bytes of messages with `o` bytes of headers each; whole messages make packets unequal, which is
//! counted here.

use crate::redundancy::loss_estimate::LossEstimate;

/// The packets and repair packets of one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstPlan {
    /// Packets, of about equal size.
    pub packets: usize,
    /// Repair packets after them.
    pub repairs: usize,
}

/// A burst that waits to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Messages of the burst.
    pub messages: usize,
    /// Bytes of these messages, headers included.
    pub bytes: usize,
    /// Bytes that each packet adds, IP included.
    pub packet_overhead: usize,
    /// Bytes of messages that a packet holds.
    pub packet_bytes_max: usize,
    /// Each packet is costly, regardless of its bytes: the burst is not divided further for its repairs.
    pub is_kept_whole: bool,
}

/// Decides by the path's losses, with hysteresis, so that one loss more or less does not matter.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    is_active: bool,
    /// Fraction of a repair that earlier bursts lacked.
    owed: f32,
}

/// Redundancy begins above this share of packets lost, and ends below half of it.
const LOSS_MIN: f32 = 0.001;
/// The share of packets in one direction that may miss their tick for lack of a repair.
const UNRECOVERED_MAX: f32 = 4e-5;
/// Maximum number of packets into which a burst is divided for its repairs. More would be cheaper in bytes, but a
/// packet costs both peers, and a radio link, more than its bytes.
const PACKETS_MAX: usize = 6;
/// Maximum number of repairs for each five packets, beyond the first repair.
const REPAIRS_PER_FIVE: usize = 2;

impl Default for Policy {
    fn default() -> Self {
        Policy { is_active: true, owed: 0.0 }
    }
}

impl Policy {
    /// Whether the path loses enough to make repairs worthwhile.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Updates the decision by the path's losses.
    pub fn update(&mut self, losses: &LossEstimate) {
        self.is_active = losses.event_rate() > if self.is_active { LOSS_MIN / 2.0 } else { LOSS_MIN };
    }

    /// Plans a burst for the measured losses of the path. Where one repair is too few and two are too many, some bursts
    /// get one and some two.
    pub fn plan(&mut self, losses: &LossEstimate, burst: &Burst) -> BurstPlan {
        if !self.is_active {
            return burst.unprotected();
        }
        let least = burst.least();
        let mut plan = BurstPlan { packets: burst.cheapest(least, 1), repairs: 1 };
        while unrecovered(losses.rate(), plan) > UNRECOVERED_MAX {
            let repairs = plan.repairs + 1;
            let more = BurstPlan { packets: burst.cheapest(least, repairs), repairs };
            if more.repairs * 5 > more.packets * REPAIRS_PER_FIVE {
                break;
            }
            self.owed += owed(unrecovered(losses.rate(), plan), unrecovered(losses.rate(), more));
            if self.owed < 1.0 {
                break;
            }
            self.owed -= 1.0;
            plan = more;
        }
        plan
    }
}

impl Burst {
    /// Bytes of its packets and repairs, headers included.
    pub fn cost(&self, plan: BurstPlan) -> usize {
        let message = self.bytes.div_ceil(self.messages.max(1));
        let longest = match message <= self.packet_bytes_max {
            true => self.messages.div_ceil(plan.packets) * message,
            false => self.bytes.div_ceil(plan.packets),
        };
        self.bytes + plan.packets * self.packet_overhead + plan.repairs * (longest + self.packet_overhead)
    }

    /// The minimum number of packets, without repairs.
    pub fn unprotected(&self) -> BurstPlan {
        BurstPlan { packets: self.least(), repairs: 0 }
    }

    fn least(&self) -> usize {
        self.bytes.div_ceil(self.packet_bytes_max.max(1)).max(1)
    }

    /// The number of packets, at least `least`, with which the burst and its repairs cost least.
    fn cheapest(&self, least: usize, repairs: usize) -> usize {
        if self.is_kept_whole {
            return least;
        }
        let cost = |packets: &usize| self.cost(BurstPlan { packets: *packets, repairs });
        (least..=least.max(PACKETS_MAX.min(self.messages))).min_by_key(cost).unwrap_or(least)
    }
}

/// The part of another repair that is needed, given the shares that stay unrecovered without and with it: each repair
/// reduces them by about the same factor.
fn owed(without: f32, with: f32) -> f32 {
    let factor = (without / with.max(f32::MIN_POSITIVE)).ln();
    ((without / UNRECOVERED_MAX).ln() / factor).clamp(0.0, 1.0)
}

/// The share of packets that are lost and cannot be recovered from their burst's own repairs, if losses are
/// independent: the packet is lost together with as many others as there are repairs.
fn unrecovered(rate: f32, plan: BurstPlan) -> f32 {
    let others = plan.packets + plan.repairs - 1;
    let (mut exactly, mut fewer) = ((1.0 - rate).powi(others as i32), 0.0);
    for lost in 0..plan.repairs {
        fewer += exactly;
        exactly *= (others - lost) as f32 / (lost + 1) as f32 * rate / (1.0 - rate);
    }
    rate * (1.0 - fewer).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    fn losses(per_thousand: u32) -> LossEstimate {
        let mut losses = LossEstimate::default();
        (0..20_000_u32).for_each(|number| {
            let at = Time::from_micros(u64::from(number) * 1_000);
            losses.on_packet(at, number % 1_000 * per_thousand % 1_000 < per_thousand);
        });
        losses
    }

    fn plan(per_thousand: u32, bytes: usize) -> (usize, usize) {
        let burst = Burst {
            messages: bytes.div_ceil(55),
            bytes,
            packet_overhead: 70,
            packet_bytes_max: 1_400,
            is_kept_whole: false,
        };
        let mut policy = Policy::default();
        let losses = losses(per_thousand);
        policy.update(&losses);
        let plan = policy.plan(&losses, &burst);
        (plan.packets, plan.repairs)
    }

    #[test]
    fn a_path_without_loss_gets_full_packets_and_no_repairs() {
        assert_eq!(plan(0, 1_375), (1, 0));
        assert_eq!(plan(0, 80_000), (58, 0));
    }

    #[test]
    fn more_loss_yields_more_repairs_over_more_packets() {
        assert_eq!(plan(5, 1_375), (5, 1));
        assert_eq!(plan(5, 2_750), (5, 1));
        assert_eq!(plan(20, 1_375), (5, 2));
        assert_eq!(plan(50, 1_375), (5, 2));
        let (packets, repairs) = plan(50, 80_000);
        assert!(packets == 58 && (6..=12).contains(&repairs), "{repairs}");
    }

    #[test]
    fn a_fractional_number_of_repairs_is_spread_over_bursts() {
        let burst =
            Burst { messages: 25, bytes: 1_375, packet_overhead: 70, packet_bytes_max: 1_400, is_kept_whole: false };
        let (mut policy, losses) = (Policy::default(), losses(5));
        let repairs: usize = (0..100).map(|_| policy.plan(&losses, &burst).repairs).sum();
        assert!((110..150).contains(&repairs), "{repairs}");
    }

    #[test]
    fn a_small_burst_is_not_split() {
        assert_eq!(plan(20, 60), (1, 1));
    }

    #[test]
    fn an_unsplit_burst_uses_as_few_packets_as_possible() {
        let burst = |bytes, is_kept_whole| Burst {
            messages: 25,
            bytes,
            packet_overhead: 70,
            packet_bytes_max: 1_150,
            is_kept_whole,
        };
        let plan = |bytes, is_kept_whole| {
            let losses = losses(20);
            let mut policy = Policy::default();
            policy.update(&losses);
            policy.plan(&losses, &burst(bytes, is_kept_whole))
        };
        assert_eq!(plan(1_375, false), BurstPlan { packets: 5, repairs: 2 });
        assert_eq!(plan(1_375, true), BurstPlan { packets: 2, repairs: 1 });
        assert_eq!(plan(1_000, true), BurstPlan { packets: 1, repairs: 1 });
    }

    #[test]
    fn the_unrecovered_share_with_one_repair_is_the_binomial_tail() {
        let plan = BurstPlan { packets: 4, repairs: 1 };
        assert!((unrecovered(0.005, plan) - 0.005 * (1.0 - 0.995_f32.powi(4))).abs() < 1e-7);
    }
}
