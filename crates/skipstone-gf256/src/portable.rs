//! The kernel for every processor: one byte at a time, by a table. The vector kernels use it for the bytes that do not
//! fill a vector.

use crate::field::Products;

/// Adds `source`, times the factor of the table, to `target`.
#[inline]
pub(crate) fn mul_add(target: &mut [u8], source: &[u8], products: &Products) {
    for (target, source) in target.iter_mut().zip(source) {
        *target ^= products.with(*source);
    }
}

/// Multiplies `target` by the factor of the table.
#[inline]
pub(crate) fn scale(target: &mut [u8], products: &Products) {
    for target in target {
        *target = products.with(*target);
    }
}
