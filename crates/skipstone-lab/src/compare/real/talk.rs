//! A process of a run, its output in lines, and the reason of a failure.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::messages::EndMessage;
use crate::child::Child;

/// Why there is no row, or only an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunError {
    Interrupted,
    /// This contender failed; others may not.
    Failed(String),
}

/// The number of lines that may wait to be read; a process that prints more blocks.
pub(super) const LINES_MAX: usize = 1_024;
/// The maximum bytes of a line from an external program.
pub(super) const LINE_BYTES_MAX: usize = 1 << 20;
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A process and what it says.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) who: &'static str,
    /// Before the process, so that unread output does not keep it from ending.
    pub(super) lines: Receiver<Option<String>>,
    pub(super) child: Child,
    pub(super) line_bytes_max: usize,
}

impl Talk {
    /// The next message, while another process has to stay alive.
    pub(super) fn hear(
        &mut self,
        other: Option<&mut Talk>,
        within: Duration,
        stop: &AtomicBool,
    ) -> Result<EndMessage, RunError> {
        let late = format!("hangs: nothing for {within:?}");
        let line = self.line(other, Instant::now() + within, &late, stop)?;
        message(self.who, &line)
    }

    /// The next line. `late` says what the process did instead, if there is none until `end`.
    pub(super) fn line(
        &mut self,
        mut other: Option<&mut Talk>,
        end: Instant,
        late: &str,
        stop: &AtomicBool,
    ) -> Result<String, RunError> {
        loop {
            // Before each line, so that endless output does not delay the check.
            if stop.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted);
            }
            if let Some(other) = other.as_deref_mut() {
                other.check()?;
            }
            if Instant::now() >= end {
                return Err(RunError::Failed(format!("the {}'s process {late}", self.who)));
            }
            match self.lines.recv_timeout(LOOK_EVERY) {
                Ok(Some(line)) => return self.fitting(line),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => return Err(self.ended("ended")),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Checks that it is alive, and has reported nothing.
    pub(super) fn check(&mut self) -> Result<(), RunError> {
        match self.lines.try_recv() {
            Ok(Some(line)) => message(self.who, &self.fitting(line)?).map(drop),
            Ok(None) | Err(TryRecvError::Disconnected) => Err(self.ended("ended in the middle")),
            Err(TryRecvError::Empty) => Ok(()),
        }
    }

    fn fitting(&self, line: String) -> Result<String, RunError> {
        if line.len() <= self.line_bytes_max {
            return Ok(line);
        }
        let (who, begin) = (self.who, line.chars().take(80).collect::<String>());
        Err(RunError::Failed(format!(
            "the {who}'s process printed a line of more than 1 MiB, which begins \"{begin}\""
        )))
    }

    fn ended(&mut self, what: &str) -> RunError {
        let how = self.child.ended().unwrap_or_else(|| "it says nothing more".into());
        RunError::Failed(format!("the {}'s process {what} ({how})", self.who))
    }
}

/// A line as a message; a failure as an error.
fn message(who: &str, line: &str) -> Result<EndMessage, RunError> {
    match serde_json::from_str(line) {
        Ok(EndMessage::Failed { reason }) => Err(RunError::Failed(format!("the {who}'s process: {reason}"))),
        Ok(message) => Ok(message),
        Err(_) => {
            let begin: String = line.chars().take(200).collect();
            Err(RunError::Failed(format!("the {who}'s process said \"{begin}\"")))
        }
    }
}
