//! LiteNetLib's packets. The first byte has the kind in 5 bits, the connection's number in 2, and whether the packet is
//! a fragment. Little-endian.

use super::sequence::Sequence;

/// A packet and the number of the connection that it says to belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received<'a> {
    pub(super) connection: u8,
    pub(super) packet: Packet<'a>,
}

/// The packets that a client handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packet<'a> {
    Unreliable(&'a [u8]),
    Channeled {
        sequence: Sequence,
        channel: u8,
        content: Content<'a>,
    },
    Acknowledge {
        sequence: Sequence,
        channel: u8,
        bits: &'a [u8],
    },
    Ping {
        number: u16,
    },
    Pong {
        number: u16,
    },
    ConnectAccept(Accept),
    Disconnect {
        time: i64,
        data: &'a [u8],
    },
    /// All bytes of the packet, its size in it twice.
    MtuCheck(&'a [u8]),
    /// Packets, each after its length.
    Merged(&'a [u8]),
    PeerNotFound(&'a [u8]),
    InvalidProtocol,
    /// Packets that a client may get and does not need.
    Ignored,
}

/// What a packet of a channel carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    /// A message.
    Message(&'a [u8]),
    /// Messages, each after its length.
    Messages(&'a [u8]),
    /// A part of a message.
    Fragment(Fragment, &'a [u8]),
}

/// The place of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    pub(super) message: u16,
    pub(super) part: u16,
    pub(super) parts: u16,
}

/// The server's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accept {
    /// That of the request.
    pub(super) time: i64,
    pub(super) connection: u8,
    /// The client's number at the server.
    pub(super) peer: i32,
}

pub(super) const UNRELIABLE: u8 = 0;
pub(super) const CHANNELED: u8 = 1;
pub(super) const RELIABLE_MERGED: u8 = 2;
pub(super) const ACKNOWLEDGE: u8 = 3;
pub(super) const PING: u8 = 4;
pub(super) const PONG: u8 = 5;
pub(super) const CONNECT_REQUEST: u8 = 6;
pub(super) const CONNECT_ACCEPT: u8 = 7;
pub(super) const DISCONNECT: u8 = 8;
pub(super) const MTU_CHECK: u8 = 10;
pub(super) const MTU_OK: u8 = 11;
pub(super) const MERGED: u8 = 13;
pub(super) const SHUTDOWN_OK: u8 = 14;
pub(super) const PEER_NOT_FOUND: u8 = 15;
pub(super) const INVALID_PROTOCOL: u8 = 16;
const KINDS: u8 = 19;

/// Bytes before the content of a packet of a channel.
pub(super) const CHANNEL_HEADER: usize = 4;
/// Bytes more before the content of a fragment.
pub(super) const FRAGMENT_HEADER: usize = 6;
/// The version that both ends must have.
pub(super) const PROTOCOL_ID: i32 = 13;
/// The largest packet of the library; larger datagrams are not its.
pub(super) const PACKET_MAX: usize = 1432;
/// The size that every path carries.
pub(super) const MTU_FIRST: usize = 1024;
const FRAGMENTED: u8 = 0x80;

/// Reads a packet. Its kind decides how long it must be.
pub(super) fn decode(bytes: &[u8]) -> Option<Received<'_>> {
    let (first, rest) = bytes.split_first()?;
    let (kind, connection, is_fragment) = (first & 0x1F, (first >> 5) & 3, first & FRAGMENTED != 0);
    let packet = match kind {
        UNRELIABLE => Packet::Unreliable(rest),
        CHANNELED | RELIABLE_MERGED | ACKNOWLEDGE => channel_packet(kind, is_fragment, rest)?,
        PING => Packet::Ping { number: u16::from_le_bytes(*rest.first_chunk()?) },
        PONG if rest.len() >= 10 => Packet::Pong { number: u16::from_le_bytes(*rest.first_chunk()?) },
        CONNECT_ACCEPT => Packet::ConnectAccept(accept(rest)?),
        DISCONNECT => {
            let (time, data) = rest.split_first_chunk()?;
            Packet::Disconnect { time: i64::from_le_bytes(*time), data }
        }
        MTU_CHECK => Packet::MtuCheck(bytes),
        MERGED => Packet::Merged(rest),
        PEER_NOT_FOUND => Packet::PeerNotFound(rest),
        INVALID_PROTOCOL => Packet::InvalidProtocol,
        PONG | KINDS..=u8::MAX => return None,
        _ => Packet::Ignored,
    };
    Some(Received { connection, packet })
}

fn channel_packet(kind: u8, is_fragment: bool, rest: &[u8]) -> Option<Packet<'_>> {
    let (header, data) = rest.split_first_chunk::<3>()?;
    let sequence = Sequence::decode(u16::from_le_bytes([header[0], header[1]]))?;
    let channel = header[2];
    let content = match kind {
        ACKNOWLEDGE => return Some(Packet::Acknowledge { sequence, channel, bits: data }),
        RELIABLE_MERGED => Content::Messages(data),
        _ if is_fragment => {
            let (place, data) = data.split_first_chunk::<FRAGMENT_HEADER>()?;
            let number = |at: usize| u16::from_le_bytes([place[at], place[at + 1]]);
            let fragment = Fragment { message: number(0), part: number(2), parts: number(4) };
            Content::Fragment(fragment, data)
        }
        _ => Content::Message(data),
    };
    Some(Packet::Channeled { sequence, channel, content })
}

fn accept(rest: &[u8]) -> Option<Accept> {
    let rest: &[u8; 14] = rest.try_into().ok()?;
    let (time, rest) = rest.split_first_chunk::<8>()?;
    let [connection, is_reused, peer @ ..] = rest else { return None };
    let accept = Accept {
        time: i64::from_le_bytes(*time),
        connection: *connection,
        peer: i32::from_le_bytes(peer.try_into().ok()?),
    };
    (accept.connection < 4 && *is_reused <= 1 && accept.peer >= 0).then_some(accept)
}

/// The parts of `Merged` and of `ReliableMerged`, each after its length in 2 bytes. Ends early at an invalid length,
/// after which `is_valid` is false.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    rest: &'a [u8],
    pub(super) is_valid: bool,
}

