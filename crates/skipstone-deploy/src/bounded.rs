//! Programs with a time limit: one that exceeds it is killed without further waiting. Their output is read while they
//! run, and kept within its limits.

use crate::captured::Captured;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long output may stay open after its program, as by an ssh that continues in the background.
const AFTER_END: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(10);
/// How much a program may say before the line that is waited for.
pub(crate) const PREFACE_BYTES_MAX: usize = 16 << 10;
/// The maximum bytes that a program may write to one output. More is not read, and the closed pipe ends the program, so
/// that endless output costs little CPU time.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// Why there is no output.
#[derive(Debug)]
pub(crate) enum Unfinished {
    /// It could not be started or watched.
    Broken(io::Error),
    /// It was killed at the limit.
    TooLong,
    /// It said more than [`OUTPUT_BYTES_MAX`].
    TooMuch,
}

/// Why a line did not come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoLine {
    /// The output ended, or the time was over.
    Missing,
    /// [`PREFACE_BYTES_MAX`] of something else came.
    TooMuch,
}

/// A program that ended by itself.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
}

/// Runs a program with this input, until the limit.
pub(crate) fn output(command: &mut Command, input: &[u8], limit: Duration) -> Result<Finished, Unfinished> {
    let mut running = Running::start(command).map_err(Unfinished::Broken)?;
    let (stdin, input) = (running.stdin.take(), input.to_vec());
    // In a thread: a program that does not read would hold us. One that ended closes the pipe, which its status
    // explains.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    running.finish(limit)
}

/// A program that runs, with its standard input open.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Tap,
    stderr: Tap,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        let (stdout, stderr) = (Tap::on(child.stdout.take()), Tap::on(child.stderr.take()));
        Ok(Running { child, stdin, stdout, stderr })
    }

    /// The first line of its output that begins so, without that beginning.
    ///
    /// # Errors
    /// The expected text does not arrive within the time limit, or only after too much other output.
    pub(crate) fn line_after(&self, beginning: &str, limit: Duration) -> Result<String, NoLine> {
        let find = |output: &Captured| {
            let whole = output.head().iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            let text = String::from_utf8_lossy(&output.head()[..whole]).into_owned();
            text.lines().find_map(|line| line.strip_prefix(beginning)).map(str::to_owned)
        };
        let is_too_much = |output: &Captured| output.head().len() >= PREFACE_BYTES_MAX;
        let is_enough = |output: &Captured| is_too_much(output) || find(output).is_some();
        let tapped = self.stdout.wait(Instant::now() + limit, is_enough);
        let why = if is_too_much(&tapped.captured) { NoLine::TooMuch } else { NoLine::Missing };
        find(&tapped.captured).ok_or(why)
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Closes its input, and waits for its end; it is killed at the limit.
    pub(crate) fn finish(&mut self, limit: Duration) -> Result<Finished, Unfinished> {
        drop(self.stdin.take());
        let status = self.wait(Instant::now() + limit).inspect_err(|_| self.kill())?;
        let end = Instant::now() + AFTER_END;
        let (stdout, stderr) = (self.stdout.take(end)?, self.stderr.take(end)?);
        Ok(Finished { status, stdout, stderr })
    }

    pub(crate) fn kill(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait(&mut self, deadline: Instant) -> Result<ExitStatus, Unfinished> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if Instant::now() >= deadline => return Err(Unfinished::TooLong),
                Ok(None) => thread::sleep(PAUSE),
                Err(error) => return Err(Unfinished::Broken(error)),
            }
        }
    }
}

/// An output that a thread reads to its end, so that the program can continue.
#[derive(Debug, Clone)]
struct Tap(Arc<(Mutex<Tapped>, Condvar)>);

#[derive(Debug, Default)]
struct Tapped {
    captured: Captured,
    bytes: u64,
    is_ended: bool,
}

impl Tapped {
    /// Whether more may be read.
    fn append(&mut self, bytes: &[u8]) -> bool {
        self.bytes += bytes.len() as u64;
        self.captured.append(bytes);
        !self.is_too_much()
    }

    fn is_too_much(&self) -> bool {
        self.bytes > OUTPUT_BYTES_MAX
    }
}

impl Tap {
    fn on(pipe: Option<impl Read + Send + 'static>) -> Self {
        let tap = Tap(Arc::default());
        let reading = tap.clone();
        thread::spawn(move || {
            let mut block = [0; 4_096];
            if let Some(mut pipe) = pipe {
                while let Ok(length @ 1..) = pipe.read(&mut block)
                    && reading.change(|tapped| tapped.append(&block[..length]))
                {}
            }
            reading.change(|tapped| tapped.is_ended = true);
        });
        tap
    }

