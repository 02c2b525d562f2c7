//! A process of a run as its parent sees it: asked and answered in lines through its pipes, gone with its parent.

use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// A running child. Dropping it closes its input, which ends it; if it is stuck, it is killed, by its id alone.
#[derive(Debug)]
pub struct Child {
    process: Process,
    input: Option<ChildStdin>,
}

/// How long it has to end by itself.
const END_MAX: Duration = Duration::from_secs(4);

impl Child {
    /// Starts a command. `on_line` gets each line of its output, then `None`, in a thread of its own, until it breaks.
    pub fn start(
        mut command: Command,
        mut on_line: impl FnMut(Option<String>) -> ControlFlow<()> + Send + 'static,
    ) -> std::io::Result<Child> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (process.stdin.take(), process.stdout.take().expect("its output is piped"));
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok).map(Some);
            let _ = lines.chain([None]).try_for_each(&mut on_line);
        });
        Ok(Child { process, input })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends it a line. If it is gone, its output has ended.
    pub fn send(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<String> {
        self.process.try_wait().ok().flatten().map(|status| status.to_string())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.input = None;
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
