//! The rule for runs on several machines: each must keep its own schedule, and none may be missing unless that is
//! tolerated.

use super::generator::{lateness, overload};
use crate::report::format::counted;
use crate::report::stress::result::{AgentResult, Fleet};

/// Why the agents make the run prove nothing.
pub(super) fn reasons(fleet: &Fleet) -> Vec<String> {
    let lost: Vec<&AgentResult> = fleet.agents.iter().filter(|agent| agent.lost.is_some()).collect();
    let mut reasons = Vec::new();
    if lost.len() as u64 > fleet.tolerate {
        let told = |agent: &&AgentResult| format!("{} ({})", agent.name, agent.lost.as_deref().unwrap_or_default());
        let names: Vec<String> = lost.iter().map(told).collect();
        let tolerated = match fleet.tolerate {
            0 => "Start it again, or accept the loss with --tolerate".to_owned(),
            count => format!("--tolerate accepts the loss of {}", counted(count, "agent")),
        };
        reasons.push(format!("Lost: agent {}. {tolerated}.", names.join(", agent ")));
    }
    for agent in &fleet.agents {
        let Some(generator) = &agent.generator else { continue };
        let own = lateness(generator).into_iter().chain(overload(generator));
        reasons.extend(own.map(|reason| of_agent(&agent.name, &reason)));
    }
    reasons
}

/// A sentence about a run, about one of its agents.
fn of_agent(name: &str, reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    format!("Agent {name}: {first}{}", letters.as_str())
}
