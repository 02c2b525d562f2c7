//! Protection of QUIC's packet headers (RFC 9001, section 5.4). This protocol's own headers are in clear.

use crate::security::backend::aead::quic;
use rustls::Error;
use rustls::crypto::cipher::AeadKey;
use rustls::quic::HeaderProtectionKey;

/// A key that masks headers.
pub(super) struct HeaderKey(quic::HeaderProtectionKey);

impl HeaderKey {
    pub(super) fn new(algorithm: &'static quic::Algorithm, key: &AeadKey) -> Self {
        let key = quic::HeaderProtectionKey::new(algorithm, key.as_ref());
        HeaderKey(key.expect("rustls asked for its length"))
    }

    /// Masks what the sample says. The number's length is in the first byte, which is in clear on the sender's side
    /// before, and on the receiver's side after.
    fn mask(&self, sample: &[u8], first: &mut u8, number: &mut [u8], is_masked: bool) -> Result<(), Error> {
        let [first_mask, number_mask @ ..] =
            self.0.new_mask(sample).map_err(|_| Error::General("a sample of another length".into()))?;
        let bits = if *first & LONG_HEADER == 0 { 0x1f } else { 0x0f };
        let masked = *first ^ (first_mask & bits);
        let clear = if is_masked { masked } else { *first };
        *first = masked;
        let number_bytes = usize::from(clear & 3) + 1;
        for (byte, mask) in number.iter_mut().zip(number_mask).take(number_bytes) {
            *byte ^= mask;
        }
        Ok(())
    }
}

/// The bit of a first byte that says that the header is a long one (RFC 9000, section 17.2).
const LONG_HEADER: u8 = 0x80;

impl HeaderProtectionKey for HeaderKey {
    fn encrypt_in_place(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) -> Result<(), Error> {
        self.mask(sample, first, number, false)
    }

    fn decrypt_in_place(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) -> Result<(), Error> {
        self.mask(sample, first, number, true)
    }

    fn sample_len(&self) -> usize {
        self.0.algorithm().sample_len()
    }
}
