//! How many bots a server holds: the trials of a search, and what it found.

use super::result::BotsResult;
use crate::measure::machine::Machine;
use crate::report::format::{or_dash, percent, thousands, three_digits};
use crate::report::paint::{Style, Tone, wrap};
use crate::report::stress::table::verdict_words;
use crate::report::{Cell, Page, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The finding of `skipstone bots --find-limit`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BotsLimit {
    /// Raised when a field changes its meaning.
    #[cfg_attr(test, schemars(extend("const" = super::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Pass if a limit was found, or the highest number held.
    pub verdict: Verdict,
    /// Why it is not a pass, one sentence each.
    pub reasons: Vec<String>,
    /// The most bots with which a trial passed; 0 if none did.
    pub holds: u64,
    /// The fewest bots with which one did not; null if all did.
    pub breaks: Option<u64>,
    /// What broke first there.
    pub broken_by: Vec<String>,
    /// Of all trials.
    pub seed: u64,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// The script, as it was named.
    pub script: String,
    /// Where it ran.
    pub machine: Machine,
    /// The trials, by the number of bots.
    pub trials: Vec<LimitTrial>,
}

/// A trial of a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitTrial {
    /// How many bots.
    pub bots: u64,
    /// Its verdict.
    pub verdict: Verdict,
    /// Why it is not a pass.
    pub reasons: Vec<String>,
    /// The figures that the thresholds are about, by threshold; null if not measured.
    pub figures: BTreeMap<String, Option<f64>>,
    /// CPU time of the server in percent of one core; null without `--watch-pid`.
    pub server_cpu_percent: Option<f64>,
    /// CPU time of the bots in percent of one core.
    pub generator_cpu_percent: Option<f64>,
}

impl LimitTrial {
    /// The trial with this result.
    pub fn of(bots: u64, result: &BotsResult) -> Self {
        let figures = result.thresholds.iter().map(|one| (one.expression.clone(), one.actual));
        LimitTrial {
            bots,
            verdict: result.verdict,
            reasons: result.reasons.clone(),
            figures: figures.collect(),
            server_cpu_percent: result.server.map(|server| server.cpu_percent),
            generator_cpu_percent: result.generator.cpu_percent,
        }
    }
}

/// The final table; ends with a line feed.
pub fn limit_table(limit: &BotsLimit, style: Style) -> String {
    let mut page = Page::new(style);
    page.blank();
    page.toned(Tone::Strong, &format!("How many bots of {} are held; seed {}", limit.script, limit.seed));
    page.blank();
    let figures: Vec<&String> = limit.trials.first().map(|trial| trial.figures.keys().collect()).unwrap_or_default();
    let shown = &figures[..figures.len().min(FIGURES_MAX)];
    let heads = ["server", "bots'"].into_iter().map(String::from);
    let heads = heads.chain(shown.iter().map(|figure| figure.chars().take(FIGURE_COLUMNS - 2).collect()));
    let head = heads.enumerate().map(|(at, text)| Cell::right(text, columns(at)).toned(Tone::Faint));
    page.row("bots", LABEL_COLUMNS, head.collect::<Vec<_>>());
    for trial in &limit.trials {
        let tone = if trial.verdict == Verdict::Pass { Tone::Good } else { Tone::Bad };
        let costs = [trial.server_cpu_percent, trial.generator_cpu_percent].map(|cost| or_dash(cost, percent));
        let values = shown.iter().map(|figure| or_dash(trial.figures.get(*figure).copied().flatten(), three_digits));
        let cells = costs.into_iter().chain(values).enumerate().map(|(at, text)| Cell::right(text, columns(at)));
        let (word, ..) = verdict_words(trial.verdict);
        let label = format!("{:>7} {word}", thousands(trial.bots));
        page.row(&label, LABEL_COLUMNS, cells.map(|cell| cell.toned(tone)).collect::<Vec<_>>());
    }
    page.blank();
    let (word, tone, _) = verdict_words(limit.verdict);
    page.line(&format!("{}  {}", page.paint(tone, word), found(limit)));
    for reason in limit.reasons.iter().chain(&limit.broken_by) {
        wrap(&format!("- {reason}"), 76).iter().for_each(|line| page.line(&format!("  {line}")));
    }
    page.into_text()
}

fn found(limit: &BotsLimit) -> String {
    match limit.breaks {
        Some(breaks) if limit.holds > 0 => {
            format!("The server holds {} bots, and does not hold {}:", thousands(limit.holds), thousands(breaks))
        }
        Some(breaks) => format!("The server does not hold {}, the fewest that were tried:", thousands(breaks)),
        None => format!("The server holds {} bots, the most that were tried.", thousands(limit.holds)),
    }
}

fn columns(at: usize) -> usize {
    if at < 2 { 10 } else { FIGURE_COLUMNS }
}

const LABEL_COLUMNS: usize = 20;
const FIGURE_COLUMNS: usize = 20;
/// More do not fit beside each other.
const FIGURES_MAX: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_holds_and_what_breaks() {
        let trial = |bots, verdict, p99| LimitTrial {
            bots,
            verdict,
            figures: BTreeMap::from([("move_ms.p99<100ms".to_owned(), Some(p99))]),
            server_cpu_percent: Some(50.0),
            ..LimitTrial::default()
        };
        let limit = BotsLimit {
            holds: 120,
            breaks: Some(123),
            broken_by: vec!["The threshold move_ms.p99<100ms was missed: move_ms.p99 is 900 ms.".into()],
            trials: vec![trial(120, Verdict::Pass, 12.0), trial(123, Verdict::Fail, 900.0)],
            verdict: Verdict::Pass,
            ..BotsLimit::default()
        };
        let text = limit_table(&limit, Style::Plain);
        assert!(text.contains("holds 120 bots, and does not hold 123") && text.contains("900"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
