//! One result of a run on several machines: counts add up, percentiles are taken over all samples.

use super::super::outcome::{add_stalls, add_tally};
use super::super::shown::show_result;
use super::super::trial::Played;
use super::evidence::BotsEvidence;
use super::order::BotsRoster;
use crate::run::{Tally, WorstBots};
use skipstone_lab::measure::machine::this_machine;
use skipstone_lab::report::bots::{BotCounts, BotsAgent, BotsFleet, BotsResult, RunSecond, SCHEMA_VERSION, judge};
use skipstone_lab::report::stress::judge::Ending;
use skipstone_lab::report::stress::machine_sums::{generators, stalls};
use skipstone_lab::report::{Exit, ReportFile, Sink};
use skipstone_lab::units::Threshold;
use std::collections::BTreeMap;

/// Where a result goes.
pub struct BotsPlace {
    /// The JSON.
    pub sink: Sink,
    /// The page.
    pub report: Option<ReportFile>,
}

/// Merges, judges and shows. `lost` says why an agent has no evidence here.
///
/// # Errors
/// There is no evidence, or it contradicts itself: one sentence.
pub fn conclude(
    roster: &BotsRoster,
    evidence: Vec<BotsEvidence>,
    lost: &BTreeMap<String, String>,
    ending: Ending,
    place: &BotsPlace,
) -> Result<Exit, String> {
    let is_interrupted = evidence.iter().any(|piece| piece.is_interrupted);
    let mut played = merge(roster, evidence, lost)?;
    let thresholds: Result<Vec<Threshold>, _> = roster.thresholds.iter().map(|text| text.parse()).collect();
    let thresholds = thresholds.map_err(|error| error.to_string())?;
    judge(&mut played.result, &thresholds, if is_interrupted { Ending::Interrupted } else { ending });
    Ok(show_result(&played, &place.sink, place.report.as_ref()))
}

/// The result, before it is judged.
fn merge(
    roster: &BotsRoster,
    mut evidence: Vec<BotsEvidence>,
    lost: &BTreeMap<String, String>,
) -> Result<Played, String> {
    evidence.sort_by_key(|piece| piece.agent);
    evidence.iter().try_for_each(|piece| piece.check(roster))?;
    if evidence.windows(2).any(|pair| pair[0].agent == pair[1].agent) {
        return Err("there are two pieces of evidence of one agent".into());
    }
    let fleet = fleet(roster, &evidence, lost);
    let Some(first) = evidence.first() else {
        let why: Vec<String> = lost.iter().map(|(agent, why)| format!("agent {agent}: {why}")).collect();
        return Err(format!("there is no evidence of run {} ({})", roster.run, why.join("; ")));
    };
    let all = || evidence.iter().map(|piece| &piece.result);
    let longest = |of: fn(&BotsResult) -> f64| all().map(of).fold(0.0, f64::max);
    let sum = |of: fn(&BotCounts) -> u64| all().map(|result| of(&result.bots)).sum::<u64>();
    let mut result = BotsResult {
        schema_version: SCHEMA_VERSION,
        command: roster.command.clone(),
        machine: this_machine(),
        started: all().map(|result| result.started.clone()).min().unwrap_or_default(),
        // One that ended early is not hidden by the others.
        duration_s: all().map(|result| result.duration_s).fold(f64::INFINITY, f64::min),
        bots: BotCounts {
            asked: sum(|bots| bots.asked),
            connected_at_once: sum(|bots| bots.connected_at_once),
            ..BotCounts::default()
        },
        generator: all().map(|result| result.generator).reduce(|a, b| generators(&a, &b)).unwrap_or_default(),
        stalls: all().filter_map(|result| result.stalls).reduce(stalls),
        fleet: Some(fleet),
        ..first.result.clone()
    };
    result.scripts.core_percent = all().map(|result| result.scripts.core_percent).sum();
    result.scripts.workers = all().map(|result| result.scripts.workers).sum();
    let seconds_run = longest(|result| result.duration_s);
    let seconds = added_seconds(&evidence);
    let (mut tally, mut worst_bots, mut stalled) = (Tally::default(), WorstBots::default(), Vec::new());
    for piece in evidence {
        tally.merge(piece.tally);
        worst_bots.merge(piece.worst_bots);
        stalled.push(piece.stalls);
    }
    add_tally(&mut result, &tally, seconds_run);
    result.worst_bots = worst_bots.shown();
    add_stalls(&mut result, &stalled);
    Ok(Played { result, curves: tally.metrics.curves(), seconds })
}

fn fleet(roster: &BotsRoster, evidence: &[BotsEvidence], lost: &BTreeMap<String, String>) -> BotsFleet {
    let agent = |(number, name): (usize, &String)| {
        let Some(piece) = evidence.iter().find(|piece| piece.agent == number) else {
            let why = lost.get(name).cloned().unwrap_or_else(|| "its evidence is missing".into());
            let bots = BotCounts { asked: roster.lives_of(number), ..BotCounts::default() };
            return BotsAgent { name: name.clone(), bots, lost: Some(why), ..BotsAgent::default() };
        };
        let result = &piece.result;
        BotsAgent {
            name: name.clone(),
            machine: Some(result.machine.clone()),
            lost: None,
            bots: result.bots,
            messages: result.messages,
            connect_ms: result.connect_ms,
            generator: Some(result.generator),
            scripts: Some(result.scripts),
            stalls: result.stalls,
            clock_error_ms: piece.clock.error_us as f64 / 1e3,
        }
    };
    let agents: Vec<BotsAgent> = roster.agents.iter().enumerate().map(agent).collect();
    let mut errors: Vec<u64> = evidence.iter().map(|piece| piece.clock.error_us).collect();
    errors.sort_unstable_by(|one, other| other.cmp(one));
    BotsFleet {
        run: roster.run.clone(),
        script_sha256: roster.script_sha256.clone(),
        bots_excused: agents.iter().filter(|agent| agent.lost.is_some()).map(|agent| agent.bots.asked).sum(),
        agents,
        tolerate: roster.tolerate.into(),
        clock: evidence.first().map(|piece| piece.clock.by).unwrap_or_default(),
        // Two agents may be wrong in opposite directions; one has one clock.
        clock_error_ms: if errors.len() < 2 { 0.0 } else { (errors[0] + errors[1]) as f64 / 1e3 },
    }
}

/// The seconds of all agents, which have one start.
fn added_seconds(evidence: &[BotsEvidence]) -> Vec<RunSecond> {
    let mut by_second: BTreeMap<u64, RunSecond> = BTreeMap::new();
    for second in evidence.iter().flat_map(|piece| &piece.seconds) {
        let all = by_second.entry(second.at.round() as u64).or_default();
        all.at = all.at.max(second.at);
        all.connected += second.connected;
        all.sent += second.sent;
        all.received += second.received;
    }
    by_second.into_values().collect()
}
