//! `stress --fleet`: leads a run whose clients are on other machines.
//!
//! ```text
//! call ──> preflight (who is there, and fit) ──> enlist ──> start at one moment ──> watch ──> gather ──> judge
//! ```
//! An agent that is silent for 3 s is lost. Without leave (`--tolerate`) that ends the run at once: a verdict without
//! its lines would prove nothing.

mod clocks;
pub(super) mod collect_from;
pub(super) mod conclusion;
pub(super) mod gather;
mod no_verdict;
mod party;
mod preflight;
mod progress;

use super::order::LoadOrder;
use super::talk::{AgentOrder, Enlist};
use crate::fleet_flags::{FleetArguments, LOCAL, Nats};
use crate::stress::plan::{Plan, fresh_run};
use crate::stress::view::{LiveView, Viewer};
use crate::stress::{StressArguments, end_with_parent};
use gather::Gathered;
use no_verdict::NoVerdict;
use party::{AgentView, Party, Waited};
use skipstone_lab::report::stress::judge::Ending;
use skipstone_lab::report::stress::live::Phase;
use skipstone_lab::report::stress::roster::Roster;
use skipstone_lab::report::{Exit, output};
use skipstone_lab::signals::Signals;
use std::time::{Duration, Instant, SystemTime};

/// How long agents may take to connect their clients, beyond the ramp: what a run on one machine takes, and its start.
const READY_MAX: Duration = Duration::from_secs(25);
/// After the planned end: until the last line has arrived everywhere, and the evidence is written.
const END_MAX: Duration = Duration::from_secs(45);
/// From the word to start to the start, and ten times the way of the word.
const LEAD: Duration = Duration::from_millis(800);

/// Runs as the flags say.
pub(crate) fn run(arguments: &StressArguments) -> Exit {
    let signals = if arguments.piped { Signals::watch_as_child() } else { Signals::watch() };
    if let (true, Ok(signals)) = (arguments.piped, &signals) {
        end_with_parent(signals.clone());
    }
    let prepared = signals.and_then(|signals| Ok((Plan::from(arguments)?, signals)));
    let ended = prepared.map_err(|sentence| (Exit::BadConfiguration, sentence));
    let ended = ended.and_then(|(plan, signals)| lead(&plan, &arguments.fleet, signals));
    ended.unwrap_or_else(|(exit, sentence)| {
        if arguments.piped {
            output::say(serde_json::json!({ "failed": sentence }));
        }
        exit.told("stress", sentence)
    })
}

/// A run under way.
struct Coordinator<'p> {
    plan: &'p Plan,
    signals: Signals,
    /// They end before NATS does.
    _own: Option<OwnAgents>,
    party: Party,
    view: LiveView,
}

fn lead(plan: &Plan, flags: &FleetArguments, signals: Signals) -> Result<Exit, NoVerdict> {
    let bad = |sentence: String| (Exit::BadConfiguration, sentence);
    let invalid = |sentence: String| (Exit::Invalid, sentence);
    let load = LoadOrder::of(&plan.flags, plan.seed).map_err(bad)?;
    let nats = flags.nats.connect(flags.url().unwrap_or_default(), "stress")?;
    let run = run_name();
    let own = own_agents(flags, &nats, &load).map_err(bad)?;
    let (cards, table) = preflight::call(&nats.bus, &run, flags.agents, &signals).map_err(invalid)?;
    let view = LiveView::new(match (plan.flags.piped, plan.flags.quiet) {
        (true, _) => Viewer::Parent,
        (false, true) => Viewer::Nobody,
        (false, false) => Viewer::People,
    });
    let mut roster = Roster {
        run: run.clone(),
        seed: plan.seed,
        mix: plan.mix.clone(),
        agents: Vec::new(),
        tolerate: flags.tolerate,
        plan: plan.words.clone(),
        thresholds: plan.flags.threshold.iter().map(ToString::to_string).collect(),
        command: std::env::args().collect(),
    };
    if plan.clients < cards.len() as u32 {
        return Err(bad(format!("-c {}: {} agents need at least a client each", plan.clients, cards.len())));
    }
    roster.divide(cards.iter().map(|card| card.name.clone()));
    let party = Party::new(nats, roster, &cards).map_err(invalid)?;
    let mut coordinator = Coordinator { plan, signals, _own: own, party, view };
    coordinator.view.say(&table);
    coordinator.view.say(&format!(
        "run {run}: {} clients on {} agents, each {} for {}, lines of size {}, seed {}",
        plan.clients,
        cards.len(),
        plan.words.rate,
        plan.flags.duration,
        plan.words.size,
        plan.seed
    ));
    coordinator.play(&load)
}

