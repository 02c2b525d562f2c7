//! The verdict of a run, and the exit code that the process ends with.

use crate::report::output;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// The verdict of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every check passed, and every threshold was kept.
    Pass,
    /// A check failed, or a threshold was missed.
    Fail,
    /// The run proves nothing, because of the machine or the program that measured.
    #[default]
    Invalid,
    /// The run proves nothing, because the server was not there, went away, or is not one that can be measured in this
    /// way.
    Unavailable,
    /// Stopped before its end.
    Interrupted,
}

/// The owner of the measured server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerOwner {
    /// A process of the run's own.
    ThisRun,
    /// Named by a URL.
    Another,
}

impl ServerOwner {
    /// The verdict on a run whose server was unreachable or went away. If it was the run's own server, the program
    /// under test is at fault.
    pub(crate) fn absence(self) -> Verdict {
        match self {
            ServerOwner::ThisRun => Verdict::Fail,
            ServerOwner::Another => Verdict::Unavailable,
        }
    }
}

/// The exit codes of the tool: 99, 104 and 105 as k6 has them; 98 and 97 are the next below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Pass = 0,
    /// The run failed: a threshold missed, or lines lost, duplicated, reordered or corrupted, or clients dropped.
    Fail = 99,
    /// The run proves nothing, or its result was not written: the generator could not keep its own schedule, the
    /// figures contradict each other or one is missing, the run could not be carried out, or its result could not be
    /// written.
    Invalid = 98,
    /// Another's server was not there, went away, or is not one that can be measured or talked to in this way.
    Unavailable = 97,
    /// An option or a plan that cannot be used; nothing was run.
    BadConfiguration = 104,
    /// Stopped before its end.
    Interrupted = 105,
}

impl Verdict {
    /// The worst that was found decides: an interruption, then what makes the run prove nothing, then what failed.
    pub fn of(is_interrupted: bool, invalid: &[String], failed: &[String]) -> Verdict {
        match (is_interrupted, invalid.is_empty(), failed.is_empty()) {
            (true, _, _) => Verdict::Interrupted,
            (false, false, _) => Verdict::Invalid,
            (false, true, false) => Verdict::Fail,
            (false, true, true) => Verdict::Pass,
        }
    }
}

impl Exit {
    /// The outcome of a command; the error is one sentence about what cannot be run.
    pub fn of(command: &str, outcome: Result<Exit, String>) -> Exit {
        outcome.unwrap_or_else(|sentence| Exit::BadConfiguration.told(command, sentence))
    }

    /// Tells the user in one sentence why a command ends with this code before it has a result.
    pub fn told(self, command: &str, sentence: impl std::fmt::Display) -> Exit {
        let separator = if command.is_empty() { "" } else { " " };
        output::complain(format_args!("skipstone{separator}{command}: {sentence}"));
        self
    }

    /// The verdict on a command that prints its result: it passes only if standard output accepted all of it.
    pub fn once_written(self) -> Exit {
        match output::failure() {
            Some(why) if self == Exit::Pass => {
                Exit::Invalid.told("", format_args!("cannot write to standard output: {why}"))
            }
            _ => self,
        }
    }

    /// The verdict on a command that writes its result to files: it passes only if all of them were written. The error
    /// is one sentence.
    pub fn once_kept(self, command: &str, kept: Result<(), String>) -> Exit {
        let Err(sentence) = kept else { return self };
        let told = Exit::Invalid.told(command, sentence);
        if self == Exit::Pass { told } else { self }
    }

    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Exit {
        match verdict {
            Verdict::Pass => Exit::Pass,
            Verdict::Fail => Exit::Fail,
            Verdict::Invalid => Exit::Invalid,
            Verdict::Unavailable => Exit::Unavailable,
            Verdict::Interrupted => Exit::Interrupted,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_the_documented_exit_code() {
        let verdicts = [Verdict::Pass, Verdict::Fail, Verdict::Invalid, Verdict::Unavailable, Verdict::Interrupted];
        assert_eq!(verdicts.map(|verdict| Exit::from(verdict).code()), [0, 99, 98, 97, 105]);
        assert_eq!(Exit::BadConfiguration.code(), 104);
    }

    #[test]
    fn an_unwritten_result_is_neither_a_pass_nor_a_usage_error() {
        let full = || Err("cannot write: the disk is full".to_owned());
        assert_eq!(Exit::Pass.once_kept("compare", full()), Exit::Invalid);
        assert_eq!(Exit::Fail.once_kept("compare", full()), Exit::Fail);
        assert_eq!(Exit::Pass.once_kept("compare", Ok(())), Exit::Pass);
    }
}
