//! Memory that is read soon, on its way into the processor's caches while something else is done. A thousand connections do
//! not fit in them; who serves one after the other knows which is next.
#![no_std]

/// Begins to fetch a value, at most [`BYTES_MAX`] of it. It does not wait, reads nothing and changes nothing; where the
/// processor, or this crate, knows no such instruction, nothing happens.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    let begin = core::ptr::from_ref(value).cast::<u8>();
    let first = begin.addr() % LINE;
    let end = first + size_of_val(value).clamp(1, BYTES_MAX);
    for offset in (0..end).step_by(LINE) {
        fetch_line(begin.wrapping_add(offset).wrapping_sub(first));
    }
}

/// More than this is not fetched: the first of it would be gone again before it is used.
pub const BYTES_MAX: usize = 4_096;

/// Bytes of a line in the caches of the processors that are common.
const LINE: usize = 64;

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
    use super::*;

    #[test]
    fn it_takes_any_value_and_changes_none() {
        let values = [1_u64; 2_000];
        for length in [0, 1, 9, values.len()] {
            prefetch(&values[..length]);
        }
        prefetch("");
        prefetch(&());
        prefetch::<dyn core::fmt::Debug>(&values);
        assert_eq!(values, [1; 2_000]);
    }
}
