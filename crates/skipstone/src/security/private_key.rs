//! The private keys with which a server signs: ECDSA on P-256 and P-384, and RSA.

use super::backend::rand::SystemRandom;
use super::backend::signature::{
    KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512,
    RsaEncoding, RsaKeyPair,
};
use super::ecdsa::EcdsaKey;
use super::identity_error::RSA_BITS;
use rustls::{SignatureAlgorithm, SignatureScheme};
use rustls_pki_types::PrivateKeyDer;

/// A key pair.
pub(super) enum PrivateKey {
    Ecdsa(EcdsaKey),
    Rsa(RsaKeyPair),
}

/// The signature schemes of an RSA key, the best first: PSS in TLS 1.3, either in TLS 1.2.
const RSA_SCHEMES: [(SignatureScheme, &dyn RsaEncoding); 6] = [
    (SignatureScheme::RSA_PSS_SHA256, &RSA_PSS_SHA256),
    (SignatureScheme::RSA_PSS_SHA384, &RSA_PSS_SHA384),
    (SignatureScheme::RSA_PSS_SHA512, &RSA_PSS_SHA512),
    (SignatureScheme::RSA_PKCS1_SHA256, &RSA_PKCS1_SHA256),
    (SignatureScheme::RSA_PKCS1_SHA384, &RSA_PKCS1_SHA384),
    (SignatureScheme::RSA_PKCS1_SHA512, &RSA_PKCS1_SHA512),
];

impl PrivateKey {
    /// A key in PKCS #8, SEC 1 or PKCS #1; `None` if the key is of another kind, or an RSA key beyond [`RSA_BITS`].
    pub(super) fn load(key: &PrivateKeyDer<'_>) -> Option<Self> {
        if let Some(ecdsa) = EcdsaKey::load(key) {
            return Some(PrivateKey::Ecdsa(ecdsa));
        }
        let rsa = match key {
            PrivateKeyDer::Pkcs1(pkcs1) => RsaKeyPair::from_der(pkcs1.secret_pkcs1_der()).ok(),
            PrivateKeyDer::Pkcs8(pkcs8) => RsaKeyPair::from_pkcs8(pkcs8.secret_pkcs8_der()).ok(),
            _ => None,
        };
        rsa.filter(|key| RSA_BITS.contains(&(8 * super::backend::rsa_signature_bytes(key)))).map(PrivateKey::Rsa)
    }

    pub(super) fn is_ecdsa(&self) -> bool {
        matches!(self, PrivateKey::Ecdsa(_))
    }

    pub(super) fn algorithm(&self) -> SignatureAlgorithm {
        if self.is_ecdsa() { SignatureAlgorithm::ECDSA } else { SignatureAlgorithm::RSA }
    }

    /// Whether a certificate's SubjectPublicKeyInfo has this key: its last field is the key.
    pub(super) fn is_that_of(&self, public_key_info: &[u8]) -> bool {
        match self {
            PrivateKey::Ecdsa(key) => public_key_info.ends_with(key.pair.public_key().as_ref()),
            PrivateKey::Rsa(key) => public_key_info.ends_with(key.public_key().as_ref()),
        }
    }

    /// The first of the offered schemes that the key supports.
    pub(super) fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<SignatureScheme> {
        match self {
            PrivateKey::Ecdsa(key) => Some(key.scheme).filter(|scheme| offered.contains(scheme)),
            PrivateKey::Rsa(_) => RSA_SCHEMES.iter().map(|(scheme, _)| *scheme).find(|own| offered.contains(own)),
        }
    }

    /// The signature of a message by a scheme from [`PrivateKey::choose_scheme`].
    pub(super) fn sign(&self, scheme: SignatureScheme, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            PrivateKey::Ecdsa(key) => key.pair.sign(&random, message).ok().map(|signed| signed.as_ref().to_vec()),
            PrivateKey::Rsa(key) => {
                let (_, encoding) = RSA_SCHEMES.iter().find(|(of, _)| *of == scheme)?;
                let mut signature = vec![0; super::backend::rsa_signature_bytes(key)];
                key.sign(*encoding, &random, message, &mut signature).ok().map(|()| signature)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::identity_error::IdentityError;
    use rustls_pki_types::pem::PemObject;

    #[test]
    fn rsa_key_sizes_match_the_error_text() {
        let load = |pem: &str| PrivateKey::load(&PrivateKeyDer::from_pem_slice(pem.as_bytes()).expect("it is a key"));
        assert!(load(include_str!("../../tests/rsa.pem")).is_some(), "2,048 bits");
        assert!(load(include_str!("../../tests/rsa-8192.pem")).is_none());
        let sentence = IdentityError::Unsupported.to_string();
        let bits = format!("RSA with {} to {} bits", RSA_BITS.start(), RSA_BITS.end());
        assert!(sentence.contains(&bits) && *RSA_BITS.end() == 4_096, "{sentence}");
    }
}
