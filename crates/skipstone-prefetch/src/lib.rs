//! Prefetching: starts to load memory into the processor's caches before it is read, while other work is done. The
//! state of a thousand connections does not fit into the caches; a caller that serves one after the other knows the
//! next one.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![no_std]

/// Starts to fetch a value, at most [`BYTES_MAX`] of it. The function does not wait, reads nothing and changes nothing.
/// On a processor without a supported prefetch instruction it does nothing.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    let begin = core::ptr::from_ref(value).cast::<u8>();
    for offset in lines(begin.addr(), size_of_val(value)) {
        fetch_line(begin.wrapping_add(offset));
    }
}

/// Maximum number of bytes that are prefetched: with more, the first ones would be evicted before they are used.
pub const BYTES_MAX: usize = 4_096;

/// Bytes of a cache line on common processors.
const LINE: usize = 64;

/// The offsets of the cache lines within a value that begins at this address; the first line begins before the value.
#[inline]
fn lines(begin: usize, bytes: usize) -> impl Iterator<Item = usize> {
    let to_second = LINE - begin % LINE;
    let bytes = bytes.clamp(1, BYTES_MAX);
    core::iter::once(0).chain((to_second..bytes).step_by(LINE))
}

/// The part of an item that is prefetched, by the distance of the item's turn. A pointer's target is known only once
/// the pointer itself is in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The item itself.
    Itself,
    /// The values that the item points to.
    Pointees,
    /// The values that those point to.
    Beyond,
}

impl Step {
    /// The first step is taken when the item's turn is farthest away, the last step when its turn is next.
    pub const ALL: [Step; 3] = [Step::Itself, Step::Pointees, Step::Beyond];
}

/// The next items of a round through many, for prefetching. An item that is skipped later does no harm.
#[derive(Debug)]
pub struct Lookahead<T>([Option<T>; Step::ALL.len()]);

impl<T> Default for Lookahead<T> {
    fn default() -> Self {
        Lookahead([const { None }; Step::ALL.len()])
    }
}

impl<T: Copy> Lookahead<T> {
    /// Moves each item one turn nearer and appends `last`; calls `fetch` with each item and its step. The caller calls
    /// this once per step before the first turn, and then once in each turn: the look-ahead is that many turns long.
    #[inline]
    pub fn advance(&mut self, last: Option<T>, mut fetch: impl FnMut(T, Step)) {
        self.0.rotate_right(1);
        self.0[0] = last;
        for (item, step) in self.0.iter().zip(Step::ALL) {
            if let Some(item) = item {
                fetch(*item, step);
            }
        }
    }

    /// The item whose turn comes last.
    #[inline]
    pub fn last(&self) -> Option<T> {
        self.0[0]
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "std has no safe way to say PREFETCHT0")]
#[inline]
fn fetch_line(at: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 has the instruction, which faults at no address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "std has no safe way to say PRFM")]
#[inline]
fn fetch_line(at: *const u8) {
    // SAFETY: the instruction is part of the base set, faults at no address and changes no memory, register or flag.
    unsafe { core::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, readonly, preserves_flags)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn fetch_line(_: *const u8) {}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn each_cache_line_of_a_value_is_fetched_exactly_once() {
        for begin in 0..200 {
            for bytes in [1, 2, 63, 64, 65, 2_144, BYTES_MAX] {
                let fetched: Vec<usize> = lines(begin, bytes).map(|offset| (begin + offset) / LINE).collect();
                let expected: Vec<usize> = (begin / LINE..=(begin + bytes - 1) / LINE).collect();
                assert_eq!(fetched, expected, "{bytes} bytes at {begin}");
            }
        }
    }

    #[test]
    fn an_empty_value_fetches_one_line_and_a_huge_one_is_capped() {
        assert!(lines(70, 0).eq([0]));
        assert_eq!(lines(0, 1 << 30).count(), BYTES_MAX / LINE);
        prefetch("");
        prefetch::<dyn core::fmt::Debug>(&[1; 2_000]);
    }

    #[test]
    fn each_item_takes_every_step_once_and_in_order_before_its_turn() {
        let (mut ahead, mut taken) = (Lookahead::default(), Vec::new());
        let mut coming = 0..5;
        for _ in Step::ALL {
            ahead.advance(coming.next(), |item, step| taken.push((item, step)));
        }
        for turn in 0..5 {
            ahead.advance(coming.next(), |item, step| taken.push((item, step)));
            let steps: Vec<Step> = taken.iter().filter(|(item, _)| *item == turn).map(|(_, step)| *step).collect();
            assert_eq!(steps, Step::ALL, "{turn}");
            let nearest = taken.iter().filter(|(_, step)| *step == Step::Beyond).count();
            assert_eq!(nearest, (turn + 2).min(5), "the next one is there, and nobody after him");
        }
        assert_eq!(ahead.last(), None);
    }
}
