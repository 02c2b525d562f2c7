//! Configuration of dimpl and limits, which all sessions of a role share, and the time of both.

use dimpl::Config;
use dimpl::crypto::{Dtls12CipherSuite, Dtls13CipherSuite, NamedGroup};
use skipstone_proto::{Duration, Time};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

impl Role {
    /// Datagrams of a handshake that dimpl keeps until they join. A client's flight takes three at most, a server's
    /// certificate may take many.
    pub(super) fn queue_max(self) -> usize {
        match self {
            Role::Client => QUEUE_MAX,
            Role::Server => SERVER_QUEUE_MAX,
        }
    }

    /// Records in a datagram of a handshake. dimpl keeps 4.5 KB of each (DTLS 1.2) or 8.7 KB (1.3), however short it
    /// is.
    pub(super) fn records_max(self) -> usize {
        match self {
            Role::Client => RECORDS_MAX,
            Role::Server => SERVER_RECORDS_MAX,
        }
    }
}

/// Bytes of a handshake datagram. dimpl pads a ClientHello of 1.3 to this, and a session keeps buffers of that size: it
/// is no more than a flight with a certificate of our own takes.
const MTU: usize = 800;
/// Datagrams of a server that dimpl keeps for a client.
const QUEUE_MAX: usize = 30;
/// Datagrams of a client that dimpl keeps for a server: up to 72 KB (1.2) or 139 KB (1.3) with the records below.
pub(super) const SERVER_QUEUE_MAX: usize = 4;
/// The most that dimpl accepts.
const RECORDS_MAX: usize = 16;
/// The last flight of 1.2 has three.
pub(super) const SERVER_RECORDS_MAX: usize = 4;

/// A flight without an answer is sent again after this time, then after twice as long. RFC 9147, section 5.8.2, has 1
/// s, and less where latency counts: at 5% loss a handshake at 20 ms takes 0.9 s for the slowest 1%, where 250 ms make
/// it 1.3 s. On longer paths a flight is sent twice.
const FLIGHT_REPEATED_AFTER: Duration = Duration::from_millis(125);
/// In records, more than 48 bits can number. A client's cipher, ChaCha20-Poly1305, needs no key update (RFC 9147,
/// section 4.5.3), and there must be none: if both sides update their keys at the same time, dimpl 0.9 may lose the
/// session.
const KEYS_NEVER_CHANGE: u64 = 1 << 50;
/// In records. AES-GCM, which other implementations prefer, seals 2^24.5 with a key.
const KEYS_CHANGE_AFTER: u64 = 1 << 24;

/// The configuration that all sessions of a role share. Building it runs dimpl's self-test of the ciphers, once.
pub(super) fn config(role: Role) -> &'static Arc<Config> {
    static CONFIGS: [OnceLock<Arc<Config>>; 2] = [const { OnceLock::new() }; 2];
    CONFIGS[role as usize].get_or_init(|| {
        let common = Config::builder()
            .mtu(MTU)
            .max_queue_rx(role.queue_max())
            .require_client_certificate(false)
            .flight_start_rto(FLIGHT_REPEATED_AFTER)
            .flight_retries(7)
            .handshake_timeout(Duration::from_secs(60))
            .kx_groups(&[NamedGroup::X25519, NamedGroup::Secp256r1]);
        let config = match role {
            Role::Client => common
                .aead_encryption_limit(KEYS_NEVER_CHANGE)
                .dtls12_cipher_suites(&[Dtls12CipherSuite::ECDHE_ECDSA_CHACHA20_POLY1305_SHA256])
                .dtls13_cipher_suites(&[Dtls13CipherSuite::CHACHA20_POLY1305_SHA256]),
            Role::Server => common.use_server_cookie(true).aead_encryption_limit(KEYS_CHANGE_AFTER),
        };
        Arc::new(config.build().expect("the configuration is good, and the ciphers pass their test"))
    })
}

/// Converts the protocol's time to dimpl's, from one base per process.
pub(super) fn instant(time: Time) -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now) + Duration::from_micros(time.as_micros())
}
