//! The view of an attacker that knows the key of a plain connection: it can read and forge packets.

use super::glass;
use skipstone_proto::Plain;
use skipstone_proto::wire::cursor::{Reader, Writer};
use skipstone_proto::wire::datagram::{self, Datagram, HEADER_BYTES, SUITE_PLAIN};
use skipstone_proto::wire::frame::{Frame, Frames};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of the tag of a packet in clear.
const TAG_BYTES: usize = 8;

/// The key of a plain connection, once its CHALLENGE was seen, or the key of a glass suite; and the packet numbers seen
/// so far.
#[derive(Default)]
pub(crate) struct Eavesdropper {
    plain: Option<Plain>,
    /// For each receiver's id, one more than the greatest number.
    next: BTreeMap<[u8; 3], u64>,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) messages: usize,
    pub(crate) is_late: bool,
    pub(crate) is_repair: bool,
}

/// A packet with its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) number: u64,
    /// Its messages, in their order.
    pub(crate) messages: Vec<(u16, Vec<u8>)>,
    /// The packets that its REPAIR covers.
    pub(crate) covers: Vec<u64>,
    pub(crate) is_late: bool,
    /// The time that its acknowledgement waited, as it states, in µs.
    pub(crate) ack_delay_us: Option<u64>,
}

impl Eavesdropper {
    /// A packet that passes by.
    pub(crate) fn look(&mut self, bytes: &[u8]) -> Option<Opened> {
        let (number, frames) = self.open(bytes)?;
        let mut packet = Opened { number, ..Opened::default() };
        for frame in Frames::new(&bytes[frames]).flatten() {
            match frame {
                Frame::Message(message) => packet.messages.push((message.channel, message.payload.to_vec())),
                Frame::Late { .. } => packet.is_late = true,
                Frame::Ack(ack) => packet.ack_delay_us = Some(ack.delay_us),
                Frame::Repair(repair) => packet.covers.extend(repair.covers(number).ok()?.flatten().flatten()),
                _ => {}
            }
        }
        Some(packet)
    }

    /// Looks at a datagram that passes by; `None` if it is not a packet.
    pub(crate) fn see(&mut self, bytes: &[u8]) -> Option<Seen> {
        let (_, frames) = self.open(bytes)?;
        let mut seen = Seen::default();
        for frame in Frames::new(&bytes[frames]) {
            match frame.ok()? {
                Frame::Message(_) => seen.messages += 1,
                Frame::Late { .. } => seen.is_late = true,
                Frame::Repair(_) => seen.is_repair = true,
                _ => {}
            }
        }
        Some(seen)
    }

    /// The number of a packet, and the place of its frames.
    fn open(&mut self, bytes: &[u8]) -> Option<(u64, Range<usize>)> {
        if let Ok(Datagram::Challenge(challenge)) = datagram::decode(bytes) {
            let is_plain = challenge.suite == SUITE_PLAIN;
            self.plain = Some(if is_plain { Plain::new(challenge.cookie) } else { glass::seal() });
        }
        let next = self.next.entry(bytes.get(1..4)?.try_into().ok()?).or_default();
        let opened = self.plain.as_ref()?.open(bytes, HEADER_BYTES, *next)?;
        let mut reader = Reader::new(&bytes[opened.clone()]);
        let number = reader.truncated().ok()?.resolve(*next);
        *next = (*next).max(number + 1);
        Some((number, opened.end - reader.remaining()..opened.end))
    }

    /// Rewrites a packet after its id, and seals it again: `write` gets its number and its frames, writes at most
    /// `bytes_max`, its number first, and returns that number; `None` leaves the packet unchanged. False if it is not a
    /// packet, or stays unchanged.
    pub(crate) fn rewrite(
        &mut self,
        datagram: &mut Vec<u8>,
        bytes_max: usize,
        write: impl FnOnce(u64, &[u8], &mut Writer<'_>) -> Option<u64>,
    ) -> bool {
        let Some((number, frames)) = self.open(datagram) else { return false };
        let frames = datagram[frames].to_vec();
        let mut packet = vec![0; bytes_max];
        let mut writer = Writer::new(&mut packet);
        let Some(number) = write(number, &frames, &mut writer) else { return false };
        let end = HEADER_BYTES + writer.len();
        datagram.truncate(HEADER_BYTES);
        datagram.extend_from_slice(writer.written());
        datagram.resize(end + TAG_BYTES, 0);
        self.plain.as_ref().expect("it has opened the packet").seal(datagram, HEADER_BYTES..end, number);
        true
    }

    /// Changes a byte of the symbol in a packet with a REPAIR, and seals it again. False if there is no REPAIR.
    pub(crate) fn lie(&mut self, bytes: &mut [u8], at: usize, flip: u8) -> bool {
        let Some((number, frames)) = self.open(bytes) else { return false };
        let end = frames.end;
        let symbol = Frames::new(&bytes[frames]).flatten().find_map(|frame| match frame {
            Frame::Repair(repair) => Some(repair.symbol.len()),
            _ => None,
        });
        let Some(symbol) = symbol else { return false };
        bytes[end - 1 - at % symbol] ^= flip;
        self.plain.as_ref().expect("it has opened the packet").seal(bytes, HEADER_BYTES..end, number);
        true
    }
}
