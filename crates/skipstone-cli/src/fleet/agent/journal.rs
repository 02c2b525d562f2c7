//! What an agent says of its runs, a line with its time for each turn, and their totals at its end.

use super::super::load::Load;
use super::super::talk::PartEnd;
use crate::stress::lead::{Kept, Ready};
use skipstone_lab::report::format::{bytes, counted, rfc3339, thousands};
use skipstone_lab::report::output;
use std::time::SystemTime;

/// The runs of an agent since it began.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Journal {
    runs: u64,
    without_evidence: u64,
    sent: u64,
    received: u64,
}

/// A line with the time.
pub(super) fn say(text: impl std::fmt::Display) {
    output::say(format_args!("{}  {text}", rfc3339(SystemTime::now())));
}

impl Journal {
    /// A run begins here.
    pub(super) fn enlisted(&mut self, load: &Load) {
        self.runs += 1;
        say(format_args!("run {}: {}", load.run(), load.text()));
    }

    /// Its clients are there, or will not be.
    pub(super) fn ready(&self, run: &str, ready: &Ready) {
        say(clients(run, ready));
    }

    /// It is over.
    pub(super) fn ended(&mut self, run: &str, end: &PartEnd) {
        match end {
            PartEnd::Kept(kept) => {
                self.sent += kept.sent;
                self.received += kept.received;
                say(totals(run, kept));
            }
            PartEnd::Failed(why) => {
                self.without_evidence += 1;
                say(format_args!("run {run}: no evidence: {why}"));
            }
        }
    }

    /// The agent ends.
    pub(super) fn close(&self, name: &str) {
        say(format_args!("agent {name} ends; {}", self.text()));
    }

    fn text(&self) -> String {
        let without = match self.without_evidence {
            0 => String::new(),
            without => format!(" ({} without evidence)", thousands(without)),
        };
        let (sent, received) = (counted(self.sent, "line"), thousands(self.received));
        format!("{}{without}: {sent} sent, {received} received", counted(self.runs, "run"))
    }
}

fn clients(run: &str, ready: &Ready) -> String {
    let why = ready.why.as_ref().filter(|_| ready.connected < ready.asked);
    let why = why.map_or(String::new(), |why| format!(" ({why})"));
    if ready.connected == 0 && ready.why.is_none() {
        return format!("run {run}: {} wait for the start, and connect then", counted(ready.asked, "bot"));
    }
    let (connected, asked) = (thousands(ready.connected), counted(ready.asked, "client"));
    format!("run {run}: {connected} of {asked} connected{why}; waits for the start")
}

fn totals(run: &str, kept: &Kept) -> String {
    format!(
        "run {run}: {} sent, {} received, {} dropped, {}; {} of evidence",
        counted(kept.sent, "line"),
        thousands(kept.received),
        counted(kept.clients_dropped, "client"),
        counted(kept.late_sends, "late send"),
        bytes(kept.bytes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_with_its_totals_and_all_runs_with_theirs() {
        let kept = Kept { bytes: 2_048, sent: 1_500, received: 60_000, clients_dropped: 1, late_sends: 0 };
        assert_eq!(
            totals("r", &kept),
            "run r: 1,500 lines sent, 60,000 received, 1 client dropped, 0 late sends; 2.00 KiB of evidence"
        );
        let mut journal = Journal { runs: 2, ..Journal::default() };
        journal.ended("r", &PartEnd::Kept(kept));
        assert_eq!(journal.text(), "2 runs: 1,500 lines sent, 60,000 received");
        journal.ended("s", &PartEnd::Failed("no disk".into()));
        assert_eq!(journal.text(), "2 runs (1 without evidence): 1,500 lines sent, 60,000 received");
    }

    #[test]
    fn clients_that_are_missing_before_the_start_are_told_with_the_reason() {
        let ready = Ready { connected: 7, asked: 9, why: Some("refused".into()), server_clock_us: None };
        assert_eq!(clients("r", &ready), "run r: 7 of 9 clients connected (refused); waits for the start");
        let all = Ready { connected: 9, ..ready };
        assert_eq!(clients("r", &all), "run r: 9 of 9 clients connected; waits for the start");
    }
}
