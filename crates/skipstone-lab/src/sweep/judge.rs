//! Which rules apply to a setting, and which it missed, for certain or by chance.
//!
//! Where a link is overloaded, or a mode need not deliver all, a percentile of what arrived says little by itself. Of
//! an overload only the share that was delivered is judged. Of modes that need not deliver all, percentiles are of all
//! updates that were sent, those that never came being the latest, and the share is judged, too.

use serde::Serialize;

use super::noise::is_later;
use super::pool::SweepFigures;
use super::rule::Rule;
use super::setting::Setting;

/// A rule that a setting missed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub(crate) struct Miss {
    pub(crate) rule: Rule,
    /// The contender that missed it, and the figure.
    pub(crate) figure: String,
    pub(crate) actual: f64,
    /// The most that it may be, or the least of shares.
    pub(crate) bound: f64,
}

/// The figures of a setting: ours, and the peers'.
#[derive(Debug, Clone)]
pub(super) struct PlayedSetting {
    pub(super) off: SweepFigures,
    pub(super) lean: SweepFigures,
    pub(super) adaptive: SweepFigures,
    pub(super) peers: Vec<SweepFigures>,
}

/// All rules that apply, and what was missed.
#[derive(Debug, Clone, Default)]
pub(super) struct Judgement {
    pub(super) applied: Vec<Rule>,
    pub(super) misses: Vec<Miss>,
    /// Beyond a bound by no more than chance explains.
    pub(super) by_chance: Vec<Miss>,
}

impl PlayedSetting {
    pub(super) fn own(&self) -> [&SweepFigures; 3] {
        [&self.off, &self.lean, &self.adaptive]
    }
}

/// Judges a setting.
pub(super) fn judge(setting: &Setting, played: &PlayedSetting) -> Judgement {
    let mut judgement = Judgement::default();
    judgement.judge_promises(setting, played);
    judgement.judge_queue(setting, played);
    if setting.is_overloaded() {
        judgement.judge_delivered(played);
        return judgement;
    }
    judgement.judge_tail(setting, played);
    judgement.judge_far(setting, played);
    if !setting.delivers_all() {
        judgement.judge_delivered(played);
    }
    judgement.judge_peers(played);
    judgement.judge_clean(setting, played);
    judgement
}

impl Judgement {
    fn judge_promises(&mut self, setting: &Setting, played: &PlayedSetting) {
        let keeps_order = setting.condition.delivery_of(0).keeps_order();
        for of in played.own() {
            let disorder = of.duplicated + if keeps_order { of.reordered } else { 0 };
            for (rule, what, count) in [
                (Rule::Connects, "runs never connected", of.never_connected),
                (Rule::Lost, "lost or changed", of.lost + of.corrupted),
                (Rule::Disorder, "twice or out of order", disorder),
            ] {
                self.at_most(rule, &format!("{} {what}", of.contender), count as f64, 0.0);
            }
        }
    }

    fn judge_queue(&mut self, setting: &Setting, played: &PlayedSetting) {
        let Some(bound) = setting.queue_max() else { return };
        for of in played.own() {
            let queue = of.queue_delay_p95.unwrap_or(0.0);
            self.at_most(Rule::Queue, &format!("{} queue p95", of.contender), queue, bound.as_secs_f64() * 1e3);
        }
    }

    fn judge_delivered(&mut self, played: &PlayedSetting) {
        let best = played.off.delivered_share.max(played.lean.delivered_share);
        let (actual, bound) = (played.adaptive.delivered_share, best * DELIVERED_MIN);
        self.note(Rule::Delivers, "delivered share", actual, bound, actual >= bound);
    }

    fn judge_tail(&mut self, setting: &Setting, played: &PlayedSetting) {
        let from = usize::from(setting.delivers_all());
        for percentile in &PERCENTILES[from..] {
            if let Some((best, of_best)) = better(played, percentile.of) {
                self.a_rate_exceeds_its_bound_only_beyond_chance(
                    Rule::Tail,
                    percentile,
                    &played.adaptive,
                    of_best,
                    best,
                    lenient(best),
                );
            }
        }
    }

    fn judge_far(&mut self, setting: &Setting, played: &PlayedSetting) {
        let Some((best, of_best)) = better(played, FAR.of) else { return };
        let tick = setting.tick().as_secs_f64() * 1e3;
        self.a_rate_exceeds_its_bound_only_beyond_chance(Rule::Far, &FAR, &played.adaptive, of_best, best, best + tick);
        self.a_rate_exceeds_its_bound_only_beyond_chance(
            Rule::FarAtAll,
            &FAR,
            &played.adaptive,
            of_best,
            best,
            best + 2.0 * tick,
        );
    }

