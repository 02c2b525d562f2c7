//! The course of a run whose clients are on other machines, whatever they do.

use super::super::load::Load;
use super::super::talk::AgentOrder;
use super::gather::{Gathered, RawEvidence};
use super::no_verdict::NoVerdict;
use super::own_agents::OwnAgents;
use super::party::{AgentView, Party, Waited};
use super::{clocks, gather, preflight, progress};
use crate::fleet_flags::FleetArguments;
use crate::stress::plan::fresh_run;
use crate::stress::view::{LiveView, Viewer};
use skipstone_lab::report::Exit;
use skipstone_lab::report::stress::judge::Ending;
use skipstone_lab::report::stress::live::Phase;
use skipstone_lab::signals::Signals;
use std::time::{Duration, Instant, SystemTime};

/// How long agents may take until their clients wait for the start, beyond the ramp: what a run on one machine takes, and
/// its start.
const READY_MAX: Duration = Duration::from_secs(25);
/// After the planned end: until the last line has arrived everywhere, and the evidence is written.
const END_MAX: Duration = Duration::from_secs(45);
/// From the word to start to the start, and ten times the way of the word.
const LEAD: Duration = Duration::from_millis(800);

/// A run, as far as its coordinator must know it.
#[derive(Debug)]
pub(super) struct Led {
    /// The command, for the messages about it.
    pub(super) command: &'static str,
    /// Clients of all agents.
    pub(super) clients: u32,
    /// How long they may take to begin before the start.
    pub(super) ramp: Duration,
    /// How long they run.
    pub(super) duration: Duration,
    /// Messages that they are to send in a second, if that is known.
    pub(super) offered_per_second: f64,
    /// Servers that agents of the run's own may stress: host and port.
    pub(super) servers: Vec<(String, u16)>,
    pub(super) viewer: Viewer,
    pub(super) display: Display,
}

/// How people see the run while it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Display {
    /// The figures of lines, a row for each.
    Lines,
    /// A line about bots and their messages.
    #[cfg(feature = "bots")]
    Bots,
}

/// A run under way.
pub(super) struct Coordinator {
    led: Led,
    tolerate: u32,
    pub(super) signals: Signals,
    /// They end before NATS does.
    _own: Option<OwnAgents>,
    pub(super) party: Party,
    pub(super) view: LiveView,
}

impl Coordinator {
    /// Calls the agents together.
    pub(super) fn assemble(led: Led, flags: &FleetArguments, signals: Signals) -> Result<Self, NoVerdict> {
        let invalid = |sentence: String| (Exit::Invalid, sentence);
        let bad = |sentence: String| (Exit::BadConfiguration, sentence);
        let nats = flags.nats.connect(flags.url().unwrap_or_default(), led.command)?;
        let run = run_name();
        let own = OwnAgents::start(flags, &nats, &led.servers).map_err(bad)?;
        let (cards, table) = preflight::call(&nats.bus, &run, flags.agents, &signals).map_err(invalid)?;
        if led.clients < cards.len() as u32 {
            return Err(bad(format!("-c {}: {} agents need at least a client each", led.clients, cards.len())));
        }
        let party = Party::new(nats, run, &cards).map_err(invalid)?;
        let mut view = LiveView::new(led.viewer);
        view.say(&table);
        Ok(Coordinator { led, tolerate: flags.tolerate, signals, _own: own, party, view })
    }

    pub(super) fn run(&self) -> &str {
        &self.party.run
    }

    /// The agents, in the order of their parts.
    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        self.party.agents.iter().map(|agent| agent.name.clone())
    }

    /// Plays the run, with a part for each agent.
    pub(super) fn play(&mut self, loads: Vec<Load>) -> Result<(Gathered<RawEvidence>, Ending), NoVerdict> {
        let clocks = clocks::measure(&mut self.party).map_err(|why| self.abandon(why))?;
        self.enlist(loads)?;
        self.await_ready()?;
        let at = clocks::start(&self.party, &clocks, LEAD);
        for (agent, at) in at.into_iter().enumerate() {
            let run = self.party.run.clone();
            let told = self.party.ask(agent, &AgentOrder::Start { run, at }).map(drop);
            told.map_err(|why| self.abandon(why))?;
        }
        let ending = self.watch()?;
        Ok((self.gather(ending), ending))
    }

    /// Each agent gets its part, or the run does not begin.
    fn enlist(&mut self, loads: Vec<Load>) -> Result<(), NoVerdict> {
        for (agent, load) in loads.into_iter().enumerate() {
            self.party.agents[agent].clients = load.clients();
            if let Err(why) = self.party.ask(agent, &AgentOrder::Enlist(load)) {
                return Err(self.abandon(why));
            }
        }
        Ok(())
    }

    /// Waits until the clients of all agents are there, or will not be.
    fn await_ready(&mut self) -> Result<(), NoVerdict> {
        self.view.enter(Phase::Connecting);
        let deadline = Instant::now() + self.led.ramp + READY_MAX;
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
        let planned_end = Instant::now() + LEAD + self.led.duration;
        let (mut ending, mut stopped) = (Ending::Completed, None);
        loop {
            let waited = self.party.step(Duration::from_millis(20));
            let lost = self.party.lost_count();
            if let (Waited::Lost(agent), true) = (waited, lost > u64::from(self.tolerate)) {
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
    fn gather(&mut self, ending: Ending) -> Gathered<RawEvidence> {
        self.view.enter(Phase::Closing);
        let patience = if ending == Ending::Interrupted { STOP_MAX } else { NATS_MAX };
        gather::from_party(&mut self.party, patience)
    }

    fn show(&mut self) {
        if self.view.is_due() {
            let (phase, elapsed) = self.view.phase();
            let Led { duration, ramp, offered_per_second: offered, .. } = self.led;
            let duration = if phase == Phase::Running { duration } else { ramp.max(Duration::from_secs(1)) };
            let snapshot = progress::merged(&self.party, phase, elapsed, duration, offered);
            match self.led.display {
                Display::Lines => self.view.present(&snapshot, progress::rows(&self.party)),
                // Before the start there is nothing to show.
                #[cfg(feature = "bots")]
                Display::Bots if phase == Phase::Connecting || elapsed < LEAD => {}
                #[cfg(feature = "bots")]
                Display::Bots => self.view.line(&progress::line(&snapshot, elapsed - LEAD, &self.party)),
            }
        }
    }

    /// The run proves nothing. Agents keep what they have.
    pub(super) fn abandon(&mut self, why: String) -> NoVerdict {
        self.party.stop_all();
        let run = &self.party.run;
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