    fn lock(&self) -> MutexGuard<'_, Tapped> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Tapped) -> T) -> T {
        let changed = change(&mut self.lock());
        self.0.1.notify_all();
        changed
    }

    /// Waits until the output is enough or over, or for the deadline.
    fn wait(&self, deadline: Instant, is_enough: impl Fn(&Captured) -> bool) -> MutexGuard<'_, Tapped> {
        let left = deadline.saturating_duration_since(Instant::now());
        let goes_on = |tapped: &mut Tapped| !tapped.is_ended && !is_enough(&tapped.captured);
        self.0.1.wait_timeout_while(self.lock(), left, goes_on).unwrap_or_else(PoisonError::into_inner).0
    }

    /// The output up to its end or the deadline.
    fn take(&self, deadline: Instant) -> Result<Captured, Unfinished> {
        let mut tapped = self.wait(deadline, |_| false);
        if tapped.is_too_much() { Err(Unfinished::TooMuch) } else { Ok(std::mem::take(&mut tapped.captured)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, input: &[u8], limit: Duration) -> Result<Finished, Unfinished> {
        output(Command::new("sh").args(["-c", script]), input, limit)
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_program_that_hangs_is_killed_at_the_limit() {
        for script in ["sleep 60", "exec >&- 2>&-; sleep 60"] {
            let began = Instant::now();
            let ended = shell(script, b"", Duration::from_millis(50));
            assert!(matches!(ended, Err(Unfinished::TooLong)), "{ended:?}");
            assert!(began.elapsed() < Duration::from_secs(30), "{script}");
        }
    }

    #[test]
    fn open_or_endless_output_blocks_no_caller() {
        let done = shell("cat; sleep 90 & echo last", b"first ", MINUTE).expect("it ends");
        assert_eq!(done.stdout.whole().as_deref(), Some("first last\n"));
        let done = shell("head -c 9000000 /dev/zero; exit 3", b"", MINUTE).expect("it ends");
        assert!(done.stdout.whole().is_none() && done.status.code() == Some(3));
        assert!(matches!(output(&mut Command::new("/no such"), b"", MINUTE), Err(Unfinished::Broken(_))));
    }

    #[test]
    fn the_end_of_long_output_is_kept() {
        // Each line is a separate write, and most lines a separate read.
        let done = shell("i=0; while [ $i -lt 3000 ]; do echo $i >&2; i=$((i+1)); done", b"", MINUTE).expect("it ends");
        assert!(done.stderr.whole().is_some_and(|text| text.ends_with("\n2999\n")));
        let done = shell("head -c 9000000 /dev/zero >&2; echo why >&2; exit 3", b"", MINUTE).expect("it ends");
        assert!(done.stderr.shown().ends_with("why\n"));
    }

    #[test]
    fn an_awaited_line_has_a_time_limit_and_a_size_limit() {
        let wait = |script: &str, limit: u64| {
            let mut running = Running::start(Command::new("sh").args(["-c", script])).expect("it starts");
            let line = running.line_after("locked ", Duration::from_millis(limit));
            running.kill();
            line
        };
        assert_eq!(wait("echo Welcome; echo locked 7; exec cat", 60_000).as_deref(), Ok("7"));
        assert_eq!(wait("exec sleep 60", 50), Err(NoLine::Missing));
        assert_eq!(wait("printf 'locked 7'; exec sleep 60", 50), Err(NoLine::Missing), "the line may go on");
        let began = Instant::now();
        assert_eq!(wait("exec cat /dev/zero", 60_000), Err(NoLine::TooMuch));
        assert_eq!(wait("true", 60_000), Err(NoLine::Missing));
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_program_that_prints_too_much_loses_its_reader_and_ends() {
        for script in ["exec cat /dev/zero", "exec cat /dev/zero >&2"] {
            assert!(matches!(shell(script, b"", MINUTE), Err(Unfinished::TooMuch)), "{script}");
        }
    }

    #[test]
    fn output_may_reach_its_limit_but_not_exceed_it() {
        let mut tapped = Tapped { bytes: OUTPUT_BYTES_MAX - 2, ..Tapped::default() };
        assert!(tapped.append(b"12") && !tapped.is_too_much(), "the last that fit");
        assert!(!tapped.append(b"3") && tapped.is_too_much());
        assert!(!tapped.append(b"4") && tapped.is_too_much(), "it stays too much");
    }
}
