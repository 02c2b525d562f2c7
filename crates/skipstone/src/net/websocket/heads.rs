//! Counts the WebSocket frames or TLS records in a stream of bytes. Each has a cost of reading, whatever its content,
//! and the layer that reads them does not report their number.

/// Finds the beginnings of frames or records in a stream of bytes.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    framing: Framing,
    /// The first bytes of an incomplete head.
    partial: [u8; HEAD_BYTES_MAX],
    partial_bytes: usize,
    /// Bytes to the next head.
    body_left: u64,
}

/// The kind of element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Frames of WebSocket (RFC 6455, section 5.2).
    WebSocket,
    /// Records of TLS (RFC 8446, section 5.1).
    Tls,
}

/// Of a masked frame with a length of eight bytes.
const HEAD_BYTES_MAX: usize = 14;
const TLS_HEAD_BYTES: usize = 5;

impl Framing {
    /// Bytes of the head that begins with these bytes, and of its content; `None` if these bytes are too few.
    fn head(self, bytes: &[u8]) -> Option<(usize, u64)> {
        match self {
            Framing::WebSocket => {
                let [_, second, rest @ ..] = bytes else { return None };
                let mask_bytes = if second & 0x80 != 0 { 4 } else { 0 };
                let (length_bytes, length) = match second & 0x7F {
                    126 => (2, u64::from(u16::from_be_bytes(*rest.first_chunk()?))),
                    127 => (8, u64::from_be_bytes(*rest.first_chunk()?)),
                    length => (0, u64::from(length)),
                };
                Some((2 + length_bytes + mask_bytes, length))
            }
            Framing::Tls => {
                let [_, _, _, length @ ..] = bytes.first_chunk::<TLS_HEAD_BYTES>()?;
                Some((TLS_HEAD_BYTES, u64::from(u16::from_be_bytes(*length))))
            }
        }
    }
}

impl Heads {
    pub(super) fn of(framing: Framing) -> Self {
        Heads { framing, partial: [0; HEAD_BYTES_MAX], partial_bytes: 0, body_left: 0 }
    }

    /// How many heads were completed by these bytes.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) -> u64 {
        let mut heads = 0;
        loop {
            let skipped = self.body_left.min(bytes.len() as u64);
            self.body_left -= skipped;
            bytes = &bytes[skipped as usize..];
            if bytes.is_empty() {
                return heads;
            }
            let room = &mut self.partial[self.partial_bytes..];
            let taken = room.len().min(bytes.len());
            room[..taken].copy_from_slice(&bytes[..taken]);
            let seen = self.partial_bytes + taken;
            let Some((head_bytes, body)) = self.framing.head(&self.partial[..seen]) else {
                self.partial_bytes = seen;
                return heads;
            };
            // WHY: the head may be longer than what has come of it, by a mask without information: the mask is skipped
            // with the body.
            bytes = &bytes[head_bytes.saturating_sub(self.partial_bytes).min(bytes.len())..];
            self.body_left = body.saturating_add(head_bytes.saturating_sub(seen) as u64);
            self.partial_bytes = 0;
            heads += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: usize, is_masked: bool) -> Vec<u8> {
        let mask = if is_masked { 0x80 } else { 0 };
        let mut bytes = vec![0x82];
        match length {
            0..126 => bytes.push(mask | length as u8),
            126..65_536 => {
                bytes.push(mask | 126);
                bytes.extend((length as u16).to_be_bytes());
            }
            _ => {
                bytes.push(mask | 127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.resize(bytes.len() + length + if is_masked { 4 } else { 0 }, 0xFF);
        bytes
    }

    fn record(length: usize) -> Vec<u8> {
        let [high, low] = (length as u16).to_be_bytes();
        let mut bytes = vec![23, 3, 3, high, low];
        bytes.resize(TLS_HEAD_BYTES + length, 0xFF);
        bytes
    }

    #[test]
    fn frames_are_counted_equally_however_the_bytes_are_split() {
        const LENGTHS: [usize; 12] = [0, 1, 0, 125, 126, 127, 0, 65_535, 65_536, 0, 300, 0];
        let frames = |is_masked: bool| LENGTHS.into_iter().map(move |length| frame(length, is_masked)).collect();
        let records = LENGTHS.into_iter().map(|length| record(length.min(16_640))).collect();
        let streams: [(Framing, Vec<Vec<u8>>); 3] =
            [(Framing::WebSocket, frames(true)), (Framing::WebSocket, frames(false)), (Framing::Tls, records)];
        for (framing, pieces) in streams {
            let stream = pieces.concat();
            for step in (1..40).chain([4_096, stream.len()]) {
                let mut heads = Heads::of(framing);
                let count: u64 = stream.chunks(step).map(|part| heads.pass(part)).sum();
                assert_eq!(count, LENGTHS.len() as u64, "{framing:?}, {step} bytes at a time");
                assert_eq!((heads.body_left, heads.partial_bytes), (0, 0), "{framing:?} ends where its stream does");
            }
        }
    }

    #[test]
    fn each_frame_counts_once_complete() {
        let mut heads = Heads::of(Framing::WebSocket);
        let pings = frame(0, true).repeat(1_000);
        assert_eq!(heads.pass(&pings), 1_000);
        assert_eq!((heads.pass(&[0x82]), heads.pass(&[0x80])), (0, 1), "a length of nothing is known before its mask");
    }
}
