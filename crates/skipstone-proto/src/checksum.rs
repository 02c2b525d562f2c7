//! CRC-32 (IEEE 802.3), for damage. crc32fast has instructions for it and 16 KiB of tables; a module that a browser
//! downloads computes its tables at startup (`checksum/portable.rs`).

#[cfg(any(test, target_arch = "wasm32"))]
mod portable;

/// The CRC of these bytes, one part after the other.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn crc32(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

#[cfg(target_arch = "wasm32")]
pub(crate) use portable::crc32;
