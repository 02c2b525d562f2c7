//! What whoever knows the key of a plain connection can see, and forge.

use skipstone_proto::wire::cursor::Reader;
use skipstone_proto::wire::datagram::{self, Datagram, HEADER_BYTES};
use skipstone_proto::wire::frame::{Frame, Frames};
use skipstone_proto::{Plain, Session};

/// The key of a plain connection, once its CHALLENGE was seen.
#[derive(Default)]
pub(crate) struct Eavesdropper(Option<Plain>);

/// What a packet holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) messages: usize,
    pub(crate) is_late: bool,
    pub(crate) is_repair: bool,
}

/// A packet with what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) number: u64,
    /// Its messages, in their order.
    pub(crate) messages: Vec<(u16, Vec<u8>)>,
    /// The packets that its REPAIR covers.
    pub(crate) covers: Vec<u64>,
    pub(crate) is_late: bool,
}

impl Eavesdropper {
    /// A packet that passes by, whose number is near this one.
    pub(crate) fn look(&mut self, bytes: &[u8], near: u64) -> Option<Opened> {
        self.see(bytes)?;
        let mut bytes = bytes.to_vec();
        let opened = self.0.as_mut()?.open(&mut bytes, HEADER_BYTES)?;
        let mut reader = Reader::new(&bytes[opened]);
        let number = reader.truncated().ok()?.resolve(near);
        let mut packet = Opened { number, ..Opened::default() };
        for frame in Frames::new(reader.rest()).flatten() {
            match frame {
                Frame::Message(message) => packet.messages.push((message.channel, message.payload.to_vec())),
                Frame::Late { .. } => packet.is_late = true,
                Frame::Repair(repair) => packet.covers.extend(repair.covers(number).ok()?.flatten().flatten()),
                _ => {}
            }
        }
        Some(packet)
    }

    /// What passes by, if it is a packet.
    pub(crate) fn see(&mut self, bytes: &[u8]) -> Option<Seen> {
        if let Ok(Datagram::Challenge(challenge)) = datagram::decode(bytes) {
            self.0 = Some(Plain::new(challenge.nonce, challenge.cookie));
        }
        let mut bytes = bytes.to_vec();
        let opened = self.0.as_mut()?.open(&mut bytes, HEADER_BYTES)?;
        let mut reader = Reader::new(&bytes[opened]);
        reader.truncated().ok()?;
        let mut seen = Seen::default();
        for frame in Frames::new(reader.rest()) {
            match frame.ok()? {
                Frame::Message(_) => seen.messages += 1,
                Frame::Late { .. } => seen.is_late = true,
                Frame::Repair(_) => seen.is_repair = true,
                _ => {}
            }
        }
        Some(seen)
    }

    /// Changes a byte of the symbol in a packet with a REPAIR, and seals it again. False if it has none.
    pub(crate) fn lie(&mut self, bytes: &mut [u8], at: usize, flip: u8) -> bool {
        if !self.see(bytes).is_some_and(|seen| seen.is_repair) {
            return false;
        }
        let plain = self.0.as_mut().expect("it has opened the packet");
        let opened = plain.open(bytes, HEADER_BYTES).expect("it did before");
        let mut reader = Reader::new(&bytes[opened.clone()]);
        reader.truncated().expect("it has a number");
        let symbol = Frames::new(reader.rest()).flatten().find_map(|frame| match frame {
            Frame::Repair(repair) => Some(repair.symbol.len()),
            _ => None,
        });
        bytes[opened.end - 1 - at % symbol.expect("it has a repair")] ^= flip;
        plain.seal(bytes, opened);
        true
    }
}
