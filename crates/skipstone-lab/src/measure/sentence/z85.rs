//! Z85 digits (ZeroMQ RFC 32): 32 bits as five printable characters, none of them a quote, a comma or a backslash.

/// The five digits of a number, the most significant first.
pub(super) fn encode(mut number: u32) -> [u8; 5] {
    let mut digits = [0; 5];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(number % 85) as usize];
        number /= 85;
    }
    digits
}

/// The number whose five digits start at `at`; `None` where they are no digits, or more than 32 bits.
pub(super) fn decode(line: &[u8; 20], at: usize) -> Option<u32> {
    let mut number = 0_u64;
    let mut wrong = 0;
    for byte in &line[at..at + 5] {
        let value = VALUES[usize::from(*byte)];
        wrong |= value;
        number = number * 85 + u64::from(value);
    }
    if wrong & NO_DIGIT != 0 { None } else { u32::try_from(number).ok() }
}

const DIGITS: &[u8; 85] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// Set in the value of a byte that is no digit; digits are below 85.
const NO_DIGIT: u8 = 0x80;

const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < DIGITS.len() {
        values[DIGITS[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(digits: [u8; 5]) -> Option<u32> {
        let mut line = [0; 20];
        line[..5].copy_from_slice(&digits);
        decode(&line, 0)
    }

    #[test]
    fn the_example_of_the_rfc_round_trips() {
        assert_eq!(&encode(0x864F_D26F), b"Hello");
        assert_eq!(&encode(0xB559_F75B), b"World");
        assert_eq!(decoded(*b"Hello"), Some(0x864F_D26F));
    }

    #[test]
    fn every_number_comes_back() {
        for number in (0..=u32::MAX).step_by(65_521).chain([u32::MAX]) {
            assert_eq!(decoded(encode(number)), Some(number));
        }
    }

    #[test]
    fn invalid_bytes_and_numbers_above_32_bits_are_refused() {
        assert_eq!(decoded(*b"#####"), None);
        assert_eq!(decoded(*b"He lo"), None);
        assert_eq!(decoded([b'0', b'0', b'0', b'0', 0xFF]), None);
    }
}
