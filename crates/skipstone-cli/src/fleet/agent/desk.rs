//! Answers orders, and publishes the state of the part under way.

use super::super::load::Load;
use super::super::talk::{self, AgentOrder, AgentReply, Call, Card, PIECE_BYTES};
use super::given::Given;
use super::journal::{self, Journal};
use super::shelf::Shelf;
use super::work::Work;
use crate::fleet_flags::Nats;
use skipstone::net::wait::raise_open_files_limit;
use skipstone_fleet::bus::{BusEvent, BusMessage, BusState};
use skipstone_lab::measure::machine::this_machine;
use skipstone_lab::report::Exit;
use skipstone_lab::signals::Signals;
use skipstone_lab::units::Allowed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An agent at work.
pub(super) struct Desk {
    nats: Nats,
    name: String,
    instance: String,
    allowed: Vec<Allowed>,
    shelf: Shelf,
    work: Option<Work>,
    given: Given,
    journal: Journal,
    published: Instant,
}

/// How often the state is published.
const STATE: Duration = Duration::from_millis(500);
/// How long a twin may take to answer.
const TWIN_MAX: Duration = Duration::from_millis(700);

impl Desk {
    pub(super) fn new(nats: Nats, name: String, allowed: Vec<Allowed>, shelf: Shelf) -> Self {
        let unix = unix_us();
        let instance = format!("{:x}-{unix:x}", std::process::id());
        Desk {
            nats,
            name,
            instance,
            allowed,
            shelf,
            work: None,
            given: Given::default(),
            journal: Journal::default(),
            published: Instant::now(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The machine of another agent of this name, if there is one.
    pub(super) fn twin(&self) -> Option<String> {
        let who = json(&AgentOrder::Who);
        let request = self.nats.bus.request(&talk::agent_subject(&self.name), who, TWIN_MAX).ok()?;
        while let Some(event) = self.nats.bus.wait(2 * TWIN_MAX) {
            let BusEvent::Answer { request: of, result } = event else { continue };
            if of == request {
                let Ok(AgentReply::Card(card)) = serde_json::from_slice(&result.ok()?) else { return None };
                return Some(format!("{}, {}", card.machine.kernel, card.instance));
            }
        }
        None
    }

    /// What this agent is ready for.
    pub(super) fn greeting(&self) -> String {
        format!(
            "agent {} waits at {}; it may stress {}, and keeps evidence in {}",
            self.name,
            self.nats.shown,
            self.allowed_text().join(", "),
            self.shelf.folder().display()
        )
    }

    fn allowed_text(&self) -> Vec<String> {
        self.allowed.iter().map(ToString::to_string).collect()
    }

    /// Serves until it is told to end.
    pub(super) fn serve(mut self, signals: &Signals) -> Result<Exit, Exit> {
        let refused = |error: skipstone_fleet::bus::SubjectError| Exit::Invalid.told("agent", error);
        let bus = &self.nats.bus;
        bus.subscribe(talk::CALL).map_err(refused)?;
        bus.subscribe(&talk::agent_subject(&self.name)).map_err(refused)?;
        #[cfg(feature = "bots")]
        bus.subscribe(&talk::gifts_subject(&self.name)).map_err(refused)?;
        while !signals.is_set() {
            match self.nats.bus.wait(Duration::from_millis(20)) {
                Some(BusEvent::Message(message)) => self.on_message(&message),
                Some(BusEvent::Disconnected { .. }) => journal::say("NATS is away; the run, if there is one, goes on"),
                Some(BusEvent::Reconnected) => journal::say("NATS is back"),
                Some(BusEvent::Refused { why }) => {
                    return Err(Exit::Unavailable.told("agent", format_args!("NATS refuses: {why}")));
                }
                _ => {}
            }
            if self.nats.bus.state() == BusState::Ended {
                return Err(Exit::Invalid.told("agent", "the thread of NATS' client has ended"));
            }
            self.look_after_work();
        }
        self.journal.close(&self.name);
        Ok(Exit::Pass)
    }

    fn look_after_work(&mut self) {
        let Some(work) = &mut self.work else { return };
        let (was_ready, had_ended) = (work.ready.is_some(), work.end.is_some());
        work.poll();
        if let (false, Some((_, ready))) = (was_ready, &work.ready) {
            self.journal.ready(&work.run, ready);
        }
        if let (false, Some(end)) = (had_ended, &work.end) {
            self.journal.ended(&work.run, end);
            self.published = Instant::now().checked_sub(STATE).unwrap_or(self.published);
        }
        self.publish();
    }

    /// Publishes the state, now and then. While NATS is away it would be old when it arrives.
    fn publish(&mut self) {
        let Some(work) = &self.work else { return };
        if self.published.elapsed() < STATE || self.nats.bus.state() != BusState::Connected {
            return;
        }
        self.published = Instant::now();
        let state = work.state(&self.name, &self.instance);
        // What NATS does not take now comes with the next state.
        let _ = self.nats.bus.publish(&talk::run_subject(&work.run), json(&state));
    }

    fn on_message(&mut self, message: &BusMessage) {
        let Some(reply) = &message.reply else { return };
        if message.subject == talk::CALL {
            if serde_json::from_slice::<Call>(&message.payload).is_ok() {
                self.answer(reply, &AgentReply::Card(Box::new(self.card())));
            }
            return;
        }
        #[cfg(feature = "bots")]
        if let Some((run, from)) = talk::gift_of(&self.name, &message.subject) {
            let taken = self.check_free().and_then(|()| self.given.take(run, from, &message.payload));
            self.answer(reply, &taken.map_or_else(AgentReply::Refused, |()| AgentReply::Done));
            return;
        }
        match serde_json::from_slice(&message.payload) {
            Ok(AgentOrder::Hand { run, from }) if talk::is_name(&run) => {
                // An answer of NATS' own size, less its headers.
                let bytes_max = self.nats.bus.server().map_or(PIECE_BYTES, |server| server.payload_bytes_max / 2);
                let bytes_max = bytes_max.min(PIECE_BYTES);
                match self.shelf.piece(&run, from, bytes_max) {
                    Ok(piece) => drop(self.nats.bus.respond(reply, piece)),
                    Err(why) => self.answer(reply, &AgentReply::Refused(why)),
                }
            }
            Ok(order) => {
                let done = self.obey(order);
                self.answer(reply, &done.unwrap_or_else(AgentReply::Refused));
            }
            Err(error) => {
                self.answer(reply, &AgentReply::Refused(format!("agent {} does not understand: {error}", self.name)))
            }
        }
    }

    fn answer(&self, to: &str, reply: &AgentReply) {
        let _ = self.nats.bus.respond(to, json(reply));
    }

    /// Does what an order says. The error is one sentence.
    fn obey(&mut self, order: AgentOrder) -> Result<AgentReply, String> {
        match order {
            AgentOrder::Who => Ok(AgentReply::Card(Box::new(self.card()))),
            AgentOrder::Clock => Ok(AgentReply::Clock(unix_us())),
            AgentOrder::Enlist(load) => self.enlist(load),
            AgentOrder::Start { run, at } => self.of_run(&run).map(|work| work.start(at)).map(|()| AgentReply::Done),
            AgentOrder::Alive { run } => self.of_run(&run).map(|_| AgentReply::Done),
            AgentOrder::Stop { run } => self.of_run(&run).map(Work::stop).map(|()| AgentReply::Done),
            AgentOrder::Hand { run, .. } => Err(format!("'{run}' is no name of a run")),
        }
    }

    fn of_run(&mut self, run: &str) -> Result<&mut Work, String> {
        let name = &self.name;
        let work = self.work.as_mut().filter(|work| work.run == run);
        let work = work.ok_or_else(|| format!("agent {name} is not in run {run}"))?;
        work.heard = Instant::now();
        Ok(work)
    }

    fn enlist(&mut self, load: Load) -> Result<AgentReply, String> {
        let run = load.run().to_owned();
        if self.work.as_ref().is_some_and(|work| work.run == run) {
            // The order came twice.
            return Ok(AgentReply::Done);
        }
        self.check_free()?;
        if !talk::is_name(&run) {
            return Err(format!("'{run}' is no name of a run"));
        }
        for (host, port) in load.servers()? {
            if !self.allowed.iter().any(|allowed| allowed.is(&host, port)) {
                return Err(format!(
                    "agent {} may not stress {host}:{port}, only {}: start it with --allow {host}",
                    self.name,
                    self.allowed_text().join(", ")
                ));
            }
        }
        let folder = self.shelf.make_room(&run)?;
        self.journal.enlisted(&load);
        let given = std::mem::take(&mut self.given).of(&run);
        self.work = Some(Work::begin(&load, &folder, &given, self.allowed_text())?);
        Ok(AgentReply::Done)
    }

    fn check_free(&self) -> Result<(), String> {
        match self.work.as_ref().filter(|work| !work.is_over()) {
            Some(work) => Err(format!("agent {} is busy with run {}", self.name, work.run)),
            None => Ok(()),
        }
    }

    fn card(&self) -> Card {
        Card {
            talk: talk::TALK_VERSION,
            name: self.name.clone(),
            instance: self.instance.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            machine: this_machine(),
            open_files: raise_open_files_limit(),
            allowed: self.allowed_text(),
            busy: self.work.as_ref().filter(|work| !work.is_over()).map(|work| work.run.clone()),
            kept: self.shelf.runs(),
        }
    }
}

fn unix_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("it has text keys")
}
