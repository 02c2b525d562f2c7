//! The suites against a vector of RFC 9001, and against rustls' own provider.

use super::suite::{AES_128_GCM, CHACHA20_POLY1305};
use super::*;
use rustls::crypto::ring as theirs;
use rustls::quic::{Keys, Suite, Version};
use rustls::{Side, SupportedCipherSuite, Tls13CipherSuite};

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn quic(suite: SupportedCipherSuite) -> Suite {
    suite.tls13().and_then(Tls13CipherSuite::quic_suite).expect("QUIC has it")
}

/// RFC 9001, appendix A.3, whose keys are derived from a connection id: hash, key derivation and AES.
#[test]
fn a_server_initial_packet_is_sealed_as_in_rfc_9001() {
    let keys = quic(AES_128_GCM).keys(&bytes("8394c8f03e515708"), Side::Server, Version::V1);
    let header = bytes("c1000000010008f067a5502a4262b50040750001");
    let mut payload = bytes(
        "02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5430b9a045a12001301\
         00002e00330024001d00209d3c940d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00020304",
    );
    let tag = keys.local.packet.encrypt_in_place(1, &header, &mut payload).expect("it seals");
    payload.extend_from_slice(tag.as_ref());
    let sealed = bytes(
        "5a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46\
         c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d\
         20398c276456cbc42158407dd074ee",
    );
    assert_eq!(payload, sealed);
}

/// A packet that one of these suites seals is opened by the same suite of rustls' own provider, and the reverse.
#[test]
fn both_ciphers_are_those_that_rustls_has() {
    let suites = [
        (AES_128_GCM, theirs::cipher_suite::TLS13_AES_128_GCM_SHA256),
        (CHACHA20_POLY1305, theirs::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256),
    ];
    for (own, theirs) in suites {
        for (number, (from, to)) in (0_u64..).zip([(own, theirs), (theirs, own)]) {
            let keys = |of, side| -> Keys { quic(of).keys(b"a secret", side, Version::V1) };
            let (from, to) = (keys(from, Side::Client), keys(to, Side::Server));
            assert_eq!(from.local.packet.integrity_limit(), to.remote.packet.integrity_limit());
            assert_eq!(from.local.packet.confidentiality_limit(), to.remote.packet.confidentiality_limit());
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

/// A key of the wrong length, or one that is compressed, ends the handshake and nothing else.
#[test]
fn key_exchange_takes_whole_uncompressed_keys_only() {
    for (own, theirs) in provider().kx_groups.iter().zip([theirs::kx_group::X25519, theirs::kx_group::SECP256R1]) {
        assert_eq!(own.name(), theirs.name());
        let (ours, other) = (own.start().expect("entropy"), theirs.start().expect("entropy"));
        let (public, peer) = (ours.pub_key().to_vec(), other.pub_key().to_vec());
        let secret = ours.complete(&peer).expect("a good key");
        assert_eq!(secret.secret_bytes(), other.complete(&public).expect("a good key").secret_bytes());
        for bad in [&b""[..], &public[1..], &[2; 33], &[4; 65], &[0; 32]] {
            assert!(own.start().expect("entropy").complete(bad).is_err(), "{bad:?}");
        }
    }
}