impl<'a> Parts<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Parts { rest, is_valid: true }
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() || !self.is_valid {
            return None;
        }
        let part = self.rest.split_first_chunk().and_then(|(length, rest)| {
            let length = usize::from(u16::from_le_bytes(*length));
            rest.split_at_checked(length).filter(|_| length > 0)
        });
        self.is_valid = part.is_some();
        let (part, rest) = part?;
        self.rest = rest;
        Some(part)
    }
}

/// The header of a packet of a channel. The connection's number is added when it leaves.
pub(super) fn channel_header(kind: u8, sequence: Sequence, channel: u8) -> Vec<u8> {
    let [low, high] = sequence.encode();
    vec![kind, low, high, channel]
}

/// A packet with a fragment.
pub(super) fn fragment_packet(sequence: Sequence, channel: u8, fragment: Fragment, data: &[u8]) -> Vec<u8> {
    let mut packet = channel_header(CHANNELED | FRAGMENTED, sequence, channel);
    for number in [fragment.message, fragment.part, fragment.parts] {
        packet.extend_from_slice(&number.to_le_bytes());
    }
    packet.extend_from_slice(data);
    packet
}

/// The first byte of a packet of that connection.
pub(super) fn first_byte(kind: u8, connection: u8) -> u8 {
    kind | connection << 5
}

/// The request to connect. `address` is the server's, as the system's `sockaddr` has it; `key` is a string of the
/// library's, which servers compare.
pub(super) fn connect_request(time: i64, address: &[u8], key: &str) -> Vec<u8> {
    let mut packet = vec![CONNECT_REQUEST];
    packet.extend_from_slice(&PROTOCOL_ID.to_le_bytes());
    packet.extend_from_slice(&time.to_le_bytes());
    // The number of the server at the client, which has one server only.
    packet.extend_from_slice(&0_i32.to_le_bytes());
    packet.push(address.len() as u8);
    packet.extend_from_slice(address);
    let length = if key.is_empty() { 0 } else { key.len() as u16 + 1 };
    packet.extend_from_slice(&length.to_le_bytes());
    packet.extend_from_slice(key.as_bytes());
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_bytes_of_the_original() {
        let request = connect_request(0x0102, &[9; 16], "key");
        let mut expected = vec![6, 13, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16];
        expected.extend_from_slice(&[9; 16]);
        expected.extend_from_slice(&[4, 0, b'k', b'e', b'y']);
        assert_eq!(request, expected);
        assert_eq!(connect_request(1, &[0; 16], "").len(), 18 + 16 + 2);
    }

    #[test]
    fn packets_are_read_with_their_connection() {
        let pong = [first_byte(PONG, 2), 7, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(decode(&pong), Some(Received { connection: 2, packet: Packet::Pong { number: 7 } }));
        let fragment = fragment_packet(Sequence::default(), 2, Fragment { message: 5, part: 1, parts: 3 }, b"x");
        let content = Content::Fragment(Fragment { message: 5, part: 1, parts: 3 }, b"x");
        let packet = Packet::Channeled { sequence: Sequence::default(), channel: 2, content };
        assert_eq!(decode(&fragment), Some(Received { connection: 0, packet }));
    }

    #[test]
    fn packets_that_are_too_short_or_unknown_are_none() {
        for bytes in
            [&[][..], &[CHANNELED, 0, 0], &[PING, 0], &[PONG, 0, 0], &[DISCONNECT, 0], &[19], &[CONNECT_ACCEPT]]
        {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
        assert_eq!(decode(&[CHANNELED | FRAGMENTED, 0, 0, 0, 1, 2, 3, 4, 5]), None);
        assert_eq!(decode(&[CHANNELED, 0, 0x80, 0]), None, "a sequence number has 15 bits");
    }

    #[test]
    fn parts_end_at_an_invalid_length() {
        let mut parts = Parts::new(&[1, 0, 7, 2, 0, 8, 9]);
        assert_eq!((parts.next(), parts.next(), parts.next()), (Some(&[7][..]), Some(&[8, 9][..]), None));
        assert!(parts.is_valid);
        for invalid in [&[0, 0][..], &[3, 0, 1], &[1]] {
            let mut parts = Parts::new(invalid);
            assert_eq!(parts.next(), None);
            assert!(!parts.is_valid);
        }
    }
}
