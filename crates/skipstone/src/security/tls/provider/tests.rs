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
fn both_ciphers_match_rustls() {
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
fn key_exchange_accepts_only_whole_uncompressed_keys() {
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

/// Both ends of a connection over TCP, one with this provider and one with rustls' own, in each version and suite, with
/// keys of ECDSA and of RSA: all records open, in both directions, at any length; a forged one does not.
#[test]
fn tls_over_tcp_interoperates_with_the_default_provider_of_rustls() {
    use rustls::crypto::CryptoProvider;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
    use std::io::{Read, Write};

    let ecdsa = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("entropy");
    let ecdsa_pem = rcgen::CertificateParams::new(vec!["localhost".into()]).expect("a good name");
    let ecdsa_pem = ecdsa_pem.self_signed(&ecdsa).expect("it is made").pem() + &ecdsa.serialize_pem();
    let rsa_pem = include_str!("../../../../tests/rsa.pem");
    let mut tried = std::collections::BTreeSet::new();
    for suite in stream_provider().cipher_suites.iter().map(|suite| suite.suite()) {
        for (pem, is_server_ours) in [(&*ecdsa_pem, true), (&ecdsa_pem, false), (rsa_pem, true), (rsa_pem, false)] {
            let only = |provider: &CryptoProvider| {
                let mut provider = provider.clone();
                provider.cipher_suites.retain(|own| own.suite() == suite);
                Arc::new(provider)
            };
            let (ours, theirs) = (only(stream_provider()), only(&theirs::default_provider()));
            let (server, client) = if is_server_ours { (ours, theirs) } else { (theirs, ours) };
            let version = match server.cipher_suites[0] {
                SupportedCipherSuite::Tls13(_) => &rustls::version::TLS13,
                SupportedCipherSuite::Tls12(_) => &rustls::version::TLS12,
            };
            let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).expect("it has one");
            let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).expect("it has one");
            let algorithms = client.signature_verification_algorithms;
            let server =
                ServerConfig::builder_with_provider(server).with_protocol_versions(&[version]).expect("it has it");
            let server =
                server.with_no_client_auth().with_single_cert(vec![certificate.clone()], key).expect("it is good");
            let client =
                ClientConfig::builder_with_provider(client).with_protocol_versions(&[version]).expect("it has it");
            let mut client = client.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
            let trust = crate::security::Trust::DangerouslyAnything;
            let verifier = crate::security::verify::Verifier::new(&trust, "localhost").expect("nothing can be wrong");
            let rules = crate::security::tls::verify::Rules::new(Arc::new(verifier), algorithms);
            client.dangerous().set_certificate_verifier(Arc::new(rules));
            let name = ServerName::try_from("localhost").expect("a good name");
            let mut client = ClientConnection::new(client.into(), name).expect("it is good");
            let mut server = ServerConnection::new(server.into()).expect("it is good");

            fn pass<A, B>(
                from: &mut rustls::ConnectionCommon<A>,
                to: &mut rustls::ConnectionCommon<B>,
                spoil: bool,
            ) -> Result<(), rustls::Error> {
                let mut wire = Vec::new();
                while from.wants_write() {
                    from.write_tls(&mut wire).expect("memory takes it");
                }
                if let (true, Some(last)) = (spoil, wire.last_mut()) {
                    *last ^= 1;
                }
                let mut rest = &wire[..];
                while !rest.is_empty() {
                    to.read_tls(&mut rest).expect("memory gives it");
                    to.process_new_packets()?;
                }
                Ok(())
            }
            let mut failed = None;
            for _ in 0..4 {
                failed = failed.or(pass(&mut client, &mut server, false).err());
                failed = failed.or(pass(&mut server, &mut client, false).err());
            }
            // A suite of TLS 1.2 names the kind of the key.
            let is_ecdsa_pem = pem == ecdsa_pem;
            let name = format!("{suite:?}");
            let fits = version.version == rustls::ProtocolVersion::TLSv1_3 || name.contains("ECDSA") == is_ecdsa_pem;
            assert_eq!(failed.is_none() && !client.is_handshaking(), fits, "{name} {is_ecdsa_pem} {failed:?}");
            if !fits {
                continue;
            }
            tried.insert((name.clone(), is_ecdsa_pem, is_server_ours));
            for length in [1, 15, 16, 400, 16_384] {
                let message: Vec<u8> = (0..length).map(|at| at as u8).collect();
                let mut came = vec![0; length];
                client.writer().write_all(&message).expect("it fits");
                pass(&mut client, &mut server, false).expect("they are genuine");
                server.reader().read_exact(&mut came).expect("all of it");
                assert_eq!(came, message, "{name}, {length} bytes up");
                server.writer().write_all(&message).expect("it fits");
                pass(&mut server, &mut client, false).expect("they are genuine");
                client.reader().read_exact(&mut came).expect("all of it");
                assert_eq!(came, message, "{name}, {length} bytes down");
            }
            client.writer().write_all(b"forged").expect("it fits");
            assert!(pass(&mut client, &mut server, true).is_err(), "{name}");
        }
    }
    assert_eq!(tried.len(), 3 * 4 + 6 * 2, "each suite with each key that it takes, at either end");
}

