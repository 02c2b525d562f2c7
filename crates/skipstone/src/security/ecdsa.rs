//! Private ECDSA keys on P-256 and P-384.

use super::backend::ecdsa_key_pair;
use super::backend::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair};
use rustls::SignatureScheme;
use rustls_pki_types::{PrivateKeyDer, alg_id};

/// A key pair and its only signature scheme in TLS 1.3 (RFC 8446, section 4.2.3).
pub(super) struct EcdsaKey {
    pub(super) pair: EcdsaKeyPair,
    pub(super) scheme: SignatureScheme,
}

impl EcdsaKey {
    /// A key in PKCS #8 (RFC 5958) or SEC 1 (RFC 5915); `None` if the key is of another kind.
    pub(super) fn load(key: &PrivateKeyDer<'_>) -> Option<Self> {
        let curves = [
            (&ECDSA_P256_SHA256_ASN1_SIGNING, SignatureScheme::ECDSA_NISTP256_SHA256, alg_id::ECDSA_P256),
            (&ECDSA_P384_SHA384_ASN1_SIGNING, SignatureScheme::ECDSA_NISTP384_SHA384, alg_id::ECDSA_P384),
        ];
        curves.into_iter().find_map(|(algorithm, scheme, identifier)| {
            let pair = match key {
                PrivateKeyDer::Pkcs8(pkcs8) => ecdsa_key_pair(algorithm, pkcs8.secret_pkcs8_der()),
                PrivateKeyDer::Sec1(sec1) => ecdsa_key_pair(algorithm, &pkcs8_of(&identifier, sec1.secret_sec1_der())),
                _ => None,
            };
            pair.map(|pair| EcdsaKey { pair, scheme })
        })
    }
}

/// PKCS #8 around a key of SEC 1, because ring reads nothing else. The identifier is the content of the curve's
/// AlgorithmIdentifier.
fn pkcs8_of(identifier: &[u8], sec1: &[u8]) -> Vec<u8> {
    const VERSION: [u8; 3] = [INTEGER, 1, 0];
    let content = [&VERSION[..], &der(SEQUENCE, identifier), &der(OCTET_STRING, sec1)].concat();
    der(SEQUENCE, &content)
}

const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

/// A value in DER: tag, length, content.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let [.., high, low] = content.len().to_be_bytes();
    let head = match content.len() {
        0..=0x7f => vec![tag, low],
        0x80..=0xff => vec![tag, 0x81, low],
        // A key whose length needs more than two bytes is of neither curve, and is refused.
        _ => vec![tag, 0x82, high, low],
    };
    [&head, content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::backend::rand::SystemRandom;
    use crate::security::backend::signature::KeyPair as _;
    use rustls_pki_types::{PrivatePkcs8KeyDer, PrivateSec1KeyDer};

    #[test]
    fn a_key_of_either_curve_is_equal_in_both_forms() {
        for (algorithm, scheme, identifier, long) in [
            (&ECDSA_P256_SHA256_ASN1_SIGNING, SignatureScheme::ECDSA_NISTP256_SHA256, alg_id::ECDSA_P256, 0),
            (&ECDSA_P384_SHA384_ASN1_SIGNING, SignatureScheme::ECDSA_NISTP384_SHA384, alg_id::ECDSA_P384, 1),
        ] {
            let made = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).expect("entropy");
            let pkcs8 = made.as_ref().to_vec();
            let at = pkcs8.windows(identifier.len()).position(|bytes| bytes == &*identifier).expect("its curve");
            // After the identifier: tag, length, and the key as in SEC 1.
            let sec1 = pkcs8[at + identifier.len() + 2 + long..].to_vec();
            assert_eq!(pkcs8_of(&identifier, &sec1), pkcs8);
            let keys = [PrivatePkcs8KeyDer::from(pkcs8).into(), PrivateSec1KeyDer::from(sec1).into()];
            let public = keys.map(|key: PrivateKeyDer<'_>| {
                let key = EcdsaKey::load(&key).expect("it is good");
                assert_eq!(key.scheme, scheme);
                key.pair.public_key().as_ref().to_vec()
            });
            assert_eq!(public[0], public[1]);
        }
    }

    #[test]
    fn an_invalid_key_is_refused() {
        for length in [0, 1, 32, 200, 70_000] {
            let bytes = vec![SEQUENCE; length];
            assert!(EcdsaKey::load(&PrivateSec1KeyDer::from(bytes.clone()).into()).is_none());
            assert!(EcdsaKey::load(&PrivatePkcs8KeyDer::from(bytes).into()).is_none());
        }
    }
}
