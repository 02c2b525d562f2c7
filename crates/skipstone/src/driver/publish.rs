//! Publishes statistics for their readers: a snapshot of each connection on which something happened.

use super::Driver;
use super::publisher::Publisher;
use crate::logged;
use crate::statistics::{Extras, PUBLISH_SPAN, Published, ShardOverview};
use skipstone_proto::Time;
use std::time::Instant;

impl Driver {
    /// Publishes the progress of messages of at least this many bytes.
    pub(crate) fn publish_transfers(&mut self, bytes_min: Option<u32>) {
        self.publisher.transfer_bytes_min = bytes_min.map(|bytes| bytes as usize);
    }

    /// Publishes changed statistics, if they are due.
    pub(super) fn publish(&mut self) {
        self.publisher.is_stale |= self.endpoint.has_touched() || !self.events.is_empty();
        let now = self.now();
        if now >= self.publisher.due && self.publisher.is_stale {
            self.publisher.due = now + PUBLISH_SPAN;
            self.publisher.is_stale = false;
            self.publish_all();
        }
    }

    /// Handshakes in progress, of all carriers.
    fn handshake_count(&self) -> usize {
        self.endpoint.handshake_count() + self.guests.handshake_count() + self.sockets.newcomers.count()
    }

    /// Publishes all changed statistics.
    fn publish_all(&mut self) {
        let (driver, handshakes) = (self.stats(), self.handshake_count());
        let Publisher { board, live, touched, spare, transfer_bytes_min, .. } = &mut self.publisher;
        self.endpoint.take_touched(touched);
        let at = Instant::now();
        let time = self.clock.at(at);
        for peer in touched.drain(..) {
            let last = board.last(peer);
            let Some(now) = self.endpoint.overview(peer) else {
                if let Some(last) = last.filter(|last| last.peer == peer) {
                    live.subtract(&last.overview.stats);
                    board.remove(peer);
                }
                continue;
            };
            if let Some(last) = &last {
                live.subtract(&last.overview.stats);
            }
            live.add(&now.stats);
            let transfers = transfer_bytes_min.and_then(|bytes_min| self.endpoint.transfers(peer, bytes_min));
            let extras =
                Extras { server_time: self.endpoint.server_time(time, peer), transfers: transfers.unwrap_or_default() };
            let extras = (extras != Extras::default()).then(|| Box::new(extras));
            board.publish(Published { extras, ..Published::new(peer, at, now, last.as_deref()) }, spare);
        }
        let mut stats = *live;
        stats.add(self.endpoint.past());
        logged::on_drops(&board.shard().stats.drops, &stats.drops);
        #[cfg(feature = "simulate")]
        board.publish_links(self.sockets.link_stats());
        let clients = self.endpoint.peer_count();
        board.publish_shard(ShardOverview { clients, handshakes, stats, driver });
    }

    /// Time of the next publication; [`Time::NEVER`] if nothing has changed.
    pub(super) fn publish_due(&self) -> Time {
        if self.publisher.is_stale || self.endpoint.has_touched() { self.publisher.due } else { Time::NEVER }
    }
}
