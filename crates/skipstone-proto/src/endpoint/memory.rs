//! Memory that peers make an endpoint hold: accounts by connection and by network, and the measures when a budget is
//! exceeded. The account is updated after each datagram and each polled event, and costs nothing while a connection
//! holds less than [`GRAIN`].

use super::memory_account::Scope;
use super::state::Endpoint;
use super::victims::victims;
use crate::connection::event::{PeerId, code};
use crate::connection::stats::DropReason;
use crate::network::Network;
use crate::time::{Duration, Time};

/// Accounts are in steps of this many bytes, rounded down: the fixed parts of a connection take as much.
const GRAIN: u64 = 8_192;
/// When connections are closed for a budget, this part of it becomes free.
const FREED_PART: u64 = 16;

impl Endpoint {
    /// Memory that peers make this endpoint hold, approximately: the amount that [`crate::Config::memory`] bounds.
    pub fn memory_bytes(&self) -> u64 {
        self.memory.total.max(self.events.bytes())
    }

    /// Brings the account of a connection up to date.
    pub(super) fn account(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        let beside = u64::from(slot.carrier_bytes);
        let held = slot.connection.as_ref().map_or(0, |connection| connection.memory_bytes() + beside) / GRAIN * GRAIN;
        let charged = slot.charge.map_or(0, |(_, bytes)| bytes);
        // In small steps downward the account waits, so that a short-lived message does not change it each time. One
        // that holds nothing has no charge, or it could be closed for it again and again.
        let is_small_step = held > 0 && held < charged && charged - held <= GRAIN;
        if held == charged || is_small_step {
            return;
        }
        let network = slot.connection.as_ref().map(|connection| Network::of(&connection.path().remote));
        let charge = network.filter(|_| held > 0).map(|network| (network, held));
        let is_greedy =
            slot.connection.as_ref().is_some_and(|it| held > it.memory_bytes_max(self.config.memory.connection));
        self.memory.replace(core::mem::replace(&mut slot.charge, charge), charge);
        if is_greedy {
            self.memory.greedy = Some(index);
        }
        if let Some((network, _)) = charge
            && self.memory.of(&network) > self.config.memory.network
        {
            self.memory.full = Some(network);
        }
    }

    /// The memory that the session beneath a connection holds for its peer, in addition to the connection's own: the
    /// peer is charged for both.
    pub fn set_carrier_bytes(&mut self, socket: u32, bytes: u32) {
        let Some(index) = self.directory.by_socket.get(&socket).copied() else { return };
        if let Some(slot) = self.slots.at(index) {
            slot.carrier_bytes = bytes;
        }
        self.account(index);
    }

    /// Updates the account of a connection whose messages the application polled, if the connection has a charge.
    pub(super) fn on_taken(&mut self, index: u32) {
        if self.slots.at(index).is_some_and(|slot| slot.charge.is_some()) {
            self.account(index);
        }
    }

    /// Drops packets kept for repairs, and closes connections, until all budgets are kept. Called after each datagram.
    pub(super) fn keep_budgets(&mut self, now: Time) {
        if self.memory.is_exceeded(self.config.memory.endpoint) {
            self.keep_exceeded(now);
        }
    }

    #[cold]
    fn keep_exceeded(&mut self, now: Time) {
        if let Some(index) = self.memory.greedy.take() {
            self.evict(now, &[index], "this connection makes the other side hold more memory than allowed");
        }
        if !cfg!(feature = "server") {
            // Such an endpoint has few connections, and each has a budget of its own: less of a module that a browser
            // downloads.
            return;
        }
        if let Some(network) = self.memory.full.take() {
            let why = "connections from your network make the other side hold too much memory, and this one the most";
            self.keep_budget(now, Scope::Network(network), why);
        }
        self.keep_budget(now, Scope::Endpoint, "the other side is short of memory, and this connection uses the most");
    }

    /// Looks at all connections if a budget is exceeded. The packets kept for repairs are freed first; then connections
    /// are closed until a part of the budget is free, so that a peer which holds little more each time does not cause
    /// such a search with each datagram.
    fn keep_budget(&mut self, now: Time, scope: Scope, why: &str) {
        let (budget, network) = match scope {
            Scope::Network(network) => (self.config.memory.network, Some(network)),
            Scope::Endpoint => (self.config.memory.endpoint, None),
        };
        if self.memory.of_scope(&scope) <= budget {
            return;
        }
        let largest = network.or_else(|| self.memory.largest_network());
        let of_largest = self.slots.charges().filter(|(of, ..)| Some(*of) == largest);
        let slots: Vec<u32> = of_largest.map(|(_, _, slot)| slot).collect();
        slots.into_iter().for_each(|slot| self.forget_kept(slot));
        let held = self.memory.of_scope(&scope);
        if held > budget {
            let charges = self.slots.evictable().filter(|(of, ..)| network.is_none_or(|network| network == *of));
            let victims = victims(charges, held - (budget - budget / FREED_PART));
            self.evict(now, &victims, why);
        }
    }

    /// Drops the packets kept for a connection's repairs; its losses then wait for retransmissions.
    fn forget_kept(&mut self, index: u32) {
        if let Some(connection) = self.slots.connection_at(index)
            && connection.forget_kept()
        {
            self.account(index);
        }
    }

    fn evict(&mut self, now: Time, slots: &[u32], why: &str) {
        let mut peers: Vec<PeerId> = slots.iter().filter_map(|slot| self.slots.peer_at(*slot)).collect();
        if peers.is_empty() {
            return;
        }
        peers.sort_unstable();
        let forgotten = self.events.forget_messages(|peer| peers.binary_search(&peer).is_ok());
        self.totals.past.drops.count_many(DropReason::OverBudget, forgotten as u32);
        for peer in peers {
            self.close(now, peer, code::MEMORY, why, Duration::ZERO);
            self.with(now, peer, |connection, _| connection.on_evicted());
            self.account(peer.index);
        }
    }

    /// Whether messages that the application does not poll fill the budget, so that no new client may be accepted.
    pub(super) fn is_behind(&self) -> bool {
        self.events.bytes() > self.config.memory.endpoint
    }
}
