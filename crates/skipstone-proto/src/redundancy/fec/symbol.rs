//! Symbols: the contribution of a packet to a repair.

use crate::checksum::crc32;

/// Length (2 bytes) and checksum (4) before the content.
pub(super) const PREFIX_BYTES: usize = 6;

/// The symbol of a packet's content, written over `symbol`.
pub(super) fn write(symbol: &mut Vec<u8>, number: u64, content: &[u8]) {
    symbol.clear();
    symbol.extend_from_slice(&(content.len() as u16).to_be_bytes());
    symbol.extend_from_slice(&checksum(number, content).to_be_bytes());
    symbol.extend_from_slice(content);
}

/// The content of a recovered symbol, if it belongs to the packet with this number.
pub(super) fn content(number: u64, symbol: &[u8]) -> Option<&[u8]> {
    let (prefix, rest) = symbol.split_at_checked(PREFIX_BYTES)?;
    let length = usize::from(u16::from_be_bytes([prefix[0], prefix[1]]));
    let (content, padding) = rest.split_at_checked(length)?;
    let is_whole = !content.is_empty() && padding.iter().all(|byte| *byte == 0);
    (is_whole && prefix[2..] == checksum(number, content).to_be_bytes()).then_some(content)
}

fn checksum(number: u64, content: &[u8]) -> u32 {
    crc32(&[&number.to_be_bytes(), content])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_decodes_only_whole_and_for_its_own_packet() {
        let mut symbol = Vec::new();
        write(&mut symbol, 7, b"content");
        symbol.extend_from_slice(&[0; 5]);
        assert_eq!(content(7, &symbol), Some(&b"content"[..]));
        assert_eq!(content(8, &symbol), None);
        for bit in 0..symbol.len() * 8 {
            symbol[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(content(7, &symbol), None, "bit {bit}");
            symbol[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(content(7, &symbol[..5]), None);
    }
}
