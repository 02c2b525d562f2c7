//! The JSON result. `schema/sweep.schema.json` says the same to other programs; it is derived from these types.

use serde::Serialize;
use strum::VariantArray;

use super::change::Changes;
use super::judge::Miss;
use super::noise::Lateness;
use super::play::Finding;
use super::pool::SweepFigures;
use super::rule::{Rule, Tolerance};
use crate::report::Verdict;

/// All that a sweep found.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct Sweep {
    /// Raised when a field changes its meaning.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA_VERSION)))]
    pub(crate) schema_version: u32,
    pub(crate) verdict: Verdict,
    /// Why the verdict is not pass, one sentence each.
    pub(crate) reasons: Vec<String>,
    pub(crate) minutes: f64,
    pub(crate) loss_seeds: u64,
    pub(crate) settings: Vec<SettingResult>,
    pub(crate) rules: Vec<RuleResult>,
    /// Against the build of `--against`; null without.
    pub(crate) changes: Option<Changes>,
}

/// A setting and its findings.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct SettingResult {
    pub(crate) seed: u64,
    pub(crate) setting: String,
    pub(crate) results: Vec<SweepFigures>,
    /// The rules that apply to it.
    pub(crate) rules: Vec<Rule>,
    pub(crate) misses: Vec<Miss>,
    /// Beyond a bound by no more than runs of the same setting with other losses differ by.
    pub(crate) by_chance: Vec<Miss>,
}

/// How a rule was kept over all settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct RuleResult {
    pub(crate) rule: Rule,
    /// Settings to which it applies.
    pub(crate) applied: u64,
    /// Settings in which it held.
    pub(crate) kept: u64,
    /// Of these, settings in which a figure is beyond its bound by no more than chance explains.
    pub(crate) by_chance: u64,
    pub(crate) wanted_percent: f64,
    pub(crate) passed: bool,
}

/// Raised when a field changes its meaning.
pub(crate) const SCHEMA_VERSION: u32 = 1;

impl SettingResult {
    pub(super) fn of(finding: Finding) -> SettingResult {
        let Finding { setting, played, judgement } = finding;
        let own = [played.off, played.lean, played.adaptive];
        // The judgement has been made: hundreds of settings would keep gigabytes of moments.
        let without_moments = |figures| SweepFigures { lateness: Lateness::default(), ..figures };
        SettingResult {
            seed: setting.seed,
            setting: setting.words,
            results: own.into_iter().chain(played.peers).map(without_moments).collect(),
            rules: judgement.applied,
            misses: judgement.misses,
            by_chance: judgement.by_chance,
        }
    }

    pub(super) fn misses(&self, rule: Rule) -> bool {
        self.misses.iter().any(|miss| miss.rule == rule)
    }

    fn is_by_chance(&self, rule: Rule) -> bool {
        self.by_chance.iter().any(|miss| miss.rule == rule)
    }
}

impl RuleResult {
    /// The results of all rules that apply to at least one setting.
    pub(super) fn all(settings: &[SettingResult], tolerance: Tolerance) -> Vec<RuleResult> {
        let of = |rule: &Rule| RuleResult::of(*rule, settings, tolerance);
        Rule::VARIANTS.iter().map(of).filter(|result| result.applied > 0).collect()
    }

    fn of(rule: Rule, settings: &[SettingResult], tolerance: Tolerance) -> RuleResult {
        let applied = settings.iter().filter(|setting| setting.rules.contains(&rule));
        let (applied, missed) =
            applied.fold((0, 0), |(applied, missed), setting| (applied + 1, missed + u64::from(setting.misses(rule))));
        let kept = applied - missed;
        let is_by_chance = |setting: &&SettingResult| !setting.misses(rule) && setting.is_by_chance(rule);
        let by_chance = settings.iter().filter(is_by_chance).count() as u64;
        let wanted_percent = rule.wanted_percent(tolerance);
        let passed = kept as f64 * 100.0 >= applied as f64 * wanted_percent;
        RuleResult { rule, applied, kept, by_chance, wanted_percent, passed }
    }

    pub(super) fn percent(&self) -> f64 {
        self.kept as f64 * 100.0 / self.applied.max(1) as f64
    }
}
