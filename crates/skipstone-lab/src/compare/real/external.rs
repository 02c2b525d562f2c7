//! External transport programs, which join by the interface that docs/guide/others-transports.md describes: arguments
//! in, lines of JSON out. The program's client reports its start and the time of each echo; what follows from that is
//! computed here, as for every transport.

use std::time::Duration;

use serde::Deserialize;

use super::messages::EndReport;
use crate::compare::condition::Condition;
use crate::compare::payload::{BYTES_MIN, Stamp};
use crate::compare::peers::peer::Telemetry;
use crate::compare::proof::Proof;
use crate::measure::stalls::{Stall, StallLog};

/// The arguments of a server, after the command's own.
pub(super) fn server_arguments(condition: &Condition, listen: &str) -> Vec<String> {
    let words = ["server", "--listen", listen];
    words.into_iter().map(str::to_owned).chain(shape(condition)).collect()
}

/// The arguments of a client.
pub(super) fn client_arguments(condition: &Condition, connect: &str, seed: u64) -> Vec<String> {
    let own = [
        ("--ticks-per-second", u64::from(condition.ticks_per_second)),
        ("--ticks", condition.ticks()),
        ("--patience-ms", condition.patience.as_millis() as u64),
        ("--seed", seed),
    ];
    let own = own.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value.to_string()]);
    let words = ["client", "--connect", connect];
    words.into_iter().map(str::to_owned).chain(shape(condition)).chain(own).collect()
}

fn shape(condition: &Condition) -> impl Iterator<Item = String> {
    let all = [("--entities", usize::from(condition.entities)), ("--payload", condition.payload_bytes)];
    all.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value.to_string()])
}

/// A line of an external client.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ExternalMessage {
    /// The connection was established after this time; the first tick is due at this monotonic time in µs.
    Began { connect_ms: f64, first_due_us: u64 },
    /// Echoes as tick, entity, and arrival time in µs of the same clock.
    Echoes(Vec<(u32, u16, u64)>),
    /// All is over.
    Done {
        /// Updates that the transport did not take.
        #[serde(default)]
        refused: u64,
        /// Echoes with changed bytes.
        #[serde(default)]
        corrupted: u64,
        /// Messages that were sent again.
        resent: Option<u64>,
    },
    /// It cannot continue.
    Failed { reason: String },
}

/// The findings of an external client under way.
pub(super) struct ExternalClient<'a> {
    condition: &'a Condition,
    proof: Proof,
    began: Option<(f64, Duration)>,
    echoes: u64,
}

/// The maximum number of echoes of an update: a program that reports more is broken.
const ECHOES_PER_UPDATE_MAX: u64 = 4;
/// The maximum time between an update and its echo: more than an hour is a mistake, not a latency.
const LATENCY_MAX: Duration = Duration::from_secs(3_600);

/// The expectation after a line.
#[derive(Debug)]
pub(super) enum Next {
    Line,
    /// No result: these are the counters that it reported.
    Nothing {
        refused: u64,
        corrupted: u64,
        resent: Option<u64>,
    },
}

