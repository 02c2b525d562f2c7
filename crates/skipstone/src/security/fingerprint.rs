//! A certificate's fingerprint, in bytes and in digits.

/// SHA-256 of a certificate's DER form, which clients pin.
pub type Fingerprint = [u8; 32];

#[cfg(feature = "__tls")]
pub(super) fn fingerprint_of(certificate: &[u8]) -> Fingerprint {
    use super::backend::digest::{SHA256, digest};
    digest(&SHA256, certificate).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Bytes in hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
