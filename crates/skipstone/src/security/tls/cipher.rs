//! AES-128-GCM as ring has it, for packets. The rest of the suite, its hash and the handshake's own records, is aws-lc's.
//!
//! Of rustls' providers only one may be compiled in, or every application that leaves the choice to rustls fails when it
//! starts; so this asks ring itself.

use ring::aead;
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::crypto::cipher::{AeadKey, Iv, Nonce};
use rustls::crypto::{CipherSuiteCommon, tls13};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag};
use rustls::{Error, SupportedCipherSuite, Tls13CipherSuite};
use std::sync::LazyLock;

/// TLS_AES_128_GCM_SHA256, whose packets ring seals and opens.
pub(super) fn aes_128_gcm() -> SupportedCipherSuite {
    static SUITE: LazyLock<Tls13CipherSuite> = LazyLock::new(|| {
        let theirs = TLS13_AES_128_GCM_SHA256.tls13().expect("it is a suite of TLS 1.3");
        let CipherSuiteCommon { suite, hash_provider, confidentiality_limit, .. } = theirs.common;
        Tls13CipherSuite {
            common: CipherSuiteCommon { suite, hash_provider, confidentiality_limit },
            hkdf_provider: theirs.hkdf_provider as &'static dyn tls13::Hkdf,
            aead_alg: theirs.aead_alg,
            quic: Some(&Packets),
        }
    });
    SupportedCipherSuite::Tls13(&SUITE)
}

/// Makes the keys of packets.
struct Packets;

impl Packets {
    fn theirs() -> &'static dyn Algorithm {
        let suite = TLS13_AES_128_GCM_SHA256.tls13().expect("it is a suite of TLS 1.3");
        suite.quic.expect("QUIC has it")
    }
}

impl Algorithm for Packets {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        let key = aead::UnboundKey::new(&aead::AES_128_GCM, key.as_ref()).expect("it has 16 bytes");
        Box::new(Key { key: aead::LessSafeKey::new(key), iv })
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        Packets::theirs().header_protection_key(key)
    }

    fn aead_key_len(&self) -> usize {
        aead::AES_128_GCM.key_len()
    }
}

struct Key {
    key: aead::LessSafeKey,
    iv: Iv,
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
        aead::AES_128_GCM.tag_len()
    }

    /// RFC 9001, appendix B.1.
    fn confidentiality_limit(&self) -> u64 {
        1 << 23
    }

    /// The same.
    fn integrity_limit(&self) -> u64 {
        1 << 52
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::Side;
    use rustls::quic::{Suite, Version};

    /// What one side seals by ring, the other opens by aws-lc, and the other way round.
    #[test]
    fn it_is_the_same_cipher_as_aws_lc_has() {
        let suite = |suite: SupportedCipherSuite| -> Suite {
            suite.tls13().and_then(Tls13CipherSuite::quic_suite).expect("QUIC has it")
        };
        let keys = |of, side| suite(of).keys(b"a secret", side, Version::V1);
        let pairs = [(aes_128_gcm(), TLS13_AES_128_GCM_SHA256), (TLS13_AES_128_GCM_SHA256, aes_128_gcm())];
        for (number, (from, to)) in (0_u64..).zip(pairs) {
            let (from, to) = (keys(from, Side::Client), keys(to, Side::Server));
            for length in [0, 1, 15, 16, 17, 400, 1_400, 65_000] {
                let plain: Vec<u8> = (0..length).map(|at| at as u8).collect();
                let mut sealed = plain.clone();
                let tag = from.local.packet.encrypt_in_place(number, b"head", &mut sealed).expect("it seals");
                sealed.extend_from_slice(tag.as_ref());
                let mut forged = sealed.clone();
                forged[length / 2] ^= 1;
                assert!(to.remote.packet.decrypt_in_place(number, b"head", &mut forged).is_err(), "{length} bytes");
                assert!(to.remote.packet.decrypt_in_place(number, b"tail", &mut sealed.clone()).is_err());
                let opened = to.remote.packet.decrypt_in_place(number, b"head", &mut sealed).expect("it is genuine");
                assert_eq!(opened, plain, "{length} bytes");
            }
        }
    }
}
