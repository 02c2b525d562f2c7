//! The confidence interval of a percentile: blocks of a run are drawn at random, repeatedly and with replacement (the
//! block bootstrap; Künsch 1989). Updates within a block may depend on each other; updates of different blocks do not.

use crate::compare::series::{RunBlock, RunSeries};
use crate::measure::splitmix::splitmix;

/// All blocks of a contender's runs: latencies in µs with their counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    /// The latencies that occur, ascending.
    values: Vec<u32>,
    /// By block: positions in `values`, and their counts.
    blocks: Vec<Vec<(usize, u32)>>,
}

/// Shorter losses, fades and queues count as one event.
const BLOCK_MIN_S: f64 = 2.0;
/// How often all blocks are drawn.
const DRAWS: usize = 1_000;
/// The probability of each tail of the 99% interval.
const TAIL: f64 = 0.005;

impl Blocks {
    pub(super) fn of<'a>(runs: impl Iterator<Item = &'a RunSeries>) -> Blocks {
        let together = |run: &'a RunSeries| {
            let count = if run.block_s > 0.0 { (BLOCK_MIN_S / run.block_s).ceil().max(1.0) as usize } else { 1 };
            run.blocks.chunks(count).map(|blocks| blocks.iter().flat_map(RunBlock::counts).collect::<Vec<_>>())
        };
        let counts: Vec<Vec<(u32, u32)>> = runs.flat_map(together).filter(|block| !block.is_empty()).collect();
        let mut values: Vec<u32> = counts.iter().flatten().map(|(micros, _)| *micros).collect();
        values.sort_unstable();
        values.dedup();
        let place = |micros: u32| values.binary_search(&micros).expect("it is one of them");
        let blocks =
            counts.iter().map(|block| block.iter().map(|(micros, count)| (place(*micros), *count)).collect()).collect();
        Blocks { values, blocks }
    }

    /// The percentiles of one draw, in ms; `None` if it is empty.
    fn draw(&self, shares: &[f64], state: &mut u64) -> Option<Vec<f64>> {
        let mut counts = vec![0_u64; self.values.len()];
        for _ in 0..self.blocks.len() {
            let at = (u128::from(splitmix(state)) * self.blocks.len() as u128) >> 64;
            self.blocks[at as usize].iter().for_each(|(value, count)| counts[*value] += u64::from(*count));
        }
        let total: u64 = counts.iter().sum();
        let at = |share: &f64| {
            let rank = ((total as f64 * share).ceil() as u64).max(1);
            let mut seen = 0;
            let place = counts.iter().position(|count| {
                seen += count;
                seen >= rank
            });
            place.map(|place| f64::from(self.values[place]) / 1e3)
        };
        shares.iter().map(at).collect()
    }
}

/// For each share, the 99% interval of the second percentile minus the first, in ms. `None` if either run has fewer
/// than two blocks, which say nothing about chance.
pub(super) fn intervals(before: &Blocks, after: &Blocks, shares: &[f64]) -> Option<Vec<[f64; 2]>> {
    if before.blocks.len() < 2 || after.blocks.len() < 2 {
        return None;
    }
    // A fixed seed: the same files give the same answer.
    let mut state = 0x5eed;
    let mut differences = vec![Vec::with_capacity(DRAWS); shares.len()];
    for _ in 0..DRAWS {
        let (one, other) = (before.draw(shares, &mut state)?, after.draw(shares, &mut state)?);
        for (all, (one, other)) in differences.iter_mut().zip(one.iter().zip(&other)) {
            all.push(other - one);
        }
    }
    let interval = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        let tail = (DRAWS as f64 * TAIL) as usize;
        [all[tail], all[DRAWS - 1 - tail]]
    };
    Some(differences.into_iter().map(interval).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of two seconds with 1,000 updates each, of which `late` took 60 ms.
    fn run(blocks: u64, late: impl Fn(u64) -> u32) -> RunSeries {
        let block = |at: u64| RunBlock {
            sent: 1_000,
            max: None,
            latencies: format!("20000*{} 60000*{}", 1_000 - late(at), late(at)),
        };
        RunSeries { block_s: 2.0, blocks: (0..blocks).map(block).collect(), ..RunSeries::default() }
    }

    fn p998(before: &RunSeries, after: &RunSeries) -> [f64; 2] {
        intervals(&Blocks::of([before].into_iter()), &Blocks::of([after].into_iter()), &[0.998]).unwrap()[0]
    }

    #[test]
    fn lateness_in_every_block_is_significant_and_a_single_event_is_not() {
        let calm = run(50, |_| 0);
        assert_eq!(p998(&calm, &calm), [0.0, 0.0]);
        assert_eq!(p998(&calm, &run(50, |_| 5)), [40.0, 40.0]);
        let [least, most] = p998(&calm, &run(50, |at| if at == 7 { 150 } else { 0 }));
        assert!(least <= 0.0 && most >= 40.0, "{least} {most}");
    }

    #[test]
    fn chance_alone_is_rarely_significant() {
        let mut state = 1;
        let mut draw = || {
            let lates: Vec<u32> =
                (0..60).map(|_| if splitmix(&mut state).is_multiple_of(10) { 20 } else { 0 }).collect();
            run(60, |at| lates[at as usize])
        };
        let is_beyond = |[least, most]: [f64; 2]| least > 0.0 || most < 0.0;
        let beyond = (0..60).filter(|_| is_beyond(p998(&draw(), &draw()))).count();
        assert!(beyond <= 3, "{beyond} of 60");
    }

    #[test]
    fn a_single_block_has_no_confidence_interval() {
        let one = Blocks::of([&run(1, |_| 0)].into_iter());
        assert_eq!(intervals(&one, &one, &[0.5]), None);
    }
}
