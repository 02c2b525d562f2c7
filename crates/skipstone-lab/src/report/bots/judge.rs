//! The verdict: rather invalid than flattering. All rules are here, and every reason is one sentence.
//!
//! **Interrupted**: it was stopped before its end.
//!
//! **Unavailable**: no bot connected, or nothing ever came from the server.
//!
//! **Invalid**: the run proves nothing, because
//! 1. it ended before 99% of its time;
//! 2. more than 1% of ticks and timers ran later than 50 ms after they were due;
//! 3. the bots' process used more than 95% of the cores it had;
//! 4. a threshold is about a figure that was not measured;
//! 5. in a run on several machines, more agents were lost than may be, or 2 or 3 holds for one of them.
//!
//! **Fail**: a bot never connected, lost its connection without a `closed` of its own, or ended by an error of the
//! script; a message was refused; a threshold was missed.
//!
//! **Pass**: none of these.

use super::result::{BotsAgent, BotsResult};
use crate::report::Verdict;
use crate::report::format::{counted, thousands};
use crate::report::stress::judge::{Ending, JudgedAgent, lateness, overload, reasons_of_agents};
use crate::report::thresholds::{ThresholdResult, three_decimals};
use crate::units::{Evaluation, Threshold, ThresholdError};
use serde_json::Value;

/// Fills in the thresholds' outcomes, the verdict and its reasons.
pub fn judge(result: &mut BotsResult, thresholds: &[Threshold], ending: Ending) {
    let (unmeasured, missed) = keep_thresholds(result, thresholds);
    let stopped = (ending == Ending::Interrupted).then(|| interruption(result));
    let absence = (ending == Ending::Completed).then(|| absence(result)).flatten();
    let mut invalid = Vec::new();
    if ending == Ending::Completed && result.duration_s < COMPLETE_MIN * result.duration_asked_s {
        let (ran, asked) = (result.duration_s, result.duration_asked_s);
        invalid.push(format!("The bots ran for {ran:.1} s only, not for the {asked:.1} s asked for."));
    }
    match &result.fleet {
        Some(fleet) => invalid.extend(reasons_of_agents(&fleet.agents, fleet.tolerate)),
        None => invalid.extend(lateness(&result.generator).into_iter().chain(overload(&result.generator))),
    }
    invalid.extend(unmeasured);
    let mut failed = if absence.is_none() { shortfalls(result) } else { Vec::new() };
    failed.extend(faults(result));
    failed.extend(missed);
    result.verdict = match Verdict::of(ending == Ending::Interrupted, &invalid, &failed) {
        Verdict::Interrupted => Verdict::Interrupted,
        // Errors of the script may be why nothing came.
        _ if absence.is_some() && result.bots.faulted < result.bots.started => Verdict::Unavailable,
        verdict => verdict,
    };
    result.reasons = [stopped.into_iter().collect(), absence.into_iter().collect(), invalid, failed].concat();
}

/// Whether thresholds name figures that a result of this shape has: to be asked before the run.
///
/// # Errors
/// A threshold names no figure, or has another unit.
pub fn check_thresholds(thresholds: &[Threshold], shape: &BotsResult) -> Result<(), ThresholdError> {
    let shape = flat(shape);
    thresholds.iter().try_for_each(|threshold| match threshold.evaluate(&shape) {
        Ok(_) | Err(ThresholdError::NotMeasured(_)) => Ok(()),
        Err(error) => Err(error),
    })
}

fn keep_thresholds(result: &mut BotsResult, thresholds: &[Threshold]) -> (Vec<String>, Vec<String>) {
    let json = flat(result);
    let (mut unmeasured, mut missed) = (Vec::new(), Vec::new());
    for threshold in thresholds {
        let outcome = threshold.evaluate(&json);
        let kept = kept(threshold, outcome.as_ref().ok());
        match (outcome, kept.measured(three_decimals)) {
            (Err(error), _) => unmeasured.push(format!("The threshold {threshold} could not be evaluated: {error}.")),
            (Ok(_), Some(actual)) if !kept.passed => {
                missed.push(format!("The threshold {threshold} was missed: {} is {actual}.", threshold.path()));
            }
            _ => {}
        }
        result.thresholds.push(kept);
    }
    (unmeasured, missed)
}

