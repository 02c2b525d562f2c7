//! Commands on a target by ssh. Scripts and words are quoted for the remote shell each by itself; nothing is put together from
//! text that somebody else wrote.

use crate::bounded::{self, Unfinished};
use crate::plan::TargetPlan;
use skipstone_lab::clean;
use skipstone_lab::report::output;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// How long one step on a target may take, such as a restart or the comparison of checksums.
const STEP_MAX: Duration = Duration::from_secs(300);

/// Whether commands run, or are only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Practice {
    Real,
    Dry,
}

/// A machine that is reached by ssh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remote<'p> {
    pub(crate) plan: &'p TargetPlan,
    pub(crate) practice: Practice,
    /// `ssh`, but for tests.
    pub(crate) program: &'p str,
}

/// How a remote command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteFailure {
    /// 255 is ssh's own.
    pub(crate) code: Option<i32>,
    pub(crate) sentence: String,
}

impl From<RemoteFailure> for String {
    fn from(failure: RemoteFailure) -> String {
        failure.sentence
    }
}

impl Remote<'_> {
    /// Words of ssh before the host: it never asks, so that no build server waits for a person.
    pub(crate) fn options(&self) -> Vec<String> {
        let own = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5"];
        own.iter().map(|word| (*word).to_owned()).chain(self.plan.ssh.iter().cloned()).collect()
    }

    fn ssh(&self) -> Command {
        let mut ssh = Command::new(self.program);
        ssh.args(self.options());
        ssh
    }

    /// Runs a script of `sh` with these words as $1, $2 and so on; returns what it said.
    pub(crate) fn script(&self, script: &str, words: &[&str]) -> Result<String, RemoteFailure> {
        self.script_within(STEP_MAX, script, words)
    }

    /// The same with a limit of its own.
    pub(crate) fn script_within(&self, limit: Duration, script: &str, words: &[&str]) -> Result<String, RemoteFailure> {
        let mut ssh = self.command(script, words);
        if self.practice == Practice::Dry {
            show(&ssh);
            return Ok(String::new());
        }
        let done = self.finish(&mut ssh, "", limit)?;
        if done.status.success() {
            return Ok(clean::page(&String::from_utf8_lossy(&done.stdout)).trim_end().to_owned());
        }
        Err(self.failure(done.status.code(), &String::from_utf8_lossy(&done.stderr)))
    }

    /// The same as a command that goes on, with its standard input and output.
    pub(crate) fn hold(&self, script: &str, words: &[&str]) -> Result<Child, RemoteFailure> {
        let mut ssh = self.command(script, words);
        ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        ssh.spawn().map_err(|error| no_program("ssh", &error))
    }

    fn command(&self, script: &str, words: &[&str]) -> Command {
        let all = ["sh", "-euc", script, "sh"].into_iter().chain(words.iter().copied());
        let mut ssh = self.ssh();
        ssh.arg("--").arg(&self.plan.host).arg(quote(all));
        ssh
    }

    /// A TCP connection that begins on the target, for whom only its own addresses answer: what is said to `address`, and
    /// the first bytes of the answer.
    pub(crate) fn converse(&self, address: &str, question: &str, limit: Duration) -> Result<String, RemoteFailure> {
        let mut ssh = self.ssh();
        ssh.args(["-W", address, "--"]).arg(&self.plan.host);
        if self.practice == Practice::Dry {
            show(&ssh);
            return Ok(String::new());
        }
        let done = self.finish(&mut ssh, question, limit)?;
        let answer = String::from_utf8_lossy(&done.stdout).into_owned();
        if answer.is_empty() && !done.status.success() {
            return Err(self.failure(done.status.code(), &String::from_utf8_lossy(&done.stderr)));
        }
        Ok(answer)
    }

    fn finish(&self, ssh: &mut Command, input: &str, limit: Duration) -> Result<Output, RemoteFailure> {
        bounded::output(ssh, input.as_bytes(), limit).map_err(|error| match error {
            Unfinished::Broken(error) => no_program("ssh", &error),
            Unfinished::TooLong => {
                let sentence = format!("{}: no end within the limit of {limit:?}", self.plan.host);
                RemoteFailure { code: None, sentence }
            }
        })
    }

    /// A sentence for what ssh or the command said.
    pub(crate) fn failure(&self, code: Option<i32>, said: &str) -> RemoteFailure {
        let host = &self.plan.host;
        let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        let line = clean::line(line.trim());
        let sentence = if code == Some(255) && said.contains("Host key verification failed") {
            format!(
                "{host}: its host key is not known, or has changed; compare its fingerprint, and connect once by hand: ssh {host}"
            )
        } else if code == Some(255) && said.contains("Permission denied") {
            format!("{host}: {line}; deployments need a key that asks for no password (ssh-agent, IdentityFile)")
        } else if code == Some(255) {
            format!("{host} cannot be reached: {line}")
        } else {
            format!("{host}: {line}")
        };
        RemoteFailure { code, sentence }
    }
}

/// Words for a shell.
pub(crate) fn quote<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    // Only a zero byte cannot be quoted, and the plan has none.
    shlex::try_join(words).unwrap_or_default()
}

/// Shows a command instead of running it.
pub(crate) fn show(command: &Command) {
    let words: Vec<_> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.to_string_lossy()).collect();
    output::say(format_args!("  {}", quote(words.iter().map(AsRef::as_ref))));
}

pub(crate) fn no_program(name: &str, error: &std::io::Error) -> RemoteFailure {
    let remedy = "install it, or look at PATH";
    RemoteFailure { code: None, sentence: format!("{name} cannot be started: {error}; {remedy}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words_for_the_remote_shell() {
        let words = ["sh", "-euc", "echo \"$1\"; rm x", "sh", "it's", "$(reboot)", "a b"];
        let quoted = quote(words);
        assert_eq!(shlex::split(&quoted).expect("it is quoted"), words);
    }
}
