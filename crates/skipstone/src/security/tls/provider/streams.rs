//! The suites of TLS 1.2 and 1.3 for TCP, and of QUIC, as browsers offer them: records, and QUIC's packets with their
//! headers protected (RFC 9001, section 5.4).

use super::hash::{Digest, HMAC_SHA256, HMAC_SHA384, SHA256, SHA384};
use super::records::{RecordAead, RecordsGcm12};
use super::suite::{AES, CHACHA20, Cipher};
use crate::security::backend::aead::{self, quic};
use rustls::crypto::cipher::{AeadKey, Iv, Tls12AeadAlgorithm};
use rustls::crypto::tls12::PrfUsingHmac;
use rustls::crypto::tls13::HkdfUsingHmac;
use rustls::crypto::{CipherSuiteCommon, KeyExchangeAlgorithm};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey};
use rustls::{CipherSuite, Error, SignatureScheme, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite};

/// All suites, the quickest first where there are instructions for AES.
pub(super) fn suites() -> Vec<SupportedCipherSuite> {
    let of13 = [&AES_128_13, &AES_256_13, &CHACHA20_13].map(SupportedCipherSuite::Tls13);
    let of12 =
        [&ECDSA_AES_128_12, &ECDSA_AES_256_12, &ECDSA_CHACHA20_12, &RSA_AES_128_12, &RSA_AES_256_12, &RSA_CHACHA20_12];
    of13.into_iter().chain(of12.map(SupportedCipherSuite::Tls12)).collect()
}

pub(super) static AES_128_13: Tls13CipherSuite = Tls13CipherSuite {
    common: common(CipherSuite::TLS13_AES_128_GCM_SHA256, &SHA256, GCM_RECORDS_MAX),
    hkdf_provider: &HkdfUsingHmac(&HMAC_SHA256),
    aead_alg: &RecordAead(&aead::AES_128_GCM),
    quic: Some(&Quic { packets: AES, headers: &quic::AES_128 }),
};

static AES_256_13: Tls13CipherSuite = Tls13CipherSuite {
    common: common(CipherSuite::TLS13_AES_256_GCM_SHA384, &SHA384, GCM_RECORDS_MAX),
    hkdf_provider: &HkdfUsingHmac(&HMAC_SHA384),
    aead_alg: &RecordAead(&aead::AES_256_GCM),
    quic: Some(&Quic { packets: Cipher { algorithm: &aead::AES_256_GCM, ..AES }, headers: &quic::AES_256 }),
};

static CHACHA20_13: Tls13CipherSuite = Tls13CipherSuite {
    common: common(CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, &SHA256, u64::MAX),
    hkdf_provider: &HkdfUsingHmac(&HMAC_SHA256),
    aead_alg: &RecordAead(&aead::CHACHA20_POLY1305),
    quic: Some(&Quic { packets: CHACHA20, headers: &quic::CHACHA20 }),
};

static ECDSA_AES_128_12: Tls12CipherSuite =
    suite12(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, ECDSA, &GCM_128_12);
static ECDSA_AES_256_12: Tls12CipherSuite =
    suite12(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, ECDSA, &GCM_256_12);
static ECDSA_CHACHA20_12: Tls12CipherSuite =
    suite12(CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, ECDSA, &CHACHA20_12);
static RSA_AES_128_12: Tls12CipherSuite = suite12(CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, RSA, &GCM_128_12);
static RSA_AES_256_12: Tls12CipherSuite = suite12(CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, RSA, &GCM_256_12);
static RSA_CHACHA20_12: Tls12CipherSuite =
    suite12(CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, RSA, &CHACHA20_12);

/// The common part of TLS 1.2 suites with one cipher.
struct Cipher12 {
    aead: &'static dyn Tls12AeadAlgorithm,
    hash: &'static Digest,
    prf: &'static PrfUsingHmac<'static>,
    records_max: u64,
}

