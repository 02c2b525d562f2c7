//! A certificate's fingerprint, as bytes and as hexadecimal digits.

use std::fmt;
use std::str::FromStr;

/// SHA-256 of a certificate's DER form, which clients pin. Its text has 64 hexadecimal digits, as after `#sha256=` in a
/// URL.
///
/// ```
/// use skipstone::Fingerprint;
///
/// let fingerprint = Fingerprint([0xAB; 32]);
/// assert_eq!(fingerprint.to_string(), "ab".repeat(32));
/// assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

/// Why a text is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingerprintError;

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    /// Reads 64 hexadecimal digits, with or without colons between them.
    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let digits = text.chars().filter(|digit| *digit != ':').map(|digit| digit.to_digit(16));
        let digits: Vec<u32> = digits.collect::<Option<_>>().ok_or(FingerprintError)?;
        let (pairs, rest) = digits.as_chunks::<2>();
        let bytes: Vec<u8> = pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect();
        let bytes = bytes.try_into().ok().filter(|_| rest.is_empty());
        bytes.map(Fingerprint).ok_or(FingerprintError)
    }
}

impl From<[u8; 32]> for Fingerprint {
    fn from(bytes: [u8; 32]) -> Self {
        Fingerprint(bytes)
    }
}

impl AsRef<[u8]> for Fingerprint {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for FingerprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fingerprint has 64 hexadecimal digits, with or without colons between them")
    }
}

impl std::error::Error for FingerprintError {}

#[cfg(feature = "__tls")]
pub(super) fn fingerprint_of(certificate: &[u8]) -> Fingerprint {
    use super::backend::digest::{SHA256, digest};
    Fingerprint(digest(&SHA256, certificate).as_ref().try_into().expect("SHA-256 has 32 bytes"))
}

/// Bytes in hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_fingerprint_is_parsed() {
        let fingerprint = Fingerprint(std::array::from_fn(|at| at as u8 * 7));
        let text = fingerprint.to_string();
        assert_eq!(text.len(), 64);
        assert!(text.starts_with("00070e15"), "{text}");
        assert_eq!(text.parse(), Ok(fingerprint));
        let colons: Vec<String> = fingerprint.0.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(colons.join(":").parse(), Ok(fingerprint));
        assert_eq!(format!("{fingerprint:?}"), format!("Fingerprint({text})"));
        for bad in ["", "ab", &text[1..], &format!("{text}0"), &format!("{text}00"), &text.replace('0', "g")] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(FingerprintError), "{bad}");
        }
    }
}
