//! A process that ends with its owner, however that ends: a shell between the two waits for the end of its input, which
//! the system closes with the owner, and kills the process then.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A guarded process.
#[derive(Debug)]
pub(super) struct Guarded {
    guard: Child,
    pid: u32,
}

#[cfg(unix)]
impl Guarded {
    /// Starts a program whose output is of no interest, but for its errors.
    pub(super) fn start(program: &Path, arguments: &[&str], errors: File) -> std::io::Result<Guarded> {
        use std::io::BufRead;
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", GUARD, "sh"]).arg(program).args(arguments);
        let mut guard = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn()?;
        let mut line = String::new();
        let output = guard.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        std::io::BufReader::new(output).read_line(&mut line)?;
        let pid = line.trim().parse().map_err(|_| std::io::Error::other("the shell did not start it"))?;
        Ok(Guarded { guard, pid })
    }

    /// Sends a signal. The process cannot have been replaced by another of its id: the shell has not waited for it.
    pub(super) fn signal(&self, signal: nix::sys::signal::Signal) -> std::io::Result<()> {
        let pid = nix::unistd::Pid::from_raw(self.pid.cast_signed());
        Ok(nix::sys::signal::kill(pid, signal)?)
    }
}

#[cfg(not(unix))]
impl Guarded {
    /// Starts a program whose output is of no interest, but for its errors.
    pub(super) fn start(program: &Path, arguments: &[&str], errors: File) -> std::io::Result<Guarded> {
        let mut command = Command::new(program);
        let guard = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn()?;
        let pid = guard.id();
        Ok(Guarded { guard, pid })
    }
}

impl Guarded {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether one of its threads runs: it has not ended, nor been stopped. True where the system does not tell.
    pub(super) fn is_running(&self) -> bool {
        if !cfg!(target_os = "linux") {
            return true;
        }
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.pid)) else { return false };
        let states = threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
        // The state follows the name in parentheses: T is stopped, Z and X ended.
        states.filter_map(|stat| stat.rsplit_once(") ")?.1.chars().next()).any(|state| !"TZX".contains(state))
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if self.guard.stdin.take().is_none() {
            let _ = self.guard.kill();
        }
        let _ = self.guard.wait();
    }
}

#[cfg(unix)]
const GUARD: &str = r#""$@" >/dev/null & server=$!; echo $server; read -r _; kill -KILL $server; wait"#;
