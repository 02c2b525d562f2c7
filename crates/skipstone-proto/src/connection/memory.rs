//! What a peer makes this side hold, in bytes of memory. The connection's own fixed size is not part of it.

use super::Connection;
use super::events::ENTRY_BYTES;

impl Connection {
    /// Memory of what the peer sent: messages that wait for others or for the application, channels with state, packets kept
    /// for repairs, accounts of rates.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let window = &self.receiving.window;
        let limits = self.receiving.inbound.as_ref().map_or(0, |limits| limits.memory_bytes());
        let waiting = window.undelivered + ENTRY_BYTES * u64::from(window.entries);
        waiting + self.channels.memory_bytes() + self.redundancy.memory_bytes() + limits
    }

    /// The most of it: four windows, or this if it is more. A peer that keeps to its window stays far below.
    pub(crate) fn memory_bytes_max(&self, configured: u64) -> u64 {
        configured.max(4 * u64::from(self.terms.receives.window_bytes))
    }

    /// Forgets the packets and equations that are kept for the peer's repairs. Whether there were any.
    pub(crate) fn forget_kept(&mut self) -> bool {
        let has_kept = self.redundancy.memory_bytes() > 0;
        self.redundancy.forget_kept();
        has_kept
    }

    /// It was closed for what it held, and the messages that waited for the application are dropped.
    pub(crate) fn on_evicted(&mut self) {
        self.receiving.window.undelivered = 0;
        self.receiving.window.entries = 0;
        self.redundancy.forget_kept();
        self.receiving.inbound = None;
    }
}
