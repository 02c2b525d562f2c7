//! DTLS 1.2 and 1.3 (dimpl) as sessions of the protocol. How records lie in datagrams: WIRE.md sections 2.4 and 3.
//!
//! dimpl takes instants and draws its own entropy; the protocol's time is mapped to instants from one base per process.
//! Here are the suites and what all sessions share; `session` has one end of a session.

mod session;

use super::identity::Identity;
use super::records;
use super::verify::Verifier;
use dimpl::crypto::{Dtls12CipherSuite, Dtls13CipherSuite, NamedGroup};
use dimpl::{Config, Dtls, DtlsCertificate};
use session::DtlsSession;
use skipstone_proto::Session;
use skipstone_proto::{Duration, Time};
use skipstone_proto::{SUITE_DTLS_1_2, SUITE_DTLS_1_3};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A server's session of this suite; `None` if it is not DTLS.
pub(super) fn server(now: Time, suite: u8, identity: &Identity) -> Option<Box<dyn Session>> {
    let kind = Kind::of(suite)?;
    let dtls = kind.dtls(Role::Server, identity.certificate(), now);
    Some(Box::new(DtlsSession::new(dtls, kind, now, Role::Server, None)))
}

/// A client's session of this suite, with its first flight to send; `None` if it is not DTLS.
pub(super) fn client(now: Time, suite: u8, verifier: Arc<Verifier>) -> Option<Box<dyn Session>> {
    let kind = Kind::of(suite)?;
    let mut dtls = kind.dtls(Role::Client, nobody().certificate(), now);
    dtls.set_active(true);
    let mut session = DtlsSession::new(dtls, kind, now, Role::Client, Some(verifier));
    session.handle_timeout(now);
    Some(Box::new(session))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

impl Role {
    /// Datagrams that dimpl keeps until a message is whole. A client of ours says everything in one, so that a few are
    /// enough for one that says it in pieces; a server's certificate may take many.
    fn queue_max(self) -> usize {
        match self {
            Role::Client => QUEUE_MAX,
            Role::Server => SERVER_QUEUE_MAX,
        }
    }

    /// Records that a datagram of the peer's handshake may hold. dimpl keeps 4.5 KB of each (DTLS 1.2) or 8.7 KB (1.3),
    /// however short it is.
    fn records_max(self) -> usize {
        match self {
            Role::Client => RECORDS_MAX,
            Role::Server => SERVER_RECORDS_MAX,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Dtls12,
    Dtls13,
}

impl Kind {
    fn of(suite: u8) -> Option<Self> {
        match suite {
            SUITE_DTLS_1_2 => Some(Kind::Dtls12),
            SUITE_DTLS_1_3 => Some(Kind::Dtls13),
            _ => None,
        }
    }

    fn dtls(self, role: Role, certificate: DtlsCertificate, now: Time) -> Dtls {
        let (config, now) = (config(role).clone(), instant(now));
        match self {
            Kind::Dtls12 => Dtls::new_12(config, certificate, now),
            Kind::Dtls13 => Dtls::new_13(config, certificate, now),
        }
    }

    /// Bytes by which a record in a datagram is longer than what it seals.
    fn overhead(self) -> usize {
        match self {
            // Header, tag. Of the 1.2 ciphers only ChaCha20-Poly1305 has a nonce that follows from the sequence.
            Kind::Dtls12 => HEADER_1_2 + TAG,
            // Header without length, content type, tag.
            Kind::Dtls13 => HEADER_1_3 - LENGTH + 1 + TAG,
        }
    }
}

const HEADER_1_2: usize = records::HEADER_BYTES;
const HEADER_1_3: usize = 5;
const LENGTH: usize = 2;
const TAG: usize = 16;
/// Bytes of DTLS in a handshake datagram. dimpl pads a ClientHello of 1.3 to this, and a server's session keeps buffers
/// of that size: it is no more than what a flight with a certificate of our own takes.
const MTU: usize = 800;
/// Datagrams of a server that dimpl keeps for a client.
const QUEUE_MAX: usize = 30;
/// Datagrams of a client that dimpl keeps for a server: up to 72 KB (1.2) or 139 KB (1.3) with the records below.
const SERVER_QUEUE_MAX: usize = 4;
/// As many as dimpl takes.
const RECORDS_MAX: usize = 16;
/// The last flight of 1.2 has three.
const SERVER_RECORDS_MAX: usize = 4;

/// The configuration that all sessions of a role share. Building it runs dimpl's self-test of the ciphers, once.
fn config(role: Role) -> &'static Arc<Config> {
    static CONFIGS: [OnceLock<Arc<Config>>; 2] = [const { OnceLock::new() }; 2];
    CONFIGS[role as usize].get_or_init(|| {
        let config = Config::builder()
            .mtu(MTU)
            .max_queue_rx(role.queue_max())
            .require_client_certificate(false)
            // The address is proven before a session is made.
            .use_server_cookie(false)
            .flight_start_rto(Duration::from_millis(250))
            .flight_retries(7)
            .handshake_timeout(Duration::from_secs(60))
            // ChaCha20-Poly1305 needs no other key in the life of a connection (RFC 9147, section 4.5.3), and that is how
            // it must be: when both sides change theirs at once, dimpl 0.9 may lose the thread for good.
            .aead_encryption_limit(KEYS_NEVER_CHANGE)
            .dtls12_cipher_suites(&[Dtls12CipherSuite::ECDHE_ECDSA_CHACHA20_POLY1305_SHA256])
            .dtls13_cipher_suites(&[Dtls13CipherSuite::CHACHA20_POLY1305_SHA256])
            .kx_groups(&[NamedGroup::X25519, NamedGroup::Secp256r1])
            .build();
        Arc::new(config.expect("the configuration is good, and the ciphers pass their test"))
    })
}

/// Records; more than 48 bits can number.
const KEYS_NEVER_CHANGE: u64 = 1 << 50;

/// dimpl wants a certificate of clients too, though no server of ours asks for it.
fn nobody() -> &'static Identity {
    static NOBODY: OnceLock<Identity> = OnceLock::new();
    NOBODY.get_or_init(|| Identity::self_signed().expect("the system has entropy"))
}

/// The protocol's time as dimpl's.
pub(crate) fn instant(time: Time) -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now) + Duration::from_micros(time.as_micros())
}

#[cfg(test)]
mod tests;
