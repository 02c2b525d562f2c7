//! One result of a run on several machines: the ledgers prove every line together, counts add up, and percentiles are
//! taken over all samples.

use std::collections::BTreeMap;
use std::time::Duration;

use super::chronicle::Chronicle;
use super::evidence::PartEvidence;
use super::machine_sums::{generators, stalls};
use super::result::{
    AgentResult, CarrierResult, ClientCounts, Fleet, FleetClock, Messages, SpreadMs, StressResult, Timing,
};
use super::roster::{AgentPlace, Roster};
use crate::measure::latency::{Latency, LatencyMs};
use crate::measure::ledger::{Ledger, Tally};
use crate::report::added::added;

/// Percentiles below this multiple of the clocks' error are meaningless.
const ERRORS_MIN: f64 = 10.0;

/// The result, before it is judged, and the data of its report. `lost` says why an agent has no evidence here.
///
/// # Errors
/// Evidence is missing, belongs to several runs, or contradicts itself; the error is one sentence.
pub fn merge_agents(
    roster: &Roster,
    evidence: &[PartEvidence],
    lost: &BTreeMap<String, String>,
) -> Result<(StressResult, Option<Chronicle>), String> {
    let mut pieces: Vec<&PartEvidence> = evidence.iter().collect();
    pieces.sort_by_key(|piece| piece.agent);
    for piece in &pieces {
        piece.check()?;
        if piece.roster != *roster {
            return Err(format!("the evidence of agent {} is of another run than {}", piece.place().agent, roster.run));
        }
    }
    if pieces.windows(2).any(|pair| pair[0].agent == pair[1].agent) {
        return Err("there are two pieces of evidence of one agent".into());
    }
    let Some(first) = pieces.first() else { return Err(format!("there is no evidence of run {}", roster.run)) };
    let proof = Proof::new(roster, &pieces)?;
    let mut result = StressResult { thresholds: Vec::new(), ..first.result.clone() };
    (result.seed, result.plan, result.command) = (roster.seed, roster.plan.clone(), roster.command.clone());
    add_up(&mut result, &pieces);
    let all = proof.findings(&pieces, |_, _| true);
    (result.clients, result.messages, result.latency_ms) = (all.clients, all.messages, all.latency_ms);
    result.timing.connect_ms = all.connect_ms;
    for (carrier, one) in result.carriers.iter_mut().enumerate() {
        let wire = one.wire.with_overhead();
        let found = proof.findings(&pieces, |_, of| of == carrier);
        *one = CarrierResult { carrier: roster.mix[carrier].0, wire, ..found };
        // Reasons are known for all carriers together.
        one.clients.drops_by_reason.clear();
    }
    result.fleet = Some(fleet(roster, &pieces, lost, &proof));
    let mut chronicles = pieces.iter().filter_map(|piece| piece.chronicle.clone());
    let mut chronicle = chronicles.next();
    chronicles.for_each(|more| chronicle.iter_mut().for_each(|all| all.append(&more)));
    Ok((result, chronicle))
}

/// The known lines, over all agents whose evidence is present.
struct Proof {
    /// Ledgers by agent and carrier.
    ledgers: Vec<Vec<Ledger>>,
    /// Sent lines by client.
    sent: Vec<u32>,
    clock_error_ms: f64,
}

