//! Memory that a peer makes this side hold, in bytes. The connection's own fixed size is not included.

use super::event::EntryCost;
use super::{Connection, Standing};
use crate::security::Security;

impl Connection {
    /// Memory that holds data from the peer: messages that wait for others or for the application, channels with state,
    /// packets kept for repairs, accounts of rates.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let limits = self.receiving.inbound.as_ref().map_or(0, |limits| limits.memory_bytes());
        self.receiving.window.undelivered.memory
            + self.channels.memory_bytes()
            + self.redundancy.memory_bytes()
            + limits
    }

    /// Memory of a connection whose encrypted handshake is under way, its own included; `None` once the application was
    /// asked about the client.
    pub(crate) fn pending_bytes(&self) -> Option<u32> {
        let Security::Session(session) = &self.security else { return None };
        self.is_unasked().then(|| (size_of::<Connection>() + session.handshake_bytes()) as u32)
    }

    /// Most bytes that the peer may make this side hold: `configured`, or four windows if that is more. A peer that
    /// obeys its window stays far below.
    pub(crate) fn memory_bytes_max(&self, configured: u64) -> u64 {
        configured.max(4 * u64::from(self.terms.receives.window_bytes))
    }

    /// Whether closing the connection for its memory would free anything. A connection that is closing holds only
    /// messages that the application has not taken, and its carrier's memory.
    pub(crate) fn has_evictable(&self) -> bool {
        self.standing() != Standing::Leaver || self.receiving.window.undelivered.memory > 0
    }

    /// Drops the packets and equations kept for the peer's repairs. True if there were any.
    pub(crate) fn forget_kept(&mut self) -> bool {
        let has_kept = self.redundancy.memory_bytes() > 0;
        self.redundancy.forget_kept();
        has_kept
    }

    /// The connection was closed for exceeding a memory budget, and its messages that waited for the application were
    /// dropped.
    pub(crate) fn on_evicted(&mut self) {
        self.receiving.window.undelivered = EntryCost::default();
        self.redundancy.forget_kept();
        self.receiving.inbound = None;
    }
}
