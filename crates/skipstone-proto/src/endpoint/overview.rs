//! State and counters of an endpoint, for monitoring.

use super::groups::Group;
use super::state::Endpoint;
use super::totals::Work;
use crate::channel::transfers::Transfers;
use crate::connection::event::PeerId;
use crate::connection::stats::Stats;
use crate::connection::{Overview, ServerTime, Standing};
use crate::time::Time;
use crate::wire::settings::Settings;
use std::sync::Arc;

impl Endpoint {
    /// Number of events that wait.
    pub fn event_count(&self) -> usize {
        self.events.len()
    }

    /// Number of connections, including those whose handshake or close is in progress.
    pub fn connection_count(&self) -> usize {
        self.slots.len()
    }

    /// Number of connections that take a place: established ones, and a client's own that are on their way.
    pub fn player_count(&self) -> usize {
        self.population.players()
    }

    /// Whether the connections of each kind, and the newcomers of each network, agree with the counts of arrivals and
    /// departures.
    #[cfg(any(test, feature = "unstable"))]
    pub fn is_population_balanced(&mut self) -> bool {
        self.population == super::population::Population::of(self.slots.counted())
    }

    /// Number of connections whose `Closed` event was not given yet.
    pub fn open_count(&mut self) -> usize {
        self.slots.connections().filter(|connection| !connection.is_over()).count()
    }

    /// All established connections.
    pub fn peers(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.groups.members(Group::EVERYONE).iter().filter_map(|index| self.slots.peer_at(*index))
    }

    /// State and counters of a connection.
    pub fn overview(&mut self, peer: PeerId) -> Option<Overview> {
        self.slots.connection(peer).map(|connection| connection.overview())
    }

    /// The messages in transfer with at least `bytes_min` bytes, in both directions. This call looks through all queued
    /// messages: use it for a progress bar, not for every packet.
    pub fn transfers(&mut self, peer: PeerId, bytes_min: usize) -> Option<Transfers> {
        self.slots.connection(peer).map(|connection| connection.transfers(bytes_min))
    }

    /// The server's clock as this client estimates it: `None` before the first answer, or if the configuration does not
    /// follow the clock.
    pub fn server_time(&mut self, now: Time, peer: PeerId) -> Option<ServerTime> {
        self.slots.connection(peer)?.server_time(now)
    }

    /// Lets a client that follows its server's clock ask for the time again, eight times within a second in packets of
    /// their own: for a better estimate than the first one, which was made while it connected.
    pub fn ask_server_time(&mut self, now: Time, peer: PeerId) {
        self.with(now, peer, |connection, _| connection.ask_server_time(now));
    }

    /// The connection of a stream, or of another session of a carrier, by its socket.
    pub fn peer_of_stream(&self, socket: u32) -> Option<PeerId> {
        self.slots.peer_at(*self.directory.by_socket.get(&socket)?)
    }

    /// Whether this connection was accepted and is not closing.
    pub fn is_player(&mut self, peer: PeerId) -> bool {
        self.slots.connection(peer).is_some_and(|connection| connection.standing() == Standing::Player)
    }

    /// Number of established connections.
    pub fn peer_count(&self) -> usize {
        self.groups.members(Group::EVERYONE).len()
    }

    /// Whether something happened to a connection since [`Endpoint::take_touched`].
    pub fn has_touched(&self) -> bool {
        !self.ready.touched.is_empty()
    }

    /// Puts the connections to which something happened since the last call into an empty list, including connections
    /// that have ended.
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

    /// Counters of connections that have ended, and of datagrams that belonged to none.
    pub fn past(&self) -> &Stats {
        &self.totals.past
    }

    /// The settings of a connection.
    pub fn settings(&mut self, peer: PeerId) -> Option<Arc<Settings>> {
        self.slots.connection(peer).map(|connection| connection.settings().clone())
    }

    /// Number of times that connections were processed so far, and number of timers that wait.
    pub fn work(&self) -> Work {
        Work { timers: self.wheel.len(), ids: self.directory.ids.count(), ..self.totals.work }
    }

    /// Counters of all connections, past and present, and of datagrams that belonged to none.
    pub fn totals(&mut self) -> Stats {
        let mut totals = self.totals.past;
        self.slots.connections().for_each(|connection| totals.add(connection.stats_mut()));
        totals
    }
}
