//! The result of a run that only connects, by `stress --connects`: how many clients got in, and what the others were
//! told. `schema/connects.schema.json` says the same to other programs, and is derived from these types.

use crate::measure::machine::Machine;
use crate::report::format::{counted, milliseconds, thousands};
use crate::report::paint::wrap;
use crate::report::{Cell, Page, ServerOwner, Style, Tone, Verdict};
use crate::units::Carrier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Raised when a field changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that such a run found, and what is needed to run it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConnectsResult {
    /// Raised when a field changes its meaning.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// A pass if every client got in.
    pub verdict: Verdict,
    /// Why it is not a pass, one sentence each.
    pub reasons: Vec<String>,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// When the run began: RFC 3339, UTC.
    pub started: String,
    /// How often a client was to connect.
    pub rate: String,
    /// How long clients began to connect, in seconds.
    pub duration_s: f64,
    /// Where it ran.
    pub machine: Machine,
    /// All clients.
    pub all: ConnectCounts,
    /// The same by carrier.
    pub carriers: BTreeMap<Carrier, ConnectCounts>,
    /// Clients that did not get in, by what they were told.
    pub failures: BTreeMap<String, u64>,
    /// Clients without an answer that began after the last one that had any.
    pub silenced_at_end: u64,
    /// How the process of the run's own server ended, if it did so before the run.
    pub server_ended: Option<String>,
    /// Connections that the server ended, between their beginning and the client's goodbye, to restart.
    pub told_to_return: u64,
    /// The latest that a client began after its time, in ms: the fault of this program or its machine.
    pub latest_begin_ms: f64,
}

/// The clients of all carriers, or of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConnectCounts {
    /// Clients that began to connect.
    pub attempted: u64,
    /// Those that were connected.
    pub connected: u64,
    /// Clients that were refused, or whose handshake was ended.
    pub refused: u64,
    /// Those that had no answer, or no complete one, until their time was over.
    pub unanswered: u64,
    /// Those that were still connecting when the run was interrupted.
    pub unfinished: u64,
    /// From the moment a client was due to begin until it was connected; `None` if none was.
    pub connect_ms: Option<ConnectMs>,
}

/// How long clients took to connect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConnectMs {
    /// Half took no longer.
    pub p50: f64,
    /// 99% took no longer.
    pub p99: f64,
    /// 99.8% took no longer.
    pub p998: f64,
    /// None took longer.
    pub max: f64,
}

impl ConnectMs {
    /// The figures of these times, which are sorted here; `None` if there is no time.
    pub fn of(times: &mut [Duration]) -> Option<Self> {
        times.sort_unstable();
        let at = |share: f64| times.get(((times.len() as f64 * share).ceil() as usize).saturating_sub(1));
        let ms = |share| at(share).map(|time| time.as_secs_f64() * 1e3);
        Some(ConnectMs { p50: ms(0.5)?, p99: ms(0.99)?, p998: ms(0.998)?, max: ms(1.0)? })
    }
}

impl ConnectsResult {
    /// Judges the counts of a run with this server.
    pub fn judge(&mut self, server: ServerOwner, is_interrupted: bool) {
        let all = &self.all;
        let absence = self.absence().filter(|_| !is_interrupted);
        let mut failed: Vec<String> = absence.iter().cloned().collect();
        let is_there = absence.is_none();
        if is_there && all.refused > 0 {
            failed.push(format!("{} refused.", was(all.refused)));
        }
        if is_there && all.unanswered > 0 {
            failed.push(format!("{} not answered in time.", was(all.unanswered)));
        }
        let invalid: Vec<String> =
            (all.attempted == 0).then(|| "No client began to connect.".into()).into_iter().collect();
        self.verdict = match absence {
            Some(_) => server.absence(),
            None => Verdict::of(is_interrupted, &invalid, &failed),
        };
        self.reasons = [invalid, failed].concat();
        if is_interrupted {
            self.reasons.insert(0, "The run was stopped before its end.".into());
        }
    }

    /// Why there was no server to judge, if there was none.
    fn absence(&self) -> Option<String> {
        let all = &self.all;
        if let Some(ended) = &self.server_ended {
            return Some(format!("The server's process ended before the run did: {ended}."));
        }
        // A server that refuses clients is reachable; an address that refuses the connection has no server.
        if all.attempted > 0 && all.connected == 0 && self.silenced_at_end >= all.attempted {
            return Some(format!("None of the {} connected.", counted(all.attempted, "client")));
        }
        // A lossy network does not lose every client's packets for a whole second.
        let in_a_second = all.attempted as f64 / self.duration_s.max(1.0);
        let is_gone = self.silenced_at_end as f64 >= in_a_second.max(SILENCED_MIN);
        is_gone.then(|| {
            let last = counted(self.silenced_at_end, "client");
            format!("The server went away: the last {last} had no answer. Its log may say why.")
        })
    }

