//! TLS_AES_128_GCM_SHA256 and TLS_CHACHA20_POLY1305_SHA256: hash, key derivation and packet keys, as QUIC uses them
//! (RFC 8446 appendix B.4, RFC 9001 section 5).

use super::header::HeaderKey;
use crate::security::backend::{aead, digest, hmac};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter, Nonce,
    OutboundOpaqueMessage, OutboundPlainMessage, Tls13AeadAlgorithm, UnsupportedOperationError,
};
use rustls::crypto::hash::{self, HashAlgorithm};
use rustls::crypto::tls13::HkdfUsingHmac;
use rustls::crypto::{CipherSuiteCommon, hmac as rustls_hmac};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag};
use rustls::{CipherSuite, ConnectionTrafficSecrets, Error, SupportedCipherSuite, Tls13CipherSuite};

pub(super) const AES_128_GCM: SupportedCipherSuite = SupportedCipherSuite::Tls13(&Tls13CipherSuite {
    common: CipherSuiteCommon {
        suite: CipherSuite::TLS13_AES_128_GCM_SHA256,
        hash_provider: &Sha256,
        confidentiality_limit: AES.confidentiality_limit,
    },
    hkdf_provider: &HkdfUsingHmac(&HmacSha256),
    aead_alg: &AES,
    quic: Some(&AES),
});

pub(super) const CHACHA20_POLY1305: SupportedCipherSuite = SupportedCipherSuite::Tls13(&Tls13CipherSuite {
    common: CipherSuiteCommon {
        suite: CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        hash_provider: &Sha256,
        confidentiality_limit: CHACHA20.confidentiality_limit,
    },
    hkdf_provider: &HkdfUsingHmac(&HmacSha256),
    aead_alg: &CHACHA20,
    quic: Some(&CHACHA20),
});

/// The limits: RFC 9001, section 6.6 and appendix B.1.
const AES: Cipher = Cipher {
    algorithm: &aead::AES_128_GCM,
    header: &aead::quic::AES_128,
    confidentiality_limit: 1 << 23,
    integrity_limit: 1 << 52,
};

/// The same section.
const CHACHA20: Cipher = Cipher {
    algorithm: &aead::CHACHA20_POLY1305,
    header: &aead::quic::CHACHA20,
    confidentiality_limit: u64::MAX,
    integrity_limit: 1 << 36,
};

/// An AEAD, and how many packets one key of it may seal, and how many forgeries it may refuse.
#[derive(Clone, Copy)]
struct Cipher {
    algorithm: &'static aead::Algorithm,
    header: &'static aead::quic::Algorithm,
    confidentiality_limit: u64,
    integrity_limit: u64,
}

impl Algorithm for Cipher {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        let key = aead::UnboundKey::new(self.algorithm, key.as_ref()).expect("rustls asked for its length");
        Box::new(Key { key: aead::LessSafeKey::new(key), iv, cipher: *self })
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        Box::new(HeaderKey::new(self.header, &key))
    }

    fn aead_key_len(&self) -> usize {
        self.algorithm.key_len()
    }
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

/// rustls can make keys for records with every secret. Neither this protocol nor QUIC has records.
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

struct Sha256;

impl hash::Hash for Sha256 {
    fn start(&self) -> Box<dyn hash::Context> {
        Box::new(Transcript(digest::Context::new(&digest::SHA256)))
    }

    fn hash(&self, bytes: &[u8]) -> hash::Output {
        hash::Output::new(digest::digest(&digest::SHA256, bytes).as_ref())
    }

    fn output_len(&self) -> usize {
        digest::SHA256_OUTPUT_LEN
    }

    fn algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }
}

/// The hash of the handshake so far.
struct Transcript(digest::Context);

impl hash::Context for Transcript {
    fn fork_finish(&self) -> hash::Output {
        hash::Output::new(self.0.clone().finish().as_ref())
    }

    fn fork(&self) -> Box<dyn hash::Context> {
        Box::new(Transcript(self.0.clone()))
    }

    fn finish(self: Box<Self>) -> hash::Output {
        hash::Output::new(self.0.finish().as_ref())
    }

    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

struct HmacSha256;

impl rustls_hmac::Hmac for HmacSha256 {
    fn with_key(&self, key: &[u8]) -> Box<dyn rustls_hmac::Key> {
        Box::new(HmacKey(hmac::Key::new(hmac::HMAC_SHA256, key)))
    }

    fn hash_output_len(&self) -> usize {
        digest::SHA256_OUTPUT_LEN
    }
}

struct HmacKey(hmac::Key);

impl rustls_hmac::Key for HmacKey {
    fn sign_concat(&self, first: &[u8], middle: &[&[u8]], last: &[u8]) -> rustls_hmac::Tag {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(first);
        middle.iter().for_each(|bytes| context.update(bytes));
        context.update(last);
        rustls_hmac::Tag::new(context.sign().as_ref())
    }

    fn tag_len(&self) -> usize {
        digest::SHA256_OUTPUT_LEN
    }
}
