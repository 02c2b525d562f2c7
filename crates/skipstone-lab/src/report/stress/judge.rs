//! The verdict: rather invalid than flattering. All rules are here, and every reason is one sentence.
//!
//! **Interrupted**: it was stopped before its end.
//!
//! **Unavailable**: there was no server to be judged (`availability`), whatever else was found. A run whose own server
//! was away fails.
//!
//! **Invalid**: the run proves nothing, because
//! 1. no delivery was expected;
//! 2. lines were sent for less than 99% of the time asked for, or fewer than 99% of those due were sent;
//! 3. more than 1% of the sends were later than 50 ms after they were due;
//! 4. the clients' process used more than 95% of the cores it had;
//! 5. a threshold is about a figure that was not measured;
//! 6. the counts contradict each other;
//! 7. in a run on several machines, more agents were lost than may be, or 3 or 4 holds for one of them.
//!
//! **Fail**: a client was dropped, or never connected; a line was refused; a delivery lost, duplicated, reordered,
//! corrupted or never sent; a threshold missed.
//!
//! **Pass**: none of these.

use serde_json::Value;

use crate::report::Verdict;
use crate::report::format::{counted, thousands, three_digits};
use crate::report::stress::result::{AgentResult, StressResult};
use crate::report::thresholds::{ThresholdResult, three_decimals};
use crate::units::{Carrier, Threshold, ThresholdError};

mod availability;
mod drops;
mod fleet;
mod generator;

pub(crate) use fleet::{JudgedAgent, reasons as reasons_of_agents};
pub use generator::LATE_SEND;
pub(crate) use generator::{lateness, overload};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// When its time was up.
    Completed,
    /// When the user or the system told it to stop.
    Interrupted,
}

/// Fills in the thresholds' outcomes, the verdict and its reasons.
pub fn judge(result: &mut StressResult, thresholds: &[Threshold], ending: Ending) {
    let (outcomes, unmeasured, missed) = evaluate(result, thresholds);
    result.thresholds = outcomes;
    let stopped = match ending {
        Ending::Completed => Vec::new(),
        Ending::Interrupted => vec![interruption(result)],
    };
    // An interrupted run may not have come to the first delivery.
    let absence = (ending == Ending::Completed).then(|| availability::absence(result)).flatten();
    let mut invalid = if absence.is_none() { emptiness(result) } else { Vec::new() };
    // Without a client nothing could be sent, which is not the generator's fault.
    if ending == Ending::Completed && result.clients.connected > 0 {
        invalid.extend(shortness(result));
    }
    match &result.fleet {
        Some(fleet) => invalid.extend(reasons_of_agents(&fleet.agents, fleet.tolerate)),
        None => invalid.extend(lateness(&result.generator).into_iter().chain(overload(&result.generator))),
    }
    invalid.extend(unmeasured);
    invalid.extend(contradictions(result));
    // An unreachable server delivers nothing, which is not an additional fault.
    let mut failed = if absence.is_none() { shortfalls(result) } else { Vec::new() };
    failed.extend(faults(result));
    failed.extend(missed);
    result.verdict = match Verdict::of(ending == Ending::Interrupted, &invalid, &failed) {
        Verdict::Interrupted => Verdict::Interrupted,
        _ if absence.is_some() => result.server_owner().absence(),
        verdict => verdict,
    };
    result.reasons = [stopped, absence.into_iter().collect(), invalid, failed].concat();
}

/// Whether thresholds name figures that a run with these carriers has: to be asked before it.
pub fn check_thresholds(thresholds: &[Threshold], carriers: &[Carrier]) -> Result<(), ThresholdError> {
    let shape = as_json(&StressResult::blank(carriers));
    thresholds.iter().try_for_each(|threshold| match threshold.evaluate(&shape) {
        Ok(_) | Err(ThresholdError::NotMeasured(_)) => Ok(()),
        Err(error) => Err(error),
    })
}

