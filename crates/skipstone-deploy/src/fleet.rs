//! The fleet of which targets are nodes, as its directory shows it: whether others can take a node's players, and
//! whether a node runs the new release.

use crate::bounded;
use crate::plan::FleetPlan;
use crate::remote::{Practice, no_program, show};
use serde::Deserialize;
use skipstone_lab::clean;
use std::process::Command;
use std::time::Duration;

/// A node of the directory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ListedNode {
    name: String,
    version: String,
    load: u64,
    capacity: u64,
    draining: bool,
    lease_age_ms: u64,
}

/// All nodes at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ListedFleet {
    nodes: Vec<ListedNode>,
}

/// How a node stands that was told to run a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodeStanding {
    /// It runs the release, and takes players.
    Healthy,
    /// It gives its players away, of which this many are left.
    Draining(u64),
    /// Neither, for this reason.
    Otherwise(String),
}

impl ListedFleet {
    /// Whether other nodes can take the players of this one. It is not to be switched before.
    pub(crate) fn can_take_players_of(&self, name: &str) -> Result<(), String> {
        let load = self.node(name).map_or(0, |node| node.load);
        let others = self.nodes.iter().filter(|node| node.name != name && node.is_alive() && !node.draining);
        let free: u64 = others.map(|node| node.capacity.saturating_sub(node.load)).sum();
        match load <= free {
            true => Ok(()),
            false => Err(format!("the node {name} has {load} players, and the other nodes have {free} places")),
        }
    }

    pub(crate) fn standing(&self, name: &str, release: &str) -> NodeStanding {
        let Some(node) = self.node(name) else {
            return NodeStanding::Otherwise(format!("the node {name} is not in the fleet's directory"));
        };
        if !node.is_alive() {
            let seconds = node.lease_age_ms / 1_000;
            return NodeStanding::Otherwise(format!("the node {name} has not renewed its lease for {seconds} s"));
        }
        if node.draining {
            return NodeStanding::Draining(node.load);
        }
        if !node.version.split_whitespace().any(|word| word == release) {
            let version = clean::line(&node.version);
            return NodeStanding::Otherwise(format!("the directory says that the node {name} runs {version}"));
        }
        NodeStanding::Healthy
    }

    fn node(&self, name: &str) -> Option<&ListedNode> {
        self.nodes.iter().find(|node| node.name == name)
    }
}

impl ListedNode {
    fn is_alive(&self) -> bool {
        self.lease_age_ms < LEASE_AGE_MAX_MS
    }
}

/// Reads the directory now, from this machine. A dry run asks nothing.
pub(crate) fn list(plan: &FleetPlan, practice: Practice) -> Result<Option<ListedFleet>, String> {
    let mut command = status_command(plan)?;
    if practice == Practice::Dry {
        show(&command);
        return Ok(None);
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let done = match bounded::output(&mut command, b"", ANSWER_MAX) {
        Ok(done) => done,
        Err(bounded::Unfinished::Broken(error)) => return Err(no_program(&program, &error).sentence),
        Err(_) => return Err(format!("the fleet's directory did not answer within {} s", ANSWER_MAX.as_secs())),
    };
    if !done.status.success() {
        let said = done.stderr.shown();
        let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
        return Err(format!("the fleet's directory cannot be read: {}", clean::line(line.trim())));
    }
    let listed = done.stdout.whole().and_then(|text| serde_json::from_str(&text).ok());
    listed
        .map(Some)
        .ok_or_else(|| format!("`{program} fleet status --json` prints no directory: is it of this version?"))
}

fn status_command(plan: &FleetPlan) -> Result<Command, String> {
    let program = match &plan.program {
        Some(program) => program.into(),
        None => std::env::current_exe().map_err(|error| format!("this program does not know its path: {error}"))?,
    };
    let mut command = Command::new(program);
    command.args(["fleet", "status", "--json", "--fleet", &plan.nats]).args(&plan.login);
    Ok(command)
}

/// Nodes renew each 3 s, and placement forgets them after 12 s.
const LEASE_AGE_MAX_MS: u64 = 12_000;
/// How long NATS may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, load: u64, version: &str) -> ListedNode {
        ListedNode {
            name: name.into(),
            version: version.into(),
            load,
            capacity: 100,
            draining: false,
            lease_age_ms: 1_000,
        }
    }

    #[test]
    fn a_node_is_switched_only_if_living_nodes_that_do_not_drain_have_places_for_its_players() {
        let mut fleet = ListedFleet { nodes: vec![node("a", 80, ""), node("b", 60, ""), node("c", 50, "")] };
        assert_eq!(fleet.can_take_players_of("a"), Ok(()));
        fleet.nodes[2].draining = true;
        let why = fleet.can_take_players_of("a").expect_err("40 places");
        assert_eq!(why, "the node a has 80 players, and the other nodes have 40 places");
        (fleet.nodes[2].draining, fleet.nodes[2].lease_age_ms) = (false, 12_000);
        assert!(fleet.can_take_players_of("a").is_err());
        assert_eq!(fleet.can_take_players_of("d"), Ok(()), "one that does not run yet has none");
        fleet.nodes.truncate(1);
        assert!(fleet.can_take_players_of("a").is_err(), "a node alone would have to close them");
        fleet.nodes[0].load = 0;
        assert_eq!(fleet.can_take_players_of("a"), Ok(()));
    }

    #[test]
    fn a_node_is_healthy_with_a_fresh_lease_the_new_release_and_no_drain() {
        let mut fleet = ListedFleet { nodes: vec![node("a", 3, "0.9.0 20261123T060000Z-1a2b3c4")] };
        let release = "20261123T060000Z-1a2b3c4";
        assert_eq!(fleet.standing("a", release), NodeStanding::Healthy);
        let otherwise = |fleet: &ListedFleet, name: &str, release: &str, expected: &str| {
            let standing = fleet.standing(name, release);
            let NodeStanding::Otherwise(why) = &standing else { panic!("{standing:?}") };
            assert!(why.contains(expected), "{why}");
        };
        otherwise(&fleet, "b", release, "not in the fleet's directory");
        otherwise(&fleet, "a", "20261123T060000Z-1a2b3c", "runs 0.9.0 20261123T060000Z-1a2b3c4");
        fleet.nodes[0].draining = true;
        assert_eq!(fleet.standing("a", "another"), NodeStanding::Draining(3));
        fleet.nodes[0].lease_age_ms = 15_000;
        otherwise(&fleet, "a", release, "has not renewed its lease for 15 s");
    }
}
