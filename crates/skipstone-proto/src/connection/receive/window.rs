//! The free receive window of this side, and when it is sent to the peer. WIRE.md section 4.1.

use crate::connection::Connection;
use crate::connection::event::EntryCost;
use crate::time::Time;

impl Connection {
    /// The application polled messages of an entry with this cost. True if the peer must be told that there is room
    /// again.
    pub(crate) fn on_polled(&mut self, now: Time, cost: EntryCost) -> bool {
        let free_before = self.receive_window_free();
        self.receiving.window.undelivered.subtract(cost);
        self.tell_window_if_freed(now, free_before)
    }

    /// Must follow when room was made outside of a packet's handling. True if the peer must be told.
    pub(in crate::connection) fn tell_window_if_freed(&mut self, now: Time, free_before: u64) -> bool {
        let window = u64::from(self.terms.receives.window_bytes);
        let Some(told) = self.receiving.window.told else { return false };
        // In steps, so that not every message that is taken costs a packet.
        let (free, step) = (self.receive_window_free(), (window / 4).max(1));
        let is_worth_it = free >= window && free_before < window || free >= told.saturating_add(step);
        if is_worth_it {
            self.receiving.window.told = Some(free);
            self.receiving.window.news_from = Some(self.sending.ledger.next());
            self.tell_window(now);
        }
        is_worth_it
    }

    /// Sends the window in an ack-eliciting packet, so that the update is repeated if it is lost.
    pub(in crate::connection) fn tell_window(&mut self, now: Time) {
        self.sending.pending.ping = true;
        self.receiving.received.ack_now(now);
    }

    /// Window cost that this side can still accept: twice the window, so that a whole window is always free for a peer
    /// that makes this side hold little.
    pub(in crate::connection) fn receive_window_free(&self) -> u64 {
        let taken = self.channels.held_bytes() + self.receiving.window.undelivered.window;
        (2 * u64::from(self.terms.receives.window_bytes)).saturating_sub(taken)
    }

    /// Window cost that may still arrive before the receiver drops data: whole packets with messages, which the peer
    /// retransmits, or, on a reliable carrier, where nothing is retransmitted, unreliable messages. A peer that obeys
    /// its window can have filled twice the window; unreliable messages have no window.
    pub(super) fn receive_room(&self) -> u64 {
        let taken = self.channels.held_bytes() + self.receiving.window.undelivered.window;
        (3 * u64::from(self.terms.receives.window_bytes) + 1).saturating_sub(taken)
    }

    /// The same for unreliable messages on a stream: they leave one window free for reliable messages, which a peer
    /// that obeys its window may have in flight. On other carriers, whole packets are dropped.
    pub(super) fn room_for_unreliable(&self) -> u64 {
        match self.path.current.carrier.is_reliable {
            true => self.receive_room().saturating_sub(self.terms.receives.window_bytes.into()),
            false => u64::MAX,
        }
    }
}