impl Proof {
    fn new(roster: &Roster, pieces: &[&PartEvidence]) -> Result<Self, String> {
        let total = roster.clients() as usize;
        // It is unknown how many lines a lost agent's clients sent, so any number of them may have arrived.
        let (mut sent, mut is_excluded) = (vec![u32::MAX; total], vec![true; total]);
        for piece in pieces {
            for (number, lines) in piece.place().numbers().zip(&piece.sent) {
                (sent[number as usize], is_excluded[number as usize]) = (*lines, false);
            }
            piece.absent.iter().for_each(|number| is_excluded[*number as usize] = true);
        }
        let ledger = |piece: &PartEvidence, carrier: usize| {
            let mut ledger = piece.carriers[carrier].ledger.ledger(total)?;
            let excluded = (0..).zip(&is_excluded).filter(|(_, is_excluded)| **is_excluded);
            excluded.for_each(|(number, _)| ledger.exclude_sender(number));
            let receivers = piece.place().part.numbers(&piece.place().mix, carrier);
            let absent = (0..).zip(receivers).filter(|(_, number)| is_excluded[*number as usize]);
            absent.for_each(|(receiver, _)| ledger.exclude_receiver(receiver));
            Ok(ledger)
        };
        let of_agent =
            |piece: &&PartEvidence| (0..piece.carriers.len()).map(|carrier| ledger(piece, carrier)).collect();
        let ledgers = pieces.iter().map(of_agent).collect::<Result<_, String>>()?;
        Ok(Proof { ledgers, sent, clock_error_ms: clock_error_ms(pieces) })
    }

    /// The findings of some clients, selected by the indexes of their agents and carriers.
    fn findings(&self, pieces: &[&PartEvidence], is_meant: impl Fn(usize, usize) -> bool) -> CarrierResult {
        let (mut tally, mut latency, mut took) = (Tally::default(), Latency::default(), Vec::new());
        let (mut clients, mut sent, mut elapsed) = (ClientCounts::default(), 0, 0);
        for (agent, piece) in pieces.iter().enumerate() {
            let mut before = 0;
            for (carrier, (_, count)) in piece.place().mix.iter().enumerate() {
                let places = before..before + *count as usize;
                before = places.end;
                if !is_meant(agent, carrier) {
                    continue;
                }
                tally += self.ledgers[agent][carrier].finish(&self.sent);
                latency.merge(&piece.carriers[carrier].latency.latency());
                took.extend(piece.connected_us[places.clone()].iter().flatten().copied());
                sent += piece.sent[places].iter().map(|lines| u64::from(*lines)).sum::<u64>();
                elapsed = elapsed.max(piece.elapsed_us);
                let counted = piece.result.carriers.get(carrier).map(|result| result.clients.clone());
                clients = added(&clients, &counted.unwrap_or_default());
            }
            if piece.place().mix.iter().enumerate().any(|(carrier, _)| is_meant(agent, carrier)) {
                let reasons = &piece.result.clients.drops_by_reason;
                let reasons = ClientCounts { drops_by_reason: reasons.clone(), ..ClientCounts::default() };
                clients = added(&clients, &reasons);
            }
        }
        CarrierResult {
            clients,
            messages: Messages::from_tally(&tally, sent, Duration::from_micros(elapsed)),
            latency_ms: latency.figures_above(self.clock_error_ms * ERRORS_MIN),
            connect_ms: SpreadMs::of(took),
            ..CarrierResult::default()
        }
    }

    /// Deliveries to or by the clients of these agents: how many arrived, and how many cannot be proven.
    fn excused(&self, lost: &[&AgentPlace]) -> u64 {
        let of = |number: u32| self.ledgers.iter().flatten().map(|ledger| ledger.arrived_from(number)).sum::<u64>();
        let by_them: u64 = lost.iter().flat_map(|place| place.numbers()).map(of).sum();
        let is_lost = |number: u32| lost.iter().any(|place| place.numbers().any(|own| own == number));
        let known = (0..).zip(&self.sent).filter(|(number, _)| !is_lost(*number));
        let lines: u64 = known.map(|(_, lines)| u64::from(*lines)).sum();
        let to_them = lost.iter().map(|place| u64::from(place.clients())).sum::<u64>() * lines;
        by_them + to_them
    }
}

/// Two agents may be wrong in opposite directions.
fn clock_error_ms(pieces: &[&PartEvidence]) -> f64 {
    let mut errors: Vec<u64> = pieces.iter().map(|piece| piece.clock.error_us).collect();
    errors.sort_unstable_by(|one, other| other.cmp(one));
    // One agent has one clock.
    if errors.len() < 2 { 0.0 } else { (errors[0] + errors[1]) as f64 / 1e3 }
}

