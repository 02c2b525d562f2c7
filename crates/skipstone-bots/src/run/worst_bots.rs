//! The bots that fared worst, of one machine or of several: each sends those of its bots that may be among them, so
//! that the whole has the ten that one machine would have found.

use super::bot_records::{BotRecord, BotRecords};
use serde::{Deserialize, Serialize};
use skipstone_lab::measure::latency_steps::LatencySteps;
use skipstone_lab::report::bots::{WorstBot, WorstTrend};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

/// Bots that may be among the worst, and what they are compared with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorstBots {
    bots: Vec<Candidate>,
    /// The trends of all bots together.
    of_all: BTreeMap<String, LatencySteps>,
}

/// A bot, with the figures of each of its trends.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    bot: u32,
    fault: Option<String>,
    drops: u64,
    trends: Vec<WorstTrend>,
}

impl WorstBots {
    /// Those of a machine's bots.
    pub(crate) fn of(records: &BotRecords) -> Self {
        let mut of_all: BTreeMap<String, LatencySteps> = BTreeMap::new();
        for (name, steps) in records.all().flat_map(|(_, record)| &record.trends) {
            of_all.entry(name.clone()).or_default().merge(steps);
        }
        let bots: Vec<Candidate> = records.all().filter_map(|(bot, record)| Candidate::of(bot, record)).collect();
        // A bot that is behind ten others by errors, drops and the p99 of every trend is behind ten whatever the
        // medians of all machines are.
        let by_trend = of_all.keys().map(|name| first(&bots, |bot| bot.p99(name)));
        let kept: BTreeSet<u32> = by_trend.chain([first(&bots, |_| 0.0)]).flatten().collect();
        WorstBots { bots: bots.into_iter().filter(|bot| kept.contains(&bot.bot)).collect(), of_all }
    }

    /// Adds those of another machine, whose bots are others.
    pub(crate) fn merge(&mut self, other: WorstBots) {
        self.bots.extend(other.bots);
        for (name, steps) in other.of_all {
            self.of_all.entry(name).or_default().merge(&steps);
        }
    }

    /// The worst, in the order in which the result has them.
    pub(crate) fn shown(&self) -> Vec<WorstBot> {
        let medians = self.of_all.iter().filter_map(|(name, steps)| Some((name.as_str(), steps.quantile_ms(0.5)?)));
        let medians: BTreeMap<&str, f64> = medians.collect();
        // The p99 of all would be that of the worst bots themselves.
        let ratio = |trend: &WorstTrend| {
            medians.get(trend.name.as_str()).map_or(0.0, |median| trend.p99 / median.max(LEAST_MS))
        };
        let worst_trend = |bot: &Candidate| {
            let ratios = bot.trends.iter().map(|trend| (ratio(trend), trend.clone()));
            ratios.max_by(|one, other| one.0.total_cmp(&other.0))
        };
        let ratios: BTreeMap<u32, f64> =
            self.bots.iter().map(|bot| (bot.bot, worst_trend(bot).map_or(0.0, |(ratio, _)| ratio))).collect();
        let shown = |number: u32| {
            let bot = self.bots.iter().find(|bot| bot.bot == number)?;
            let trend = worst_trend(bot).map(|(_, trend)| trend);
            Some(WorstBot { bot: u64::from(number), fault: bot.fault.clone(), drops: bot.drops, trend })
        };
        first(&self.bots, |bot| ratios[&bot.bot]).into_iter().filter_map(shown).collect()
    }
}

impl Candidate {
    /// `None` of a bot of which there is nothing to say.
    fn of(bot: u32, record: &BotRecord) -> Option<Self> {
        let figures = |(name, steps): (&String, &LatencySteps)| WorstTrend {
            name: name.clone(),
            count: steps.count(),
            p50: steps.quantile_ms(0.5).unwrap_or(0.0),
            p99: steps.quantile_ms(0.99).unwrap_or(0.0),
            max: steps.longest_ms().unwrap_or(0.0),
        };
        let trends: Vec<WorstTrend> = record.trends.iter().map(figures).collect();
        let is_told = record.fault.is_some() || record.drops > 0 || trends.iter().any(|trend| trend.p99 > 0.0);
        is_told.then(|| Candidate { bot, fault: record.fault.clone(), drops: record.drops, trends })
    }

    fn p99(&self, name: &str) -> f64 {
        self.trends.iter().find(|trend| trend.name == name).map_or(0.0, |trend| trend.p99)
    }
}

/// The numbers of the first ten: by errors, then drops, then this figure, then the lower number.
fn first(bots: &[Candidate], figure: impl Fn(&Candidate) -> f64) -> Vec<u32> {
    let mut all: Vec<(bool, u64, f64, u32)> =
        bots.iter().map(|bot| (bot.fault.is_some(), bot.drops, figure(bot), bot.bot)).collect();
    let order = |one: &(bool, u64, f64, u32), other: &(bool, u64, f64, u32)| -> Ordering {
        let counts = (Reverse(one.0), Reverse(one.1)).cmp(&(Reverse(other.0), Reverse(other.1)));
        counts.then(other.2.total_cmp(&one.2)).then(one.3.cmp(&other.3))
    };
    all.sort_by(order);
    all.into_iter().take(WORST_MAX).map(|(.., bot)| bot).collect()
}

const WORST_MAX: usize = 10;
/// What takes less is no time.
const LEAST_MS: f64 = 0.001;

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_lab::measure::splitmix::splitmix;

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
        let worst = WorstBots::of(&records).shown();
        assert_eq!(worst.iter().map(|one| one.bot).collect::<Vec<_>>(), [3, 6, 2, 4, 19, 18, 17, 16, 15, 14]);
        assert_eq!(worst[0].fault.as_deref(), Some("bot.luau:7: oops"));
        assert_eq!(worst[3].trend.as_ref().map(|trend| (trend.name.as_str(), trend.count)), Some(("join_ms", 1)));
        assert_eq!((worst[1].drops, worst[4].trend.as_ref().expect("a trend").count), (2, 100));
    }

    #[test]
    fn several_machines_name_the_bots_that_one_would_name() {
        for seed in 0..50_u64 {
            let (mut whole, mut random) = (BotRecords::default(), seed);
            let mut parts = vec![BotRecords::default(); 3];
            for bot in 0..200_u32 {
                // The machines differ much, so that each has medians of its own.
                let (part, scale) = (bot as usize % 3, [1.0, 9.0, 40.0][bot as usize % 3]);
                let own = [&mut whole, &mut parts[part]];
                let (drops, is_faulty) = (splitmix(&mut random) % 40, splitmix(&mut random).is_multiple_of(60));
                let values = [(); 4].map(|()| (splitmix(&mut random) % 1000) as f64 / 7.0);
                for records in own {
                    (38..drops).for_each(|_| records.on_drop(bot));
                    if is_faulty {
                        records.on_fault(bot, "oops");
                    }
                    records.record(bot, "move_ms", values[0] * scale);
                    records.record(bot, "move_ms", values[1]);
                    records.record(bot, "join_ms", values[2] / scale);
                    records.record(bot, "chat_ms", values[3]);
                }
            }
            let mut merged = WorstBots::default();
            parts.iter().for_each(|part| merged.merge(WorstBots::of(part)));
            assert_eq!(merged.shown(), WorstBots::of(&whole).shown(), "seed {seed}");
            assert!(merged.bots.len() <= 3 * 4 * WORST_MAX, "{}", merged.bots.len());
        }
    }
}
