//! A process of the run as its parent sees it: told words, heard, and gone when it is dropped.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::words::Told;
use crate::stress::signals::Signals;

/// A running child.
#[derive(Debug)]
pub(crate) struct Child {
    process: Process,
    to: Option<ChildStdin>,
    told: Receiver<Told>,
    name: &'static str,
}

/// What else may run on a child's core meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Whatever wants to.
    Usual,
    /// Nothing, as long as the child has work.
    Realtime,
}

/// Why nothing was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It cannot go on, or ended, or took too long: one sentence.
    Failed(String),
    /// This process was told to stop.
    Interrupted,
}

/// How long it has to end by itself.
const END_MAX: Duration = Duration::from_secs(2);
/// How often signals are looked at.
const LOOK: Duration = Duration::from_millis(50);

impl Child {
    /// Starts this program with the arguments of one of its inner commands.
    pub(crate) fn start(name: &'static str, arguments: &[String], priority: Priority) -> Result<Child, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program's file: {error}"))?;
        let mut command = match priority {
            Priority::Usual => Command::new(program),
            Priority::Realtime => {
                let mut command = Command::new("chrt");
                command.args(["--fifo", "10"]).arg(program);
                command
            }
        };
        command.arg(name).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("cannot start the process of {name}: {error}"))?;
        let to = process.stdin.take();
        let told = listen(process.stdout.take().expect("its output is piped"));
        Ok(Child { process, to, told, name })
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Tells it a word. If it is gone, hearing will say so.
    pub(crate) fn tell(&mut self, word: &str) {
        if let Some(to) = &mut self.to {
            let _ = to.write_all(format!("{word}\n").as_bytes());
        }
    }

    /// What it tells next, within this time.
    pub(crate) fn hear(&self, within: Duration, signals: &Signals) -> Result<Told, Silence> {
        let end = Instant::now() + within;
        loop {
            match self.told.recv_timeout(LOOK) {
                Ok(Told::Failed { reason }) => return Err(Silence::Failed(reason)),
                Ok(told) => return Ok(told),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Silence::Failed(format!(
                        "the process of {} ended; its own message stands above",
                        self.name
                    )));
                }
                Err(RecvTimeoutError::Timeout) if signals.is_set() => return Err(Silence::Interrupted),
                Err(RecvTimeoutError::Timeout) if Instant::now() > end => {
                    return Err(Silence::Failed(format!("the process of {} said nothing in {within:?}", self.name)));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for Child {
    /// Without its input it ends; if it is stuck, it is killed, by its id alone.
    fn drop(&mut self) {
        self.to = None;
        let end = Instant::now() + END_MAX;
        while Instant::now() < end {
            match self.process.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn listen(from: ChildStdout) -> Receiver<Told> {
    let (to, told) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(from).lines().map_while(Result::ok);
        // What is no word of ours is a library's own chatter.
        lines
            .filter_map(|line| serde_json::from_str(&line).ok())
            .take_while(|word: &Told| to.send(word.clone()).is_ok())
            .for_each(drop);
    });
    told
}
