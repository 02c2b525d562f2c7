//! What differs between two builds: rules, settings and figures.

use serde::Serialize;

use super::rule::Rule;

/// What changed since an earlier build.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct Changes {
    pub(crate) rules: Vec<RuleChange>,
    /// The settings in which something changed.
    pub(crate) settings: Vec<SettingChange>,
}

/// In how many settings a rule was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct RuleChange {
    pub(crate) rule: Rule,
    /// The share of the settings to which it applied, in per cent, and their number.
    pub(crate) before: f64,
    pub(crate) before_of: usize,
    pub(crate) now: f64,
    pub(crate) now_of: usize,
}

/// What changed in a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct SettingChange {
    pub(crate) seed: u64,
    pub(crate) setting: String,
    /// Rules that it kept before, and those that it keeps now.
    pub(crate) newly_missed: Vec<Rule>,
    pub(crate) newly_kept: Vec<Rule>,
    pub(crate) figures: Vec<FigureChange>,
}

/// A figure that differs by more than chance explains.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct FigureChange {
    /// The contender and the figure.
    pub(crate) of: String,
    /// Null if it is of an update that never arrived.
    pub(crate) before: Option<f64>,
    pub(crate) now: Option<f64>,
}

/// Percentage points by which a rule may be kept in fewer settings.
const POINTS: f64 = 1.0;

impl RuleChange {
    /// Whether it is kept in fewer settings, by more than a percentage point, or applies to none any more.
    pub(super) fn is_worse(&self) -> bool {
        self.before_of > 0 && self.now < self.before - POINTS
    }
}
