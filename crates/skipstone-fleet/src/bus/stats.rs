//! Figures of a bus.

use std::time::Duration;

/// Whether a bus has its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusState {
    /// Messages flow.
    Connected,
    /// The bus tries to connect.
    Disconnected,
    /// The thread of the bus has ended, by a defect of ours.
    Ended,
}

/// The server that a bus is connected to, or was last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusServer {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its largest payload, in bytes.
    pub payload_bytes_max: usize,
    /// Whether it has JetStream, which key-value stores need.
    pub has_jetstream: bool,
    /// The name of its cluster, if it belongs to one.
    pub cluster: Option<String>,
}

/// Counters of a bus, since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusStats {
    /// Messages that were accepted, requests and answers included.
    pub published: u64,
    /// Their payloads' bytes.
    pub published_bytes: u64,
    /// Those of them that the server confirmed.
    pub confirmed: u64,
    /// Those of them that were sent, and not confirmed before the connection broke.
    pub unconfirmed: u64,
    /// Requests whose time had passed before they could be sent.
    pub expired: u64,
    /// Messages that exceed the server's maximum, which was not known at the call.
    pub oversized: u64,
    /// Messages that were refused at the call because too much waits.
    pub refused: u64,
    /// Messages and answers that arrived.
    pub received: u64,
    /// Their payloads' bytes.
    pub received_bytes: u64,
    /// Events that found the queue full.
    pub dropped: u64,
    /// Connections after the first.
    pub reconnects: u64,
    /// Bytes that wait to be confirmed.
    pub waiting_bytes: u64,
    /// The time from a message to its confirmation by the server, the last one measured.
    pub rtt: Option<Duration>,
}
