//! The entries that a connection writes to its packet log, if it has one.

use super::Connection;
use super::packet_log::{
    AttachedLog, LoggedConnection, LoggedFrames, LossTrigger, PacketEvent, PacketLog, RecoveryMetrics,
};
use super::state::Standing;
use crate::time::Time;
use crate::wire::datagram::HEADER_BYTES;
use std::sync::Arc;

impl Connection {
    /// Sends packet events to this log from now on.
    pub(crate) fn set_packet_log(&mut self, shard: u32, log: Option<&Arc<dyn PacketLog>>) {
        if !cfg!(feature = "packet-log") {
            return;
        }
        if log.is_some() {
            self.sending.ledger.note_lost_numbers();
        }
        self.log = log.map(|log| AttachedLog { shard, log: Arc::clone(log) });
    }

    /// The log. Without the feature there is none, and the compiler removes its code.
    #[inline]
    fn attached_log(&self) -> Option<&AttachedLog> {
        if cfg!(feature = "packet-log") { self.log.as_ref() } else { None }
    }

    /// Writes the return value of `make` to the log, if there is one.
    #[inline]
    pub(super) fn log<'a>(&'a self, now: Time, make: impl FnOnce() -> PacketEvent<'a>) {
        if let Some(log) = self.attached_log() {
            self.log_event(log, now, &make());
        }
    }

    #[cold]
    fn log_event(&self, attached: &AttachedLog, now: Time, event: &PacketEvent<'_>) {
        let connection = LoggedConnection {
            shard: attached.shard,
            peer: self.identity.peer,
            side: self.identity.side,
            is_player: self.standing() == Standing::Player,
            path: &self.path.current,
        };
        attached.log.on_event(now, &connection, event);
    }

    /// A packet leaves in a datagram of `bytes` bytes; `plaintext` is its datagram before it is sealed, without the
    /// tag.
    #[inline]
    pub(super) fn log_sent(&self, now: Time, number: u64, bytes: usize, plaintext: &[u8]) {
        if let Some(log) = self.attached_log() {
            let reference = self.receiving.received.next();
            let frames = LoggedFrames::behind_number(number, reference, &plaintext[HEADER_BYTES..]);
            self.log_event(log, now, &PacketEvent::Sent { number, bytes, frames });
        }
    }

    /// A packet arrived in a datagram of `bytes` bytes.
    #[inline]
    pub(super) fn log_received(&self, now: Time, number: u64, bytes: usize, frames: &[u8]) {
        if let Some(log) = self.attached_log() {
            let frames = LoggedFrames::new(number, self.sending.ledger.next(), frames);
            self.log_event(log, now, &PacketEvent::Received { number, bytes, frames });
        }
    }

    /// A packet of the peer was recovered.
    #[inline]
    pub(super) fn log_recovered(&self, now: Time, number: u64, frames: &[u8]) {
        if let Some(log) = self.attached_log() {
            let frames = LoggedFrames::new(number, self.sending.ledger.next(), frames);
            self.log_event(log, now, &PacketEvent::Recovered { number, frames });
        }
    }

    /// Packets were found lost.
    #[inline]
    pub(super) fn log_lost(&mut self, now: Time, trigger: LossTrigger) {
        if self.attached_log().is_none() {
            return;
        }
        for (number, bytes) in self.sending.ledger.take_lost_numbers() {
            self.log(now, || PacketEvent::Lost { number, bytes, trigger });
        }
    }

    /// The state of recovery.
    #[inline]
    pub(super) fn log_metrics(&self, now: Time) {
        self.log(now, || {
            let window = self.path.congestion.window();
            PacketEvent::Metrics(RecoveryMetrics {
                rtt: self.path.rtt,
                bytes_in_flight: self.sending.ledger.bytes_in_flight(),
                congestion_window: (window != u64::MAX).then_some(window),
            })
        });
    }

    /// The connection is about to be dropped.
    pub(crate) fn log_removed(&self) {
        if let Some(attached) = self.attached_log() {
            attached.log.on_removed(attached.shard, self.identity.peer);
        }
    }
}