impl Coordinator<'_> {
    fn play(&mut self, load: &LoadOrder) -> Result<Exit, NoVerdict> {
        let clocks = clocks::measure(&mut self.party).map_err(|why| self.abandon(why))?;
        self.enlist(load)?;
        self.await_ready()?;
        let at = clocks::start(&self.party, &clocks, LEAD);
        for (agent, at) in at.into_iter().enumerate() {
            let run = self.party.roster.run.clone();
            let told = self.party.ask(agent, &AgentOrder::Start { run, at }).map(drop);
            told.map_err(|why| self.abandon(why))?;
        }
        let ending = self.watch()?;
        let gathered = self.gather(ending);
        let report = (self.plan.report.as_ref(), &self.plan.sink);
        conclusion::show(&self.party.roster, &gathered, ending, report, self.view.viewer)
    }

    /// Each agent gets its part, or the run does not begin.
    fn enlist(&mut self, load: &LoadOrder) -> Result<(), NoVerdict> {
        let lines = fresh_run();
        for agent in 0..self.party.agents.len() {
            let roster = self.party.roster.clone();
            let has_report = self.plan.report.is_some();
            let enlist = Enlist { load: load.clone(), roster, agent, lines, has_report };
            if let Err(why) = self.party.ask(agent, &AgentOrder::Enlist(Box::new(enlist))) {
                return Err(self.abandon(why));
            }
        }
        Ok(())
    }

    /// Waits until the clients of all agents are there, or will not be.
    fn await_ready(&mut self) -> Result<(), NoVerdict> {
        self.view.enter(Phase::Connecting);
        let deadline = Instant::now() + self.plan.flags.ramp.0 + READY_MAX;
        loop {
            match self.party.step(Duration::from_millis(20)) {
                Waited::Nothing => {}
                Waited::Lost(agent) => return Err(self.abandon(self.party.lost_text(agent))),
            }
            self.show();
            if self.signals.is_set() {
                let (_, sentence) = self.abandon("interrupted".into());
                return Err((Exit::Interrupted, sentence));
            }
            if let Some(why) = self.party.agents.iter().find_map(AgentView::failure) {
                return Err(self.abandon(why));
            }
            if self.party.agents.iter().all(AgentView::is_ready) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let late: Vec<&str> = self
                    .party
                    .agents
                    .iter()
                    .filter(|agent| !agent.is_ready())
                    .map(|agent| agent.name.as_str())
                    .collect();
                return Err(
                    self.abandon(format!("the clients of agent {} did not connect in time", late.join(", agent ")))
                );
            }
        }
    }

    /// Watches until every agent has its evidence, or is lost.
    fn watch(&mut self) -> Result<Ending, NoVerdict> {
        self.view.enter(Phase::Running);
        let planned_end = Instant::now() + LEAD + self.plan.flags.duration.0;
        let (mut ending, mut stopped) = (Ending::Completed, None);
        loop {
            let waited = self.party.step(Duration::from_millis(20));
            let lost = self.party.lost_count();
            if let (Waited::Lost(agent), true) = (waited, lost > u64::from(self.party.roster.tolerate)) {
                return Err(self.abandon(self.party.lost_text(agent)));
            }
            self.show();
            if self.party.agents.iter().all(|agent| agent.has_ended() || agent.lost.is_some()) {
                return Ok(ending);
            }
            if self.signals.is_set() && stopped.is_none() {
                (ending, stopped) = (Ending::Interrupted, Some(Instant::now()));
                self.party.stop_all();
            }
            if stopped.is_some_and(|at| at.elapsed() > STOP_MAX) {
                return Ok(ending);
            }
            let over = Instant::now().saturating_duration_since(planned_end);
            if let Some(away) = self.party.away_for() {
                if over > Duration::ZERO && away.min(over) > NATS_MAX {
                    return Err(self.abandon(format!("NATS has been away for {:.0} s", away.as_secs_f64())));
                }
            } else if over > END_MAX + self.party.was_away.min(NATS_MAX) {
                self.party.give_up_silent();
            }
        }
    }

    /// Fetches all evidence that there is.
    fn gather(&mut self, ending: Ending) -> Gathered {
        self.view.enter(Phase::Closing);
        let patience = if ending == Ending::Interrupted { STOP_MAX } else { NATS_MAX };
        gather::from_party(&mut self.party, patience)
    }

    fn show(&mut self) {
        if self.view.is_due() {
            let (phase, elapsed) = self.view.phase();
            let plan = &self.plan.flags;
            let duration =
                if phase == Phase::Running { plan.duration.0 } else { plan.ramp.0.max(Duration::from_secs(1)) };
            let offered = plan.rate.per_second() * f64::from(self.plan.clients);
            let snapshot = progress::merged(&self.party, phase, elapsed, duration, offered);
            self.view.present(&snapshot, progress::rows(&self.party));
        }
    }

    /// The run proves nothing. Agents keep what they have.
    fn abandon(&mut self, why: String) -> NoVerdict {
        self.party.stop_all();
        let run = &self.party.roster.run;
        let has_begun = self.party.agents.iter().any(|agent| agent.is_ready());
        let kept = if has_begun {
            format!(" (what the other agents have of it: skipstone agent collect {run} --fleet URL)")
        } else {
            String::new()
        };
        (Exit::Invalid, format!("run {run}: {why}{kept}"))
    }
}

