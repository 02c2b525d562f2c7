//! The rules that every setting is judged by, and the share of settings in which each has to hold.

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

/// A rule.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Display, IntoStaticStr, VariantArray,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Rule {
    /// Every run connects, in every mode of ours.
    Connects,
    /// No reliable message is lost or changed, in every mode of ours.
    Lost,
    /// Nothing comes twice, or behind a newer one where that is promised.
    Disorder,
    /// Adaptive's p99 and p99.8 against the better of off and lean.
    Tail,
    /// Adaptive's p99.99 against the better of off and lean: a tick.
    Far,
    /// The same: two ticks.
    FarAtAll,
    /// Adaptive's deliveries against the better of off and lean, on overloaded links.
    Delivers,
    /// Adaptive's p99.8 against the p99.8 of peers that send no more bytes.
    Peers,
    /// The queue's p95, in every mode of ours.
    Queue,
    /// Adaptive's bytes against off's, on a clean path.
    Clean,
}

/// How strictly rules are judged that are not promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tolerance {
    None,
    /// The rules hold in half of the settings.
    Half,
}

impl Rule {
    /// Of 100 settings to which it applies, those in which it has to hold.
    pub(crate) fn wanted_percent(self, tolerance: Tolerance) -> f64 {
        match self {
            Rule::Connects | Rule::Lost | Rule::Disorder => 100.0,
            _ if tolerance == Tolerance::Half => 50.0,
            Rule::Tail | Rule::Peers | Rule::Delivers => 97.0,
            Rule::Far => 95.0,
            _ => 100.0,
        }
    }

    /// The rule as a sentence.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Rule::Connects => "every run connects",
            Rule::Lost => "no reliable message is lost",
            Rule::Disorder => "no message is delivered twice or out of its promised order",
            Rule::Tail => "adaptive's p99 and p99.8 at most 1 ms or 3% above the better of off and lean",
            Rule::Far => "adaptive's p99.99 at most a tick above the better of off and lean",
            Rule::FarAtAll => "adaptive's p99.99 at most two ticks above the better of off and lean",
            Rule::Delivers => "adaptive delivers at least 97% of what the better of off and lean does",
            Rule::Peers => "no peer with at most adaptive's bytes beats its p99.8 by more than 1 ms or 3%",
            Rule::Queue => "queue p95 at most 60 ms, twice the round trip or four full packets",
            Rule::Clean => "a clean path costs at most 1.02 of off from the third second on",
        }
    }
}
