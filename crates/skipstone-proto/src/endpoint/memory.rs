//! Memory that peers make an endpoint hold: accounts by connection and by network, and the measures when a budget is
//! exceeded. The account is updated after each datagram and each polled event, and costs nothing while a connection
//! holds less than [`GRAIN`].

use super::state::Endpoint;
use crate::connection::event::code;
use crate::connection::stats::DropReason;
use crate::network::Network;
use crate::time::{Duration, Time};

/// Accounts are in steps of this many bytes, rounded down: the fixed parts of a connection take as much.
const GRAIN: u64 = 8_192;

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
        // In small steps downward the account waits, so that a message which comes and goes does not move it each time.
        // One that holds nothing has no charge, or it could be closed for it again and again.
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

    /// What the session beneath a connection holds for its peer, beside what the connection does: it is charged for both.
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

    /// Drops packets kept for repairs, and closes connections, until all budgets are kept.
    pub(super) fn keep_budgets(&mut self, now: Time) {
        if let Some(index) = self.memory.greedy.take() {
            self.evict(now, index, "this connection makes the other side hold more than it may");
        }
        while let Some(network) = self.memory.full.take().filter(|it| self.memory.of(it) > self.config.memory.network) {
            let why = "connections of your network make the other side hold too much, this one the most";
            if !self.relieve(now, network, why) {
                break;
            }
            self.memory.full = Some(network);
        }
        while self.memory.total > self.config.memory.endpoint
            && let Some(network) = self.memory.largest_network()
        {
            if !self.relieve(now, network, "the other side is short of memory, and this connection holds the most") {
                break;
            }
        }
    }

    /// Frees memory of a network's connections: the packets kept for repairs, or else all memory of the connection that
    /// holds the most. False if that changed nothing, and would not the next time.
    fn relieve(&mut self, now: Time, network: Network, why: &str) -> bool {
        let before = self.memory.total;
        let of_network = self.slots.charges().filter(|(_, of, _)| *of == network);
        let charges: Vec<(u64, u32)> = of_network.map(|(index, _, bytes)| (bytes, index)).collect();
        let is_enough = charges.iter().filter(|(_, index)| self.forget_kept(*index)).count() > 0;
        if let Some((_, index)) = charges.into_iter().max().filter(|_| !is_enough) {
            self.evict(now, index, why);
        }
        is_enough || self.memory.total < before
    }

    /// Drops the packets kept for a connection's repairs; its losses then wait for retransmissions. True if there were
    /// any.
    fn forget_kept(&mut self, index: u32) -> bool {
        let connection = self.slots.at(index).and_then(|slot| slot.connection.as_mut());
        let has_kept = connection.is_some_and(|connection| connection.forget_kept());
        self.account(index);
        has_kept
    }

    fn evict(&mut self, now: Time, index: u32, why: &str) {
        let Some(peer) = self.slots.peer_at(index) else { return };
        let forgotten = self.events.forget_messages(peer);
        self.totals.past.drops.count_many(DropReason::OverBudget, forgotten as u32);
        self.close(now, peer, code::MEMORY, why, Duration::ZERO);
        self.with(now, peer, |connection, _| connection.on_evicted());
        self.account(index);
    }

    /// Whether messages that the application does not poll fill the budget, so that no new client may be accepted.
    pub(super) fn is_behind(&self) -> bool {
        self.events.bytes() > self.config.memory.endpoint
    }
}
