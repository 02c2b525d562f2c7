//! The interface that every protocol implements: time and bytes in; bytes, events and a deadline out. The caller owns
//! sockets, clocks and threads. A protocol is the client's side of one connection.
//!
//! ```text
//! handle_open ─> Event::Connected ─> Event::Message ... ─> Event::Closed, the last one
//! ```
//! After each call that may have changed something, the caller takes all of `poll_transmit`, then all of `poll_event`,
//! then asks for `deadline`. Calls are legal in any order; input from the network never panics.

use bytes::Bytes;
use core::time::Duration;
use derive_more::{Add, AddAssign, Display, Sum};
use serde::{Deserialize, Serialize};
use skipstone_proto::Time;
use thiserror::Error;

/// One client of one connection.
pub trait Protocol {
    /// The socket is ready: bound and connected for datagrams, connected for streams. The handshake begins.
    fn handle_open(&mut self, now: Time);

    /// One datagram, or the next bytes of the stream: any number, cut anywhere. Invalid input is dropped and counted,
    /// or ends the connection where a stream cannot go on.
    fn handle_receive(&mut self, now: Time, bytes: &[u8]);

    /// The socket has ended: the server closed the stream or reset it. Followed by [`Event::Closed`] unless that has
    /// come already. Or the server's machine refuses the port, which a protocol that retries may ignore.
    fn handle_end(&mut self, now: Time, end: SocketEnd);

    /// The time of [`deadline`](Self::deadline) has come.
    fn handle_deadline(&mut self, now: Time);

    /// Appends to `out`, which is empty, the next datagram, or the next bytes of the stream (at most
    /// [`STREAM_CHUNK`]). `false` if there is nothing to send.
    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool;

    /// The next event, in order.
    fn poll_event(&mut self) -> Option<Event>;

    /// When [`handle_deadline`](Self::handle_deadline) is due; `None` if only input or the application changes
    /// anything.
    fn deadline(&self) -> Option<Time>;

    /// Of a protocol on a stream: whether it has neither connected nor ended. The stream has a time-out until then.
    fn is_connecting(&self) -> bool {
        false
    }

    /// Queues a message. What it returns is what a script sees as an error, with line and column.
    fn send(&mut self, now: Time, message: Outgoing<'_>) -> Result<(), SendRefused>;

    /// Ends the connection: the goodbye is in the next `poll_transmit`, and `Closed` is the next event. Without effect
    /// if the connection has ended.
    fn close(&mut self, now: Time);

    /// What the protocol knows of itself; bytes and datagrams of the socket are counted by the caller.
    fn figures(&self) -> ProtocolFigures;

    /// Of a protocol with its own sockets: what went over them.
    fn traffic(&self) -> SocketCounts {
        SocketCounts::default()
    }

    /// Of a protocol with its own sockets, before `handle_open`: the name by which its row's step calls this client.
    fn set_token(&mut self, _token: usize) {}
}

/// What went over a socket, without the headers of IP, UDP and TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Add, AddAssign, Sum, Serialize, Deserialize)]
pub struct SocketCounts {
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Datagrams sent, or writes to a stream.
    pub sent: u64,
    /// Datagrams received, or reads from a stream.
    pub received: u64,
    /// Datagrams that the system did not take because its buffer was full.
    pub unsent: u64,
}

/// A message that a script sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// The protocol's channel; 0 where it has none.
    pub channel: u16,
    /// How it is delivered; `None` for the protocol's own default on that channel, such as reliable ordered.
    pub delivery: Option<Delivery>,
    /// Its bytes.
    pub data: &'a [u8],
}

/// How messages are delivered, where a protocol lets the sender choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Each once, in order.
    ReliableOrdered,
    /// Each once, in any order.
    ReliableUnordered,
    /// In order; older ones are dropped, the newest one arrives.
    ReliableSequenced,
    /// In order; older and lost ones are dropped.
    Sequenced,
    /// As the network has it.
    Unreliable,
}

impl Delivery {
    /// All, with their names in scripts.
    pub const ALL: &'static [(&'static str, Delivery)] = &[
        ("reliable", Delivery::ReliableOrdered),
        ("reliable-unordered", Delivery::ReliableUnordered),
        ("reliable-sequenced", Delivery::ReliableSequenced),
        ("sequenced", Delivery::Sequenced),
        ("unreliable", Delivery::Unreliable),
    ];

    /// Its name in scripts.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, delivery)| *delivery == self).map_or("unknown", |(name, _)| name)
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == name).map(|(_, delivery)| *delivery)
    }
}