fn kept(threshold: &Threshold, measured: Option<&Evaluation>) -> ThresholdResult {
    ThresholdResult {
        expression: threshold.to_string(),
        of: None,
        passed: measured.is_some_and(|outcome| outcome.passed),
        actual: measured.map(|outcome| outcome.actual),
        unit: measured.and_then(|outcome| outcome.unit?.symbol()).map(String::from),
    }
}

/// The result with the script's metrics beside its own figures: a threshold names `spawn_ms.p99`. A figure of the
/// result comes first where both have a name; `metrics.` leads to the script's.
fn flat(result: &BotsResult) -> Value {
    let mut json = serde_json::to_value(result).expect("a result has only text keys");
    let metrics = json["metrics"].as_object().cloned().unwrap_or_default();
    let root = json.as_object_mut().expect("a result is an object");
    for (name, figures) in metrics {
        root.entry(name).or_insert(figures);
    }
    json
}

impl<'a> From<&'a BotsAgent> for JudgedAgent<'a> {
    fn from(agent: &'a BotsAgent) -> Self {
        JudgedAgent { name: &agent.name, lost: agent.lost.as_deref(), generator: agent.generator.as_ref() }
    }
}

fn interruption(result: &BotsResult) -> String {
    let (ran, asked) = (result.duration_s, result.duration_asked_s);
    format!("The run was stopped after {ran:.1} of {asked:.1} s.")
}

fn absence(result: &BotsResult) -> Option<String> {
    let (bots, wire) = (&result.bots, &result.wire);
    if bots.attempts > 0 && bots.connected == 0 {
        let why = result.endings.keys().next().map_or(String::new(), |why| format!(": {why}"));
        return Some(format!("None of the {} connected{why}.", counted(bots.started, "bot")));
    }
    if wire.sent > 0 && wire.received == 0 {
        return Some(format!(
            "Nothing came from the server, although the bots sent {}: is one listening there, and does it speak this \
             protocol?",
            counted(result.messages.sent, "message")
        ));
    }
    None
}

fn shortfalls(result: &BotsResult) -> Vec<String> {
    let bots = &result.bots;
    let mut reasons = Vec::new();
    if bots.started < bots.asked {
        let missing = bots.asked - bots.started;
        reasons.push(format!("{} of {} never began.", counted(missing, "bot"), thousands(bots.asked)));
    }
    // Those that the end cut off say nothing.
    let missing = bots.started.saturating_sub(bots.connected + bots.cut_off);
    if bots.attempts > 0 && missing > 0 {
        reasons.push(format!("{} of {} never connected.", counted(missing, "bot"), thousands(bots.started)));
    }
    if bots.dropped > 0 {
        let why: Vec<String> = result
            .endings
            .iter()
            .take(REASONS_MAX)
            .map(|(why, count)| format!("{} {why}", thousands(*count)))
            .collect();
        reasons.push(format!("{} lost the connection; all endings: {}.", counted(bots.dropped, "bot"), why.join("; ")));
    }
    for (why, count) in result.refused_sends.iter().take(REASONS_MAX) {
        reasons.push(format!("{} could not be sent: {why}.", counted(*count, "message")));
    }
    reasons
}

fn faults(result: &BotsResult) -> Vec<String> {
    let told = |fault: &super::Fault| {
        format!(
            "{} ended by an error of the script, bot {} first: {}",
            counted(fault.bots, "bot"),
            fault.first_bot,
            fault.message
        )
    };
    result.faults.iter().take(REASONS_MAX).map(told).collect()
}

