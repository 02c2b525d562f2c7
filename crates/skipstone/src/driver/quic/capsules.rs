//! The content of a client's CONNECT stream after the request: DATA frames of HTTP/3 (RFC 9114, section 7.2.1) that
//! contain capsules (RFC 9297, section 3.2). Only the capsule that closes the session matters; all others are skipped,
//! and only their heads are kept.

use web_transport_proto::{Frame, VarInt};

/// Reads a CONNECT stream, which may arrive in any pieces.
#[derive(Debug, Default)]
pub(super) struct Capsules {
    frames: Splitter,
    capsules: Splitter,
    /// The received part of the value of the capsule that closes the session.
    close: Vec<u8>,
}

/// How a client closed its session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionClose {
    pub(super) code: u32,
    pub(super) reason: String,
}

/// An invalid capsule: the session ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadCapsule;

/// CLOSE_WEBTRANSPORT_SESSION (draft-ietf-webtrans-http3, section 6).
const CLOSE_SESSION: u64 = 0x2843;
/// Bytes of its code and of the longest reason.
const CLOSE_BYTES_MAX: usize = 4 + 1_024;

impl Capsules {
    /// Handles the next bytes. `Some` if they close the session.
    pub(super) fn handle(&mut self, mut bytes: &[u8]) -> Result<Option<SessionClose>, BadCapsule> {
        while let Some(frame) = self.frames.next(&mut bytes) {
            let mut data = if frame.kind == Frame::DATA.0.into_inner() { frame.bytes } else { &[] };
            while let Some(capsule) = self.capsules.next(&mut data) {
                if capsule.kind != CLOSE_SESSION {
                    continue;
                }
                self.close.extend_from_slice(capsule.bytes);
                if self.close.len() > CLOSE_BYTES_MAX {
                    return Err(BadCapsule);
                }
                if capsule.is_last {
                    return Ok(Some(self.closed()?));
                }
            }
        }
        Ok(None)
    }

    /// Bytes of what is incomplete.
    pub(super) fn kept_bytes(&self) -> usize {
        self.frames.head.len() + self.capsules.head.len() + self.close.len()
    }

    fn closed(&self) -> Result<SessionClose, BadCapsule> {
        let (code, reason) = self.close.split_first_chunk().ok_or(BadCapsule)?;
        Ok(SessionClose { code: u32::from_be_bytes(*code), reason: String::from_utf8_lossy(reason).into_owned() })
    }
}

/// Splits a sequence of elements, each a type, a length and a value of that length, which may arrive in any pieces.
#[derive(Debug, Default)]
struct Splitter {
    /// The received part of type and length.
    head: Vec<u8>,
    /// The type of the current element, and the remaining length of its value.
    current: Option<(u64, u64)>,
}

/// A piece of an element's value.
struct Piece<'a> {
    kind: u64,
    bytes: &'a [u8],
    is_last: bool,
}

impl Splitter {
    /// The next piece; `None` if there is none without more bytes.
    fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Piece<'a>> {
        let (kind, left) = match self.current {
            Some(current) => current,
            None => self.next_head(bytes)?,
        };
        if left > 0 && bytes.is_empty() {
            self.current = Some((kind, left));
            return None;
        }
        let (taken, rest) = bytes.split_at(usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len()));
        *bytes = rest;
        let left = left - taken.len() as u64;
        self.current = (left > 0).then_some((kind, left));
        Some(Piece { kind, bytes: taken, is_last: left == 0 })
    }

    /// A head has 16 bytes at most.
    fn next_head(&mut self, bytes: &mut &[u8]) -> Option<(u64, u64)> {
        while let Some((byte, rest)) = bytes.split_first() {
            self.head.push(*byte);
            *bytes = rest;
            if let Some(head) = head_of(&self.head) {
                self.head.clear();
                return Some(head);
            }
        }
        None
    }
}

fn head_of(mut bytes: &[u8]) -> Option<(u64, u64)> {
    let kind = VarInt::decode(&mut bytes).ok()?;
    let length = VarInt::decode(&mut bytes).ok()?;
    Some((kind.into_inner(), length.into_inner()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use web_transport_proto::Capsule;

    fn data(payload: &[u8]) -> Vec<u8> {
        element(0, payload)
    }

    fn element(kind: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        VarInt::from_u32(kind).encode(&mut bytes);
        VarInt::from_u32(payload.len() as u32).encode(&mut bytes);
        bytes.extend_from_slice(payload);
        bytes
    }

    fn close(code: u32, reason: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        Capsule::CloseWebTransportSession { code, reason: reason.into() }.encode(&mut bytes);
        bytes
    }

    #[test]
    fn a_close_capsule_is_found_however_it_is_split() {
        let capsules = [element(0x40, &[7; 300]), element(0x17, &[]), close(9, "gone home")].concat();
        // Grease and trailers between the frames, and a capsule in two frames.
        let (one, other) = capsules.split_at(311);
        let stream = [element(0x21, &[1; 40]), data(one), data(&[]), element(1, &[0; 9]), data(other)].concat();
        for length in 1..stream.len() {
            let mut reader = Capsules::default();
            let mut found = None;
            for piece in stream.chunks(length) {
                found = found.or(reader.handle(piece).expect("nothing is wrong"));
                assert!(reader.frames.head.len() < 16 && reader.capsules.head.len() < 16);
            }
            assert_eq!(found, Some(SessionClose { code: 9, reason: "gone home".into() }));
        }
    }

    #[test]
    fn a_close_capsule_of_invalid_length_is_malformed() {
        for (length, is_good) in [(0, false), (3, false), (4, true), (1_028, true), (1_029, false), (70_000, false)] {
            let stream = data(&element(CLOSE_SESSION as u32, &vec![b'x'; length]));
            let found = Capsules::default().handle(&stream);
            assert_eq!(found.is_ok(), is_good, "{length}");
        }
    }

    #[test]
    fn invalid_utf8_in_a_reason_is_replaced() {
        let found = Capsules::default().handle(&data(&element(CLOSE_SESSION as u32, &[0, 0, 0, 1, 0xFF])));
        assert_eq!(found, Ok(Some(SessionClose { code: 1, reason: "\u{FFFD}".into() })));
    }

    #[test]
    fn an_endless_capsule_costs_no_memory() {
        let mut reader = Capsules::default();
        reader.handle(&[0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]).expect("a frame of 4 EB");
        reader.handle(&[0x41, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]).expect("a capsule of 4 EB");
        for _ in 0..100 {
            assert_eq!(reader.handle(&[0x28; 10_000]), Ok(None));
        }
        assert!(reader.close.is_empty());
    }
}
