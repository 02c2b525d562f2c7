//! Two builds, setting by setting: a stored result of `sweep --json` and the one just made. Percentiles differ if chance
//! does not explain it, and by enough to be of interest.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use strum::VariantArray;

use super::change::{Changes, FigureChange, RuleChange, SettingChange};
use super::noise::ChanceRange;
use super::pool::SweepFigures;
use super::result::{SCHEMA_VERSION, SettingResult};
use super::rule::Rule;
use super::setting::Setting;

/// A stored result: what is compared.
#[derive(Debug, Deserialize)]
pub(super) struct Earlier {
    schema_version: u32,
    minutes: f64,
    loss_seeds: u64,
    settings: Vec<EarlierSetting>,
}

#[derive(Debug, Deserialize)]
struct EarlierSetting {
    seed: u64,
    setting: String,
    results: Vec<EarlierFigures>,
    rules: Vec<Rule>,
    misses: Vec<EarlierMiss>,
}

#[derive(Debug, Deserialize)]
struct EarlierMiss {
    rule: Rule,
}

#[derive(Debug, Deserialize)]
struct EarlierFigures {
    contender: String,
    p99: Option<f64>,
    p998: Option<f64>,
    p9999: Option<f64>,
    p99_range: ChanceRange,
    p998_range: ChanceRange,
    p9999_range: ChanceRange,
    bytes_per_payload: Option<f64>,
    delivered_share: f64,
}

/// Smaller differences are of no interest: of percentiles the greater of the two, then of bytes and deliveries.
const MILLIS: f64 = 1.0;
const SHARE: f64 = 0.03;
const SHARE_OF_COUNTS: f64 = 0.02;

impl Earlier {
    /// Reads a result for the settings of these seeds; the message says why the two cannot be compared.
    pub(super) fn read(path: &str, seeds: &Range<u64>, minutes: f64, loss_seeds: u64) -> Result<Earlier, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
        let earlier: Earlier = serde_json::from_str(&text).map_err(|error| {
            format!("{path} is not a whole result of this or a newer build's `skipstone sweep --json`: {error}")
        })?;
        earlier.check(seeds, minutes, loss_seeds).map_err(|why| format!("{path} cannot be compared: {why}"))?;
        Ok(earlier)
    }

    fn check(&self, seeds: &Range<u64>, minutes: f64, loss_seeds: u64) -> Result<(), String> {
        if self.schema_version != SCHEMA_VERSION {
            let version = self.schema_version;
            return Err(format!("its schema_version is {version}, but only {SCHEMA_VERSION} is supported"));
        }
        if (self.minutes, self.loss_seeds) != (minutes, loss_seeds) {
            let (minutes, loss_seeds) = (self.minutes, self.loss_seeds);
            return Err(format!("it was made with --minutes {minutes} --loss-seeds {loss_seeds}: use the same"));
        }
        let settings: BTreeMap<u64, &str> = self.settings.iter().map(|one| (one.seed, &one.setting[..])).collect();
        for seed in seeds.clone() {
            match settings.get(&seed) {
                None => return Err(format!("it has no seed {seed}: run the earlier build with the same --seeds")),
                Some(words) if *words != Setting::of(seed, minutes).words => {
                    return Err(format!("seed {seed} drew another setting then: the draws of the two builds differ"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// What changed in these settings.
    pub(super) fn changes(&self, now: &[SettingResult]) -> Changes {
        let earlier: BTreeMap<u64, &EarlierSetting> = self.settings.iter().map(|one| (one.seed, one)).collect();
        let pairs: Vec<_> = now.iter().filter_map(|now| Some((*earlier.get(&now.seed)?, now))).collect();
        let rules = Rule::VARIANTS.iter().filter_map(|rule| RuleChange::of(*rule, &pairs)).collect();
        let changed = |change: &SettingChange| {
            !(change.newly_missed.is_empty() && change.newly_kept.is_empty() && change.figures.is_empty())
        };
        let settings = pairs.iter().map(|(before, now)| SettingChange::of(before, now)).filter(changed).collect();
        Changes { rules, settings }
    }
}

impl EarlierSetting {
    fn misses(&self, rule: Rule) -> bool {
        self.misses.iter().any(|miss| miss.rule == rule)
    }
}

impl RuleChange {
    fn of(rule: Rule, pairs: &[(&EarlierSetting, &SettingResult)]) -> Option<RuleChange> {
        let kept = |applied: Vec<bool>| {
            let kept = applied.iter().filter(|is_kept| **is_kept).count();
            (kept as f64 * 100.0 / applied.len().max(1) as f64, applied.len())
        };
        let before = pairs.iter().filter(|(one, _)| one.rules.contains(&rule)).map(|(one, _)| !one.misses(rule));
        let now = pairs.iter().filter(|(_, one)| one.rules.contains(&rule)).map(|(_, one)| !one.misses(rule));
        let ((before, before_of), (now, now_of)) = (kept(before.collect()), kept(now.collect()));
        (before_of + now_of > 0).then_some(RuleChange { rule, before, before_of, now, now_of })
    }
}

impl SettingChange {
    fn of(before: &EarlierSetting, now: &SettingResult) -> SettingChange {
        let all = || Rule::VARIANTS.iter().copied();
        let newly_missed = all().filter(|rule| now.misses(*rule) && !before.misses(*rule)).collect();
        let newly_kept = all().filter(|rule| before.misses(*rule) && !now.misses(*rule)).collect();
        let of_both = now
            .results
            .iter()
            .filter_map(|now| Some((before.results.iter().find(|before| before.contender == now.contender)?, now)));
        let figures = of_both.flat_map(|(before, now)| differences(before, now)).collect();
        SettingChange { seed: now.seed, setting: now.setting.clone(), newly_missed, newly_kept, figures }
    }
}

fn differences(before: &EarlierFigures, now: &SweepFigures) -> Vec<FigureChange> {
    let percentiles = [
        ("p99", before.p99, before.p99_range, now.p99, now.p99_range),
        ("p99.8", before.p998, before.p998_range, now.p998, now.p998_range),
        ("p99.99", before.p9999, before.p9999_range, now.p9999, now.p9999_range),
    ];
    let change =
        |name: &str, before, after| FigureChange { of: format!("{} {name}", now.contender), before, now: after };
    let percentiles = percentiles.into_iter().filter(|(_, before, of_before, after, of_after)| {
        let is_small = |one: f64, other: f64| (one - other).abs() <= MILLIS.max(SHARE * one.min(other));
        of_before.is_apart_from(of_after) && !before.zip(*after).is_some_and(|(one, other)| is_small(one, other))
    });
    let counts = [
        ("bytes", before.bytes_per_payload, now.bytes_per_payload),
        ("delivered", Some(before.delivered_share), Some(now.delivered_share)),
    ];
    let counts = counts.into_iter().filter(|(_, before, after)| {
        let is_small = |one: f64, other: f64| (one - other).abs() <= SHARE_OF_COUNTS * one.min(other);
        before.is_some() != after.is_some() || before.zip(*after).is_some_and(|(one, other)| !is_small(one, other))
    });
    let percentiles = percentiles.map(|(name, before, _, after, _)| change(name, before, after));
    percentiles.chain(counts.map(|(name, before, after)| change(name, before, after))).collect()
}

#[cfg(test)]
mod tests;
