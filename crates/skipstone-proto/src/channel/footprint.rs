//! The memory that received messages actually occupy while they cannot be delivered: the window counts only the bytes
//! that a sender knows, without maps, nodes and channels that hold one byte each.

/// Memory of an allocation of this many bytes: a header of 8 and steps of 16, at least 32 (glibc, malloc(3)). Zero
/// bytes allocate nothing.
pub(crate) const fn allocated(bytes: usize) -> u64 {
    if bytes == 0 {
        return 0;
    }
    let chunk = (bytes + ALLOCATION_HEADER).next_multiple_of(ALLOCATION_STEP);
    if chunk < ALLOCATION_MIN { ALLOCATION_MIN as u64 } else { chunk as u64 }
}

/// Memory of a B-tree map with this many entries. A leaf has space for 11. Ascending keys leave 7 in each leaf, and
/// keys in random order between 7 and 8; an inner node is a leaf with 12 edges.
pub(crate) const fn map_bytes<K, V>(entries: usize) -> u64 {
    let leaf = LEAF_ENTRIES * (size_of::<K>() + size_of::<V>()) + LEAF_HEADER;
    if entries <= LEAF_ENTRIES {
        return if entries == 0 { 0 } else { allocated(leaf) };
    }
    let leaves = entries.div_ceil(ENTRIES_OF_LEAF);
    let inner = leaves.div_ceil(ENTRIES_OF_LEAF);
    leaves as u64 * allocated(leaf) + inner as u64 * allocated(leaf + (LEAF_ENTRIES + 1) * size_of::<usize>())
}

const ALLOCATION_HEADER: usize = 8;
const ALLOCATION_STEP: usize = 16;
const ALLOCATION_MIN: usize = 32;
const LEAF_ENTRIES: usize = 11;
const ENTRIES_OF_LEAF: usize = 7;
/// A pointer to the parent, the place in it, and a count.
const LEAF_HEADER: usize = 16;
