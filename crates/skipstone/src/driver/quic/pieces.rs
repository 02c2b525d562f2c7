//! The bytes of a stream in order, from pieces in any order. QUIC keeps early bytes in their packets, with an overhead
//! of some hundred bytes for each; here each piece is counted by its memory, and their number is limited.

use bytes::Bytes;
use std::collections::BTreeMap;

/// A stream's pieces. No byte is returned twice.
#[derive(Debug, Default)]
pub(super) struct StreamPieces {
    /// Number of bytes that were returned.
    next: u64,
    /// Early pieces, by their offset.
    early: BTreeMap<u64, Box<[u8]>>,
    early_bytes: usize,
}

/// Memory of a piece in addition to its bytes.
const PIECE_BYTES: usize = 96;

/// The stream would exceed its limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

impl StreamPieces {
    /// Takes a piece, and returns it if it is the next one; [`StreamPieces::pop`] then returns those after it. An early
    /// piece is kept within this limit of memory.
    pub(super) fn push(&mut self, offset: u64, bytes: Bytes, room: usize) -> Result<Option<Bytes>, TooMany> {
        if offset == self.next {
            self.next += bytes.len() as u64;
            return Ok(Some(bytes));
        }
        if PIECE_BYTES + bytes.len() > room {
            return Err(TooMany);
        }
        self.early_bytes += bytes.len();
        self.early.insert(offset, bytes[..].into());
        Ok(None)
    }

    /// The next piece, if it arrived early.
    pub(super) fn pop(&mut self) -> Option<Bytes> {
        let bytes = self.early.remove(&self.next)?;
        self.early_bytes -= bytes.len();
        self.next += bytes.len() as u64;
        Some(bytes.into())
    }

    /// Gives up the pieces that arrived early.
    pub(super) fn forget_early(&mut self) {
        self.early.clear();
        self.early_bytes = 0;
    }

    /// Memory of the waiting pieces.
    pub(super) fn held_bytes(&self) -> usize {
        self.early_bytes + PIECE_BYTES * self.early.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_proto::rng::Rng;

    #[test]
    fn bytes_are_in_order_however_the_pieces_arrive() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let whole: Vec<u8> = (0..5_000_u32).map(|at| at as u8).collect();
            let mut offset = 0;
            let mut sent: Vec<(u64, Bytes)> = Vec::new();
            while offset < whole.len() {
                let length = (1 + rng.below(700) as usize).min(whole.len() - offset);
                sent.push((offset as u64, Bytes::copy_from_slice(&whole[offset..offset + length])));
                offset += length;
            }
            for at in (1..sent.len()).rev() {
                sent.swap(at, rng.below(at as u32 + 1) as usize);
            }
            let (mut pieces, mut came) = (StreamPieces::default(), Vec::new());
            for (offset, bytes) in sent {
                let mut next = pieces.push(offset, bytes, usize::MAX).expect("there is room");
                while let Some(bytes) = next {
                    came.extend_from_slice(&bytes);
                    next = pieces.pop();
                }
            }
            assert_eq!((came == whole, pieces.held_bytes()), (true, 0), "seed {seed}");
        }
    }

    #[test]
    fn waiting_pieces_are_charged_their_memory() {
        let (mut pieces, byte) = (StreamPieces::default(), Bytes::from_static(b"x"));
        for at in 0..30 {
            assert_eq!(pieces.push(1 + 2 * at, byte.clone(), 3_000 - pieces.held_bytes()), Ok(None));
        }
        assert_eq!(pieces.held_bytes(), 30 * (PIECE_BYTES + 1));
        assert_eq!(pieces.push(9_999, byte.clone(), 3_000 - pieces.held_bytes()), Err(TooMany));
        assert_eq!(pieces.push(0, byte, 0), Ok(Some(Bytes::from_static(b"x"))), "the next one takes nothing");
    }
}
