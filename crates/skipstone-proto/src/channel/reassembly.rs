//! Joins the fragments of one message. Fragments may arrive in any order, overlap, and be divided differently each
//! time.

use super::footprint::{allocated, map_bytes};
use bytes::Bytes;
use std::collections::BTreeMap;

/// A partly received message. It holds no more memory than the received bytes.
#[derive(Debug)]
pub(crate) struct Reassembly {
    total: u32,
    received: u32,
    pieces: BTreeMap<u32, Bytes>,
    /// Memory of the pieces' bytes.
    piece_bytes: u64,
    /// Whether the message was incomplete at an earlier call of [`Reassembly::grow_old`].
    is_old: bool,
}

/// The cost of each piece besides its bytes.
const PIECE_COST: u64 = 64;

impl Reassembly {
    /// An empty message of this many bytes.
    pub(crate) fn new(total: u32) -> Self {
        Reassembly { total, received: 0, pieces: BTreeMap::new(), piece_bytes: 0, is_old: false }
    }

    /// Length of the whole message.
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// Bytes of the receive window that the message occupies: the bytes that arrived, and the overhead of each piece.
    pub(crate) fn cost(&self) -> u64 {
        u64::from(self.received) + PIECE_COST * (1 + self.pieces.len() as u64)
    }

    /// Memory of the pieces.
    pub(crate) fn footprint(&self) -> u64 {
        map_bytes::<u32, Bytes>(self.pieces.len()) + self.piece_bytes
    }

    /// Marks the message as old. Returns whether it was old already.
    pub(crate) fn grow_old(&mut self) -> bool {
        core::mem::replace(&mut self.is_old, true)
    }

    /// Bytes that have arrived.
    pub(crate) fn received(&self) -> u32 {
        self.received
    }

    /// Adds a fragment; returns how many of its bytes were new. The caller has checked that it lies within the total.
    pub(crate) fn insert(&mut self, offset: u32, payload: &[u8]) -> u32 {
        let end = offset + payload.len() as u32;
        debug_assert!(end <= self.total, "a fragment lies within its message");
        let before = self.received;
        let mut at = match self.pieces.range(..=offset).next_back() {
            Some((start, piece)) => offset.max(start + piece.len() as u32),
            None => offset,
        };
        while at < end {
            let next = self.pieces.range(at..).next().map(|(start, piece)| (*start, start + piece.len() as u32));
            let (gap_end, resume) = match next {
                Some((start, after)) if start < end => (start, after),
                _ => (end, end),
            };
            if at < gap_end {
                let piece = &payload[(at - offset) as usize..(gap_end - offset) as usize];
                self.pieces.insert(at, Bytes::copy_from_slice(piece));
                self.piece_bytes += allocated(piece.len());
                self.received += gap_end - at;
            }
            at = resume;
        }
        self.received - before
    }

    /// The whole message, once every byte has arrived.
    pub(crate) fn take_if_complete(&mut self) -> Option<Bytes> {
        if self.received < self.total {
            return None;
        }
        let mut whole = Vec::with_capacity(self.total as usize);
        self.piece_bytes = 0;
        core::mem::take(&mut self.pieces).values().for_each(|piece| whole.extend_from_slice(piece));
        Some(whole.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn fragments_cut_anywhere_in_any_order_with_overlaps_rebuild_the_message() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let message: Vec<u8> = (0..1 + rng.below(400)).map(|_| rng.next_u64() as u8).collect();
            let mut reassembly = Reassembly::new(message.len() as u32);
            let mut fresh = 0;
            let whole = loop {
                let from = rng.below(message.len() as u32) as usize;
                let to = from + 1 + rng.below((message.len() - from) as u32) as usize;
                fresh += reassembly.insert(from as u32, &message[from..to]);
                assert_eq!(fresh, reassembly.received());
                if let Some(whole) = reassembly.take_if_complete() {
                    break whole;
                }
            };
            assert_eq!(whole, message, "seed {seed}");
            assert_eq!(fresh, message.len() as u32, "no byte counts twice");
        }
    }
}
