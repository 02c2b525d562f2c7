//! The cryptography providers for rustls: suites, two groups and signatures, all from the library that `backend` names.
//! Packets of this protocol have two suites of TLS 1.3; TCP and QUIC have those that browsers offer, TLS 1.2 included.
//!
//! The provider is built here because each of rustls' own providers is a cargo feature of rustls, and cargo enables a
//! feature for the whole program: an application that leaves its choice of a provider to rustls
//! (`ClientConfig::builder()`) fails if two are enabled. So this library enables none.

mod hash;
mod key_exchange;
mod records;
mod signing;
mod streams;
mod suite;
#[cfg(test)]
mod tests;

use crate::security::backend::rand::{SecureRandom as _, SystemRandom};
use crate::security::backend::{CERTIFICATE_SIGNATURES, verification};
use rustls::SignatureScheme;
use rustls::crypto::{CryptoProvider, GetRandomFailed, SecureRandom, WebPkiSupportedAlgorithms};
use std::sync::{Arc, OnceLock};

/// The provider of clients and servers. The client's order of suites decides, since a phone may have no instructions
/// for AES.
pub(super) fn provider() -> &'static Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        let mut cipher_suites = vec![suite::AES_128_GCM, suite::CHACHA20_POLY1305];
        if !has_aes() {
            cipher_suites.reverse();
        }
        Arc::new(CryptoProvider {
            cipher_suites,
            kx_groups: vec![&key_exchange::X25519, &key_exchange::SECP256R1],
            signature_verification_algorithms: SIGNATURES,
            secure_random: &Entropy,
            key_provider: &signing::Keys,
        })
    })
}

/// The suite of QUIC's first packets (RFC 9001, section 5.2).
#[cfg(feature = "webtransport")]
pub(in crate::security) fn initial_suite() -> rustls::quic::Suite {
    streams::AES_128_13.quic_suite().expect("QUIC has it")
}

/// The provider for TCP and QUIC. The client's order of suites decides here, too.
pub(super) fn stream_provider() -> &'static Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        let mut cipher_suites = streams::suites();
        if !has_aes() {
            cipher_suites.reverse();
        }
        Arc::new(CryptoProvider { cipher_suites, ..CryptoProvider::clone(provider()) })
    })
}

/// The signature algorithms that a client accepts: for a server's own signature, which is ECDSA today, and for
/// signatures of authorities.
const SIGNATURES: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: CERTIFICATE_SIGNATURES,
    mapping: &[
        (SignatureScheme::ECDSA_NISTP384_SHA384, &[verification::ECDSA_P384_SHA384]),
        (SignatureScheme::ECDSA_NISTP256_SHA256, &[verification::ECDSA_P256_SHA256]),
        (SignatureScheme::ED25519, &[verification::ED25519]),
        (SignatureScheme::RSA_PSS_SHA512, &[verification::RSA_PSS_2048_8192_SHA512_LEGACY_KEY]),
        (SignatureScheme::RSA_PSS_SHA384, &[verification::RSA_PSS_2048_8192_SHA384_LEGACY_KEY]),
        (SignatureScheme::RSA_PSS_SHA256, &[verification::RSA_PSS_2048_8192_SHA256_LEGACY_KEY]),
        // Only in certificates (RFC 8446, section 4.2.3).
        (SignatureScheme::RSA_PKCS1_SHA512, &[verification::RSA_PKCS1_2048_8192_SHA512]),
        (SignatureScheme::RSA_PKCS1_SHA384, &[verification::RSA_PKCS1_2048_8192_SHA384]),
        (SignatureScheme::RSA_PKCS1_SHA256, &[verification::RSA_PKCS1_2048_8192_SHA256]),
    ],
};

/// The system's random numbers.
#[derive(Debug)]
struct Entropy;

impl SecureRandom for Entropy {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), GetRandomFailed> {
        SystemRandom::new().fill(buffer).map_err(|_| GetRandomFailed)
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn has_aes() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
fn has_aes() -> bool {
    false
}
