//! How far the share of late updates is off by chance: what runs with other chances differ by at the same moments. What
//! every run does, such as a slow start, is no noise, and losses that take a second together are one event, not many.

use serde::{Deserialize, Serialize};

use crate::compare::proof::Moments;

/// The late updates of all runs of a contender.
#[derive(Debug, Clone, Default)]
pub(super) struct Lateness {
    runs: Vec<Moments>,
}

/// A share of the updates, and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LateShare {
    pub(super) share: f64,
    pub(super) error: f64,
}

/// Standard errors that chance exceeds in one of 20 (one-sided, normal).
const ERRORS: f64 = 1.645;

impl Lateness {
    pub(super) fn add(&mut self, run: Moments) {
        self.runs.push(run);
    }

    /// The range of the percentile above which `later` of the updates are. `latencies` are all, sorted, in µs.
    pub(super) fn range(&self, latencies: &[u32], later: f64) -> ChanceRange {
        let first = |errors: f64| {
            let is_above = |micros: &u32| {
                let late = self.later_than_micros(*micros);
                late.share + errors * late.error > later
            };
            latencies.get(latencies.partition_point(is_above)).map(|micros| f64::from(*micros) / 1e3)
        };
        ChanceRange { least: first(-ERRORS), most: first(ERRORS) }
    }

    /// The updates that took longer than this number of milliseconds, or never arrived.
    pub(super) fn later_than(&self, millis: f64) -> LateShare {
        self.later_than_micros((millis * 1e3) as u32)
    }

    fn later_than_micros(&self, micros: u32) -> LateShare {
        let late: Vec<Vec<u32>> = self.runs.iter().map(|run| run.later_than(micros)).collect();
        let sent: u64 = self.runs.iter().map(Moments::sent).sum();
        let length = late.iter().map(Vec::len).max().unwrap_or(0);
        let at = |moment: usize| late.iter().map(move |run| f64::from(run.get(moment).copied().unwrap_or(0)));
        let count = self.runs.len() as f64;
        let (mut total, mut variance) = (0.0, 0.0);
        for moment in 0..length {
            let sum: f64 = at(moment).sum();
            let squares: f64 = at(moment).map(|late| (late - sum / count).powi(2)).sum();
            total += sum;
            variance += squares * count / (count - 1.0).max(1.0);
        }
        let sent = sent.max(1) as f64;
        LateShare { share: total / sent, error: variance.sqrt() / sent }
    }
}

/// Where chance leaves a percentile: 90% of runs with other chances have it from the first to the second, in ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct ChanceRange {
    pub(crate) least: Option<f64>,
    /// Null if it may be an update that never arrived.
    pub(crate) most: Option<f64>,
}

impl ChanceRange {
    /// Whether chance does not explain the difference from the other: the two have no value in common.
    pub(super) fn is_apart_from(&self, other: &ChanceRange) -> bool {
        let above = |one: &ChanceRange, other: &ChanceRange| {
            other.most.is_some_and(|most| one.least.unwrap_or(f64::INFINITY) > most)
        };
        above(self, other) || above(other, self)
    }
}

/// Whether more than `allowed` of the updates of one contender are later than `bound`, and chance does not explain it:
/// neither in its own runs, nor in the runs behind `best`, from which the bound was made. Without runs, chance cannot
/// be estimated.
pub(super) fn is_later(own: &Lateness, bound: f64, other: &Lateness, best: f64, allowed: f64) -> bool {
    if own.runs.is_empty() {
        return true;
    }
    let (own, other) = (own.later_than(bound), other.later_than(best));
    own.share - allowed > ERRORS * own.error.hypot(other.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two runs of 100 moments with 100 updates each, this many of them late.
    fn runs(late: impl Fn(usize, u16) -> u32) -> Lateness {
        let mut lateness = Lateness::default();
        for run in 0..2 {
            let mut moments = Moments::default();
            for moment in 0..100 {
                (0..100).for_each(|_| moments.on_sent(moment));
                (0..100).for_each(|update| {
                    moments.on_echo(moment, if update < late(run, moment) { 50_000 } else { 20_000 })
                });
            }
            lateness.add(moments);
        }
        lateness
    }

    #[test]
    fn a_difference_in_every_run_is_significant() {
        let start = runs(|_, moment| if moment == 0 { 60 } else { 0 });
        assert_eq!(start.later_than(30.0), LateShare { share: 0.006, error: 0.0 });
        assert!(is_later(&start, 30.0, &runs(|_, _| 0), 20.0, 0.002));
        assert!(!is_later(&start, 60.0, &runs(|_, _| 0), 20.0, 0.002), "none is later than that");
    }

    #[test]
    fn one_event_may_be_chance_but_many_are_not() {
        let once = runs(|run, moment| if (run, moment) == (1, 30) { 60 } else { 0 });
        assert!((once.later_than(30.0).error - 0.003).abs() < 1e-9);
        assert!(!is_later(&once, 30.0, &runs(|_, _| 0), 20.0, 0.002));
        let often = runs(|run, moment| if usize::from(moment) % 10 == run { 6 } else { 0 });
        assert!(is_later(&often, 30.0, &runs(|_, _| 0), 20.0, 0.002));
    }

    #[test]
    fn the_noise_of_both_runs_counts() {
        let (few, rare) = (
            runs(|_, moment| u32::from(moment < 50)),
            runs(|run, moment| if (run, moment) == (0, 9) { 80 } else { 0 }),
        );
        assert!(is_later(&few, 30.0, &runs(|_, _| 0), 30.0, 0.002));
        assert!(!is_later(&few, 30.0, &rare, 30.0, 0.002));
    }

    #[test]
    fn a_percentile_of_one_event_has_a_wide_range_and_one_of_every_moment_a_narrow_one() {
        let all: Vec<u32> = [20_000; 99].into_iter().chain([50_000]).collect();
        let range = |least, most| ChanceRange { least: Some(least), most: Some(most) };
        let always = runs(|_, _| 1).range(&all, 0.002);
        assert_eq!(always, range(50.0, 50.0));
        let once = runs(|run, moment| if (run, moment) == (1, 30) { 60 } else { 0 }).range(&all, 0.002);
        assert_eq!(once, range(20.0, 50.0));
        assert!(!once.is_apart_from(&always));
        let never = runs(|_, _| 0).range(&all, 0.002);
        assert!(never.is_apart_from(&always) && always.is_apart_from(&never));
        let missing = ChanceRange { least: Some(50.0), most: None };
        assert!(missing.is_apart_from(&never) && !missing.is_apart_from(&once));
    }

    #[test]
    fn a_missing_message_is_later_than_any_other() {
        let mut moments = Moments::default();
        (0..10).for_each(|_| moments.on_sent(0));
        (0..9).for_each(|_| moments.on_echo(0, 1));
        let mut lateness = Lateness::default();
        lateness.add(moments);
        assert_eq!(lateness.later_than(1e6).share, 0.1);
    }
}
