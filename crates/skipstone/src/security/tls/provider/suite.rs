//! TLS_AES_128_GCM_SHA256 and TLS_CHACHA20_POLY1305_SHA256 for packets of this protocol: packet keys as QUIC uses them
//! (RFC 8446 appendix B.4, RFC 9001 section 5), without keys for records and headers. `streams` has suites with both.

use super::hash::{HMAC_SHA256, SHA256};
use crate::security::backend::aead;
use rustls::crypto::CipherSuiteCommon;
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter, Nonce,
    OutboundOpaqueMessage, OutboundPlainMessage, Tls13AeadAlgorithm, UnsupportedOperationError,
};
use rustls::crypto::tls13::HkdfUsingHmac;
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag};
use rustls::{CipherSuite, ConnectionTrafficSecrets, Error, SupportedCipherSuite, Tls13CipherSuite};

pub(super) const AES_128_GCM: SupportedCipherSuite = SupportedCipherSuite::Tls13(&Tls13CipherSuite {
    common: CipherSuiteCommon {
        suite: CipherSuite::TLS13_AES_128_GCM_SHA256,
        hash_provider: &SHA256,
        confidentiality_limit: AES.confidentiality_limit,
    },
    hkdf_provider: &HkdfUsingHmac(&HMAC_SHA256),
    aead_alg: &AES,
    quic: Some(&AES),
});

pub(super) const CHACHA20_POLY1305: SupportedCipherSuite = SupportedCipherSuite::Tls13(&Tls13CipherSuite {
    common: CipherSuiteCommon {
        suite: CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        hash_provider: &SHA256,
        confidentiality_limit: CHACHA20.confidentiality_limit,
    },
    hkdf_provider: &HkdfUsingHmac(&HMAC_SHA256),
    aead_alg: &CHACHA20,
    quic: Some(&CHACHA20),
});

/// The limits: RFC 9001, section 6.6 and appendix B.1.
pub(super) const AES: Cipher =
    Cipher { algorithm: &aead::AES_128_GCM, confidentiality_limit: 1 << 23, integrity_limit: 1 << 52 };

/// The limits: RFC 9001, section 6.6.
pub(super) const CHACHA20: Cipher =
    Cipher { algorithm: &aead::CHACHA20_POLY1305, confidentiality_limit: u64::MAX, integrity_limit: 1 << 36 };

/// An AEAD, and how many packets one key of it may seal, and how many forgeries it may refuse.
#[derive(Clone, Copy)]
pub(super) struct Cipher {
    pub(super) algorithm: &'static aead::Algorithm,
    pub(super) confidentiality_limit: u64,
    pub(super) integrity_limit: u64,
}

impl Algorithm for Cipher {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        Box::new(Key { key: aead_key(self.algorithm, &key), iv, cipher: *self })
    }

    fn header_protection_key(&self, _: AeadKey) -> Box<dyn HeaderProtectionKey> {
        Box::new(Unused)
    }

    fn aead_key_len(&self) -> usize {
        self.algorithm.key_len()
    }
}

/// A key of an AEAD, of the length that rustls was told.
pub(super) fn aead_key(algorithm: &'static aead::Algorithm, key: &AeadKey) -> aead::LessSafeKey {
    aead::LessSafeKey::new(aead::UnboundKey::new(algorithm, key.as_ref()).expect("rustls asked for its length"))
}

struct Key {
    key: aead::LessSafeKey,
    iv: Iv,
    cipher: Cipher,
}

impl Key {
    fn nonce(&self, number: u64) -> aead::Nonce {
        aead::Nonce::assume_unique_for_key(Nonce::new(&self.iv, number).0)
    }
}

impl PacketKey for Key {
    fn encrypt_in_place(&self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        let sealed = self.key.seal_in_place_separate_tag(self.nonce(number), aead::Aad::from(header), payload);
        sealed.map(|tag| Tag::from(tag.as_ref())).map_err(|_| Error::EncryptError)
    }

    fn decrypt_in_place<'a>(&self, number: u64, header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        let opened = self.key.open_in_place(self.nonce(number), aead::Aad::from(header), payload);
        opened.map(|plain| &*plain).map_err(|_| Error::DecryptError)
    }

    fn tag_len(&self) -> usize {
        self.cipher.algorithm.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.cipher.confidentiality_limit
    }

    fn integrity_limit(&self) -> u64 {
        self.cipher.integrity_limit
    }
}

/// rustls makes keys for records and for QUIC's header protection with every secret. This protocol has neither: its
/// handshake has its own form, and its headers are not encrypted (WIRE.md section 3).
struct Unused;

impl Tls13AeadAlgorithm for Cipher {
    fn encrypter(&self, _: AeadKey, _: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Unused)
    }

    fn decrypter(&self, _: AeadKey, _: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Unused)
    }

    fn key_len(&self) -> usize {
        self.algorithm.key_len()
    }

    fn extract_keys(&self, _: AeadKey, _: Iv) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Err(UnsupportedOperationError)
    }
}

impl MessageEncrypter for Unused {
    fn encrypt(&mut self, _: OutboundPlainMessage<'_>, _: u64) -> Result<OutboundOpaqueMessage, Error> {
        Err(Error::EncryptError)
    }

    fn encrypted_payload_len(&self, bytes: usize) -> usize {
        bytes
    }
}

impl MessageDecrypter for Unused {
    fn decrypt<'a>(&mut self, _: InboundOpaqueMessage<'a>, _: u64) -> Result<InboundPlainMessage<'a>, Error> {
        Err(Error::DecryptError)
    }
}

impl HeaderProtectionKey for Unused {
    fn encrypt_in_place(&self, _: &[u8], _: &mut u8, _: &mut [u8]) -> Result<(), Error> {
        Err(Error::EncryptError)
    }

    fn decrypt_in_place(&self, _: &[u8], _: &mut u8, _: &mut [u8]) -> Result<(), Error> {
        Err(Error::DecryptError)
    }

    fn sample_len(&self) -> usize {
        16
    }
}