    /// The table for people; ends with a line feed.
    pub fn table(&self, style: Style) -> String {
        let mut page = Page::new(style);
        page.blank();
        page.toned(Tone::Strong, &format!("New clients at {} for {:.1} s", self.rate, self.duration_s));
        page.blank();
        let mut columns = vec![("all".to_owned(), &self.all)];
        if self.carriers.len() > 1 {
            columns.extend(self.carriers.iter().map(|(carrier, counts)| (carrier.to_string(), counts)));
        }
        page.row("", LABEL_COLUMNS, columns.iter().map(|(name, _)| Cell::right(name, CELL_COLUMNS).toned(Tone::Faint)));
        let rows: [(&str, CountOf, bool); 5] = [
            ("Attempted", |counts| counts.attempted, false),
            ("Connected", |counts| counts.connected, false),
            ("Refused", |counts| counts.refused, true),
            ("Unanswered", |counts| counts.unanswered, true),
            ("Unfinished", |counts| counts.unfinished, true),
        ];
        for (label, count, is_fault) in rows {
            let cells = columns.iter().map(|(_, counts)| {
                let cell = Cell::right(thousands(count(counts)), CELL_COLUMNS);
                if is_fault && count(counts) > 0 { cell.toned(Tone::Bad) } else { cell }
            });
            page.row(label, LABEL_COLUMNS, cells);
        }
        let times: [(&str, TimeOf); 4] = [
            ("Time to connect p50", |times| times.p50),
            ("  p99", |times| times.p99),
            ("  p99.8", |times| times.p998),
            ("  slowest", |times| times.max),
        ];
        for (label, figure) in times {
            let shown =
                |counts: &ConnectCounts| counts.connect_ms.as_ref().map_or("-".into(), |all| milliseconds(figure(all)));
            page.row(label, LABEL_COLUMNS, columns.iter().map(|(_, counts)| Cell::right(shown(counts), CELL_COLUMNS)));
        }
        page.blank();
        for (why, count) in &self.failures {
            wrap(&format!("{}: {why}", counted(*count, "client")), PAGE_COLUMNS)
                .iter()
                .for_each(|line| page.line(line));
        }
        let latest = milliseconds(self.latest_begin_ms);
        let told = counted(self.told_to_return, "connection");
        page.note(&format!("{told} ended by a restart. The latest client began {latest} late."), PAGE_COLUMNS);
        page.blank();
        let tone = if self.verdict == Verdict::Pass { Tone::Good } else { Tone::Bad };
        let verdict = serde_json::to_value(self.verdict).ok();
        let word = verdict.as_ref().and_then(|verdict| verdict.as_str()).unwrap_or_default().to_uppercase();
        page.toned(tone, &format!("{word} {}", self.reasons.join(" ")));
        page.into_text()
    }
}

fn was(clients: u64) -> String {
    format!("{} {}", counted(clients, "client"), if clients == 1 { "was" } else { "were" })
}

type CountOf = fn(&ConnectCounts) -> u64;
type TimeOf = fn(&ConnectMs) -> f64;

/// A smaller number of unanswered clients at the end says nothing about the server.
const SILENCED_MIN: f64 = 3.0;
const LABEL_COLUMNS: usize = 22;
const CELL_COLUMNS: usize = 11;
const PAGE_COLUMNS: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_was_refused_or_not_answered_fails_the_run() {
        let counts = |refused, unanswered| ConnectCounts {
            attempted: 9,
            connected: 8,
            refused,
            unanswered,
            ..ConnectCounts::default()
        };
        let cases = [(0, 0, false, Verdict::Pass), (1, 0, false, Verdict::Fail), (0, 1, false, Verdict::Fail)];
        for (refused, unanswered, is_interrupted, verdict) in
            cases.into_iter().chain([(0, 1, true, Verdict::Interrupted)])
        {
            let mut result = blank();
            result.all = counts(refused, unanswered);
            result.judge(ServerOwner::Another, is_interrupted);
            assert_eq!(result.verdict, verdict, "{refused} refused, {unanswered} unanswered");
        }
        let mut none = blank();
        none.judge(ServerOwner::Another, false);
        assert_eq!(none.verdict, Verdict::Invalid);
    }

    #[test]
    fn a_server_that_admits_no_client_or_departs_is_unavailable() {
        let judged_of = |server, connected, silenced_at_end, server_ended: Option<&str>| {
            let mut result = blank();
            result.duration_s = 8.0;
            result.all =
                ConnectCounts { attempted: 80, connected, unanswered: 80 - connected, ..ConnectCounts::default() };
            (result.silenced_at_end, result.server_ended) = (silenced_at_end, server_ended.map(str::to_owned));
            result.judge(server, false);
            (result.verdict, result.reasons.remove(0))
        };
        let judged =
            |connected, silenced_at_end, ended| judged_of(ServerOwner::Another, connected, silenced_at_end, ended);
        assert_eq!(judged(0, 80, None), (Verdict::Unavailable, "None of the 80 clients connected.".into()));
        let (verdict, reason) = judged(30, 50, None);
        assert_eq!(verdict, Verdict::Unavailable);
        assert!(reason.starts_with("The server went away: the last 50 clients had no answer."), "{reason}");
        assert_eq!(judged(71, 9, None).0, Verdict::Fail, "less than a second's clients");
        let of_own =
            |connected, silenced_at_end, ended| judged_of(ServerOwner::ThisRun, connected, silenced_at_end, ended).0;
        let own = [of_own(71, 9, Some("signal: 9")), of_own(0, 80, None), of_own(30, 50, None)];
        assert_eq!(own, [Verdict::Fail; 3], "the program under test");
    }

    #[test]
    fn each_percentile_bounds_its_share_of_the_samples() {
        let mut times: Vec<Duration> = (1..=1_000).rev().map(Duration::from_millis).collect();
        let expected = ConnectMs { p50: 500.0, p99: 990.0, p998: 998.0, max: 1_000.0 };
        assert_eq!(ConnectMs::of(&mut times), Some(expected));
        assert_eq!(ConnectMs::of(&mut []), None);
    }

    fn blank() -> ConnectsResult {
        ConnectsResult {
            schema_version: SCHEMA_VERSION,
            verdict: Verdict::default(),
            reasons: Vec::new(),
            command: Vec::new(),
            started: String::new(),
            rate: "300/s".into(),
            duration_s: 1.0,
            machine: Machine::default(),
            all: ConnectCounts::default(),
            carriers: BTreeMap::new(),
            failures: BTreeMap::new(),
            silenced_at_end: 0,
            server_ended: None,
            told_to_return: 0,
            latest_begin_ms: 0.0,
        }
    }
}
