//! The agents of a run, as the coordinator knows them: orders, answers, and who is silent.

use super::super::talk::{self, AgentOrder, AgentReply, AgentState, Card, PartEnd};
use crate::fleet_flags::Nats;
use crate::stress::lead::Ready;
use skipstone_fleet::bus::{BusEvent, BusState, NoAnswer, SubscriptionId};
use std::time::{Duration, Instant};

/// All agents of a run.
pub(in super::super) struct Party {
    pub(in super::super) nats: Nats,
    /// The name of the run.
    pub(in super::super) run: String,
    pub(in super::super) agents: Vec<AgentView>,
    states: SubscriptionId,
    /// Since when NATS is away.
    away: Option<Instant>,
    /// How long it was away in all.
    pub(super) was_away: Duration,
    alive: Instant,
}

/// One agent.
#[derive(Debug)]
pub(in super::super) struct AgentView {
    pub(in super::super) name: String,
    /// How many clients it has.
    pub(super) clients: u64,
    instance: String,
    heard: Instant,
    /// Its last state, and when it came.
    pub(super) state: Option<(Instant, AgentState)>,
    /// Why it is lost.
    pub(in super::super) lost: Option<String>,
}

/// What a step found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    Nothing,
    /// This agent is lost now.
    Lost(usize),
}

/// Without a sign of life for this long, an agent is lost.
const SILENCE_MAX: Duration = Duration::from_secs(3);
/// When NATS is back, agents may take this long to be so too.
const RETURN_MAX: Duration = Duration::from_secs(6);
/// Agents that wait for the start want to hear of the coordinator.
const ALIVE: Duration = Duration::from_secs(2);
/// One attempt of an order, and how many there are.
const ASK: Duration = Duration::from_millis(1_500);
const ASKS_MAX: usize = 4;

impl Party {
    /// The error is one sentence.
    pub(super) fn new(nats: Nats, run: String, cards: &[Card]) -> Result<Self, String> {
        let states = nats.bus.subscribe(&talk::run_subject(&run)).map_err(|error| error.to_string())?;
        let agents = cards.iter().map(|card| AgentView::unheard(&card.name, &card.instance)).collect();
        Ok(Party { nats, run, agents, states, away: None, was_away: Duration::ZERO, alive: Instant::now() })
    }

    /// Gives an order until it is answered. The error is one sentence.
    pub(super) fn ask(&mut self, agent: usize, order: &AgentOrder) -> Result<AgentReply, String> {
        let name = self.agents[agent].name.clone();
        for _ in 0..ASKS_MAX {
            match self.try_order(agent, order, ASK)? {
                Some(answer) => return understood(&answer),
                None => continue,
            }
        }
        Err(format!("agent {name} does not answer"))
    }

    /// Gives an order once; the answer's bytes, or `None` if there is none in time.
    pub(in super::super) fn try_order(
        &mut self,
        agent: usize,
        order: &AgentOrder,
        timeout: Duration,
    ) -> Result<Option<Vec<u8>>, String> {
        let payload = serde_json::to_vec(order).map_err(|error| error.to_string())?;
        let subject = talk::agent_subject(&self.agents[agent].name);
        self.try_request(agent, &subject, payload, timeout)
    }

    /// Gives a piece of the run's script until it is taken. The error is one sentence.
    #[cfg(feature = "bots")]
    pub(super) fn give(&mut self, agent: usize, from: usize, piece: &[u8]) -> Result<(), String> {
        let name = self.agents[agent].name.clone();
        let subject = talk::give_subject(&name, &self.run, from);
        for _ in 0..ASKS_MAX {
            if let Some(answer) = self.try_request(agent, &subject, piece.to_vec(), ASK)? {
                return understood(&answer).map(drop);
            }
        }
        Err(format!("agent {name} does not take the script"))
    }

    fn try_request(
        &mut self,
        agent: usize,
        subject: &str,
        payload: Vec<u8>,
        timeout: Duration,
    ) -> Result<Option<Vec<u8>>, String> {
        let request = self.nats.bus.request(subject, payload, timeout).map_err(|error| error.to_string())?;
        let deadline = Instant::now() + timeout + Duration::from_millis(500);
        while Instant::now() < deadline {
            match self.nats.bus.wait(Duration::from_millis(50)) {
                Some(BusEvent::Answer { request: of, result }) if of == request => {
                    if result == Err(NoAnswer::NoResponder) {
                        // It may be on its way back to NATS.
                        std::thread::sleep(Duration::from_millis(300));
                    }
                    let Ok(bytes) = result else { return Ok(None) };
                    self.agents[agent].heard = Instant::now();
                    return Ok(Some(bytes.to_vec()));
                }
                Some(event) => self.on_event(event)?,
                None => {}
            }
        }
        Ok(None)
    }

