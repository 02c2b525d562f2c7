//! A run as its coordinator has it, before any machine plays it.

use super::super::arguments::BotsArguments;
use super::super::prepared::{Checked, check};
use super::merged::BotsPlace;
use super::order::{BotsOrder, BotsRoster};
use super::part::is_of;
use crate::script::ScriptBundle;
use skipstone_lab::report::{ReportFile, Sink, output};
use std::time::Duration;

/// A run, checked.
pub struct LedBots {
    order: BotsOrder,
    bundle: ScriptBundle,
    checked: Checked,
    place: BotsPlace,
    script: String,
    is_quiet: bool,
}

impl LedBots {
    /// Checks script and flags. `None` if they were to be checked only. The error is one sentence with the remedy.
    pub fn of(arguments: &BotsArguments) -> Result<Option<Self>, String> {
        refuse_flags_of_one_machine(arguments)?;
        let checked = check(arguments)?;
        let bundle = ScriptBundle::of(&checked.script)?;
        if arguments.check {
            output::say(checked.in_order(arguments));
            return Ok(None);
        }
        let sink = Sink::open(arguments.json.as_deref())?;
        let report = arguments.report.as_deref().map(ReportFile::open).transpose()?;
        let is_quiet = arguments.quiet || matches!(sink, Sink::StandardOutput);
        let order = BotsOrder::of(arguments, checked.seed, checked.url.clone());
        let place = BotsPlace { sink, report };
        Ok(Some(LedBots { order, bundle, checked, place, script: arguments.script.clone(), is_quiet }))
    }

    /// The roster of a run with these agents.
    pub fn roster(&self, run: &str, agents: Vec<String>, tolerate: u32) -> BotsRoster {
        let count = |agent| self.checked.lives.iter().filter(|life| is_of(life, agent, agents.len())).count() as u64;
        BotsRoster {
            run: run.to_owned(),
            lives: (0..agents.len()).map(count).collect(),
            agents,
            tolerate,
            order: self.order.clone(),
            bots: self.checked.bots,
            duration_s: self.checked.duration.as_secs_f64(),
            script: self.script.clone(),
            script_sha256: self.bundle.sha256(),
            thresholds: self.checked.thresholds.iter().map(ToString::to_string).collect(),
            command: self.checked.blank.command.clone(),
        }
    }

    /// The script with its folder's files.
    pub fn bundle(&self) -> &ScriptBundle {
        &self.bundle
    }

    /// The host and port of the place where all bots connect, as far as it is known before. The error is one sentence.
    pub fn server(&self) -> Result<Option<(String, u16)>, String> {
        self.order.server()
    }

    /// How many numbers the bots have.
    pub fn bots(&self) -> u32 {
        self.checked.bots
    }

    /// How long they run.
    pub fn duration(&self) -> Duration {
        self.checked.duration
    }

    /// Whether only the result is shown.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Where the result goes.
    pub fn place(&self) -> &BotsPlace {
        &self.place
    }

    /// The run in a line for people.
    pub fn text(&self, run: &str, agents: usize) -> String {
        let Checked { bots, duration, seed, .. } = self.checked;
        let (files, script) = (self.bundle.files(), &self.script);
        let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        let seconds = duration.as_secs_f64();
        format!("run {run}: {bots} bots of {script} ({files}) on {agents} agents, for {seconds:.1} s, seed {seed}")
    }
}

/// Each with what to do instead.
fn refuse_flags_of_one_machine(arguments: &BotsArguments) -> Result<(), String> {
    let refused = [
        (
            arguments.find_limit,
            "--find-limit: a search is run on one machine; leave out --fleet, or try one number of bots after the \
             other with -c",
        ),
        (
            arguments.only_bot.is_some(),
            "--only-bot: one bot runs on one machine, as it does in the whole run of that seed; leave out --fleet",
        ),
        (
            arguments.live.is_some(),
            "--live: the bots run on other machines; leave it out, and read the lines of the agents here",
        ),
        (
            arguments.watch_pid.is_some(),
            "--watch-pid: agents are on other machines than the server; leave it out, and watch the server there",
        ),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, sentence)) => Err(format!("{sentence} (with --fleet)")),
        None => Ok(()),
    }
}
