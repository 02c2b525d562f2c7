//! What an endpoint is doing, for whoever watches.

use super::groups::Group;
use super::state::Endpoint;
use super::totals::Work;
use crate::channel::transfers::Transfers;
use crate::connection::event::PeerId;
use crate::connection::stats::Stats;
use crate::connection::{Overview, ServerTime};
use crate::time::Time;
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

    /// The messages of so many bytes and more that a connection is sending and receiving. It looks through all that is queued:
    /// for a progress bar, not for every packet.
    pub fn transfers(&mut self, peer: PeerId, bytes_min: usize) -> Option<Transfers> {
        self.slots.connection(peer).map(|connection| connection.transfers(bytes_min))
    }

    /// The server's clock as the client with this name knows it: `None` before the first answer, and unless the configuration
    /// follows it.
    pub fn server_time(&mut self, now: Time, peer: PeerId) -> Option<ServerTime> {
        self.slots.connection(peer)?.server_time(now)
    }

    /// Whether a stream carries a connection, by its socket.
    pub fn has_stream(&self, socket: u32) -> bool {
        self.directory.by_socket.contains_key(&socket)
    }

    /// Connections that stand.
    pub fn peer_count(&self) -> usize {
        self.groups.members(Group::EVERYONE).len()
    }

    /// Whether something happened to a connection since [`Endpoint::take_touched`].
    pub fn has_touched(&self) -> bool {
        !self.ready.touched.is_empty()
    }

    /// Puts the connections to which something happened since the last call into an empty list; those that are gone, too.
    pub fn take_touched(&mut self, touched: &mut Vec<PeerId>) {
        core::mem::swap(&mut self.ready.touched, touched);
        for peer in touched {
            if let Some(slot) = self.slots.find(*peer) {
                slot.untouch();
            }
        }
    }

    /// Messages and their bytes that wait on one channel of a connection, or are in flight.
    pub fn queued(&mut self, peer: PeerId, channel: u16) -> (u64, u64) {
        self.slots.connection(peer).map_or((0, 0), |connection| connection.queued(channel))
    }

    /// Counters of connections that are gone, and of datagrams that belonged to none.
    pub fn past(&self) -> &Stats {
        &self.totals.past
    }

    /// The settings that a connection keeps to.
    pub fn settings(&mut self, peer: PeerId) -> Option<Arc<Settings>> {
        self.slots.connection(peer).map(|connection| connection.settings().clone())
    }

    /// How often connections were touched so far, and how many timers wait.
    pub fn work(&self) -> Work {
        Work { timers: self.wheel.len(), ..self.totals.work }
    }

    /// Counters of all connections, past and present, and of datagrams that belonged to none.
    pub fn totals(&mut self) -> Stats {
        let mut totals = self.totals.past;
        self.slots.connections().for_each(|connection| totals.add(connection.stats_mut()));
        totals
    }
}
