//! What is asked of the machines of a run: no command line, so that an order cannot name a file of theirs.

use super::super::arguments::BotsArguments;
use crate::protocols::table;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The flags of a run that make sense on another machine, as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotsOrder {
    url: Option<String>,
    /// Where the script says that all bots connect, if the command line does not.
    script_url: Option<String>,
    clients: Option<u32>,
    duration: Option<String>,
    ramp: Option<String>,
    seed: u64,
    workers: Option<u16>,
}

/// The participants of a run, fixed before it begins; each agent keeps it with its evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotsRoster {
    /// The name of the run.
    pub run: String,
    /// Agents, in the order of their shares: bot `n` is one of agent `n` modulo their number.
    pub agents: Vec<String>,
    /// How many of them may be lost without making the run invalid.
    pub tolerate: u32,
    /// What is run.
    pub order: BotsOrder,
    /// How many numbers the bots have.
    pub bots: u32,
    /// How many times a bot begins, by agent.
    pub lives: Vec<u64>,
    /// How long they run, in seconds.
    pub duration_s: f64,
    /// The script, as it was named.
    pub script: String,
    /// SHA-256 of its bundle.
    pub script_sha256: String,
    /// Conditions on the result, as they were written.
    pub thresholds: Vec<String>,
    /// The command line that asked for it, word by word.
    pub command: Vec<String>,
}

impl BotsOrder {
    pub(super) fn of(arguments: &BotsArguments, seed: u64, url: Option<String>) -> Self {
        BotsOrder {
            url: arguments.url.clone(),
            script_url: url.filter(|_| arguments.url.is_none()),
            clients: arguments.clients,
            duration: arguments.duration.map(|span| span.to_string()),
            ramp: arguments.ramp.map(|span| span.to_string()),
            seed,
            workers: arguments.workers,
        }
    }

    /// Where all bots connect, as far as that is known before they run.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref().or(self.script_url.as_deref())
    }

    /// The host and port of that place. The error is one sentence.
    pub fn server(&self) -> Result<Option<(String, u16)>, String> {
        let target = self.url().map(table::find).transpose().map_err(|error| error.to_string())?;
        Ok(target.map(|(_, target)| (target.host, target.port)))
    }

    /// The command line of the process that plays it, with the script there.
    pub fn words(&self, script: &Path) -> Vec<String> {
        // Each value is one word with its flag, so that none is taken for another flag.
        let mut words = vec!["bots".to_owned(), format!("--seed={}", self.seed)];
        words.extend(self.clients.map(|clients| format!("--clients={clients}")));
        words.extend(self.duration.as_ref().map(|span| format!("--duration={span}")));
        words.extend(self.ramp.as_ref().map(|span| format!("--ramp={span}")));
        words.extend(self.workers.map(|workers| format!("--workers={workers}")));
        words.extend(["--".to_owned(), script.display().to_string()]);
        words.extend(self.url.clone());
        words
    }
}

impl BotsRoster {
    /// How many times the bots of an agent begin.
    pub fn lives_of(&self, agent: usize) -> u64 {
        self.lives.get(agent).copied().unwrap_or(0)
    }
}