    fn judge_peers(&mut self, played: &PlayedSetting) {
        if played.adaptive.p998.is_none() {
            return;
        }
        for peer in played.peers.iter().filter(|peer| is_cheaper(peer, &played.adaptive)) {
            if let Some(theirs) = peer.p998 {
                let name = format!("p99.8 beside {}", peer.contender);
                let percentile = Percentile { name: &name, ..P998 };
                self.a_rate_exceeds_its_bound_only_beyond_chance(
                    Rule::Peers,
                    &percentile,
                    &played.adaptive,
                    peer,
                    theirs,
                    lenient(theirs),
                );
            }
        }
        // Without a cheaper peer there is nothing to beat.
        if !played.peers.is_empty() && !self.applied.contains(&Rule::Peers) {
            self.applied.push(Rule::Peers);
        }
    }

    fn judge_clean(&mut self, setting: &Setting, played: &PlayedSetting) {
        let is_limited = played.own().iter().any(|of| of.overflowed + of.refused > 0);
        if setting.is_clean() && !is_limited {
            let bound = played.off.ip_bytes_late as f64 * CLEAN_MAX;
            self.at_most(Rule::Clean, "bytes from 3 s on", played.adaptive.ip_bytes_late as f64, bound);
        }
    }

    /// A percentile of one against `best`, the same of another. Chance explains it where as many updates more are later
    /// than the bound as runs with other chances differ by.
    fn a_rate_exceeds_its_bound_only_beyond_chance(
        &mut self,
        rule: Rule,
        percentile: &Percentile<'_>,
        own: &SweepFigures,
        other: &SweepFigures,
        best: f64,
        bound: f64,
    ) {
        let actual = (percentile.of)(own).unwrap_or(f64::INFINITY);
        let is_by_chance = actual > bound && !is_later(&own.lateness, bound, &other.lateness, best, percentile.later);
        self.note(rule, percentile.name, actual, bound, actual <= bound || is_by_chance);
        if is_by_chance {
            self.by_chance.push(Miss { rule, figure: percentile.name.to_owned(), actual, bound });
        }
    }

    fn at_most(&mut self, rule: Rule, figure: &str, actual: f64, bound: f64) {
        self.note(rule, figure, actual, bound, actual <= bound);
    }

    fn note(&mut self, rule: Rule, figure: &str, actual: f64, bound: f64, is_kept: bool) {
        if !self.applied.contains(&rule) {
            self.applied.push(rule);
        }
        if !is_kept {
            self.misses.push(Miss { rule, figure: figure.to_owned(), actual, bound });
        }
    }
}

/// A peer counts if it delivered everything for at most these bytes.
fn is_cheaper(peer: &SweepFigures, own: &SweepFigures) -> bool {
    let is_whole = peer.lost + peer.corrupted + peer.never_connected + peer.gave_up == 0;
    let cost = |of: &SweepFigures| of.bytes_per_payload.unwrap_or(f64::INFINITY);
    is_whole && cost(peer) <= cost(own)
}

/// The better of off and lean, and whose it is.
fn better(played: &PlayedSetting, of: fn(&SweepFigures) -> Option<f64>) -> Option<(f64, &SweepFigures)> {
    let both = [&played.off, &played.lean].into_iter().filter_map(|figures| Some((of(figures)?, figures)));
    both.min_by(|one, other| one.0.total_cmp(&other.0))
}

/// The bound for an equal result: 1 ms or 3% more than the best, whichever is greater.
fn lenient(best: f64) -> f64 {
    best + (best * 0.03).max(1.0)
}

/// A percentile, and the share of updates that is later.
#[derive(Debug, Clone, Copy)]
struct Percentile<'a> {
    name: &'a str,
    of: fn(&SweepFigures) -> Option<f64>,
    later: f64,
}

/// The first where not everything is delivered: the others may then be of what never came.
const PERCENTILES: [Percentile<'static>; 3] = [
    Percentile { name: "p50", of: |figures| figures.p50, later: 0.5 },
    Percentile { name: "p99", of: |figures| figures.p99, later: 0.01 },
    P998,
];
const P998: Percentile<'static> = Percentile { name: "p99.8", of: |figures| figures.p998, later: 0.002 };
const FAR: Percentile<'static> = Percentile { name: "p99.99", of: |figures| figures.p9999, later: 0.000_1 };
const DELIVERED_MIN: f64 = 0.97;
const CLEAN_MAX: f64 = 1.02;

#[cfg(test)]
mod tests;
