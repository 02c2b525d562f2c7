//! Receivers of a broadcast: all peers, or the members of a group.

use std::collections::BTreeMap;

/// A set of peers that the application names. [`Group::EVERYONE`] always contains every connected peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group(pub u32);

impl Group {
    /// Every connected peer.
    pub const EVERYONE: Group = Group(0);
}

/// Members of the groups, as places in the endpoint.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    members: BTreeMap<u32, Vec<u32>>,
}

impl Groups {
    pub(crate) fn members(&self, group: Group) -> &[u32] {
        self.members.get(&group.0).map_or(&[], Vec::as_slice)
    }

    /// The first member at this index or after it.
    pub(crate) fn next(&self, group: Group, from: u32) -> Option<u32> {
        let members = self.members(group);
        // Most groups contain all connections.
        let guess = members.get(from as usize).filter(|member| **member == from);
        guess.or_else(|| members.get(members.partition_point(|member| *member < from))).copied()
    }

    /// Adds a member. False if it was already a member.
    pub(crate) fn join(&mut self, group: Group, index: u32) -> bool {
        let members = self.members.entry(group.0).or_default();
        match members.binary_search(&index) {
            Ok(_) => false,
            Err(at) => {
                members.insert(at, index);
                true
            }
        }
    }

    pub(crate) fn leave(&mut self, group: Group, index: u32) {
        if let Some(members) = self.members.get_mut(&group.0) {
            if let Ok(at) = members.binary_search(&index) {
                members.remove(at);
            }
            if members.is_empty() {
                self.members.remove(&group.0);
            }
        }
    }
}
