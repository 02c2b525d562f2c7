//! What one machine of a run found, whole enough that it merges exactly with the others' elsewhere.

use super::super::outcome::StallSpan;
use super::order::BotsRoster;
use crate::run::{Tally, WorstBots};
use serde::{Deserialize, Serialize};
use skipstone_lab::report::bots::{BotsResult, RunSecond};
use skipstone_lab::report::stress::evidence::ClockEvidence;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The evidence of one agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotsEvidence {
    /// [`BotsEvidence::KIND`], by which it is told from evidence of other runs.
    pub(super) kind: String,
    /// [`FORMAT`].
    pub(super) format: u32,
    /// Who takes part.
    pub(super) roster: BotsRoster,
    /// Which of them this is.
    pub(super) agent: usize,
    /// Whether it was stopped before its end.
    pub(super) is_interrupted: bool,
    /// When its bots began.
    pub(super) clock: ClockEvidence,
    /// All that its workers found.
    pub(super) tally: Tally,
    /// Those of its bots that may be the worst of all.
    pub(super) worst_bots: WorstBots,
    /// When its machine stood still.
    pub(super) stalls: Vec<StallSpan>,
    /// Its own figures, which no judge has seen.
    pub(super) result: BotsResult,
    /// The run by seconds.
    pub(super) seconds: Vec<RunSecond>,
}

/// The version of this format. Evidence of another is not merged.
pub(super) const FORMAT: u32 = 2;

impl BotsEvidence {
    /// The kind of this evidence.
    pub const KIND: &str = "bots";

    /// Who takes part.
    pub fn roster(&self) -> &BotsRoster {
        &self.roster
    }

    /// Which of them this is.
    pub fn agent(&self) -> usize {
        self.agent
    }

    /// Messages that its bots sent, and received; bots that were dropped; late ticks and timers.
    pub fn totals(&self) -> [u64; 4] {
        let BotsResult { messages, bots, generator, .. } = &self.result;
        [messages.sent, messages.received, bots.dropped, generator.late_sends]
    }

    /// Writes it under its name once all of it is on the disk. Returns its bytes; the error is one sentence.
    pub fn write(&self, path: &Path) -> Result<u64, String> {
        let draft = path.with_extension("part");
        let written = || -> std::io::Result<u64> {
            let text = serde_json::to_vec(self)?;
            let mut file = File::create(&draft)?;
            file.write_all(&text)?;
            file.sync_all()?;
            std::fs::rename(&draft, path)?;
            Ok(text.len() as u64)
        };
        written().map_err(|error| format!("cannot write the evidence to {}: {error}", path.display()))
    }

    /// Whether it is of this format and of this run; the error is one sentence.
    pub(super) fn check(&self, roster: &BotsRoster) -> Result<(), String> {
        if self.kind != Self::KIND || self.format != FORMAT {
            return Err(format!("evidence of format {}, where this program reads {FORMAT}", self.format));
        }
        let Some(name) = self.roster.agents.get(self.agent) else {
            return Err("evidence of an agent that is not in its roster".into());
        };
        match self.roster == *roster {
            true => Ok(()),
            false => Err(format!("the evidence of agent {name} is of another run than {}", roster.run)),
        }
    }
}
