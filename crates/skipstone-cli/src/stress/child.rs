//! The server of a stress run without a URL: a child process with requests through its pipes, which ends with its
//! parent.

use super::plan::Plan;
use serde::Deserialize;
use skipstone_lab::child::Child;
use skipstone_lab::measure::process::Probe;
use skipstone_lab::report::Exit;
use skipstone_lab::report::stress::result::{Shard, Side};
use skipstone_lab::units::Span;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// A running server process.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    answers: mpsc::Receiver<String>,
    /// The server's address.
    pub(crate) address: SocketAddr,
    /// The URL of its native clients, fingerprint included.
    pub(crate) url: String,
    /// SHA-256 of the certificate for pages, if the server generated it.
    pub(crate) web_hash: Option<String>,
    /// Reads its CPU time and memory.
    pub(crate) probe: Probe,
}

/// The server's own figures.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ServerFigures {
    /// Since the last reset.
    pub(crate) ticks_per_second: f64,
    /// Since the last reset.
    pub(crate) slowest_tick_ms: f64,
    /// The counters of its protocol since it began.
    pub(crate) protocol: Side,
    /// The load of each of its shards.
    pub(crate) shards: Vec<Shard>,
}

#[derive(Deserialize)]
struct Announcement {
    listening: SocketAddr,
    url: String,
    certificate_hashes: Option<Vec<String>>,
}

/// Why the run's own server does not serve.
#[derive(Debug)]
enum StartFailure {
    /// The reason in one sentence: this machine or the flags do not allow it.
    Refused(String),
    /// It has neither ended nor reported that it serves.
    Silent,
}

const START_MAX: Duration = Duration::from_secs(10);
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// The server of a run, at the plan's URL or as a child process, and its address. If there is none, the user has been
/// told why.
pub(crate) fn server_of(plan: &Plan) -> Result<(Option<ServerProcess>, SocketAddr), Exit> {
    if let Some(target) = &plan.target {
        let address = target.resolve().map_err(|error| Exit::Unavailable.told("stress", error))?;
        return Ok((None, address));
    }
    let server = ServerProcess::start(&plan.flags.server_words(plan.native));
    let server = server.map_err(|failure| match failure {
        StartFailure::Refused(sentence) => Exit::BadConfiguration.told("stress", sentence),
        StartFailure::Silent => Exit::Fail
            .told("stress", format_args!("the server's process did not start to serve within {}", Span(START_MAX))),
    })?;
    let address = server.address;
    Ok((Some(server), address))
}

impl ServerProcess {
    /// Starts a server on a free port of the loopback interface.
    fn start(extra: &[String]) -> Result<Self, StartFailure> {
        let refused = StartFailure::Refused;
        let program = std::env::current_exe();
        let program = program.map_err(|error| refused(format!("cannot find this program's file: {error}")))?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--console", "off", "--identity", "new", "--piped"])
            .args(extra);
        let started = Child::start_talking(command);
        let (child, answers) =
            started.map_err(|error| refused(format!("cannot start the server's process: {error}")))?;
        let announcement = match answers.recv_timeout(START_MAX) {
            Err(RecvTimeoutError::Timeout) => return Err(StartFailure::Silent),
            said => said.ok().and_then(|line| serde_json::from_str::<Announcement>(&line).ok()),
        };
        let Some(Announcement { listening, url, certificate_hashes }) = announcement else {
            return Err(refused("the server's process did not start; its own message is printed above".into()));
        };
        let probe = Probe::of(child.id());
        let web_hash = certificate_hashes.and_then(|hashes| hashes.into_iter().next());
        Ok(Self { child, answers, address: listening, url, web_hash, probe })
    }

    /// Makes the server restart its tick measurement.
    pub(crate) fn reset(&mut self) {
        self.ask("reset");
    }

    /// The server's own figures; `None` if it does not answer.
    pub(crate) fn figures(&mut self) -> Option<ServerFigures> {
        serde_json::from_str(&self.ask("stats")?).ok()
    }

    /// Asks without waiting; the answer is for [`ServerProcess::answered`].
    pub(crate) fn ask_figures(&mut self) {
        self.child.send("stats");
    }

    /// The answer to [`ServerProcess::ask_figures`], once it is there.
    pub(crate) fn answered(&mut self) -> Option<ServerFigures> {
        serde_json::from_str(&self.answers.try_recv().ok()?).ok()
    }

    /// The end of the process, if it ended.
    pub(crate) fn ended(&mut self) -> Option<String> {
        self.child.ended()
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        while self.answers.try_recv().is_ok() {}
        self.child.send(question);
        self.answers.recv_timeout(ANSWER_MAX).ok()
    }
}
