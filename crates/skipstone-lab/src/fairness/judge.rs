//! What the bytes of each second say: shares, the worst ten seconds, and Jain's index.

use std::time::Duration;

use super::bottleneck::Bottleneck;
use super::line_up::LineUp;
use super::play::CarriedBytes;

/// How a line-up shared a bottleneck.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SharedLink {
    /// Of what the link carries while all flows share it: each flow's mean, 0 to 1.
    pub(super) means: Vec<f64>,
    /// The least that a flow had in ten seconds, as a multiple of an equal share of the link.
    pub(super) worst: f64,
    /// The flow that had it, and the second when that began.
    pub(super) worst_flow: usize,
    pub(super) worst_second: usize,
    /// Jain, Chiu and Hawe (1984), over the second half of that time: 1 if all are equal, 1/n if one has all.
    pub(super) jain: f64,
}

/// The minimum of every flow over ten seconds, as a part of an equal share.
pub(super) const WORST_MIN: f64 = 0.25;
pub(super) const JAIN_MIN: f64 = 0.95;
const SPAN: usize = 10;

impl SharedLink {
    /// From the start of the last flow.
    pub(super) fn of(carried: &CarriedBytes, line_up: &LineUp, bottleneck: &Bottleneck) -> Self {
        let from = line_up.all_begun().as_secs() as usize;
        let together: Vec<&[u64]> = carried.0.iter().map(|seconds| &seconds[from..]).collect();
        let all = |seconds: &[u64]| seconds.iter().sum::<u64>() as f64;
        let equal = bottleneck.bytes_per_second() / together.len() as f64;
        let total = together[0].len() as f64 * bottleneck.bytes_per_second();
        let half = together[0].len() / 2;
        let late: Vec<f64> = together.iter().map(|seconds| all(&seconds[half..])).collect();
        let spans = together.iter().enumerate().flat_map(|(flow, seconds)| {
            let part = |span: &[u64]| all(span) / (equal * span.len() as f64);
            seconds.windows(SPAN).enumerate().map(move |(second, span)| (part(span), flow, from + second))
        });
        let (worst, worst_flow, worst_second) =
            spans.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or_default();
        let means = together.iter().map(|seconds| all(seconds) / total).collect();
        SharedLink { means, worst, worst_flow, worst_second, jain: jain(&late) }
    }

    /// Whether a flow had too little for ten seconds.
    pub(super) fn is_starving(&self) -> bool {
        self.worst < WORST_MIN
    }
}

/// How long flows have to share a link for a judgement.
pub(super) const TOGETHER_MIN: Duration = Duration::from_secs(2 * SPAN as u64);

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::line_up::FlowKind;
    use super::*;

    const LINE_UP: LineUp = LineUp {
        name: "two",
        flows: &[FlowKind::Ours, FlowKind::Cubic],
        apart: Duration::from_secs(5),
        is_judged: true,
    };
    /// 1,000 bytes a second.
    const BOTTLENECK: Bottleneck = Bottleneck { bits_per_second: 8_000, rtt: Duration::ZERO, queue: Duration::ZERO };

    #[test]
    fn ten_poor_seconds_are_found_and_nine_count_with_the_tenth() {
        let rich = vec![900; 45];
        let mut poor = vec![500; 45];
        poor[20..30].fill(100);
        let shares = SharedLink::of(&CarriedBytes(vec![rich.clone(), poor.clone()]), &LINE_UP, &BOTTLENECK);
        assert_eq!((shares.worst, shares.worst_flow, shares.worst_second), (0.2, 1, 20));
        assert!(shares.is_starving());
        poor[25] = 500;
        assert!(!SharedLink::of(&CarriedBytes(vec![rich, poor]), &LINE_UP, &BOTTLENECK).is_starving());
    }

    #[test]
    fn the_time_before_all_have_begun_does_not_count() {
        let mut late = vec![500; 45];
        late[..5].fill(0);
        let shares = SharedLink::of(&CarriedBytes(vec![vec![500; 45], late]), &LINE_UP, &BOTTLENECK);
        assert_eq!((shares.worst, shares.jain, shares.means), (1.0, 1.0, vec![0.5, 0.5]));
    }

    #[test]
    fn jains_index_is_one_for_equals_and_a_half_for_one_of_two() {
        assert_eq!((jain(&[3.0, 3.0]), jain(&[5.0, 0.0]), jain(&[0.0, 0.0])), (1.0, 0.5, 0.0));
    }
}