/// How long interrupted agents may take to end.
const STOP_MAX: Duration = Duration::from_secs(8);
/// How long NATS may be away after the planned end.
const NATS_MAX: Duration = Duration::from_secs(60);

/// By date and time, so that people find it again, and unlike that of another coordinator.
fn run_name() -> String {
    let now = skipstone_lab::report::format::rfc3339(SystemTime::now());
    let digits: String = now.chars().filter(char::is_ascii_digit).collect();
    format!("{}-{}-{:04x}", &digits[..8], &digits[8..], fresh_run())
}

/// Agents of this run's own, on this machine; they end with it.
struct OwnAgents {
    _agents: Vec<skipstone_lab::child::Child>,
    _folder: tempfile::TempDir,
}

fn own_agents(flags: &FleetArguments, nats: &Nats, load: &LoadOrder) -> Result<Option<OwnAgents>, String> {
    if flags.url() != Some(LOCAL) {
        return Ok(None);
    }
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program's file: {error}"))?;
    let folder = tempfile::Builder::new().prefix("skipstone-agents-").tempdir();
    let folder = folder.map_err(|error| format!("cannot make a folder: {error}"))?;
    let (host, port) = load.server()?;
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let start = |number: u32| {
        let name = format!("local-{number}");
        let mut command = std::process::Command::new(&program);
        command.args(["agent", "--with-parent", "--fleet", &nats.url, "--name", &name]);
        command.arg("--allow").arg(format!("{host}:{port}")).arg("--keep").arg(folder.path().join(&name));
        let started = skipstone_lab::child::Child::start(command, |_| std::ops::ControlFlow::Continue(()));
        started.map_err(|error| format!("cannot start an agent: {error}"))
    };
    let agents = (1..=flags.agents).map(start).collect::<Result<Vec<_>, String>>()?;
    output::complain(format_args!("{} agents of this run started on this machine", agents.len()));
    Ok(Some(OwnAgents { _agents: agents, _folder: folder }))
}
