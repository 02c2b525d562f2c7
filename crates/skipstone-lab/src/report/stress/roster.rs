//! The participants of a run on several machines, fixed before it begins.

use serde::{Deserialize, Serialize};

use super::result::StressPlan;
use crate::measure::part::{Part, Shares};
use crate::report::format::thousands;
use crate::units::Carrier;

/// The agents of a run and their clients; each agent keeps it with its evidence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roster {
    /// The name of the run.
    pub run: String,
    /// Replays the random choices.
    pub seed: u64,
    /// Clients of the whole run by carrier.
    pub mix: Vec<(Carrier, u32)>,
    /// In the order of their clients' numbers.
    pub agents: Vec<AgentPlace>,
    /// How many agents may be lost without making the run invalid.
    pub tolerate: u32,
    /// What is run.
    pub plan: StressPlan,
    /// Conditions on the result, as they were written.
    pub thresholds: Vec<String>,
    /// The command line that asked for it, word by word.
    pub command: Vec<String>,
}

/// An agent of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPlace {
    /// Its name.
    pub agent: String,
    /// Its clients by carrier.
    pub mix: Vec<(Carrier, u32)>,
    /// Their numbers.
    pub part: Part,
}

impl Roster {
    /// Equal shares of the run for these agents.
    pub fn divide(&mut self, agents: impl ExactSizeIterator<Item = String>) {
        let parts = Part::divided(&self.mix, agents.len() as u32);
        self.agents = agents.zip(parts).map(|(agent, (mix, part))| AgentPlace { agent, mix, part }).collect();
    }

    /// Clients of the whole run.
    pub fn clients(&self) -> u32 {
        self.mix.iter().map(|(_, count)| count).sum()
    }
}

impl AgentPlace {
    /// How many clients it has.
    pub fn clients(&self) -> u32 {
        count(&self.mix)
    }

    /// The numbers of all of its clients.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.mix.len()).flat_map(|carrier| self.part.numbers(&self.mix, carrier))
    }

    /// Its clients as people read them: "udp 0-249".
    pub fn text(&self) -> String {
        let range = |(carrier, (name, count)): (usize, &(Carrier, u32))| {
            let numbers = self.part.numbers(&self.mix, carrier);
            (*count > 0)
                .then(|| format!("{name} {}-{}", thousands(numbers.start.into()), thousands((numbers.end - 1).into())))
        };
        self.mix.iter().enumerate().filter_map(range).collect::<Vec<_>>().join(", ")
    }
}

fn count(mix: &Shares) -> u32 {
    mix.iter().map(|(_, count)| count).sum()
}
