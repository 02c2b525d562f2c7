//! What is known of each bot by itself: its error, its drops, its times. The worst of them are named in the result.

use skipstone_lab::measure::latency_steps::LatencySteps;
use skipstone_lab::report::bots::{WorstBot, WorstTrend};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The bots of a worker, or of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct BotRecords {
    bots: BTreeMap<u32, BotRecord>,
}

#[derive(Clone, Debug, Default)]
struct BotRecord {
    fault: Option<String>,
    drops: u64,
    /// Trends in milliseconds, by name.
    trends: BTreeMap<String, LatencySteps>,
}

impl BotRecords {
    /// An error of the script ended a bot.
    pub(super) fn on_fault(&mut self, bot: u32, fault: &str) {
        self.with(bot, |record| record.fault = Some(fault.to_owned()));
    }

    /// A bot's connection ended without its wish.
    pub(super) fn on_drop(&mut self, bot: u32) {
        self.with(bot, |record| record.drops += 1);
    }

    /// A bot recorded milliseconds in a trend.
    pub(super) fn record(&mut self, bot: u32, trend: &str, ms: f64) {
        let micros = (ms * 1000.0).min(MICROS_MAX) as u64;
        self.with(bot, |record| {
            if let Some(steps) = record.trends.get_mut(trend) {
                steps.record(micros);
            } else if record.trends.len() < TRENDS_MAX {
                record.trends.entry(trend.to_owned()).or_default().record(micros);
            }
        });
    }

    fn with(&mut self, bot: u32, with: impl FnOnce(&mut BotRecord)) {
        if self.bots.len() < BOTS_MAX || self.bots.contains_key(&bot) {
            with(self.bots.entry(bot).or_default());
        }
    }

    /// Adds all of another worker's, whose bots are others.
    pub(super) fn merge(&mut self, other: BotRecords) {
        let room = BOTS_MAX.saturating_sub(self.bots.len());
        self.bots.extend(other.bots.into_iter().take(room));
    }

    /// The worst, in the order in which the result has them.
    pub(crate) fn worst(&self) -> Vec<WorstBot> {
        let of_all = self.median_of_all();
        let mut worst: Vec<(bool, u64, f64, u32)> = Vec::new();
        for (bot, record) in &self.bots {
            let ratio = record.worst_trend(&of_all).map_or(0.0, |(ratio, _)| ratio);
            if record.fault.is_some() || record.drops > 0 || ratio > 0.0 {
                worst.push((record.fault.is_some(), record.drops, ratio, *bot));
            }
        }
        worst.sort_by(|one, other| {
            let ratios = other.2.total_cmp(&one.2);
            (Reverse(one.0), Reverse(one.1)).cmp(&(Reverse(other.0), Reverse(other.1))).then(ratios)
        });
        worst.into_iter().take(WORST_MAX).map(|(.., bot)| self.bots[&bot].shown(bot, &of_all)).collect()
    }

    fn median_of_all(&self) -> BTreeMap<&str, f64> {
        let mut of_all: BTreeMap<&str, LatencySteps> = BTreeMap::new();
        for (name, steps) in self.bots.values().flat_map(|record| &record.trends) {
            of_all.entry(name).or_default().merge(steps);
        }
        of_all.into_iter().filter_map(|(name, steps)| Some((name, steps.quantile_ms(0.5)?))).collect()
    }
}

impl BotRecord {
    /// The trend whose p99 is the most times the median of all bots, and how many times. Their p99 would be that of the
    /// worst bots themselves.
    fn worst_trend(&self, of_all: &BTreeMap<&str, f64>) -> Option<(f64, &str)> {
        let ratio = |(name, steps): (&'_ String, &LatencySteps)| {
            let (own, all) = (steps.quantile_ms(0.99)?, of_all.get(name.as_str())?);
            Some(own / all.max(LEAST_MS))
        };
        let ratios = self.trends.iter().filter_map(|trend| Some((ratio(trend)?, trend.0.as_str())));
        ratios.max_by(|one, other| one.0.total_cmp(&other.0))
    }

    fn shown(&self, bot: u32, of_all: &BTreeMap<&str, f64>) -> WorstBot {
        let trend = self.worst_trend(of_all).map(|(_, name)| {
            let steps = &self.trends[name];
            WorstTrend {
                name: name.to_owned(),
                count: steps.count(),
                p50: steps.quantile_ms(0.5).unwrap_or(0.0),
                p99: steps.quantile_ms(0.99).unwrap_or(0.0),
                max: steps.longest_ms().unwrap_or(0.0),
            }
        });
        WorstBot { bot: u64::from(bot), fault: self.fault.clone(), drops: self.drops, trend }
    }
}

const WORST_MAX: usize = 10;
/// Bots that are known by themselves: those that came first.
const BOTS_MAX: usize = 50_000;
/// Trends of each bot that are known: some kilobytes each.
const TRENDS_MAX: usize = 8;
/// A year.
const MICROS_MAX: f64 = 4e13;
/// What takes less is no time.
const LEAST_MS: f64 = 0.001;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_before_drops_and_drops_before_slow_bots() {
        let (mut records, mut others) = (BotRecords::default(), BotRecords::default());
        for bot in 0..20_u32 {
            let own = if bot % 2 == 0 { &mut records } else { &mut others };
            (0..100).for_each(|_| own.record(bot, "move_ms", f64::from(10 + bot)));
        }
        records.record(4, "join_ms", 900.0);
        others.record(5, "join_ms", 30.0);
        records.on_drop(2);
        records.on_drop(6);
        records.on_drop(6);
        others.on_fault(3, "bot.luau:7: oops");
        records.merge(others);
        let worst = records.worst();
        assert_eq!(worst.iter().map(|one| one.bot).collect::<Vec<_>>(), [3, 6, 2, 4, 19, 18, 17, 16, 15, 14]);
        assert_eq!(worst[0].fault.as_deref(), Some("bot.luau:7: oops"));
        assert_eq!(worst[3].trend.as_ref().map(|trend| (trend.name.as_str(), trend.count)), Some(("join_ms", 1)));
        assert_eq!((worst[1].drops, worst[4].trend.as_ref().expect("a trend").count), (2, 100));
    }

    #[test]
    fn the_number_of_bots_and_of_trends_has_a_bound() {
        let mut records = BotRecords::default();
        (0..BOTS_MAX as u32 + 5).for_each(|bot| records.on_drop(bot));
        (0..20).for_each(|trend| records.record(1, &format!("{trend}_ms"), 1.0));
        assert_eq!((records.bots.len(), records.bots[&1].trends.len()), (BOTS_MAX, TRENDS_MAX));
    }
}
