//! The memory that received messages really occupy while they cannot be delivered: the window counts only the bytes
//! that a sender can know, without maps, nodes and channels that hold one byte each.

use super::reassembly::Reassembly;
use bytes::Bytes;

/// A channel that holds something back: the part that is allocated for it, and a leaf of the map of early messages.
pub(super) const HELD_BYTES: u64 = 256 + leaf::<u64, Bytes>();
/// An incomplete message: its place in the map of its channel, and a leaf of the map of its fragments.
pub(super) const PARTIAL_BYTES: u64 = leaf::<u64, Reassembly>() / 4 + leaf::<u32, Bytes>();
/// A held byte of the window stands for so many of memory: a map's entries fill its nodes to 5 of 11 at least, and the
/// allocator rounds up.
pub(super) const PER_WINDOW_BYTE: u64 = 2;

/// A leaf of a B-tree: 11 entries and some.
const fn leaf<K, V>() -> u64 {
    11 * (size_of::<K>() as u64 + size_of::<V>() as u64) + 32
}