/// Sums, and maxima of figures that do not add up.
fn add_up(result: &mut StressResult, pieces: &[&PartEvidence]) {
    let all = || pieces.iter().map(|piece| &piece.result);
    for other in all().skip(1) {
        result.wire = added(&result.wire, &other.wire);
        result.protocol = added(&result.protocol, &other.protocol);
        result.started = result.started.clone().min(other.started.clone());
        result.duration_s = result.duration_s.min(other.duration_s);
        let silent = result.presence.silent_s.zip(other.presence.silent_s);
        result.presence = added(&result.presence, &other.presence);
        // A server that answers one agent is not silent.
        result.presence.silent_s = silent.map(|(one, other)| one.min(other));
        for (own, more) in result.carriers.iter_mut().zip(&other.carriers) {
            own.wire = added(&own.wire, &more.wire);
        }
        if let (Some(own), Some(more)) = (&mut result.impairment, &other.impairment) {
            own.to_server = added(&own.to_server, &more.to_server);
            own.to_clients = added(&own.to_clients, &more.to_clients);
        }
        if let (Some(own), Some(more)) = (&mut result.roaming, &other.roaming) {
            own.moves += more.moves;
            own.reconnects += more.reconnects;
        }
    }
    result.wire = result.wire.with_overhead();
    result.generator = all().map(|one| one.generator).reduce(|one, other| generators(&one, &other)).unwrap_or_default();
    result.stalls = all().filter_map(|one| one.stalls).reduce(stalls);
    let longest = |of: fn(&Timing) -> f64| all().map(|one| of(&one.timing)).fold(0.0, f64::max);
    result.timing.ramp_ms = longest(|timing| timing.ramp_ms);
    result.timing.close_ms = longest(|timing| timing.close_ms);
}

fn fleet(roster: &Roster, pieces: &[&PartEvidence], lost: &BTreeMap<String, String>, proof: &Proof) -> Fleet {
    let agent = |(number, place): (usize, &AgentPlace)| {
        let at = pieces.iter().position(|piece| piece.agent == number);
        let name = place.agent.clone();
        let numbers = place.text();
        let Some(at) = at else {
            let why = lost.get(&name).cloned().unwrap_or_else(|| "its evidence is missing".into());
            let clients = ClientCounts { asked: place.clients().into(), ..ClientCounts::default() };
            return AgentResult { name, numbers, clients, lost: Some(why), ..AgentResult::default() };
        };
        let (piece, found) = (pieces[at], proof.findings(pieces, |agent, _| agent == at));
        AgentResult {
            name,
            numbers,
            machine: Some(piece.result.machine.clone()),
            lost: None,
            clients: found.clients,
            messages: found.messages,
            latency_ms: found.latency_ms,
            generator: Some(piece.result.generator),
            clock_error_ms: piece.clock.error_us as f64 / 1e3,
            stalls: piece.result.stalls,
            qlog: piece.qlog.clone(),
        }
    };
    let agents: Vec<AgentResult> = roster.agents.iter().enumerate().map(agent).collect();
    let gone: Vec<&AgentPlace> =
        roster.agents.iter().zip(&agents).filter(|(_, agent)| agent.lost.is_some()).map(|(place, _)| place).collect();
    let by_coordinator = pieces.iter().any(|piece| piece.clock.by == FleetClock::Coordinator);
    Fleet {
        run: roster.run.clone(),
        deliveries_excused: proof.excused(&gone),
        agents,
        tolerate: roster.tolerate.into(),
        clock: if by_coordinator { FleetClock::Coordinator } else { FleetClock::Server },
        clock_error_ms: proof.clock_error_ms,
        latency_same_agent_ms: same_agent(pieces),
    }
}

fn same_agent(pieces: &[&PartEvidence]) -> Option<LatencyMs> {
    let mut all = Latency::default();
    let counts = pieces.iter().flat_map(|piece| &piece.carriers).map(|carrier| &carrier.latency_same_agent);
    counts.for_each(|counts| all.merge(&counts.latency()));
    all.figures()
}

#[cfg(test)]
mod tests;
