//! kcp2k's wire around KCP: each datagram has a channel and a cookie, each message a kind. Little-endian.

/// What a datagram carries after its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatagramChannel {
    /// Segments of KCP.
    Reliable,
    /// One message.
    Unreliable,
}

/// The start of each message that KCP carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReliableKind {
    Hello,
    Ping,
    Data,
    Pong,
}

/// The start of each message without KCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnreliableKind {
    Data,
    Disconnect,
}

/// Bytes before KCP's, or before the kind of an unreliable message.
pub(super) const DATAGRAM_HEADER: usize = 5;

const CHANNELS: [(u8, DatagramChannel); 2] = [(1, DatagramChannel::Reliable), (2, DatagramChannel::Unreliable)];
const RELIABLE: [(u8, ReliableKind); 4] =
    [(1, ReliableKind::Hello), (2, ReliableKind::Ping), (3, ReliableKind::Data), (4, ReliableKind::Pong)];
const UNRELIABLE: [(u8, UnreliableKind); 2] = [(4, UnreliableKind::Data), (5, UnreliableKind::Disconnect)];

/// Channel, cookie and the rest of a datagram, which is at least one byte.
pub(super) fn decode(datagram: &[u8]) -> Option<(DatagramChannel, u32, &[u8])> {
    let (header, rest) = datagram.split_first_chunk::<DATAGRAM_HEADER>()?;
    let [channel, cookie @ ..] = *header;
    let channel = find(&CHANNELS, channel)?;
    (!rest.is_empty()).then_some((channel, u32::from_le_bytes(cookie), rest))
}

/// Appends a datagram's header.
pub(super) fn encode(channel: DatagramChannel, cookie: u32, out: &mut Vec<u8>) {
    out.push(code(&CHANNELS, channel));
    out.extend_from_slice(&cookie.to_le_bytes());
}

impl ReliableKind {
    /// The kind and the content of a message.
    pub(super) fn decode(message: &[u8]) -> Option<(Self, &[u8])> {
        let (first, content) = message.split_first()?;
        Some((find(&RELIABLE, *first)?, content))
    }

    /// A message.
    pub(super) fn message(self, content: &[u8]) -> Vec<u8> {
        [&[code(&RELIABLE, self)], content].concat()
    }
}

impl UnreliableKind {
    /// The kind and the content of a message.
    pub(super) fn decode(message: &[u8]) -> Option<(Self, &[u8])> {
        let (first, content) = message.split_first()?;
        Some((find(&UNRELIABLE, *first)?, content))
    }

    /// A whole datagram.
    pub(super) fn datagram(self, cookie: u32, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(DATAGRAM_HEADER + 1 + content.len());
        encode(DatagramChannel::Unreliable, cookie, &mut out);
        out.push(code(&UNRELIABLE, self));
        out.extend_from_slice(content);
        out
    }
}

fn find<T: Copy>(codes: &[(u8, T)], code: u8) -> Option<T> {
    codes.iter().find(|(own, _)| *own == code).map(|(_, value)| *value)
}

fn code<T: PartialEq>(codes: &[(u8, T)], value: T) -> u8 {
    codes.iter().find(|(_, own)| *own == value).map_or(0, |(code, _)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_have_the_bytes_of_the_original() {
        let mut hello = Vec::new();
        encode(DatagramChannel::Reliable, 0x0403_0201, &mut hello);
        assert_eq!(hello, [1, 1, 2, 3, 4]);
        assert_eq!(UnreliableKind::Data.datagram(0x0403_0201, b"x"), [2, 1, 2, 3, 4, 4, b'x']);
        assert_eq!(UnreliableKind::Disconnect.datagram(9, b""), [2, 9, 0, 0, 0, 5]);
        assert_eq!(ReliableKind::Hello.message(b""), [1]);
        assert_eq!(ReliableKind::Pong.message(&[7, 0, 0, 0]), [4, 7, 0, 0, 0]);
    }

    #[test]
    fn other_bytes_are_no_datagram() {
        assert_eq!(decode(&[1, 0, 0, 0, 0]), None);
        assert_eq!(decode(&[0, 0, 0, 0, 0, 1]), None);
        assert_eq!(decode(&[3, 0, 0, 0, 0, 1]), None);
        assert_eq!(decode(&[2, 1, 0, 0, 0, 9]), Some((DatagramChannel::Unreliable, 1, &[9][..])));
        assert_eq!(ReliableKind::decode(&[0]), None);
        assert_eq!(ReliableKind::decode(&[5]), None);
        assert_eq!(UnreliableKind::decode(&[3]), None);
    }
}
