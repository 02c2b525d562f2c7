//! One end of a connection, without socket and clock: the interface that drives every transport.

use std::net::SocketAddr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use skipstone_proto::{Duration, Time};

/// One end of one connection. Any call in any order, with a time that does not go back; after every input,
/// `poll_message` and `poll_transmit` are called until they return nothing.
pub(crate) trait Peer {
    /// A datagram came from this address.
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, datagram: &mut Vec<u8>);

    /// Handles expired timers.
    fn handle_timeout(&mut self, now: Time);

    /// When `handle_timeout` must be called.
    fn poll_timeout(&mut self) -> Time;

    /// Writes the next datagram, replacing the buffer's content, and returns its destination.
    fn poll_transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SocketAddr>;

    /// The content of the datagram that was just written; `None`, if the transport does not report it.
    fn contents(&self) -> Option<Contents> {
        None
    }

    /// Whether updates can be sent.
    fn is_connected(&self) -> bool;

    /// Queues an update, reliable and in order with others of its entity. False if the queue is full: it was refused.
    fn send(&mut self, now: Time, update: Update) -> bool;

    /// The next update that arrived.
    fn poll_message(&mut self, now: Time) -> Option<Update>;

    /// Its own counters; none, if the transport does not report it.
    fn telemetry(&mut self) -> Telemetry {
        Telemetry::default()
    }
}

/// An update on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) entity: u16,
    pub(crate) payload: Bytes,
    /// How late it is already, as far as the transport reported. An echo passes it on.
    pub(crate) age: Duration,
}

/// The content of a datagram, in IP bytes with its share of the headers. The rest carries no new payload:
/// acknowledgements alone, probes, repairs and further copies, the handshake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Payload that is sent for the first time, with its headers.
    pub(crate) first: usize,
    /// Payload that left before and was lost.
    pub(crate) again: usize,
}

/// A peer's own counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Telemetry {
    /// Messages sent again.
    pub(crate) resent: Option<u64>,
    /// Bytes of repair packets, and of copies.
    pub(crate) redundancy_bytes: Option<u64>,
    /// Packets that were declared lost but were not.
    pub(crate) spurious: Option<u64>,
    /// Packets that came back by repair.
    pub(crate) repaired: Option<u64>,
}

impl Telemetry {
    /// The sum over both ends.
    pub(crate) fn with(self, other: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        Self {
            resent: sum(self.resent, other.resent),
            redundancy_bytes: sum(self.redundancy_bytes, other.redundancy_bytes),
            spurious: sum(self.spurious, other.spurious),
            repaired: sum(self.repaired, other.repaired),
        }
    }
}
