//! What packets hold that their sender cares about, and hears of again once their fate is known.

use crate::seq::Seq;
use crate::time::Time;

/// What a packet held that its sender cares about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// `count` whole messages of a channel, from this sequence on.
    Messages {
        /// The channel.
        channel: u16,
        /// Sequence of the first.
        first: Seq,
        /// How many.
        count: u16,
    },
    /// BatchSlice of a message.
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
    /// An acknowledgement of everything received up to this number.
    AckUpTo(u64),
    /// A datagram of so many bytes, sent to see whether the path carries it.
    SizeProbe(u16),
    /// A datagram of so many bytes, which not every path carries.
    Large(u16),
}

/// A record whose packet's fate is known, or suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// Number of the packet.
    pub packet: u64,
    /// What it held.
    pub record: Record,
    /// When that was to be sent first, however often it was since.
    pub born: Time,
    /// It was sent again before, because the packet was suspected.
    pub was_suspected: bool,
}
