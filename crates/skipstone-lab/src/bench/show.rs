//! The progress display of a bench.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::messages::Progress;
use super::row::BenchRow;
use super::setup::{Trial, TrialSetup};
use crate::clean;
use crate::report::format::thousands;
use crate::report::output;

/// A line that changes on a terminal, a line for each run elsewhere.
pub(super) struct Show {
    bar: ProgressBar,
    is_live: bool,
    is_quiet: bool,
    trial: String,
}

impl Show {
    pub(super) fn new(is_quiet: bool) -> Show {
        let is_live = std::io::stderr().is_terminal() && !is_quiet;
        let target = if is_live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::with_template("{spinner} {elapsed}  {msg}").expect("a good template"));
        bar.enable_steady_tick(Duration::from_millis(250));
        Show { bar, is_live, is_quiet, trial: String::new() }
    }

    pub(super) fn begin(&mut self, trial: Trial, setup: &TrialSetup, place: Option<(usize, usize)>) {
        let place = place.map_or(String::new(), |(at, all)| format!("{at} of {all}: "));
        let variant = trial.variant.name().map_or(String::new(), |variant| format!(", {variant}"));
        self.trial = format!("{place}{}{variant}, {} clients", trial.name(setup), thousands(trial.clients.into()));
        self.bar.set_message(format!("{}  connecting", self.trial));
    }

    pub(super) fn progress(&mut self, progress: Progress) {
        let lines = thousands(progress.delivered_per_second as u64);
        let clients = thousands(progress.connected.into());
        self.bar
            .set_message(format!("{}  {clients} connected, {lines} lines/s, p99 {:.1} ms", self.trial, progress.p99));
    }

    pub(super) fn end(&mut self, row: &BenchRow) {
        self.say(&format!("{}  {}", self.trial, row.sentence()));
    }

    /// A line that stays.
    pub(super) fn say(&mut self, text: &str) {
        if self.is_live {
            self.bar.println(clean::page(text));
        } else if !self.is_quiet {
            output::complain(text);
        }
    }

    pub(super) fn finish(&mut self) {
        self.bar.finish_and_clear();
    }
}
