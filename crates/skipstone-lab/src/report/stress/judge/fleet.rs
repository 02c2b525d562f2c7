//! The rule for runs on several machines: each must keep its own schedule, and none may be missing unless that is
//! tolerated.

use super::generator::{lateness, overload};
use crate::report::format::counted;
use crate::report::stress::result::Generator;

/// An agent, as far as it is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgedAgent<'a> {
    pub(crate) name: &'a str,
    /// Why it was lost.
    pub(crate) lost: Option<&'a str>,
    /// Its cost, and whether it kept its schedule.
    pub(crate) generator: Option<&'a Generator>,
}

/// Why the agents make the run prove nothing.
pub(crate) fn reasons<'a, A: 'a>(agents: &'a [A], tolerate: u64) -> Vec<String>
where
    JudgedAgent<'a>: From<&'a A>,
{
    let agents: Vec<JudgedAgent<'a>> = agents.iter().map(JudgedAgent::from).collect();
    let told = |agent: &JudgedAgent<'_>| Some(format!("{} ({})", agent.name, agent.lost?));
    let names: Vec<String> = agents.iter().filter_map(told).collect();
    let mut reasons = Vec::new();
    if names.len() as u64 > tolerate {
        let tolerated = match tolerate {
            0 => "Start it again, or accept the loss with --tolerate".to_owned(),
            count => format!("--tolerate accepts the loss of {}", counted(count, "agent")),
        };
        reasons.push(format!("Lost: agent {}. {tolerated}.", names.join(", agent ")));
    }
    for agent in &agents {
        let Some(generator) = agent.generator else { continue };
        let own = lateness(generator).into_iter().chain(overload(generator));
        reasons.extend(own.map(|reason| of_agent(agent.name, &reason)));
    }
    reasons
}

/// A sentence about a run, about one of its agents.
fn of_agent(name: &str, reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    format!("Agent {name}: {first}{}", letters.as_str())
}
