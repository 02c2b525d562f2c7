//! A child process of a run: requests and answers are lines through its pipes, and it ends with its parent.

use std::io::{BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// A running child. Dropping it closes its input, which ends it; if it is stuck, it is killed, by its id alone.
#[derive(Debug)]
pub struct Child {
    process: Process,
    input: Option<ChildStdin>,
    end_max: Duration,
}

/// The default time that it has to end by itself.
pub(crate) const END_MAX: Duration = Duration::from_secs(4);

impl Child {
    /// Starts a command. `on_line` gets each line of its output, then `None`, in its own thread, until it breaks.
    pub fn start(
        command: Command,
        on_line: impl FnMut(Option<String>) -> ControlFlow<()> + Send + 'static,
    ) -> std::io::Result<Self> {
        Self::start_stranger(command, usize::MAX, on_line)
    }

    /// Starts a command whose lines are read one by one; unread lines are queued without limit.
    pub fn start_talking(command: Command) -> std::io::Result<(Self, Receiver<String>)> {
        let (outbox, lines) = mpsc::channel();
        let on_line = move |line: Option<String>| match line.map(|line| outbox.send(line)) {
            Some(Ok(())) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        Ok((Self::start(command, on_line)?, lines))
    }

    /// As [`Child::start`], of a program whose lines may be of any length. A longer line is truncated to one byte more
    /// than this, and is the last.
    pub fn start_stranger(
        mut command: Command,
        line_bytes_max: usize,
        mut on_line: impl FnMut(Option<String>) -> ControlFlow<()> + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (process.stdin.take(), process.stdout.take().expect("its output is piped"));
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let lines = std::iter::from_fn(|| next_line(&mut output, line_bytes_max)).map(Some);
            let _ = lines.chain([None]).try_for_each(&mut on_line);
        });
        Ok(Self { process, input, end_max: END_MAX })
    }

    /// The same, with this much time to end by itself.
    pub fn ending_within(mut self, end_max: Duration) -> Self {
        self.end_max = end_max;
        self
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends it a line. If it has ended, so has its output.
    pub fn send(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Closes its input, which asks it to end.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<String> {
        self.process.try_wait().ok().flatten().map(|status| status.to_string())
    }
}

/// The next line without its end, at most a byte longer than `bytes_max`; `None` at the end, or if the line is not
/// text.
fn next_line(from: &mut impl BufRead, bytes_max: usize) -> Option<String> {
    let mut line = Vec::new();
    from.take((bytes_max as u64).saturating_add(1)).read_until(b'\n', &mut line).ok()?;
    if line.is_empty() {
        return None;
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        line.pop_if(|last| *last == b'\r');
    }
    // A letter may have been cut.
    if line.len() > bytes_max {
        Some(String::from_utf8_lossy(&line).into_owned())
    } else {
        String::from_utf8(line).ok()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.input = None;
        let end = Instant::now() + self.end_max;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_where_they_become_too_long() {
        let mut text = "one\r\n\n12345\n123456\n".as_bytes();
        let lines: Vec<String> = std::iter::from_fn(|| next_line(&mut text, 5)).take(4).collect();
        assert_eq!(lines, ["one", "", "12345", "123456"]);
        assert_eq!(next_line(&mut "1234\u{e9}56".as_bytes(), 4).unwrap().chars().count(), 5);
        assert_eq!(next_line(&mut &b"\xff\n"[..], 4), None);
        assert_eq!(next_line(&mut &b"last"[..], usize::MAX).as_deref(), Some("last"));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_ignores_the_end_of_its_input_is_killed_at_its_deadline() {
        let mut sleep = Command::new("sleep");
        sleep.arg("60");
        let child = Child::start(sleep, |_| ControlFlow::Continue(())).unwrap();
        let child = child.ending_within(Duration::from_millis(200));
        let began = Instant::now();
        drop(child);
        assert!((Duration::from_millis(200)..END_MAX).contains(&began.elapsed()));
    }
}