static PRF_SHA256: PrfUsingHmac<'static> = PrfUsingHmac(&HMAC_SHA256);
static PRF_SHA384: PrfUsingHmac<'static> = PrfUsingHmac(&HMAC_SHA384);

const GCM_128_12: Cipher12 =
    Cipher12 { aead: &RecordsGcm12(&aead::AES_128_GCM), hash: &SHA256, prf: &PRF_SHA256, records_max: GCM_RECORDS_MAX };
const GCM_256_12: Cipher12 =
    Cipher12 { aead: &RecordsGcm12(&aead::AES_256_GCM), hash: &SHA384, prf: &PRF_SHA384, records_max: GCM_RECORDS_MAX };
const CHACHA20_12: Cipher12 =
    Cipher12 { aead: &RecordAead(&aead::CHACHA20_POLY1305), hash: &SHA256, prf: &PRF_SHA256, records_max: u64::MAX };

const ECDSA: &[SignatureScheme] = &[SignatureScheme::ECDSA_NISTP384_SHA384, SignatureScheme::ECDSA_NISTP256_SHA256];
const RSA: &[SignatureScheme] = &[
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA256,
];

/// Records that one key of AES-GCM seals (RFC 8446, section 5.5), rounded down.
const GCM_RECORDS_MAX: u64 = 1 << 24;

const fn common(suite: CipherSuite, hash: &'static Digest, records_max: u64) -> CipherSuiteCommon {
    CipherSuiteCommon { suite, hash_provider: hash, confidentiality_limit: records_max }
}

const fn suite12(suite: CipherSuite, sign: &'static [SignatureScheme], cipher: &Cipher12) -> Tls12CipherSuite {
    Tls12CipherSuite {
        common: common(suite, cipher.hash, cipher.records_max),
        prf_provider: cipher.prf,
        kx: KeyExchangeAlgorithm::ECDHE,
        sign,
        aead_alg: cipher.aead,
    }
}

/// A suite's keys in QUIC.
struct Quic {
    packets: Cipher,
    headers: &'static quic::Algorithm,
}

impl Algorithm for Quic {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        self.packets.packet_key(key, iv)
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        let key = quic::HeaderProtectionKey::new(self.headers, key.as_ref());
        Box::new(Headers(key.expect("rustls asked for its length")))
    }

    fn aead_key_len(&self) -> usize {
        self.packets.algorithm.key_len()
    }
}

/// A key that protects the headers of QUIC's packets.
struct Headers(quic::HeaderProtectionKey);

impl Headers {
    /// Applies the mask to the first byte and the packet number. The number's length, which the first byte has, is read
    /// where the byte is in clear: before masking, or after unmasking.
    fn apply(&self, sample: &[u8], first: &mut u8, number: &mut [u8], is_masked: bool) -> Result<(), Error> {
        const LONG_FORM: u8 = 0x80;
        let mask = self.0.new_mask(sample).map_err(|_| Error::General("the sample is of another length".into()))?;
        let [first_mask, number_mask @ ..] = mask;
        if number.len() > number_mask.len() {
            return Err(Error::General("the packet number is too long".into()));
        }
        let bits = if *first & LONG_FORM == 0 { 0x1f } else { 0x0f };
        let masked = *first ^ (first_mask & bits);
        let clear = if is_masked { masked } else { *first };
        let length = usize::from(clear & 0x03) + 1;
        *first = masked;
        number.iter_mut().zip(number_mask).take(length).for_each(|(byte, mask)| *byte ^= mask);
        Ok(())
    }
}

impl HeaderProtectionKey for Headers {
    fn encrypt_in_place(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) -> Result<(), Error> {
        self.apply(sample, first, number, false)
    }

    fn decrypt_in_place(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) -> Result<(), Error> {
        self.apply(sample, first, number, true)
    }

    fn sample_len(&self) -> usize {
        self.0.algorithm().sample_len()
    }
}
