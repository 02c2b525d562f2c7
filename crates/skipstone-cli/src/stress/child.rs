//! The server of a stress run without a URL: a process of its own, asked through its pipes, gone with its parent.

use crate::measure::process::Probe;
use crate::report::result::protocol::Side;
use crate::sharing::Shard;
use serde::Deserialize;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A running server process.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    to: Option<ChildStdin>,
    answers: mpsc::Receiver<String>,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// The URL of its native clients, fingerprint included.
    pub(crate) url: String,
    /// Reads its CPU time and memory.
    pub(crate) probe: Probe,
}

/// What the server says of itself.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ServerFigures {
    /// Since the last reset.
    pub(crate) ticks_per_second: f64,
    /// Since the last reset.
    pub(crate) slowest_tick_ms: f64,
    /// What its protocol did since it began.
    pub(crate) protocol: Side,
    /// What each of its shards carries.
    pub(crate) shards: Vec<Shard>,
}

#[derive(Deserialize)]
struct Announcement {
    listening: SocketAddr,
    url: String,
}

const START_MAX: Duration = Duration::from_secs(10);
const ANSWER_MAX: Duration = Duration::from_secs(3);
/// How long the server has to end by itself.
const END_MAX: Duration = Duration::from_secs(4);

impl ServerProcess {
    /// Starts a server on a free port of the loopback interface.
    pub(crate) fn start(extra: &[String]) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program's file: {error}"))?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--console", "off", "--identity", "new", "--piped"])
            .args(extra);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| format!("cannot start the server's process: {error}"))?;
        let to = child.stdin.take();
        let answers = read_lines(child.stdout.take().expect("its output is piped"));
        let announcement = answers.recv_timeout(START_MAX).ok();
        let announcement = announcement.and_then(|line| serde_json::from_str::<Announcement>(&line).ok());
        let Some(Announcement { listening, url }) = announcement else {
            let _ = child.kill();
            let _ = child.wait();
            return Err("the server's process did not start; its own message stands above".into());
        };
        let probe = Probe::of(child.id());
        Ok(ServerProcess { child, to, answers, address: listening, url, probe })
    }

    /// Lets the server measure its ticks anew.
    pub(crate) fn reset(&mut self) {
        self.ask("reset");
    }

    /// The server's own figures; `None` if it does not answer.
    pub(crate) fn figures(&mut self) -> Option<ServerFigures> {
        serde_json::from_str(&self.ask("stats")?).ok()
    }

    /// Asks without waiting; the answer is for [`ServerProcess::answered`].
    pub(crate) fn ask_figures(&mut self) {
        if let Some(to) = &mut self.to {
            let _ = to.write_all(b"stats\n");
        }
    }

    /// The answer to [`ServerProcess::ask_figures`], once it is there.
    pub(crate) fn answered(&mut self) -> Option<ServerFigures> {
        serde_json::from_str(&self.answers.try_recv().ok()?).ok()
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        while self.answers.try_recv().is_ok() {}
        self.to.as_mut()?.write_all(format!("{question}\n").as_bytes()).ok()?;
        self.answers.recv_timeout(ANSWER_MAX).ok()
    }
}

impl Drop for ServerProcess {
    /// Closing its input ends it; if it is stuck, it is killed.
    fn drop(&mut self) {
        self.to = None;
        let end = Instant::now() + END_MAX;
        while Instant::now() < end {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(from: ChildStdout) -> mpsc::Receiver<String> {
    let (line, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let all = BufReader::new(from).lines().map_while(Result::ok);
        all.take_while(|text| line.send(text.clone()).is_ok()).for_each(drop);
    });
    lines
}
