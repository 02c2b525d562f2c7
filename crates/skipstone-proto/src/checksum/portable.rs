//! CRC-32 with eight tables (slicing-by-8: Kounavis and Berry, "A systematic approach to building high performance
//! software-based CRC generators", ISCC 2005), which are made at the first call.

use std::sync::LazyLock;

/// The polynomial, its highest term in the lowest bit.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// The CRC of a byte that n zeros follow, by n and byte.
static TABLES: LazyLock<[[u32; 256]; 8]> = LazyLock::new(tables);

fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    for byte in 0..256_u32 {
        let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
        tables[0][byte as usize] = (0..8).fold(byte, step);
    }
    for zeros in 1..8 {
        for byte in 0..256 {
            let before = tables[zeros - 1][byte];
            tables[zeros][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
        }
    }
    tables
}

/// The CRC of these bytes, one part after the other.
pub(crate) fn crc32(parts: &[&[u8]]) -> u32 {
    let tables = &*TABLES;
    !parts.iter().fold(!0, |crc, part| update(tables, crc, part))
}

fn update(tables: &[[u32; 256]; 8], mut crc: u32, bytes: &[u8]) -> u32 {
    let mut eights = bytes.chunks_exact(8);
    for eight in &mut eights {
        let mut word = [0; 8];
        word.copy_from_slice(eight);
        word[..4].iter_mut().zip(crc.to_le_bytes()).for_each(|(byte, of_crc)| *byte ^= of_crc);
        crc = (0..8).fold(0, |sum, at| sum ^ tables[7 - at][usize::from(word[at])]);
    }
    eights.remainder().iter().fold(crc, |crc, byte| (crc >> 8) ^ tables[0][usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_checksum_matches_the_reference_crc() {
        assert_eq!(crc32(&[b"123456789"]), 0xCBF4_3926);
        let mut rng = Rng::new(1);
        for length in (0..100).chain([1_199, 1_200, 16_384]) {
            let bytes: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            let (head, tail) = bytes.split_at(rng.below(length as u32 + 1) as usize);
            assert_eq!(crc32(&[head, tail]), crc32fast::hash(&bytes), "{length} bytes");
        }
    }
}
