//! A stress run started from the page: its own process, which proves each line, and its last results.
//!
//! ```text
//! start ─> Connecting ── "waiting" ──> Running ── time over, stop ──> Judging ── "result" ──> report, end
//!              └───────────── the process ends, or hangs ──────────────┴──> failed
//! ```
//! The sampler looks at it four times a second; messages for the game loop are returned, not sent.

mod process;
mod progress;

use process::StressProcess;
use progress::ChildMessage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skipstone_lab::units::{Mix, Rate, Span};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The current run, if there is one, and the reports of earlier runs.
pub(super) struct StressDesk {
    url: String,
    run: Option<Run>,
    reports: VecDeque<Report>,
    next: u64,
    /// Why the last run gave no result.
    failure: Option<String>,
}

struct Run {
    process: StressProcess,
    order: StressOrder,
    rate: Rate,
    duration: Duration,
    phase: Phase,
    since: Instant,
    progress: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Connecting,
    Running,
    Judging,
}

/// A request of the page.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StressOrder {
    /// 0 means the clients of runs on other machines, which run until they are stopped.
    clients: u32,
    rate: String,
    duration: String,
    #[serde(default)]
    mix: String,
}

/// The result of a run.
#[derive(Clone, Debug)]
struct Report {
    number: u64,
    result: Value,
}

/// The state as the page shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct StressView {
    phase: Option<Phase>,
    elapsed_s: f64,
    duration_s: f64,
    order: Value,
    progress: Value,
    failure: Option<String>,
    reports: Vec<Value>,
}

/// A command to the game loop.
pub(super) type Command = String;

impl StressDesk {
    pub(super) fn new(url: String) -> Self {
        StressDesk { url, run: None, reports: VecDeque::new(), next: 1, failure: None }
    }

    /// Whether a run is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.run.is_some()
    }

    /// Starts a run. The error is one sentence.
    pub(super) fn start(&mut self, order: StressOrder) -> Result<(), String> {
        if self.is_busy() {
            return Err("a run is under way: stop it first".into());
        }
        if !(1..=CLIENTS_MAX).contains(&order.clients) {
            return Err(format!("1 to {CLIENTS_MAX} clients"));
        }
        let rate: Rate = order.rate.trim().parse().map_err(|error| format!("rate: {error}"))?;
        let Span(duration) = order.duration.trim().parse().map_err(|error| format!("duration: {error}"))?;
        if duration.is_zero() || duration > DURATION_MAX {
            return Err("the duration is more than 0 and at most 1h".into());
        }
        let mix = order.mix.trim();
        if !mix.is_empty() {
            mix.parse::<Mix>().map_err(|error| format!("mix: {error}"))?;
        }
        self.failure = None;
        let process = StressProcess::start(&self.url, order.clients, mix)?;
        let (phase, since) = (Phase::Connecting, Instant::now());
        self.run = Some(Run { process, order, rate, duration, phase, since, progress: Value::Null });
        Ok(())
    }

    /// Ends the current run. Returns the message for the game loop.
    pub(super) fn stop(&mut self) -> Option<Command> {
        let run = self.run.as_mut()?;
        match run.phase {
            Phase::Running => Some(run.enter(Phase::Judging)),
            Phase::Judging => None,
            Phase::Connecting => {
                self.end(Some("stopped before all clients were there".into()));
                None
            }
        }
    }

    /// Checks the run. Returns the message for the game loop.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Command> {
        let run = self.run.as_mut()?;
        while let Some(message) = run.process.poll() {
            match message {
                ChildMessage::Waiting => return Some(run.enter(Phase::Running)),
                ChildMessage::Progress(progress) => run.progress = progress,
                ChildMessage::Result(result) => {
                    self.keep(result);
                    self.end(None);
                    return None;
                }
                ChildMessage::Ended(why) => {
                    self.end(Some(why));
                    return None;
                }
            }
        }
        let span = now.saturating_duration_since(run.since);
        match run.phase {
            Phase::Running if span >= run.duration => return Some(run.enter(Phase::Judging)),
            Phase::Connecting if span >= CONNECT_MAX => self.end(Some("the clients did not connect in time".into())),
            Phase::Judging if span >= JUDGE_MAX => self.end(Some("the run gave no result in time".into())),
            _ => {}
        }
        None
    }

    /// The state as the page shows it.
    pub(super) fn view(&self, now: Instant) -> StressView {
        let run = self.run.as_ref();
        StressView {
            phase: run.map(|run| run.phase),
            elapsed_s: run.map_or(0.0, |run| now.saturating_duration_since(run.since).as_secs_f64()),
            duration_s: run.map_or(0.0, |run| run.duration.as_secs_f64()),
            order: run.map_or(Value::Null, |run| serde_json::json!(run.order)),
            progress: run.map_or(Value::Null, |run| run.progress.clone()),
            failure: self.failure.clone(),
            reports: self.reports.iter().map(summary).collect(),
        }
    }

    /// A report in full.
    pub(super) fn report(&self, number: u64) -> Option<Value> {
        self.reports.iter().find(|report| report.number == number).map(|report| report.result.clone())
    }

    fn keep(&mut self, result: Value) {
        self.reports.push_front(Report { number: self.next, result });
        self.reports.truncate(REPORTS_MAX);
        self.next += 1;
    }

    fn end(&mut self, failure: Option<String>) {
        self.failure = failure;
        // Its end may take seconds; another thread waits for it.
        if let Some(run) = self.run.take() {
            std::thread::spawn(move || drop(run.process));
        }
    }
}

