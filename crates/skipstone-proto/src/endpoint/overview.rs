//! What an endpoint is doing, for whoever watches.

use super::{Endpoint, Group, Overview, PeerId, Stats, Work};
use crate::wire::settings::Settings;
use std::sync::Arc;

impl Endpoint {
    /// How many events wait.
    pub fn event_count(&self) -> usize {
        self.events.len()
    }

    /// Connections, those included that are still being made or ended.
    pub fn connection_count(&self) -> usize {
        self.slots.len()
    }

    /// Connections of which the application has not been told yet that they are over.
    pub fn open_count(&mut self) -> usize {
        self.slots.connections().filter(|connection| !connection.is_over()).count()
    }

    /// Every connection that stands.
    pub fn peers(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.groups.members(Group::EVERYONE).iter().filter_map(|index| self.slots.peer_at(*index))
    }

    /// What a connection is doing.
    pub fn overview(&mut self, peer: PeerId) -> Option<Overview> {
        self.slots.connection(peer).map(|connection| connection.overview())
    }

    /// The settings that a connection keeps to.
    pub fn settings(&mut self, peer: PeerId) -> Option<Arc<Settings>> {
        self.slots.connection(peer).map(|connection| connection.settings().clone())
    }

    /// How often connections were touched so far, and how many timers wait.
    pub fn work(&self) -> Work {
        Work { timers: self.wheel.len(), ..self.work }
    }

    /// Counters of all connections, past and present, and of datagrams that belonged to none.
    pub fn totals(&mut self) -> Stats {
        let mut totals = self.past;
        self.slots.connections().for_each(|connection| totals.add(connection.stats_mut()));
        totals
    }
}