/// The share of the time that a run must have completed.
const COMPLETE_MIN: f64 = 0.99;
/// Reasons of one kind that are told.
const REASONS_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::bots::{BotsFleet, Fault, MetricFigures};
    use crate::report::stress::result::Generator;

    /// A run in which all went well.
    fn passing() -> BotsResult {
        let mut result = BotsResult { duration_s: 10.0, duration_asked_s: 10.0, ..BotsResult::default() };
        let bots = &mut result.bots;
        (bots.asked, bots.started, bots.connected, bots.attempts, bots.connects) = (5, 5, 5, 5, 5);
        (result.wire.sent, result.wire.received) = (100, 100);
        result.generator.planned_sends = 1000;
        let share = MetricFigures::Check { passed: 99, failed: 1, share: Some(0.99) };
        result.metrics.insert("spawned".into(), share);
        result
    }

    fn verdict(change: impl FnOnce(&mut BotsResult), thresholds: &[&str]) -> (Verdict, String) {
        let mut result = passing();
        change(&mut result);
        let thresholds: Vec<Threshold> = thresholds.iter().map(|text| text.parse().expect("a threshold")).collect();
        judge(&mut result, &thresholds, Ending::Completed);
        (result.verdict, result.reasons.join(" "))
    }

    #[test]
    fn a_run_in_which_all_went_well_passes() {
        assert_eq!(verdict(|_| {}, &["spawned.share>98%", "bots.connected==5"]), (Verdict::Pass, String::new()));
    }

    #[test]
    fn a_late_or_lost_agent_is_named_and_a_tolerated_one_is_excused() {
        let with = |tolerate: u64, late: u64| {
            let agent = |name: &str, lost: Option<&str>, late_sends| BotsAgent {
                name: name.into(),
                lost: lost.map(String::from),
                generator: lost.is_none().then(|| Generator {
                    late_sends,
                    planned_sends: 1000,
                    ..Generator::default()
                }),
                ..BotsAgent::default()
            };
            let agents = vec![agent("oslo", None, late), agent("rome", Some("no sign of life"), 0)];
            verdict(|result| result.fleet = Some(BotsFleet { agents, tolerate, ..BotsFleet::default() }), &[])
        };
        let (lost, why) = with(0, 0);
        assert!(lost == Verdict::Invalid && why.contains("Lost: agent rome (no sign of life)"), "{why}");
        assert_eq!(with(1, 0), (Verdict::Pass, String::new()));
        let (late, why) = with(1, 11);
        assert!(late == Verdict::Invalid && why.contains("Agent oslo: "), "{why}");
    }

    #[test]
    fn a_late_generator_is_invalid_whatever_else_was_found() {
        let (verdict, why) = verdict(|result| result.generator.late_sends = 11, &["spawned.share>99.5%"]);
        assert_eq!(verdict, Verdict::Invalid, "{why}");
        assert!(why.contains("generator was late"), "{why}");
    }

    #[test]
    fn a_server_from_which_nothing_comes_is_unavailable() {
        let (of_silence, why) = verdict(|result| result.wire.received = 0, &[]);
        assert_eq!(of_silence, Verdict::Unavailable, "{why}");
        let (of_absence, why) = verdict(|result| result.bots.connected = 0, &[]);
        assert_eq!(of_absence, Verdict::Unavailable, "{why}");
    }

    #[test]
    fn errors_of_the_script_fail_the_run_with_their_place() {
        let fault = Fault { message: "chat.luau:7:3: oops".into(), bots: 2, first_bot: 4 };
        let (verdict, why) = verdict(|result| result.faults.push(fault), &[]);
        assert_eq!(verdict, Verdict::Fail);
        assert!(why.contains("2 bots ended by an error of the script, bot 4 first: chat.luau:7:3: oops"), "{why}");
    }

    #[test]
    fn bots_that_were_dropped_or_never_connected_fail_the_run() {
        let drop = |result: &mut BotsResult| {
            result.bots.dropped = 1;
            result.endings.insert("by-server: full".into(), 1);
        };
        let (of_drop, why) = verdict(drop, &[]);
        assert!(of_drop == Verdict::Fail && why.contains("by-server: full"), "{why}");
        let (of_absence, why) = verdict(|result| result.bots.connected = 4, &[]);
        assert!(of_absence == Verdict::Fail && why.contains("1 bot of 5 never connected"), "{why}");
    }

    #[test]
    fn bots_that_the_end_found_on_their_way_are_no_failure() {
        let cut_off = |result: &mut BotsResult| (result.bots.connected, result.bots.cut_off) = (3, 2);
        assert_eq!(verdict(cut_off, &[]), (Verdict::Pass, String::new()));
    }

    #[test]
    fn a_threshold_of_a_figure_that_no_result_has_is_found_before_the_run() {
        let check = |text: &str| check_thresholds(&[text.parse().expect("a threshold")], &passing());
        assert!(check("spawned.share>50%").is_ok() && check("connect_ms.p99<1s").is_ok());
        assert!(check("spawnd.share>50%").is_err_and(|why| why.to_string().contains("spawned.share")));
    }
}