    /// Takes what comes in this time, and looks who is silent.
    pub(super) fn step(&mut self, wait: Duration) -> Waited {
        if let Some(event) = self.nats.bus.wait(wait) {
            // A refusal shows as an agent's silence.
            let _ = self.on_event(event);
        }
        self.say_alive();
        if self.away.is_some() {
            return Waited::Nothing;
        }
        let silent = |agent: &AgentView| {
            agent.lost.is_none() && !agent.has_ended() && agent.state.is_some() && agent.silence() > SILENCE_MAX
        };
        let Some(at) = self.agents.iter().position(silent) else { return Waited::Nothing };
        let silence = self.agents[at].silence().as_secs_f64();
        self.agents[at].lost = Some(format!("no sign of life for {silence:.1} s"));
        Waited::Lost(at)
    }

    fn say_alive(&mut self) {
        if self.alive.elapsed() < ALIVE || self.away.is_some() {
            return;
        }
        self.alive = Instant::now();
        let order = AgentOrder::Alive { run: self.run.clone() };
        let payload = serde_json::to_vec(&order).expect("an order has text keys");
        for agent in &self.agents {
            // The next one follows.
            let _ = self.nats.bus.request(&talk::agent_subject(&agent.name), payload.clone(), ALIVE);
        }
    }

    fn on_event(&mut self, event: BusEvent) -> Result<(), String> {
        match event {
            BusEvent::Message(message) if message.subscription == self.states => {
                let Ok(state) = serde_json::from_slice::<AgentState>(&message.payload) else { return Ok(()) };
                let of = |agent: &&mut AgentView| agent.name == state.agent && agent.instance == state.instance;
                if let Some(agent) = self.agents.iter_mut().find(of) {
                    agent.heard = Instant::now();
                    agent.state = Some((agent.heard, state));
                }
            }
            BusEvent::Disconnected { .. } => {
                self.away.get_or_insert_with(Instant::now);
            }
            BusEvent::Reconnected => {
                self.was_away += self.away.take().map_or(Duration::ZERO, |since| since.elapsed());
                let grace = Instant::now() + (RETURN_MAX - SILENCE_MAX);
                self.agents.iter_mut().for_each(|agent| agent.heard = grace);
            }
            BusEvent::Refused { why } => return Err(format!("NATS refuses: {why}")),
            _ => {}
        }
        if self.nats.bus.state() == BusState::Ended {
            return Err("the thread of NATS' client has ended".into());
        }
        Ok(())
    }

    /// For how long NATS has been away.
    pub(super) fn away_for(&self) -> Option<Duration> {
        self.away.map(|since| since.elapsed())
    }

    /// Clients of the whole run.
    pub(super) fn clients(&self) -> u64 {
        self.agents.iter().map(|agent| agent.clients).sum()
    }

    pub(super) fn lost_count(&self) -> u64 {
        self.agents.iter().filter(|agent| agent.lost.is_some()).count() as u64
    }

    /// A lost agent, in a sentence.
    pub(super) fn lost_text(&self, agent: usize) -> String {
        let AgentView { name, lost, .. } = &self.agents[agent];
        format!("agent {name} was lost: {}", lost.as_deref().unwrap_or_default())
    }

    /// Agents that live and do not end are lost too.
    pub(super) fn give_up_silent(&mut self) {
        for agent in self.agents.iter_mut().filter(|agent| agent.lost.is_none() && !agent.has_ended()) {
            agent.lost = Some("it gave no evidence in time".into());
        }
    }

    /// Ends all parts.
    pub(super) fn stop_all(&mut self) {
        let order = AgentOrder::Stop { run: self.run.clone() };
        let payload = serde_json::to_vec(&order).expect("an order has text keys");
        for agent in &self.agents {
            let _ = self.nats.bus.request(&talk::agent_subject(&agent.name), payload.clone(), ASK);
        }
        let _ = self.nats.bus.flush(Duration::from_millis(500));
    }
}

impl AgentView {
    /// Of which nothing is known but its card.
    pub(super) fn unheard(name: &str, instance: &str) -> Self {
        AgentView {
            name: name.to_owned(),
            clients: 0,
            instance: instance.to_owned(),
            heard: Instant::now(),
            state: None,
            lost: None,
        }
    }

    /// Since its last sign of life.
    pub(super) fn silence(&self) -> Duration {
        self.heard.elapsed()
    }

    pub(super) fn ready(&self) -> Option<&Ready> {
        self.state.as_ref()?.1.ready.as_ref()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready().is_some()
    }

    pub(super) fn end(&self) -> Option<&PartEnd> {
        self.state.as_ref()?.1.end.as_ref()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end().is_some()
    }

    /// Why it has no evidence, if it said so.
    pub(in super::super) fn failure(&self) -> Option<String> {
        match self.end()? {
            PartEnd::Failed(why) => Some(format!("agent {}: {why}", self.name)),
            PartEnd::Kept(_) => None,
        }
    }
}

/// The error is a refusal, in one sentence.
pub(super) fn understood(answer: &[u8]) -> Result<AgentReply, String> {
    match serde_json::from_slice(answer) {
        Ok(AgentReply::Refused(why)) => Err(why),
        Ok(reply) => Ok(reply),
        Err(error) => Err(format!("an agent's answer makes no sense: {error}")),
    }
}
