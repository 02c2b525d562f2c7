//! What an agent is asked to do in a run, by the kind of its clients.

use super::order::LoadOrder;
use crate::stress::lead::PartOrder;
use serde::{Deserialize, Serialize};
#[cfg(feature = "bots")]
use skipstone_bots::{BotsPartOrder, BotsRoster, ScriptBundle};
use skipstone_lab::report::format::{counted, thousands};
use skipstone_lab::report::stress::roster::Roster;
use std::path::{Path, PathBuf};

/// A part of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Load {
    /// Clients that send lines.
    Stress(Box<StressLoad>),
    /// Bots of a script.
    #[cfg(feature = "bots")]
    Bots(Box<BotsLoad>),
}

/// A part of a run of bots. The script comes before it, in pieces.
#[cfg(feature = "bots")]
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BotsLoad {
    pub(super) roster: BotsRoster,
    /// Which of the roster's agents this is.
    pub(super) agent: usize,
}

/// What an agent has for a part.
pub(super) struct AgentMeans<'m> {
    /// The folder of the run.
    pub(super) folder: &'m Path,
    /// Where the evidence goes.
    pub(super) evidence: PathBuf,
    /// What was given for the run: the bundle of a script.
    pub(super) given: &'m [u8],
    /// Servers that the agent may stress.
    pub(super) allowed: Vec<String>,
}

/// A part of a stress run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StressLoad {
    pub(super) order: LoadOrder,
    pub(super) roster: Roster,
    /// Which of the roster's agents this is.
    pub(super) agent: usize,
    /// What names the run in its lines.
    pub(super) lines: u16,
    pub(super) has_report: bool,
}

impl Load {
    /// The name of the run.
    pub(super) fn run(&self) -> &str {
        match self {
            Load::Stress(load) => &load.roster.run,
            #[cfg(feature = "bots")]
            Load::Bots(load) => &load.roster.run,
        }
    }

    /// How many clients the agent has.
    pub(super) fn clients(&self) -> u64 {
        match self {
            Load::Stress(load) => load.roster.agents.get(load.agent).map_or(0, |place| place.clients().into()),
            #[cfg(feature = "bots")]
            Load::Bots(load) => load.roster.lives_of(load.agent),
        }
    }

    /// The host and port of each server that the order names. The error is one sentence.
    pub(super) fn servers(&self) -> Result<Vec<(String, u16)>, String> {
        match self {
            Load::Stress(load) => Ok(vec![load.order.server()?]),
            // Others, which only the script knows, are refused to its bots.
            #[cfg(feature = "bots")]
            Load::Bots(load) => Ok(load.roster.order.server()?.into_iter().collect()),
        }
    }

    /// The command line of the process that does it. The error is one sentence.
    pub(super) fn words(&self, means: AgentMeans<'_>) -> Result<Vec<String>, String> {
        let AgentMeans { folder, evidence, .. } = means;
        match self {
            Load::Stress(load) => {
                let words = load.order.words(folder);
                let mut words = words.map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
                let StressLoad { roster, agent, lines, has_report, .. } = (**load).clone();
                let order = PartOrder { roster, agent, lines, evidence, has_report };
                let order = serde_json::to_string(&order).map_err(|error| error.to_string())?;
                words.insert(1, format!("--part={order}"));
                Ok(words)
            }
            #[cfg(feature = "bots")]
            Load::Bots(load) => {
                let BotsLoad { roster, agent } = (**load).clone();
                let script = ScriptBundle::unpack(means.given, &roster.script_sha256, &folder.join(SCRIPT))?;
                let mut words = roster.order.words(&script);
                let order = BotsPartOrder { roster, agent, evidence, allowed: means.allowed };
                let order = serde_json::to_string(&order).map_err(|error| error.to_string())?;
                words.insert(1, format!("--part={order}"));
                Ok(words)
            }
        }
    }

    /// The part in a line for people.
    pub(super) fn text(&self) -> String {
        match self {
            Load::Stress(load) => {
                let StressLoad { roster, agent, .. } = &**load;
                let numbers = roster.agents.get(*agent).map(|place| place.text()).unwrap_or_default();
                format!(
                    "{} ({numbers}) of {} on {}, each {} for {} s, at {}",
                    counted(self.clients(), "client"),
                    thousands(roster.clients().into()),
                    counted(roster.agents.len() as u64, "agent"),
                    roster.plan.rate,
                    roster.plan.duration_s,
                    roster.plan.url.as_deref().unwrap_or_default(),
                )
            }
            #[cfg(feature = "bots")]
            Load::Bots(load) => {
                let roster = &load.roster;
                format!(
                    "{} of {} on {}, of {}, for {} s, at {}",
                    counted(self.clients(), "bot"),
                    thousands(roster.lives.iter().sum()),
                    counted(roster.agents.len() as u64, "agent"),
                    roster.script,
                    roster.duration_s,
                    roster.order.url().unwrap_or("places that the script chooses"),
                )
            }
        }
    }
}

/// The script's files, in the folder of the run. They go when its process has ended.
pub(super) const SCRIPT: &str = "script";