fn evaluate(result: &StressResult, thresholds: &[Threshold]) -> (Vec<ThresholdResult>, Vec<String>, Vec<String>) {
    let json = as_json(result);
    let (mut outcomes, mut unmeasured, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    for threshold in thresholds {
        let outcome = threshold.evaluate(&json);
        let measured = outcome.as_ref().ok();
        let result = ThresholdResult {
            expression: threshold.to_string(),
            of: None,
            passed: measured.is_some_and(|outcome| outcome.passed),
            actual: measured.map(|outcome| outcome.actual),
            unit: measured.and_then(|outcome| outcome.unit?.symbol()).map(String::from),
        };
        match (outcome, result.measured(three_decimals)) {
            (Err(error), _) => unmeasured.push(format!("The threshold {threshold} could not be evaluated: {error}.")),
            (Ok(_), Some(actual)) if !result.passed => {
                missed.push(format!("The threshold {threshold} was missed: {} is {actual}.", threshold.path()));
            }
            _ => {}
        }
        outcomes.push(result);
    }
    (outcomes, unmeasured, missed)
}

fn as_json(result: &StressResult) -> Value {
    serde_json::to_value(result).expect("a result has only text keys")
}

fn interruption(result: &StressResult) -> String {
    let (ran, asked) = (result.duration_s, result.plan.duration_s);
    format!("The run was stopped after {ran:.1} of {asked:.1} s.")
}

impl<'a> From<&'a AgentResult> for JudgedAgent<'a> {
    fn from(agent: &'a AgentResult) -> Self {
        JudgedAgent { name: &agent.name, lost: agent.lost.as_deref(), generator: agent.generator.as_ref() }
    }
}

/// Rule 1.
fn emptiness(result: &StressResult) -> Vec<String> {
    // Clients that were all dropped leave nothing to expect: that is a failure, not an empty run.
    if result.messages.expected == 0 && result.clients.dropped == 0 {
        return vec!["No delivery was expected, so nothing was tested.".into()];
    }
    Vec::new()
}

/// Rule 2.
fn shortness(result: &StressResult) -> Vec<String> {
    let mut reasons = Vec::new();
    if result.duration_s < COMPLETE_MIN * result.plan.duration_s {
        let (ran, asked) = (result.duration_s, result.plan.duration_s);
        reasons.push(format!("Lines were sent for {ran:.1} s only, not for the {asked:.1} s asked for."));
    }
    let (sent, planned) = (result.messages.sent, result.generator.planned_sends);
    // The generator did its part of a line that the connection refused.
    let refused: u64 = result.presence.refused_sends_by_reason.values().sum();
    if ((sent + refused) as f64) < COMPLETE_MIN * planned as f64 {
        reasons.push(format!(
            "The generator sent {} of the {} that were due.",
            thousands(sent),
            counted(planned, "line")
        ));
    }
    reasons
}

/// Rule 6.
fn contradictions(result: &StressResult) -> Vec<String> {
    let mut reasons = Vec::new();
    let messages = &result.messages;
    if messages.delivered.checked_add(messages.lost) != Some(messages.expected) {
        reasons.push("The counts contradict each other: delivered and lost do not add up to expected.".into());
    }
    if result.clients.dropped > result.clients.connected || result.clients.connected > result.clients.asked {
        reasons
            .push("The counts contradict each other: more clients were dropped or connected than there were.".into());
    }
    if messages.delivered > 0 && result.latency_ms.is_none() {
        reasons.push("Lines were delivered, but their latency was not measured.".into());
    }
    reasons
}

/// Expected clients and deliveries.
fn shortfalls(result: &StressResult) -> Vec<String> {
    let (clients, messages) = (&result.clients, &result.messages);
    let mut reasons = Vec::new();
    if clients.connected < clients.asked {
        let missing = counted(clients.asked - clients.connected, "client");
        reasons.push(format!("{missing} of {} never connected.", thousands(clients.asked)));
    }
    if clients.dropped > 0 {
        reasons.push(format!("{}.", drops::told(result)));
    }
    for (why, count) in &result.presence.refused_sends_by_reason {
        reasons.push(format!("{} could not be sent: {why}.", counted(*count, "line")));
    }
    let of_expected = format!("of {} expected", thousands(messages.expected));
    let share = 100.0 * messages.lost as f64 / messages.expected.max(1) as f64;
    let lost_share = if share < 0.01 { "less than 0.01%".to_owned() } else { format!("{}%", three_digits(share)) };
    reasons.extend(deliveries(messages.lost, &format!("lost, {of_expected} ({lost_share})")));
    reasons
}

/// Deliveries that should not have happened as they did.
fn faults(result: &StressResult) -> Vec<String> {
    let messages = &result.messages;
    let faults = [
        (messages.duplicated, "made twice"),
        (messages.reordered, "out of order"),
        (messages.corrupted, "corrupted"),
        (messages.unexpected, "of lines that no client sent"),
    ];
    faults.into_iter().filter_map(|(count, what)| deliveries(count, what)).collect()
}

fn deliveries(count: u64, what: &str) -> Option<String> {
    let deliveries = if count == 1 { "1 delivery".to_owned() } else { thousands(count) + " deliveries" };
    (count > 0).then(|| format!("{deliveries} {} {what}.", drops::was_or_were(count)))
}

/// The share of the time and of the lines that a run must have completed.
const COMPLETE_MIN: f64 = 0.99;

#[cfg(test)]
mod tests;
