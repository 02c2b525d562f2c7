//! The bytes of a recording: a head, then entries, each after the time since the previous one. Numbers are LEB128.
//!
//! ```text
//! "SKIPREC" | version 1 | side 1           0 server, 1 client
//! kind 1 | us since the entry before | its fields
//!   0 end          why 1                   nothing follows
//!   1 channel      channel | mode 1        before the channel's first message
//!   2 connected    peer
//!   3 closed       peer
//!   4 sent         peer | channel | bytes
//!   5 received     peer | channel | bytes
//!   6 broadcast    channel | bytes         to all peers that are connected
//! ```

use skipstone_proto::{DeliveryMode, Duration};

/// The first bytes of a file.
pub(super) const MAGIC: &[u8; 7] = b"SKIPREC";
pub(super) const VERSION: u8 = 1;
/// Bytes of the longest entry: its kind, and four numbers.
pub(super) const ENTRY_BYTES_MAX: usize = 1 + 4 * NUMBER_BYTES_MAX;
pub(super) const NUMBER_BYTES_MAX: usize = 10;

/// The side whose traffic is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingSide {
    /// A server's, with all its clients.
    Server,
    /// A client's.
    Client,
}

/// Why a recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordingEnd {
    /// The application ended it.
    Complete,
    /// The limit on its size was reached.
    Full,
    /// The disk did not keep up.
    Behind,
}

/// A message of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedMessage {
    /// The peer's index. A later connection may reuse it.
    pub peer: u32,
    /// Its channel.
    pub channel: u16,
    /// Bytes of its payload.
    pub bytes: u64,
}

/// An event of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordedEvent {
    /// A channel is used for the first time.
    Channel {
        /// The channel.
        channel: u16,
        /// Its delivery mode.
        mode: DeliveryMode,
    },
    /// A peer is now connected.
    Connected {
        /// The peer's index.
        peer: u32,
    },
    /// A peer's connection has ended.
    Closed {
        /// The peer's index.
        peer: u32,
    },
    /// The recording side sent a message.
    Sent(RecordedMessage),
    /// The recording side received a message.
    Received(RecordedMessage),
    /// The server sent a message to all connected peers.
    Broadcast {
        /// Its channel.
        channel: u16,
        /// Bytes of its payload.
        bytes: u64,
    },
    /// The last event.
    End(RecordingEnd),
}

impl RecordedEvent {
    /// Appends the entry.
    pub(super) fn encode(&self, since_last: Duration, out: &mut Vec<u8>) {
        let micros = since_last.as_micros() as u64;
        let mut entry = |kind: u8, fields: &[u64]| {
            out.push(kind);
            std::iter::once(&micros).chain(fields).for_each(|number| put_number(*number, out));
        };
        match *self {
            RecordedEvent::End(why) => entry(0, &[why as u64]),
            RecordedEvent::Channel { channel, mode } => entry(1, &[channel.into(), mode as u64]),
            RecordedEvent::Connected { peer } => entry(2, &[peer.into()]),
            RecordedEvent::Closed { peer } => entry(3, &[peer.into()]),
            RecordedEvent::Sent(message) => entry(4, &message.fields()),
            RecordedEvent::Received(message) => entry(5, &message.fields()),
            RecordedEvent::Broadcast { channel, bytes } => entry(6, &[channel.into(), bytes]),
        }
    }

    /// The number of fields that follow the time in an entry of this kind.
    pub(super) fn fields_of(kind: u8) -> Option<usize> {
        [1, 2, 1, 1, 3, 3, 2].get(usize::from(kind)).copied()
    }

    /// The event of an entry; `None` if one of its numbers is invalid.
    pub(super) fn decode(kind: u8, fields: &[u64]) -> Option<RecordedEvent> {
        let message = |fields: &[u64]| {
            Some(RecordedMessage { peer: peer(fields[0])?, channel: channel(fields[1])?, bytes: fields[2] })
        };
        Some(match kind {
            0 => RecordedEvent::End(end(fields[0])?),
            1 => RecordedEvent::Channel { channel: channel(fields[0])?, mode: mode(fields[1])? },
            2 => RecordedEvent::Connected { peer: peer(fields[0])? },
            3 => RecordedEvent::Closed { peer: peer(fields[0])? },
            4 => RecordedEvent::Sent(message(fields)?),
            5 => RecordedEvent::Received(message(fields)?),
            6 => RecordedEvent::Broadcast { channel: channel(fields[0])?, bytes: fields[1] },
            _ => return None,
        })
    }
}

impl RecordedMessage {
    fn fields(&self) -> [u64; 3] {
        [self.peer.into(), self.channel.into(), self.bytes]
    }
}

fn peer(number: u64) -> Option<u32> {
    number.try_into().ok()
}

fn channel(number: u64) -> Option<u16> {
    number.try_into().ok()
}

fn end(number: u64) -> Option<RecordingEnd> {
    let all = [RecordingEnd::Complete, RecordingEnd::Full, RecordingEnd::Behind];
    all.into_iter().find(|end| *end as u64 == number)
}

fn mode(number: u64) -> Option<DeliveryMode> {
    use DeliveryMode::{ReliableOrdered, ReliableSequenced, ReliableUnordered, Unreliable, UnreliableSequenced};
    let all = [Unreliable, UnreliableSequenced, ReliableOrdered, ReliableUnordered, ReliableSequenced];
    all.into_iter().find(|mode| *mode as u64 == number)
}

fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
