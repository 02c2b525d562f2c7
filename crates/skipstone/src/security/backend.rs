//! The cryptography library: ring or aws-lc, by the features of the same names. The two have the same interface except
//! for the functions below.
//!
//! With both features, aws-lc is used: `ring` is a default, so a build has both if aws-lc was requested explicitly.

#[cfg(feature = "aws-lc")]
pub(super) use aws_lc_rs::{aead, agreement, digest, hmac, rand, signature};
#[cfg(all(feature = "ring", not(feature = "aws-lc")))]
pub(super) use ring::{aead, agreement, digest, hmac, rand, signature};
#[cfg(feature = "aws-lc")]
pub(super) use webpki::aws_lc_rs as verification;
#[cfg(all(feature = "ring", not(feature = "aws-lc")))]
pub(super) use webpki::ring as verification;

use agreement::{EphemeralPrivateKey, UnparsedPublicKey};
use rustls::crypto::SharedSecret;
use rustls_pki_types::SignatureVerificationAlgorithm;
use signature::{EcdsaKeyPair, EcdsaSigningAlgorithm, RsaKeyPair};

/// The signature algorithms by which authorities may sign certificates. webpki's own list has the algorithms of both
/// libraries if both are built.
pub(super) const CERTIFICATE_SIGNATURES: &[&dyn SignatureVerificationAlgorithm] = &[
    verification::ECDSA_P256_SHA256,
    verification::ECDSA_P256_SHA384,
    verification::ECDSA_P384_SHA256,
    verification::ECDSA_P384_SHA384,
    verification::ED25519,
    verification::RSA_PKCS1_2048_8192_SHA256,
    verification::RSA_PKCS1_2048_8192_SHA384,
    verification::RSA_PKCS1_2048_8192_SHA512,
    verification::RSA_PKCS1_2048_8192_SHA256_ABSENT_PARAMS,
    verification::RSA_PKCS1_2048_8192_SHA384_ABSENT_PARAMS,
    verification::RSA_PKCS1_2048_8192_SHA512_ABSENT_PARAMS,
    verification::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
    verification::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
    verification::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
];

/// The secret of a key exchange; `None` if the peer's key is not a point on the curve.
pub(super) fn agree(own: EphemeralPrivateKey, peer: UnparsedPublicKey<&[u8]>) -> Option<SharedSecret> {
    #[cfg(feature = "aws-lc")]
    let agreed = agreement::agree_ephemeral(own, peer, (), |secret| Ok(SharedSecret::from(secret)));
    #[cfg(not(feature = "aws-lc"))]
    let agreed = agreement::agree_ephemeral(own, &peer, |secret| SharedSecret::from(secret));
    agreed.ok()
}

/// A key pair from PKCS #8 (RFC 5958).
pub(super) fn ecdsa_key_pair(algorithm: &'static EcdsaSigningAlgorithm, pkcs8: &[u8]) -> Option<EcdsaKeyPair> {
    #[cfg(feature = "aws-lc")]
    let loaded = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8);
    #[cfg(not(feature = "aws-lc"))]
    let loaded = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8, &rand::SystemRandom::new());
    loaded.ok()
}

/// Bytes of the signatures of an RSA key.
pub(super) fn rsa_signature_bytes(key: &RsaKeyPair) -> usize {
    #[cfg(feature = "aws-lc")]
    return key.public_modulus_len();
    #[cfg(not(feature = "aws-lc"))]
    return key.public().modulus_len();
}
