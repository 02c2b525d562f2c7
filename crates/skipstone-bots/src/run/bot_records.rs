//! What is known of each bot by itself: its error, its drops, its times.

use skipstone_lab::measure::latency_steps::LatencySteps;
use std::collections::BTreeMap;

/// The bots of a worker, or of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct BotRecords {
    bots: BTreeMap<u32, BotRecord>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct BotRecord {
    /// The error that ended it.
    pub(super) fault: Option<String>,
    /// Connections that ended without its wish.
    pub(super) drops: u64,
    /// Trends in milliseconds, by name.
    pub(super) trends: BTreeMap<String, LatencySteps>,
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

    /// All that is known, by the bots' numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &BotRecord)> {
        self.bots.iter().map(|(bot, record)| (*bot, record))
    }
}

/// Bots that are known by themselves: those that came first.
const BOTS_MAX: usize = 50_000;
/// Trends of each bot that are known: some kilobytes each.
const TRENDS_MAX: usize = 8;
/// A year.
const MICROS_MAX: f64 = 4e13;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_bots_and_of_trends_has_a_bound() {
        let mut records = BotRecords::default();
        (0..BOTS_MAX as u32 + 5).for_each(|bot| records.on_drop(bot));
        (0..20).for_each(|trend| records.record(1, &format!("{trend}_ms"), 1.0));
        assert_eq!((records.bots.len(), records.bots[&1].trends.len()), (BOTS_MAX, TRENDS_MAX));
    }
}
