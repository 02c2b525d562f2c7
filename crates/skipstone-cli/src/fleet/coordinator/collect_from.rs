//! What agents keep of runs that have ended.

use super::super::talk::Card;
use super::gather::{self, Gathered, RawEvidence};
use super::party::Party;
use super::preflight;
use crate::fleet_flags::Nats;
use skipstone_lab::report::{Exit, output};
use skipstone_lab::signals::Signals;
use std::collections::BTreeMap;
use std::time::Duration;

/// Prints the runs that agents keep. The error is one sentence.
pub(in super::super) fn list(nats: &Nats, signals: &Signals) -> Result<Exit, String> {
    let cards = preflight::all(&nats.bus, &inbox(), usize::MAX, signals)?;
    let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for card in &cards {
        card.kept.iter().for_each(|run| runs.entry(run).or_default().push(&card.name));
    }
    if runs.is_empty() {
        output::say(format_args!("{} agents answered; none keeps a run", cards.len()));
    }
    for (run, agents) in runs.iter().rev() {
        output::say(format_args!("{run}  {}", agents.join(", ")));
    }
    Ok(Exit::Pass)
}

/// The evidence of a run from all agents that keep some. The error is one sentence.
pub(in super::super) fn fetch(nats: Nats, run: &str, signals: &Signals) -> Result<Gathered<RawEvidence>, String> {
    let cards = preflight::all(&nats.bus, &inbox(), usize::MAX, signals)?;
    let keepers: Vec<Card> = cards.into_iter().filter(|card| card.kept.iter().any(|kept| kept == run)).collect();
    let mut party = Party::new(nats, run.to_owned(), &keepers)?;
    let mut gathered = Gathered::default();
    for (agent, card) in keepers.iter().enumerate() {
        match gather::fetch(&mut party, agent, Duration::from_secs(10)) {
            Ok(json) => gathered.evidence.push(RawEvidence { agent: card.name.clone(), json }),
            Err(why) => drop(gathered.lost.insert(card.name.clone(), why)),
        }
    }
    Ok(gathered)
}

/// Answers to this process alone.
fn inbox() -> String {
    format!("collect-{:x}", std::process::id())
}
