//! The packets of groups: a kind, the group, the sending process, and what the kind has. Integers are big-endian.

use super::name::GroupName;
use crate::directory::NodeName;
use bytes::{Buf, BufMut, Bytes, BytesMut};

/// A sequence of batches: of one process of a node, in one group. A process that leaves a group and comes back begins
/// another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StreamId {
    pub(super) node: NodeName,
    pub(super) process: u64,
    pub(super) number: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) group: GroupName,
    pub(super) sender: StreamId,
    pub(super) body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Messages; sequence 0 is that of unreliable groups.
    Batch { sequence: u64, messages: Bytes },
    /// The last sequence number of the sender.
    Heartbeat { last: u64 },
    /// Asks a publisher's stream for batches; the sender's stream number has no meaning.
    Request { stream: u32, first: u64, last: u64 },
    /// Asks a publisher's stream where the batches of this last time begin.
    Since { stream: u32, age_ms: u64 },
    /// Answers: the receiver's stream begins here, or, where that is not known, here or earlier. It repeats the age that was
    /// asked for.
    Start { first: u64, is_known: bool, age_ms: u64 },
    /// Answers: earlier batches are no longer kept.
    Oldest { sequence: u64 },
}

impl Packet {
    pub(super) fn encode(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(HEAD_BYTES_MAX + self.body.messages_len());
        let (kind, numbers, number_count) = self.body.fields();
        bytes.put_u8(kind);
        put_text(&mut bytes, self.group.as_str());
        put_text(&mut bytes, self.sender.node.as_str());
        bytes.put_u64(self.sender.process);
        bytes.put_u32(self.sender.number);
        for number in &numbers[..number_count] {
            bytes.put_u64(*number);
        }
        if let Body::Batch { messages, .. } = &self.body {
            bytes.put_slice(messages);
        }
        bytes.freeze()
    }

    /// Nothing if the bytes are no packet.
    pub(super) fn decode(mut bytes: Bytes) -> Option<Packet> {
        let kind = bytes.try_get_u8().ok()?;
        let group = GroupName::new(&take_text(&mut bytes)?).ok()?;
        let node = NodeName::new(&take_text(&mut bytes)?).ok()?;
        let (process, number) = (bytes.try_get_u64().ok()?, bytes.try_get_u32().ok()?);
        let mut next = || bytes.try_get_u64().ok();
        let body = match kind {
            1 => Body::Batch { sequence: next()?, messages: bytes },
            2 => Body::Heartbeat { last: next()? },
            3 => Body::Request { stream: u32::try_from(next()?).ok()?, first: next()?, last: next()? },
            4 => Body::Since { stream: u32::try_from(next()?).ok()?, age_ms: next()? },
            5 => Body::Start { first: next()?, is_known: next()? == 1, age_ms: next()? },
            6 => Body::Oldest { sequence: next()? },
            _ => return None,
        };
        Some(Packet { group, sender: StreamId { node, process, number }, body })
    }
}

impl Body {
    fn fields(&self) -> (u8, [u64; 3], usize) {
        match *self {
            Body::Batch { sequence, .. } => (1, [sequence, 0, 0], 1),
            Body::Heartbeat { last } => (2, [last, 0, 0], 1),
            Body::Request { stream, first, last } => (3, [stream.into(), first, last], 3),
            Body::Since { stream, age_ms } => (4, [stream.into(), age_ms, 0], 2),
            Body::Start { first, is_known, age_ms } => (5, [first, is_known.into(), age_ms], 3),
            Body::Oldest { sequence } => (6, [sequence, 0, 0], 1),
        }
    }

    fn messages_len(&self) -> usize {
        match self {
            Body::Batch { messages, .. } => messages.len(),
            _ => 0,
        }
    }
}

/// Adds a message to those of a batch.
pub(super) fn put_message(messages: &mut BytesMut, message: &[u8]) {
    messages.put_u32(u32::try_from(message.len()).expect("a message is at most 64 KiB"));
    messages.put_slice(message);
}

/// The messages of a batch, up to the first that is invalid.
pub(super) fn messages(mut bytes: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let length = bytes.try_get_u32().ok()? as usize;
        (length <= bytes.len()).then(|| bytes.split_to(length))
    })
}

/// What [`put_message`] adds to a message.
pub(super) const MESSAGE_HEAD_BYTES: usize = 4;

fn put_text(bytes: &mut BytesMut, text: &str) {
    bytes.put_u8(u8::try_from(text.len()).expect("names are at most 64 bytes"));
    bytes.put_slice(text.as_bytes());
}

fn take_text(bytes: &mut Bytes) -> Option<String> {
    let length = usize::from(bytes.try_get_u8().ok()?);
    let text = (length <= bytes.len()).then(|| bytes.split_to(length))?;
    String::from_utf8(text.to_vec()).ok()
}

const HEAD_BYTES_MAX: usize = 1 + 2 * 65 + 12 + 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_survive_encoding_and_each_truncation_is_refused() {
        let mut batch = BytesMut::new();
        put_message(&mut batch, b"one");
        put_message(&mut batch, b"");
        let bodies = [
            Body::Batch { sequence: 7, messages: batch.freeze() },
            Body::Heartbeat { last: 9 },
            Body::Request { stream: 1, first: 2, last: 3 },
            Body::Since { stream: 1, age_ms: 5 },
            Body::Start { first: 4, is_known: true, age_ms: 6 },
            Body::Oldest { sequence: 8 },
        ];
        for body in bodies {
            let sender = StreamId { node: NodeName::new("n").unwrap(), process: 3, number: 4 };
            let packet = Packet { group: GroupName::new("g").unwrap(), sender, body };
            let bytes = packet.encode();
            assert_eq!(Packet::decode(bytes.clone()), Some(packet.clone()));
            let head = bytes.len() - packet.body.messages_len();
            for end in 0..head {
                assert_eq!(Packet::decode(bytes.slice(..end)), None);
            }
            if let Body::Batch { messages: all, .. } = packet.body {
                assert_eq!(messages(all).collect::<Vec<_>>(), ["one", ""]);
            }
        }
    }
}
