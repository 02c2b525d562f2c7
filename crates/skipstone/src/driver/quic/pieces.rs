//! The bytes of a stream in their order, from pieces that come in any. QUIC keeps what comes too early in the packets that it came
//! in, some hundred bytes for each of its own; here each piece is counted as what it holds, and they are few.

use bytes::Bytes;
use std::collections::BTreeMap;

/// A stream's pieces. No byte comes twice.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// How many bytes were given out.
    next: u64,
    /// What came too early, by where it begins.
    early: BTreeMap<u64, Box<[u8]>>,
    early_bytes: usize,
}

/// Pieces that may wait for one before them. A lost packet leaves no more than a window's packets behind it.
const EARLY_MAX: usize = 32;
/// Bytes of them: a stream's window.
const EARLY_BYTES_MAX: usize = super::config::STREAM_BYTES_MAX as usize;
/// What a piece takes beside its bytes.
const PIECE_BYTES: usize = 96;

/// More pieces than a stream may have wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMany;

impl Pieces {
    /// Takes a piece, and gives it back if it is the next one. Then [`Pieces::pop`] has those behind it.
    pub(super) fn push(&mut self, offset: u64, bytes: Bytes) -> Result<Option<Bytes>, TooMany> {
        if offset == self.next {
            self.next += bytes.len() as u64;
            return Ok(Some(bytes));
        }
        if self.early.len() >= EARLY_MAX || self.early_bytes + bytes.len() > EARLY_BYTES_MAX {
            return Err(TooMany);
        }
        self.early_bytes += bytes.len();
        self.early.insert(offset, bytes[..].into());
        Ok(None)
    }

    /// The next piece, if it came early.
    pub(super) fn pop(&mut self) -> Option<Bytes> {
        let bytes = self.early.remove(&self.next)?;
        self.early_bytes -= bytes.len();
        self.next += bytes.len() as u64;
        Some(bytes.into())
    }

    /// What waits, as memory.
    pub(super) fn held_bytes(&self) -> usize {
        self.early_bytes + PIECE_BYTES * self.early.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_proto::rng::Rng;

    #[test]
    fn bytes_are_in_order_however_the_pieces_come() {
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
            let (mut pieces, mut came) = (Pieces::default(), Vec::new());
            for (offset, bytes) in sent {
                let mut next = pieces.push(offset, bytes).expect("they are few");
                while let Some(bytes) = next {
                    came.extend_from_slice(&bytes);
                    next = pieces.pop();
                }
            }
            assert_eq!((came == whole, pieces.held_bytes()), (true, 0), "seed {seed}");
        }
    }

    #[test]
    fn few_wait_and_they_are_counted() {
        let mut pieces = Pieces::default();
        for at in 0..EARLY_MAX as u64 {
            assert_eq!(pieces.push(1 + 2 * at, Bytes::from_static(b"x")), Ok(None));
        }
        assert_eq!(pieces.held_bytes(), EARLY_MAX * (PIECE_BYTES + 1));
        assert_eq!(pieces.push(9_999, Bytes::from_static(b"x")), Err(TooMany));
        let long = Bytes::from(vec![0; EARLY_BYTES_MAX + 1]);
        assert_eq!(Pieces::default().push(1, long), Err(TooMany));
    }
}
