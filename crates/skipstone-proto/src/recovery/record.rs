//! The records of a packet's content that its sender needs, and receives again once the packet's fate is known.

use crate::seq::Seq;
use crate::time::Time;

/// A part of a packet's content whose fate matters to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// `count` whole messages of a channel, from this sequence on.
    Messages {
        /// The channel.
        channel: u16,
        /// Sequence of the first.
        first: Seq,
        /// The number of messages.
        count: u16,
    },
    /// A fragment of a message.
    Fragment {
        /// The channel.
        channel: u16,
        /// Sequence of the message.
        sequence: Seq,
        /// First byte.
        offset: u32,
        /// Bytes.
        length: u32,
    },
    /// A frame of the connection's own.
    Control(Control),
}

/// Frames of the connection itself that are sent until they are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// The server's settings.
    Accept,
    /// The client's token.
    Connect,
    /// An id for packets after a move, with its sequence.
    NewId(u32),
    /// An acknowledgement of everything received up to this number.
    AckUpTo(u64),
    /// A datagram of this many bytes, sent to probe whether the path carries it.
    SizeProbe(u16),
    /// A datagram of this many bytes, which not every path carries.
    Large(u16),
}

/// A record whose packet's fate is known, or suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// Number of the packet.
    pub packet: u64,
    /// The record.
    pub record: Record,
    /// The time at which it was first due, regardless of retransmissions.
    pub born: Time,
    /// The record was retransmitted before, because the packet was suspected lost.
    pub was_suspected: bool,
}
