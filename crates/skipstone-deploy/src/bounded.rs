//! Programs that end in time: one that does not is killed, and nobody waits for it.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// What is kept of each output; the rest is read and dropped, so that the program can go on.
const KEPT_BYTES_MAX: usize = 1 << 20;
/// How long output may stay open after its program, as by an ssh that goes on in the background.
const AFTER_END: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(10);

/// Why there is no output.
#[derive(Debug)]
pub(crate) enum Unfinished {
    /// It could not be started or watched.
    Broken(io::Error),
    /// It was killed at the limit.
    TooLong,
}

/// Runs a program with this input, until the limit.
pub(crate) fn output(command: &mut Command, input: &[u8], limit: Duration) -> Result<Output, Unfinished> {
    let deadline = Instant::now() + limit;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Unfinished::Broken)?;
    let (stdin, input) = (child.stdin.take(), input.to_vec());
    // In a thread: a program that does not read would hold us. One that ended closes the pipe, which its status explains.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let stdout = read(child.stdout.take());
    let stderr = read(child.stderr.take());
    let status = wait(&mut child, deadline).inspect_err(|_| {
        let _ = child.kill();
        let _ = child.wait();
    })?;
    let end = Instant::now() + AFTER_END;
    Ok(Output { status, stdout: collect(&stdout, end), stderr: collect(&stderr, end) })
}

fn wait(child: &mut Child, deadline: Instant) -> Result<ExitStatus, Unfinished> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() >= deadline => return Err(Unfinished::TooLong),
            Ok(None) => thread::sleep(PAUSE),
            Err(error) => return Err(Unfinished::Broken(error)),
        }
    }
}

fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    // With blocks of 4 KiB the channel holds all that is kept.
    let (sender, receiver) = sync_channel(KEPT_BYTES_MAX / 4_096);
    thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        let mut block = [0; 4_096];
        while let Ok(length @ 1..) = pipe.read(&mut block) {
            let _ = sender.try_send(block[..length].to_vec());
        }
    });
    receiver
}

fn collect(blocks: &Receiver<Vec<u8>>, end: Instant) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        match blocks.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(block) => all.extend(block),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, input: &[u8], limit: Duration) -> Result<Output, Unfinished> {
        output(Command::new("sh").args(["-c", script]), input, limit)
    }

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
    fn output_that_stays_open_or_never_ends_holds_nobody() {
        let minute = Duration::from_secs(60);
        let done = shell("cat; sleep 90 & echo last", b"first ", minute).expect("it ends");
        assert_eq!(String::from_utf8_lossy(&done.stdout), "first last\n");
        let done = shell("head -c 9000000 /dev/zero; exit 3", b"", minute).expect("it ends");
        assert!(done.stdout.len() <= KEPT_BYTES_MAX && done.status.code() == Some(3));
        assert!(matches!(output(&mut Command::new("/no such"), b"", minute), Err(Unfinished::Broken(_))));
    }
}