impl<'a> ExternalClient<'a> {
    pub(super) fn new(condition: &'a Condition) -> ExternalClient<'a> {
        ExternalClient { condition, proof: Proof::of(condition), began: None, echoes: 0 }
    }

    /// Handles a line. The error says what is wrong with it.
    pub(super) fn take(&mut self, line: &str) -> Result<Next, String> {
        let begin = || line.chars().take(120).collect::<String>();
        let message = serde_json::from_str(line).map_err(|error| format!("said \"{}\": {error}", begin()))?;
        match message {
            ExternalMessage::Began { connect_ms, first_due_us } => self.begin(connect_ms, first_due_us)?,
            ExternalMessage::Echoes(echoes) => {
                for (tick, entity, at_us) in echoes {
                    self.on_echo(tick, entity, Duration::from_micros(at_us))?;
                }
            }
            ExternalMessage::Done { refused, corrupted, resent } => {
                return Ok(Next::Nothing { refused, corrupted, resent });
            }
            ExternalMessage::Failed { reason } => return Err(format!("cannot go on: {reason}")),
        }
        Ok(Next::Line)
    }

    fn tick_at(&self, first: Duration, tick: u64) -> Duration {
        first + Duration::from_micros(tick * 1_000_000 / u64::from(self.condition.ticks_per_second))
    }

    fn begin(&mut self, connect_ms: f64, first_due_us: u64) -> Result<(), String> {
        if self.began.is_some() {
            return Err("began twice".into());
        }
        if !(0.0..1e9).contains(&connect_ms) {
            return Err(format!("needed {connect_ms} ms to connect"));
        }
        let first = Duration::from_micros(first_due_us);
        self.began = Some((connect_ms, first));
        for tick in 0..self.condition.ticks() {
            let due = self.tick_at(first, tick);
            self.proof.on_tick(due);
            for entity in 0..self.condition.entities {
                let stamp = self.proof.send(entity);
                self.proof.on_accepted(stamp);
            }
        }
        Ok(())
    }

    fn on_echo(&mut self, tick: u32, entity: u16, at: Duration) -> Result<(), String> {
        let Some((_, first)) = self.began else { return Err("had echoes before it began".into()) };
        if u64::from(tick) >= self.condition.ticks() || entity >= self.condition.entities {
            return Err(format!("reported an echo of tick {tick}, entity {entity}, which was never sent"));
        }
        let due = self.tick_at(first, tick.into());
        if at < due || at > due + LATENCY_MAX {
            return Err(format!(
                "reported the echo of tick {tick} at {at:?}, which was due at {due:?}: is its clock monotonic?"
            ));
        }
        self.echoes += 1;
        let updates = self.condition.ticks() * u64::from(self.condition.entities);
        if self.echoes > updates * ECHOES_PER_UPDATE_MAX {
            return Err("reported more than four echoes of each update".into());
        }
        self.proof.on_echo(at, entity, &Stamp { entity, sequence: tick }.encode(BYTES_MIN));
        Ok(())
    }

    /// The report, with the stalls that this process saw since `epoch` of the same clock.
    pub(super) fn report(
        self,
        (refused, corrupted, resent): (u64, u64, Option<u64>),
        stalls: &StallLog,
        epoch: Duration,
    ) -> EndReport {
        let since = |moment: Duration| moment.saturating_sub(epoch);
        let calm_us = self.proof.latencies_where(|due, arrived| !stalls.touches(since(due), since(arrived)));
        let mut series = self.proof.series();
        let first = self.began.map_or(Duration::ZERO, |(_, first)| since(first));
        let later = |stall: &&Stall| stall.start + stall.length >= first;
        series.take_stalls(
            stalls.stalls().iter().filter(later).map(|stall| (stall.start.saturating_sub(first), stall.length)),
        );
        let (mut counts, latencies_us, _) = self.proof.finish();
        let refused = refused.min(counts.lost);
        counts.lost -= refused;
        counts.refused = refused;
        counts.corrupted += corrupted;
        counts.delivered_bytes = counts.delivered * self.condition.payload_bytes as u64;
        let summary = stalls.summary();
        EndReport {
            connect_us: self.began.map(|(ms, _)| (ms * 1e3) as u64),
            counts,
            latencies_us,
            calm_us,
            stalls: summary.count,
            longest_stall_us: summary.longest.as_micros() as u64,
            telemetry: Telemetry { resent, ..Telemetry::default() },
            series,
            first_due_us: self.began.map(|(_, first)| first.as_micros() as u64),
            cpu_percent: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::condition::Flags;
    use crate::compare::plan::ComparePlan;

    fn condition() -> Condition {
        let text = "name = \"t\"\nminutes = 0.01\nentities = 2\nticks_per_second = 10\npayload_bytes = \
                    50\n[link]\nrtt = \"20ms\"";
        Condition::from(&ComparePlan::parse("t", text).unwrap(), &Flags::default()).unwrap()
    }

    #[test]
    fn client_messages_become_counts_and_latencies() {
        let condition = condition();
        let mut client = ExternalClient::new(&condition);
        for line in [
            r#"{"began":{"connect_ms":21.5,"first_due_us":5000000}}"#,
            r#"{"echoes":[[0,0,5021000],[0,1,5021500],[1,0,5130000],[1,0,5131000]]}"#,
            r#"{"echoes":[[3,1,5350000],[2,1,5351000]]}"#,
        ] {
            assert!(matches!(client.take(line), Ok(Next::Line)), "{line}");
        }
        let done = client.take(r#"{"done":{"refused":2,"corrupted":1}}"#).unwrap();
        assert!(matches!(done, Next::Nothing { refused: 2, corrupted: 1, resent: None }));
        let report = client.report((2, 1, None), &StallLog::default(), Duration::ZERO);
        let counts = report.counts;
        // Six ticks of two entities; five echoes, one of them twice.
        assert_eq!((counts.sent, counts.delivered, counts.lost, counts.refused), (12, 5, 5, 2));
        assert_eq!((counts.duplicated, counts.reordered, counts.corrupted), (1, 1, 1));
        assert_eq!(counts.delivered_bytes, 250);
        assert_eq!(report.latencies_us, [21_000, 21_500, 30_000, 50_000, 151_000]);
        assert_eq!((report.connect_us, report.first_due_us), (Some(21_500), Some(5_000_000)));
    }

    #[test]
    fn an_impossible_line_is_an_error_with_its_reason() {
        let condition = condition();
        let began = r#"{"began":{"connect_ms":1,"first_due_us":5000000}}"#;
        for (lines, words) in [
            (vec!["hello"], "said \"hello\""),
            (vec![r#"{"echoes":[[0,0,1]]}"#], "before it began"),
            (vec![began, began], "began twice"),
            (vec![began, r#"{"echoes":[[6,0,5700000]]}"#], "which was never sent"),
            (vec![began, r#"{"echoes":[[0,2,5700000]]}"#], "which was never sent"),
            (vec![began, r#"{"echoes":[[1,0,5000001]]}"#], "is its clock monotonic"),
            (vec![r#"{"failed":{"reason":"no socket"}}"#], "no socket"),
            (vec![r#"{"done":{"refusd":1}}"#], "unknown field"),
        ] {
            let mut client = ExternalClient::new(&condition);
            let error = lines.iter().find_map(|line| client.take(line).err()).unwrap_or_default();
            assert!(error.contains(words), "{lines:?}: {error}");
        }
        let mut client = ExternalClient::new(&condition);
        client.take(began).unwrap();
        let flood = (0..50).map(|_| client.take(r#"{"echoes":[[0,0,5100000]]}"#));
        assert!(flood.last().unwrap().unwrap_err().contains("more than four echoes"));
    }
}
