//! The cost of a handshake with a key: RSA signatures cost tens of times as much as ECDSA signatures, depending on
//! their length.

use rustls::sign::CertifiedKey;
use rustls::{SignatureAlgorithm, SignatureScheme};
use skipstone_proto::{Cost, HANDSHAKE_COST};
use std::time::Instant;

/// Number of measurements, of which the quickest counts: the system may suspend a thread for a while.
const SIGNATURES: usize = 3;

/// The cost of a handshake whose certificate has this key. RSA is measured, which takes the time of several signatures:
/// call this where a key is loaded.
pub(super) fn handshake_cost(key: &CertifiedKey) -> Cost {
    if key.key.algorithm() != SignatureAlgorithm::RSA {
        return HANDSHAKE_COST;
    }
    let Some(signer) = key.key.choose_scheme(&[SignatureScheme::RSA_PSS_SHA256]) else { return HANDSHAKE_COST };
    let spans = (0..SIGNATURES).filter_map(|_| {
        let began = Instant::now();
        signer.sign(b"a message of a handshake").ok().map(|_| began.elapsed())
    });
    let nanos = spans.min().map_or(0, |span| span.as_nanos().min(NANOS_MAX) as i64);
    HANDSHAKE_COST + Cost::nanos(nanos)
}

/// A machine on which a signature takes longer was busy.
const NANOS_MAX: u128 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::Identity;
    use crate::security::tls;

    const PEM: &[u8] = include_bytes!("../../../tests/rsa.pem");

    #[test]
    fn an_rsa_handshake_is_measured() {
        let rsa = Identity::from_pem(PEM, PEM).expect("a certificate and its key");
        let cost = handshake_cost(&tls::certified_key(&rsa).expect("TLS has a use for it"));
        assert!(cost > HANDSHAKE_COST + Cost::micros(100), "{cost}");
    }
}
