//! How a run stands: clients by state, what has arrived, what was counted.

use super::Generator;
use super::client::ClientState;
use crate::stress::pages::Pages;
use crate::stress::server_clock::ServerClock;
use skipstone::{Overview, Stats};
use skipstone_lab::measure::ledger::Tally;
use std::time::Duration;

/// A server that takes part has sent a line back by then, over any path on which clients could connect.
const UNHEARD_MAX: Duration = Duration::from_secs(10);

impl Generator<'_> {
    /// How many clients are in this state.
    pub(crate) fn count(&self, state: ClientState) -> usize {
        self.clients.iter().filter(|client| client.state == state).count()
    }

    /// Whether any client is there or comes back.
    pub(crate) fn has_clients(&self) -> bool {
        self.clients.iter().any(|client| client.state == ClientState::Connected || client.comes_back())
    }

    /// Whether any client ever had an answer: a connection or a refusal.
    pub(crate) fn was_answered(&self) -> bool {
        self.clients.iter().any(|client| client.connected_in.is_some() || client.state == ClientState::Gone)
    }

    /// Every client receives each word of the server; the first client's counts, so that the word counts once.
    pub(super) fn is_spokesman(&self, number: u32) -> bool {
        self.clients.iter().position(|client| client.state == ClientState::Connected) == Some(number as usize)
    }

    /// Connections that are not over.
    pub(crate) fn open_count(&mut self) -> usize {
        self.pool.open_count() + self.pages.as_ref().map_or(0, Pages::open_count)
    }

    /// Numbers of clients that nothing has to reach: they dropped, or never connected.
    pub(crate) fn absent(&self) -> Vec<u32> {
        let absent = self.clients.iter().filter(|client| client.connected_in.is_none() || client.drop.is_some());
        absent.map(|client| client.number).collect()
    }

    /// For how long no message came from the server.
    pub(crate) fn silence(&self) -> Duration {
        self.heard.elapsed()
    }

    /// Whether enough time has passed since the first line was due for its echo to have arrived.
    pub(crate) fn is_unheard(&self) -> bool {
        self.proof.delivered == 0 && self.schedule.span(self.epoch.elapsed()) > UNHEARD_MAX
    }

    /// Whether others have clients of this run too.
    pub(crate) fn is_part(&self) -> bool {
        self.plan.order.is_some()
    }

    /// Whether the lines of its own clients have arrived at its own clients: all lines, unless others have clients too.
    pub(crate) fn has_own_back(&self) -> bool {
        let tally = self.tally(None);
        tally.delivered >= tally.expected
    }

    /// Whether everything sent has arrived everywhere. Unknown, and so false, while others have clients too.
    pub(crate) fn is_complete(&self) -> bool {
        if self.is_part() {
            return false;
        }
        if self.pages.as_ref().is_some_and(|pages| !pages.is_done()) {
            return false;
        }
        if let Some(attendance) = &self.attendance {
            // A client that is still reconnecting misses earlier messages.
            let on_the_way = self.count(ClientState::Away) + self.count(ClientState::Connecting);
            return on_the_way == 0 && attendance.pending() == 0 && attendance.tally(|_| true).lost == 0;
        }
        self.has_own_back()
    }

    /// The tally of one carrier's clients, or of all. Lines of others' clients are not counted.
    pub(crate) fn tally(&self, carrier: Option<usize>) -> Tally {
        let mut sent = vec![0; self.plan.part.total as usize];
        self.clients.iter().zip(&self.sent).for_each(|(client, lines)| sent[client.number as usize] = *lines);
        self.proof.tally(carrier, &sent)
    }

    /// Datagrams that native clients sent, and that they received.
    pub(crate) fn datagrams(&self) -> (u64, u64) {
        let overviews = self.clients.iter().filter_map(|client| self.pool.overview(client.peer?));
        overviews.fold((0, 0), |(sent, received), Overview { stats, .. }| {
            (sent + stats.sent.datagrams, received + stats.received.datagrams)
        })
    }

    /// Counters of the clients of each carrier that are connected, by their place in the mix.
    pub(crate) fn stats_by_carrier(&mut self) -> Vec<Stats> {
        let mut sums = vec![Stats::default(); self.plan.mix.len()];
        for client in &self.clients {
            if let Some(overview) = client.peer.and_then(|peer| self.pool.overview(peer)) {
                sums[client.carrier].add(&overview.stats);
            }
        }
        self.pages.iter().for_each(|pages| pages.add_stats(&mut sums));
        sums
    }

    /// The server's clock now: what the estimates of all clients have in common.
    pub(crate) fn server_clock(&self) -> Option<ServerClock> {
        ServerClock::common(self.clients.iter().filter_map(|client| self.pool.server_time(client.peer?)))
    }
}