/// What happened on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete: messages may be sent.
    Connected,
    /// A whole message arrived.
    Message {
        /// Its channel; 0 where the protocol has none.
        channel: u16,
        /// Its bytes.
        data: Bytes,
    },
    /// The connection ended, or was never made. The last event.
    Closed(Ending),
}

/// Why a connection ended.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
#[display("{}: {text}", cause.name())]
pub struct Ending {
    /// The cause, by which endings are counted.
    pub cause: Cause,
    /// In words, with the protocol's own code if it has one: `reason 3: server full`.
    pub text: String,
}

impl Ending {
    /// An ending of that cause.
    pub fn new(cause: Cause, text: impl Into<String>) -> Self {
        Ending { cause, text: text.into() }
    }
}

/// The causes by which endings are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The bot closed.
    Closed,
    /// The server said goodbye, or ended the stream.
    ByServer,
    /// The server refused the handshake: wrong key or version, or it is full.
    Refused,
    /// Nothing came in time.
    TimedOut,
    /// The server's bytes are not this protocol's.
    Malformed,
    /// The system's error: no route, port unreachable, reset.
    Unreachable,
}

impl Cause {
    /// All, with their names in scripts and results.
    pub const ALL: &'static [(&'static str, Cause)] = &[
        ("closed", Cause::Closed),
        ("by-server", Cause::ByServer),
        ("refused", Cause::Refused),
        ("timed-out", Cause::TimedOut),
        ("malformed", Cause::Malformed),
        ("unreachable", Cause::Unreachable),
    ];

    /// Its name in scripts and results.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, cause)| *cause == self).map_or("unknown", |(name, _)| name)
    }
}

/// How a socket ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketEnd {
    /// The server ended the stream in order.
    Finished,
    /// Datagrams: no program listens on the server's port, as its machine answered (ICMP). The socket is still usable.
    PortClosed,
    /// A stream, or the handshake on it, was not there in time.
    TimedOut,
    /// An error of the system, in its words.
    Failed(String),
}

/// Why a message was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SendRefused {
    /// Before `Connected`, or after `Closed`.
    #[error("the bot is not connected")]
    NotConnected,
    /// The message does not fit.
    #[error("{size} bytes are too long: a message of this kind has at most {max}")]
    TooLong {
        /// Its size.
        size: usize,
        /// The largest that fits.
        max: usize,
    },
    /// No such channel.
    #[error("there is no channel {channel}: the protocol's channels are 0 to {max}")]
    NoChannel {
        /// The channel.
        channel: u16,
        /// The highest one.
        max: u16,
    },
    /// The protocol does not deliver in that way.
    #[error("this protocol has no such delivery; it has {0}")]
    NoDelivery(&'static str),
    /// The bot sends faster than the path: the bound of the queue is reached.
    #[error("the queue of unsent messages is full: the bot sends faster than the path carries")]
    QueueFull {
        /// Bytes in the queue.
        queued: usize,
    },
    /// The message cannot be written in this protocol, such as a line that contains a line's end.
    #[error("{0}")]
    Unwritable(&'static str),
}

/// What a protocol knows of its connection. Counters only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolFigures {
    /// The smoothed round-trip time, where the protocol measures one.
    pub rtt: Option<Duration>,
    /// Counters, which add up over bots.
    pub counts: ProtocolCounts,
}

/// Counters of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Add, AddAssign, Sum, Serialize, Deserialize)]
pub struct ProtocolCounts {
    /// Datagrams or parts of a stream that were no valid input, and were dropped.
    pub invalid: u64,
    /// Packets or fragments that were sent again.
    pub retransmitted: u64,
    /// Packets that arrived twice.
    pub duplicates: u64,
    /// Messages that were lost for good or dropped, as far as the protocol knows: those of unreliable channels.
    pub dropped: u64,
}

/// Bytes that `poll_transmit` of a stream appends at most.
pub const STREAM_CHUNK: usize = 64 * 1024;

/// Bytes that a protocol queues for one connection at most, beyond which `send` refuses.
pub const QUEUE_BYTES_MAX: usize = 1 << 20;
