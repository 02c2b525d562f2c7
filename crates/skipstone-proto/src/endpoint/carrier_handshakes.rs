//! The budget of encrypted handshakes, for carriers that have their own handshake (DTLS): both cost a server the same,
//! and a host has one account for both.

use super::state::Endpoint;
use crate::cost::Cost;
use crate::security::HANDSHAKE_COST;
use crate::time::Time;
use core::net::SocketAddr;

impl Endpoint {
    /// The cost of an encrypted handshake on any carrier: all carriers present the same certificates.
    pub fn handshake_cost(&self) -> Cost {
        self.config.suites.as_ref().map_or(HANDSHAKE_COST, |suites| suites.handshake_cost())
    }

    /// Whether the handshake of a carrier with this host may begin.
    pub fn admits_handshake(&mut self, now: Time, remote: &SocketAddr) -> bool {
        self.handshake_budget.admits(now, remote)
    }

    /// Charges the handshake of a carrier to this host, whose address is proven.
    pub fn on_handshake_begun(&mut self, remote: &SocketAddr) {
        self.handshake_budget.on_begun(remote, self.handshake_cost());
    }

    /// Whether this round has room for another signature. It begins with [`Endpoint::handle_timeout`].
    pub fn may_sign(&self) -> bool {
        self.costly.has_room()
    }

    /// Whether something waits for a round with room for a signature.
    pub fn has_waiting(&self) -> bool {
        !self.costly.is_empty()
    }

    /// Charges a signature to this round.
    pub fn on_signature(&mut self) {
        self.costly.charge(self.handshake_cost());
    }

    /// A carrier's handshake with this host failed.
    pub fn on_handshake_failed(&mut self, remote: &SocketAddr) {
        self.handshake_budget.on_failed(remote);
    }
}
