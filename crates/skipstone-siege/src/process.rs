//! Processes that are killed when dropped, and their output.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// A running program whose lines are read.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Result<Running, String> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|error| format!("{command:?} does not start: {error}"))?;
        let output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Ok(Running { child, lines })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its next line; `None` if it ended or printed nothing until then.
    pub(crate) fn line(&self, until: Instant) -> Option<String> {
        self.lines.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
    }

    /// Its whole output, once it has ended; `None` if it does not end in time.
    pub(crate) fn ends_by(&mut self, until: Instant) -> Option<String> {
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(POLL);
        }
        Some(self.lines.iter().map(|line| line + "\n").collect())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const POLL: Duration = Duration::from_millis(10);
