//! How far the streams of all nodes were heard, and which of two positions of a node is the later one.

use super::position::{Position, Positions};
use crate::directory::NodeName;
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The streams that were heard.
#[derive(Debug, Default)]
pub(super) struct Compass(BTreeMap<NodeName, Heard>);

#[derive(Debug, Default)]
struct Heard {
    /// The node's processes in the order in which they were heard; the last one is present.
    processes: VecDeque<u64>,
    number: u64,
    /// When it was heard last.
    at: Duration,
}

/// Processes of a node that are remembered.
const PROCESSES_MAX: usize = 16;

impl Compass {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn knows(&self, node: &NodeName) -> bool {
        self.0.contains_key(node)
    }

    /// Whether a node has another process now than this one, which it had before.
    pub(super) fn is_past(&self, position: &Position) -> bool {
        let Some(heard) = self.0.get(&position.node) else { return false };
        heard.processes.contains(&position.process) && heard.processes.back() != Some(&position.process)
    }

    /// Whether it is of the process that the node has now.
    pub(super) fn is_present(&self, position: &Position) -> bool {
        self.0.get(&position.node).is_some_and(|heard| heard.processes.back() == Some(&position.process))
    }

    /// Notes what was heard. A process that was not known is the node's present one.
    pub(super) fn note(&mut self, position: &Position, now: Duration) {
        let heard = self.0.entry(position.node.clone()).or_default();
        if heard.processes.back() != Some(&position.process) {
            heard.processes.push_back(position.process);
            if heard.processes.len() > PROCESSES_MAX {
                heard.processes.pop_front();
            }
            heard.number = 0;
        }
        heard.number = heard.number.max(position.number);
        heard.at = now;
    }

    /// Forgets nodes, save this one, that were not heard since then: names of nodes that have ended must not add up.
    pub(super) fn forget_silent(&mut self, since: Duration, own: &NodeName) {
        self.0.retain(|node, heard| node == own || heard.at >= since);
    }

    /// Whether this was heard, or something later.
    pub(super) fn has(&self, position: &Position) -> bool {
        let Some(heard) = self.0.get(&position.node) else { return false };
        let Some(process) = heard.processes.back() else { return false };
        heard.order((*process, heard.number), (position.process, position.number)).is_ge()
    }

    /// Whether positions that a player brought have this.
    pub(super) fn is_in(&self, position: &Position, brought: &Positions) -> bool {
        let Some(has) = brought.0.get(&position.node) else { return false };
        let place = (position.process, position.number);
        self.0.get(&position.node).map_or_else(|| (*has).cmp(&place), |heard| heard.order(*has, place)).is_ge()
    }

    /// Whether all that these positions have was heard.
    pub(super) fn reaches(&self, positions: &Positions) -> bool {
        positions.0.iter().all(|(node, (process, number))| {
            self.has(&Position { node: node.clone(), process: *process, number: *number })
        })
    }

    pub(super) fn positions(&self) -> Positions {
        let present = |heard: &Heard| Some((*heard.processes.back()?, heard.number));
        Positions(self.0.iter().filter_map(|(node, heard)| Some((node.clone(), present(heard)?))).collect())
    }

    /// The later of both, node by node.
    pub(super) fn later(&self, mut one: Positions, other: Positions) -> Positions {
        for (node, place) in other.0 {
            let has = one.0.entry(node.clone()).or_insert(place);
            let order = self.0.get(&node).map_or_else(|| (*has).cmp(&place), |heard| heard.order(*has, place));
            if order.is_lt() {
                *has = place;
            }
        }
        one
    }
}

impl Heard {
    /// By the order in which the processes were heard; if one was not, by their numbers, which are times.
    fn order(&self, one: (u64, u64), other: (u64, u64)) -> Ordering {
        let at = |process: u64| self.processes.iter().position(|known| *known == process);
        let processes = match (at(one.0), at(other.0)) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => one.0.cmp(&other.0),
        };
        processes.then(one.1.cmp(&other.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_ordered_as_they_were_heard_even_if_clocks_went_back() {
        let node = NodeName::new("a").unwrap();
        let at = |process, number| Position { node: node.clone(), process, number };
        let has = |process, number| Positions([(node.clone(), (process, number))].into());
        let mut compass = Compass::default();
        assert!(!compass.has(&at(9, 0)) && !compass.reaches(&has(9, 0)) && compass.reaches(&Positions::default()));
        compass.note(&at(9, 5), Duration::ZERO);
        assert!(compass.has(&at(9, 5)) && !compass.has(&at(9, 6)));
        // Its clock went back before it was started again.
        compass.note(&at(4, 1), Duration::ZERO);
        assert!(compass.has(&at(9, 7)) && compass.has(&at(4, 1)) && !compass.has(&at(4, 2)));
        assert!(compass.is_past(&at(9, 6)) && !compass.is_past(&at(4, 2)) && !compass.is_past(&at(1, 1)));
        assert!(compass.is_in(&at(9, 7), &has(4, 0)) && !compass.is_in(&at(4, 1), &has(9, 7)));
        // One that was not heard is judged by its number.
        assert!(!compass.has(&at(12, 1)) && compass.is_in(&at(4, 5), &has(12, 1)));
        assert_eq!(compass.positions(), has(4, 1));
        assert_eq!(compass.later(has(9, 8), has(4, 1)), has(4, 1));
        assert_eq!(compass.later(has(12, 0), has(4, 1)), has(12, 0));
    }
}
