//! The agent that started this process for a part of a run on several machines: messages to it and from it.
//!
//! ```text
//! agent ──stdin:  {"start":…}, {"stop":…}────────────────────────────────> this process
//! agent <─stdout: {"ready":…}, {"progress":…}, {"kept":…}, {"failed":…} ── this process
//! ```
//! If the agent ends, standard input is closed, and the run ends.

use super::server_clock::ServerClock;
use serde::{Deserialize, Serialize};
use skipstone_lab::report::output;
use skipstone_lab::report::stress::result::FleetClock;
use skipstone_lab::report::stress::roster::{AgentPlace, Roster};
use skipstone_lab::signals::Signals;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Which part of which run, in the notation of `--part`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartOrder {
    pub(crate) roster: Roster,
    /// Which of the roster's agents this is.
    pub(crate) agent: usize,
    /// What names the run in its lines.
    pub(crate) lines: u16,
    /// Where the evidence goes.
    pub(crate) evidence: PathBuf,
    /// Whether a report is wanted.
    pub(crate) has_report: bool,
}

/// A word to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum LeadWord {
    /// Lines are due from then on.
    Start(StartAt),
}

/// A moment by two clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartAt {
    /// By the game server's, in microseconds since it began, if all agents have it.
    pub(crate) server_us: Option<u64>,
    /// By this machine's own, in microseconds since 1970, as the coordinator estimates it.
    pub(crate) unix_us: u64,
    /// How wrong that may be.
    pub(crate) unix_error_us: u64,
}

/// News of this process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PartNews {
    /// All clients are there, or will not be.
    Ready(Ready),
    /// The figures of the last second.
    Progress(serde_json::Value),
    /// The evidence is written.
    Kept(Kept),
    /// There is none, and why.
    Failed(String),
}

/// The clients before their first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ready {
    pub(crate) connected: u64,
    pub(crate) asked: u64,
    /// Why some are not there.
    pub(crate) why: Option<String>,
    /// The server's clock now, in microseconds, and its error; `None` if it tells none.
    pub(crate) server_clock_us: Option<(u64, u64)>,
}

/// What lies on this machine's disk, and what it says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) bytes: u64,
    /// Lines that its clients sent, and those that they received, of all clients.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) clients_dropped: u64,
    pub(crate) late_sends: u64,
}

/// The agent, as this process has it.
pub(crate) struct Lead {
    words: Receiver<LeadWord>,
}

/// A start that was agreed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgreedStart {
    pub(crate) at: StartAt,
    /// The same moment by this process's own clock.
    pub(crate) epoch: Instant,
    pub(crate) by: FleetClock,
    /// How wrong the clock was when the start was agreed on.
    pub(crate) error: Duration,
}

impl PartOrder {
    /// This process's place in the run; the error is one sentence.
    pub(crate) fn place(&self) -> Result<&AgentPlace, String> {
        self.roster.agents.get(self.agent).ok_or_else(|| "--part: the roster has no such agent".to_owned())
    }
}

impl Lead {
    /// Listens to standard input from now on.
    pub(crate) fn listen(signals: Signals) -> Self {
        let (tell, words) = channel();
        std::thread::spawn(move || {
            let lines = std::io::stdin().lock().lines().map_while(Result::ok);
            let words = lines.filter_map(|line| serde_json::from_str(&line).ok());
            words.take_while(|word| tell.send(*word).is_ok()).for_each(drop);
            signals.flag().store(true, Ordering::Relaxed);
        });
        Lead { words }
    }

    /// The next word, if there is one.
    pub(crate) fn poll(&self) -> Option<LeadWord> {
        self.words.try_recv().ok()
    }
}

/// Tells the agent.
pub(crate) fn tell(news: &PartNews) {
    output::say(serde_json::to_string(news).expect("news have text keys"));
}

impl StartAt {
    /// The same by this process's clock. The error is one sentence.
    pub(crate) fn agree(self, server: Option<ServerClock>) -> Result<AgreedStart, String> {
        let (now, left, error, by) = match (self.server_us, server) {
            (Some(server_us), Some(clock)) => {
                let left = Duration::from_micros(server_us).checked_sub(clock.at);
                (Instant::now(), left, clock.error, FleetClock::Server)
            }
            _ => {
                let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let left = Duration::from_micros(self.unix_us).checked_sub(unix);
                (Instant::now(), left, Duration::from_micros(self.unix_error_us), FleetClock::Coordinator)
            }
        };
        let left = left.ok_or("the word to start came after the start: the connection to NATS is too slow")?;
        Ok(AgreedStart { at: self, epoch: now + left, by, error })
    }
}

impl AgreedStart {
    /// How wrong the clock was at most from the start on, given the server's clock at a later time.
    pub(crate) fn error_until(&self, later: Option<(Instant, ServerClock)>) -> Duration {
        let (Some(server_us), Some((at, clock))) = (self.at.server_us, later) else { return self.error };
        let own = Duration::from_micros(server_us) + at.saturating_duration_since(self.epoch);
        // Clocks drift apart evenly, so that the error is greatest at one of both ends.
        self.error.max(own.abs_diff(clock.at) + clock.error)
    }

    /// When the first line was due, by this machine's clock, in microseconds since 1970.
    pub(crate) fn epoch_unix_us(&self) -> u64 {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        unix.saturating_sub(self.epoch.elapsed()).as_micros() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix_now_us() -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64
    }

    #[test]
    fn a_start_that_has_passed_is_refused_with_its_cause() {
        let at = StartAt { server_us: None, unix_us: unix_now_us() - 1_000, unix_error_us: 7 };
        assert!(at.agree(None).unwrap_err().contains("after the start"));
        let at = StartAt { unix_us: unix_now_us() + 60_000_000, ..at };
        let agreed = at.agree(None).unwrap();
        assert_eq!((agreed.by, agreed.error), (FleetClock::Coordinator, Duration::from_micros(7)));
        let left = agreed.epoch.saturating_duration_since(Instant::now());
        assert!(left > Duration::from_secs(50) && left <= Duration::from_secs(60), "{left:?}");
        assert_eq!(agreed.error_until(None), Duration::from_micros(7));
    }

    #[test]
    fn words_and_news_are_lines_of_json() {
        let start = LeadWord::Start(StartAt { server_us: Some(5), unix_us: 6, unix_error_us: 7 });
        let text = serde_json::to_string(&start).unwrap();
        assert_eq!(text, r#"{"start":{"server_us":5,"unix_us":6,"unix_error_us":7}}"#);
        assert_eq!(serde_json::from_str::<LeadWord>(&text).unwrap(), start);
        assert!(serde_json::from_str::<LeadWord>(r#"{"start":{"unix_us":6}}"#).is_err());
        let news = serde_json::to_string(&PartNews::Failed("no server".into())).unwrap();
        assert_eq!(news, r#"{"failed":"no server"}"#);
    }
}
