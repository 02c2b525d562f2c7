//! What coordinator and agents say to each other: JSON, on subjects below `skipstone.load`.

use super::load::Load;
use crate::stress::lead::{Kept, Ready, StartAt};
use serde::{Deserialize, Serialize};
use skipstone_lab::measure::machine::Machine;

/// Agents answer here to whoever calls.
pub(super) const CALL: &str = "skipstone.load.call";
/// The version of what is said. Others are refused by name.
pub(super) const TALK_VERSION: u32 = 2;
/// Pieces of evidence and of scripts have at most this many bytes, and no more than NATS takes.
pub(super) const PIECE_BYTES: usize = 512 << 10;

/// Orders to an agent.
pub(super) fn agent_subject(name: &str) -> String {
    format!("skipstone.load.agent.{name}")
}

/// A piece of the script of a run, which begins at this byte of its bundle. The payload is the piece itself.
#[cfg(feature = "bots")]
pub(super) fn give_subject(name: &str, run: &str, from: usize) -> String {
    format!("skipstone.load.give.{name}.{run}.{from}")
}

/// All pieces for an agent.
#[cfg(feature = "bots")]
pub(super) fn gifts_subject(name: &str) -> String {
    give_subject(name, "*", 0).trim_end_matches('0').to_owned() + "*"
}

/// The run and the byte of a piece for this agent.
#[cfg(feature = "bots")]
pub(super) fn gift_of<'s>(name: &str, subject: &'s str) -> Option<(&'s str, usize)> {
    let rest = subject.strip_prefix("skipstone.load.give.")?.strip_prefix(name)?.strip_prefix('.')?;
    let (run, from) = rest.split_once('.')?;
    Some((run, from.parse().ok()?)).filter(|_| is_name(run))
}

/// States of a run's agents.
pub(super) fn run_subject(run: &str) -> String {
    format!("skipstone.load.run.{run}")
}

/// A name that may stand in a subject, and be a folder's: letters, digits, `-` and `_`, 64 at most.
pub(super) fn is_name(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_');
    (1..=64).contains(&text.len()) && text.bytes().all(is_letter)
}

/// Asks all agents who they are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) talk: u32,
}

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Card {
    pub(super) talk: u32,
    pub(super) name: String,
    /// Tells two agents of one name apart.
    pub(super) instance: String,
    pub(super) version: String,
    pub(super) machine: Machine,
    /// Files that it may open; `None` where the system does not say.
    pub(super) open_files: Option<u64>,
    /// Servers that it may stress.
    pub(super) allowed: Vec<String>,
    /// The run that it is in.
    pub(super) busy: Option<String>,
    /// Runs whose evidence it keeps, the newest first.
    pub(super) kept: Vec<String>,
}

/// An order to one agent. Each is answered by [`AgentReply`], and may come twice.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AgentOrder {
    /// Who are you?
    Who,
    /// What time is it?
    Clock,
    /// Connect the clients of a part, and wait.
    Enlist(Load),
    /// Send lines from then on.
    Start { run: String, at: StartAt },
    /// The coordinator of a run is there.
    Alive { run: String },
    /// End now, and keep what there is.
    Stop { run: String },
    /// A piece of the evidence, from this byte on; answered by bytes, not by a [`AgentReply`].
    Hand { run: String, from: u64 },
}

/// The answer to an order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AgentReply {
    Done,
    Card(Box<Card>),
    /// Microseconds since 1970.
    Clock(u64),
    /// It does not do it, and why.
    Refused(String),
}

/// The state of an agent in a run, published again and again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct AgentState {
    pub(super) agent: String,
    pub(super) instance: String,
    pub(super) ready: Option<Ready>,
    /// When `ready` was said, in microseconds before this state.
    pub(super) ready_age_us: u64,
    pub(super) progress: Option<serde_json::Value>,
    pub(super) end: Option<PartEnd>,
}

/// How a part ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PartEnd {
    Kept(Kept),
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "bots")]
    #[test]
    fn a_piece_of_a_script_is_for_one_agent_and_one_run() {
        let subject = give_subject("oslo", "r-1", 524_288);
        assert_eq!(gift_of("oslo", &subject), Some(("r-1", 524_288)));
        assert_eq!(gifts_subject("oslo"), "skipstone.load.give.oslo.*.*");
        for (name, subject) in [("os", subject.as_str()), ("oslo", "skipstone.load.give.oslo.r"), ("a", "x")] {
            assert_eq!(gift_of(name, subject), None, "{subject}");
        }
    }

    #[test]
    fn names_are_neither_paths_nor_wildcards() {
        for name in ["oslo-1", "A_b", &"x".repeat(64)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", "a/b", "a.b", "*", ">", "a b", "é", "a\n", &"x".repeat(65)] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
