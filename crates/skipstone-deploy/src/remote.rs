//! Commands on a target by ssh. Scripts and words are quoted for the remote shell each by itself; nothing is put
//! together from text from other sources.

use crate::bounded::{self, Finished, Running, Unfinished};
use crate::captured::Captured;
use crate::plan::TargetPlan;
use skipstone_lab::clean;
use skipstone_lab::report::output;
use std::process::Command;
use std::time::Duration;

/// How long one step on a target may take, such as a restart or the comparison of checksums.
pub(crate) const STEP_MAX: Duration = Duration::from_secs(300);

/// The lines before and after an answer. Startup files of the target's shell may print text first, and an answer
/// without its end line is incomplete.
const EDGE: &str = "----skipstone----";

/// Whether commands run, or are only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Practice {
    Real,
    Dry,
}

/// A command of the plan, in the target's directory.
pub(crate) const IN_DIRECTORY: &str = r#"cd "$1" && sh -c "$2""#;

/// The exit code of ssh itself, for a connection that could not be made or has ended.
const NO_CONNECTION: i32 = 255;
/// The exit code of coreutils' `timeout` for a command that exceeded its limit.
const TIMED_OUT: i32 = 124;
/// A shell and `timeout` add the signal's number to this for a command that a signal ended: 137 is a kill. 255 lies
/// above it as well.
const KILLED: i32 = 128;

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
    /// The command's; `None` if it did not end by itself.
    pub(crate) code: Option<i32>,
    pub(crate) sentence: String,
}

impl RemoteFailure {
    /// Whether the target itself refused: its command ended by itself, before the change. A command that was ended by
    /// its limit, by a signal or with its connection may have made the change.
    pub(crate) fn is_refusal(&self) -> bool {
        self.code.is_some_and(|code| code < KILLED && code != TIMED_OUT)
    }
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

    /// Runs a script of `sh` with these words as $1, $2 and so on; returns its output, for people.
    pub(crate) fn run(&self, limit: Duration, script: &str, words: &[&str]) -> Result<Captured, RemoteFailure> {
        let mut ssh = self.command(script, words);
        if self.practice == Practice::Dry {
            show(&ssh);
            return Ok(Captured::default());
        }
        let done = self.finish(&mut ssh, "", limit)?;
        if done.status.success() {
            return Ok(done.stdout);
        }
        Err(self.failure(done.status.code(), &done.stderr.shown()))
    }

    /// The answer of a script that [`answering`] made; empty if nothing is asked.
    ///
    /// # Errors
    /// A part of the output is missing: facts are read from whole answers alone.
    pub(crate) fn answer(&self, said: &Captured) -> Result<String, RemoteFailure> {
        if self.practice == Practice::Dry {
            return Ok(String::new());
        }
        let edge = format!("{EDGE}\n");
        let whole = said.whole().unwrap_or_default();
        let answer = whole.split_once(&edge).and_then(|(_, rest)| rest.strip_suffix(&edge));
        answer.map(|answer| clean::page(answer).trim_end().to_owned()).ok_or_else(|| {
            let sentence = format!("{}: the answer is truncated and was ignored: {}", self.plan.host, ends_of(said));
            RemoteFailure { code: None, sentence }
        })
    }

    /// Starts a script that continues.
    pub(crate) fn start(&self, script: &str, words: &[&str]) -> Result<Running, RemoteFailure> {
        Running::start(&mut self.command(script, words)).map_err(|error| no_program("ssh", &error))
    }

    fn command(&self, script: &str, words: &[&str]) -> Command {
        let all = ["sh", "-euc", script, "sh"].into_iter().chain(words.iter().copied());
        let mut ssh = self.ssh();
        ssh.arg("--").arg(&self.plan.host).arg(quote(all));
        ssh
    }

    /// A TCP connection from the target, which alone reaches its own addresses: the bytes sent to `address`, and
    /// the first bytes of the answer.
    pub(crate) fn converse(&self, address: &str, question: &str, limit: Duration) -> Result<String, RemoteFailure> {
        let mut ssh = self.ssh();
        ssh.args(["-W", address, "--"]).arg(&self.plan.host);
        if self.practice == Practice::Dry {
            show(&ssh);
            return Ok(String::new());
        }
        let done = self.finish(&mut ssh, question, limit)?;
        let answer = done.stdout.shown();
        if answer.is_empty() && !done.status.success() {
            return Err(self.failure(done.status.code(), &done.stderr.shown()));
        }
        Ok(answer)
    }

    fn finish(&self, ssh: &mut Command, input: &str, limit: Duration) -> Result<Finished, RemoteFailure> {
        bounded::output(ssh, input.as_bytes(), limit).map_err(|error| self.unfinished("ssh", &error, limit))
    }

    /// A sentence for a program that did not end.
    pub(crate) fn unfinished(&self, program: &str, error: &Unfinished, limit: Duration) -> RemoteFailure {
        match error {
            Unfinished::Broken(error) => no_program(program, error),
            Unfinished::TooLong => {
                let sentence = format!("{}: no end within the limit of {limit:?}", self.plan.host);
                RemoteFailure { code: None, sentence }
            }
            Unfinished::TooMuch => {
                RemoteFailure { code: None, sentence: format!("{}: {program} said more than 64 MiB", self.plan.host) }
            }
        }
    }

    /// A sentence that describes the output of ssh or the command.
    pub(crate) fn failure(&self, code: Option<i32>, said: &str) -> RemoteFailure {
        let host = &self.plan.host;
        let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
        let line = clean::line(line.trim());
        let sentence = if code == Some(NO_CONNECTION) && said.contains("Host key verification failed") {
            format!(
                "{host}: its host key is not known, or has changed; compare its fingerprint, and connect once by hand: \
                 ssh {host}"
            )
        } else if code == Some(NO_CONNECTION) && said.contains("Permission denied") {
            format!("{host}: {line}; deployments need a key that asks for no password (ssh-agent, IdentityFile)")
        } else if code == Some(NO_CONNECTION) {
            format!("{host} cannot be reached: {line}")
        } else {
            format!("{host}: {line}")
        };
        RemoteFailure { code, sentence }
    }
}

/// A script whose output is read as an answer.
pub(crate) fn answering(script: &str) -> String {
    format!("echo {EDGE}\n(\n{script}\n)\necho {EDGE}")
}

/// The first and the last line of an output.
fn ends_of(said: &Captured) -> String {
    let shown = said.shown();
    let mut lines = shown.lines().filter(|line| !line.trim().is_empty());
    let short = |line: &str| clean::line(&line.chars().take(80).collect::<String>());
    match (lines.next(), lines.next_back()) {
        (None, _) => "it printed nothing".into(),
        (Some(only), None) => format!("it said '{}'", short(only)),
        (Some(first), Some(last)) => format!("it begins with '{}' and ends with '{}'", short(first), short(last)),
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
    fn arguments_are_quoted_for_the_remote_shell() {
        let words = ["sh", "-euc", "echo \"$1\"; rm x", "sh", "it's", "$(reboot)", "a b"];
        let quoted = quote(words);
        assert_eq!(shlex::split(&quoted).expect("it is quoted"), words);
    }
}
