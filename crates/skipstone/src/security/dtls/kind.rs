//! Configuration of dimpl, sizes of records, and limits that all sessions of a version and a role share.

use crate::security::records;
use dimpl::crypto::{Dtls12CipherSuite, Dtls13CipherSuite, NamedGroup};
use dimpl::{Config, Dtls, DtlsCertificate};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{SUITE_DTLS_1_2, SUITE_DTLS_1_3};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

impl Role {
    /// Datagrams that dimpl keeps until a message is complete. Our clients send each message in one datagram, so that a
    /// small limit is enough even for a client that splits its messages; a server's certificate may need many.
    pub(super) fn queue_max(self) -> usize {
        match self {
            Role::Client => QUEUE_MAX,
            Role::Server => SERVER_QUEUE_MAX,
        }
    }

    /// Records that a datagram of the peer's handshake may hold. dimpl keeps 4.5 KB of each (DTLS 1.2) or 8.7 KB (1.3),
    /// however short it is.
    pub(super) fn records_max(self) -> usize {
        match self {
            Role::Client => RECORDS_MAX,
            Role::Server => SERVER_RECORDS_MAX,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dtls12,
    Dtls13,
}

impl Kind {
    pub(super) fn of(suite: u8) -> Option<Self> {
        match suite {
            SUITE_DTLS_1_2 => Some(Kind::Dtls12),
            SUITE_DTLS_1_3 => Some(Kind::Dtls13),
            _ => None,
        }
    }

    pub(super) fn dtls(self, role: Role, certificate: DtlsCertificate, now: Time) -> Dtls {
        let (config, now) = (config(role).clone(), instant(now));
        match self {
            Kind::Dtls12 => Dtls::new_12(config, certificate, now),
            Kind::Dtls13 => Dtls::new_13(config, certificate, now),
        }
    }

    /// Bytes by which a record in a datagram is longer than its plaintext.
    pub(super) fn overhead(self) -> usize {
        match self {
            // Header, tag. Of the 1.2 ciphers only ChaCha20-Poly1305 has a nonce that follows from the sequence.
            Kind::Dtls12 => HEADER_1_2 + TAG,
            // Header without length, content type, tag.
            Kind::Dtls13 => HEADER_1_3 - LENGTH + 1 + TAG,
        }
    }
}

pub(super) const HEADER_1_2: usize = records::HEADER_BYTES;
pub(super) const HEADER_1_3: usize = 5;
pub(super) const LENGTH: usize = 2;
const TAG: usize = 16;
/// Bytes of DTLS in a handshake datagram. dimpl pads a ClientHello of 1.3 to this, and a server's session keeps buffers
/// of that size: it is no more than what a flight with a certificate of our own takes.
pub(super) const MTU: usize = 800;
/// Datagrams of a server that dimpl keeps for a client.
pub(super) const QUEUE_MAX: usize = 30;
/// Datagrams of a client that dimpl keeps for a server: up to 72 KB (1.2) or 139 KB (1.3) with the records below.
pub(super) const SERVER_QUEUE_MAX: usize = 4;
/// The most that dimpl accepts.
const RECORDS_MAX: usize = 16;
/// The last flight of 1.2 has three.
pub(super) const SERVER_RECORDS_MAX: usize = 4;

/// The configuration that all sessions of a role share. Building it runs dimpl's self-test of the ciphers, once.
pub(super) fn config(role: Role) -> &'static Arc<Config> {
    static CONFIGS: [OnceLock<Arc<Config>>; 2] = [const { OnceLock::new() }; 2];
    CONFIGS[role as usize].get_or_init(|| {
        let config = Config::builder()
            .mtu(MTU)
            .max_queue_rx(role.queue_max())
            .require_client_certificate(false)
            // The address is validated before a session is created.
            .use_server_cookie(false)
            .flight_start_rto(Duration::from_millis(250))
            .flight_retries(7)
            .handshake_timeout(Duration::from_secs(60))
            // ChaCha20-Poly1305 needs no key update during a connection (RFC 9147, section 4.5.3), and there must be
            // none: if both sides update their keys at the same time, dimpl 0.9 may lose the connection for good.
            .aead_encryption_limit(KEYS_NEVER_CHANGE)
            .dtls12_cipher_suites(&[Dtls12CipherSuite::ECDHE_ECDSA_CHACHA20_POLY1305_SHA256])
            .dtls13_cipher_suites(&[Dtls13CipherSuite::CHACHA20_POLY1305_SHA256])
            .kx_groups(&[NamedGroup::X25519, NamedGroup::Secp256r1])
            .build();
        Arc::new(config.expect("the configuration is good, and the ciphers pass their test"))
    })
}

/// In records; more than 48 bits can number.
pub(super) const KEYS_NEVER_CHANGE: u64 = 1 << 50;

/// Converts the protocol's time to dimpl's.
pub(crate) fn instant(time: Time) -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now) + Duration::from_micros(time.as_micros())
}