/// RFC 9001, appendix A.2 (AES-128) and A.5 (ChaCha20): header protection.
#[test]
fn quic_headers_are_protected_as_in_rfc_9001() {
    let suite =
        |wanted| quic(*stream_provider().cipher_suites.iter().find(|own| own.suite() == wanted).expect("it is there"));
    let keys = suite(rustls::CipherSuite::TLS13_AES_128_GCM_SHA256).keys(
        &bytes("8394c8f03e515708"),
        Side::Client,
        Version::V1,
    );
    let header = keys.local.header;
    let (mut first, mut number) = (0xc3, [0, 0, 0, 2]);
    header
        .encrypt_in_place(&bytes("d1b1c98dd7689fb8ec11d242b123dc9b"), &mut first, &mut number)
        .expect("a good sample");
    assert_eq!((first, number), (0xc0, [0x7b, 0x9a, 0xec, 0x34]));
    header
        .decrypt_in_place(&bytes("d1b1c98dd7689fb8ec11d242b123dc9b"), &mut first, &mut number)
        .expect("a good sample");
    assert_eq!((first, number), (0xc3, [0, 0, 0, 2]));
    assert!(header.encrypt_in_place(b"short", &mut first, &mut number).is_err());
}

/// Each suite of QUIC protects packets and headers as the same suite of rustls' own provider.
#[test]
fn quic_packets_and_headers_match_rustls() {
    let ours = stream_provider().cipher_suites.iter().filter_map(|suite| suite.tls13()?.quic_suite());
    let theirs = theirs::default_provider();
    let mut count = 0;
    for own in ours {
        let same = |other: &&SupportedCipherSuite| other.suite() == own.suite.common.suite;
        let other = quic(*theirs.cipher_suites.iter().find(same).expect("it has it"));
        let (own, other) =
            (own.keys(b"a secret", Side::Client, Version::V1), other.keys(b"a secret", Side::Client, Version::V1));
        for first in [0x40, 0x43, 0xc0, 0xe3] {
            let (mut ours, mut theirs) = ((first, [1, 2, 3, 4]), (first, [1, 2, 3, 4]));
            own.local.header.encrypt_in_place(&[9; 16], &mut ours.0, &mut ours.1).expect("a good sample");
            other.local.header.encrypt_in_place(&[9; 16], &mut theirs.0, &mut theirs.1).expect("a good sample");
            assert_eq!(ours, theirs);
        }
        let (mut ours, mut theirs) = ([5; 99], [5; 99]);
        let tag = own.local.packet.encrypt_in_place(7, b"head", &mut ours).expect("it seals");
        let other_tag = other.local.packet.encrypt_in_place(7, b"head", &mut theirs).expect("it seals");
        assert_eq!((ours, tag.as_ref()), (theirs, other_tag.as_ref()));
        count += 1;
    }
    assert_eq!(count, 3);
}