impl StressOrder {
    /// The command to the game loop, if no process is needed.
    pub(super) fn for_attached(&self) -> Option<Result<Command, String>> {
        let rate = || self.rate.trim().parse::<Rate>().map_err(|error| format!("rate: {error}"));
        (self.clients == 0).then(|| rate().map(|rate| format!("stress on {rate}")))
    }
}

impl Run {
    fn enter(&mut self, phase: Phase) -> Command {
        (self.phase, self.since) = (phase, Instant::now());
        match phase {
            Phase::Running => format!("stress on {}", self.rate),
            Phase::Connecting | Phase::Judging => "stress off".into(),
        }
    }
}

/// A report's line in the list.
fn summary(report: &Report) -> Value {
    let of = |path: &str| report.result.pointer(path).cloned().unwrap_or(Value::Null);
    serde_json::json!({
        "number": report.number,
        "verdict": of("/verdict"),
        "reasons": of("/reasons"),
        "started": of("/started"),
        "duration_s": of("/duration_s"),
        "clients": of("/clients/connected"),
        "mix": of("/plan/mix"),
        "rate": of("/plan/rate"),
        "delivered": of("/messages/delivered"),
        "expected": of("/messages/expected"),
        "lost": of("/messages/lost"),
        "p50_ms": of("/latency_ms/p50"),
        "p99_ms": of("/latency_ms/p99"),
        "max_ms": of("/latency_ms/max"),
        "overhead_percent": of("/wire/overhead_percent"),
    })
}

const CLIENTS_MAX: u32 = 5_000;
const DURATION_MAX: Duration = Duration::from_secs(3600);
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// Lines in flight may take half a minute to arrive.
const JUDGE_MAX: Duration = Duration::from_secs(45);
const REPORTS_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn order(clients: u32, rate: &str, duration: &str, mix: &str) -> StressOrder {
        StressOrder { clients, rate: rate.into(), duration: duration.into(), mix: mix.into() }
    }

    #[test]
    fn an_invalid_request_starts_no_process() {
        let mut desk = StressDesk::new("skip://127.0.0.1:1".into());
        let bad = [
            order(0, "1/s", "10s", ""),
            order(100_000, "1/s", "10s", ""),
            order(1, "fast", "10s", ""),
            order(1, "1/s", "0s", ""),
            order(1, "1/s", "5h", ""),
            order(1, "1/s", "10s", "--json=x"),
        ];
        for order in bad {
            assert!(desk.start(order.clone()).is_err() && !desk.is_busy(), "{order:?}");
        }
    }

    #[test]
    fn the_last_reports_are_kept() {
        let mut desk = StressDesk::new(String::new());
        (0..30).for_each(|number| desk.keep(serde_json::json!({ "verdict": "pass", "seed": number })));
        let view = desk.view(Instant::now());
        assert_eq!((view.reports.len(), &view.reports[0]["number"]), (REPORTS_MAX, &Value::from(30)));
        assert_eq!(desk.report(30).expect("it is kept")["seed"], 29);
        assert!(desk.report(3).is_none());
    }
}
