//! DTLS 1.2 and 1.3 (dimpl) as sessions of the protocol. How records lie in datagrams: WIRE.md sections 2.4 and 3.
//!
//! dimpl takes instants and draws its own entropy; the protocol's time is mapped to instants from one base per process.

use super::identity::Identity;
use super::verify::Verifier;
use dimpl::crypto::{Dtls12CipherSuite, Dtls13CipherSuite, NamedGroup};
use dimpl::{Config, Dtls, DtlsCertificate, Error, Output};
use skipstone_proto::security::{Session, Suites};
use skipstone_proto::time::{Duration, Time};
use skipstone_proto::wire::datagram::{SUITE_DTLS_1_2, SUITE_DTLS_1_3};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A server's suites: who it is.
#[derive(Debug)]
pub(crate) struct ServerSuites {
    identity: Arc<Identity>,
    offered: u8,
}

/// A client's suites: whom it trusts.
#[derive(Debug)]
pub(crate) struct ClientSuites {
    verifier: Arc<Verifier>,
    offered: u8,
}

/// Every suite that this library has.
pub(crate) const ALL: u8 = SUITE_DTLS_1_2 | SUITE_DTLS_1_3;

impl ServerSuites {
    pub(crate) fn new(identity: Arc<Identity>, offered: u8) -> Self {
        ServerSuites { identity, offered }
    }
}

impl ClientSuites {
    pub(crate) fn new(verifier: Arc<Verifier>, offered: u8) -> Self {
        ClientSuites { verifier, offered }
    }
}

impl Suites for ServerSuites {
    fn offered(&self) -> u8 {
        self.offered
    }

    fn client(&self, _: Time, _: u8, _: u64) -> Option<Box<dyn Session>> {
        None
    }

    fn server(&self, now: Time, suite: u8, _: u64) -> Option<Box<dyn Session>> {
        let kind = Kind::of(suite & self.offered)?;
        let dtls = kind.dtls(self.identity.certificate(), now);
        Some(Box::new(DtlsSession::new(dtls, kind, now, None)))
    }
}

impl Suites for ClientSuites {
    fn offered(&self) -> u8 {
        self.offered
    }

    fn client(&self, now: Time, suite: u8, _: u64) -> Option<Box<dyn Session>> {
        let kind = Kind::of(suite & self.offered)?;
        let mut dtls = kind.dtls(nobody().certificate(), now);
        dtls.set_active(true);
        let mut session = DtlsSession::new(dtls, kind, now, Some(self.verifier.clone()));
        session.handle_timeout(now);
        Some(Box::new(session))
    }

    fn server(&self, _: Time, _: u8, _: u64) -> Option<Box<dyn Session>> {
        None
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

    fn dtls(self, certificate: DtlsCertificate, now: Time) -> Dtls {
        let (config, now) = (config().clone(), instant(now));
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

const HEADER_1_2: usize = 13;
const HEADER_1_3: usize = 5;
const LENGTH: usize = 2;
const TAG: usize = 16;
/// Content type of application data.
const APPLICATION_DATA: u8 = 23;
/// The top bits of a DTLS 1.3 record with a sequence of 16 bits and a length, and without a connection id.
const UNIFIED: u8 = 0b0010_1100;
/// Bytes of DTLS in a handshake datagram. dimpl pads a ClientHello of 1.3 to this, and a server's session keeps buffers
/// of that size: it is no more than what a flight with a certificate of our own takes.
const MTU: usize = 800;
/// Handshake bytes that one datagram may bring.
const HANDSHAKE_BYTES_MAX: usize = 1_500;
/// What dimpl keeps of a peer's datagrams until a message is whole.
const QUEUE_MAX: usize = 30;
/// Room for whatever dimpl has gathered in a handshake: it panics when a certificate finds none.
const SCRATCH_BYTES: usize = 1 << 16;
const _: () = assert!(QUEUE_MAX * HANDSHAKE_BYTES_MAX < SCRATCH_BYTES);
thread_local! {
    /// Where handshakes are gathered, one at a time.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}
/// Beyond this, dimpl waits for nothing.
const SOON: Duration = Duration::from_secs(3_600);

/// What all sessions share. Building it runs dimpl's self-test of the ciphers, once.
fn config() -> &'static Arc<Config> {
    static CONFIG: OnceLock<Arc<Config>> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let config = Config::builder()
            .mtu(MTU)
            .max_queue_rx(QUEUE_MAX)
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

struct DtlsSession {
    dtls: Dtls,
    kind: Kind,
    /// A client's check of the server's certificate, until it is done.
    verifier: Option<Arc<Verifier>>,
    /// Datagrams of handshake bytes that wait to be sent.
    flights: VecDeque<Vec<u8>>,
    is_established: bool,
    failure: Option<Box<str>>,
    now: Time,
    due: Time,
}

impl DtlsSession {
    fn new(dtls: Dtls, kind: Kind, now: Time, verifier: Option<Arc<Verifier>>) -> Self {
        let (flights, due) = (VecDeque::new(), Time::NEVER);
        DtlsSession { dtls, kind, verifier, flights, is_established: false, failure: None, now, due }
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why.into());
        self.flights.clear();
        self.due = Time::ZERO;
    }

    fn check<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.fail(format!("the encrypted handshake failed: {error}"))).ok()
    }

    /// Takes everything that dimpl has to say outside of sealing and opening.
    fn drain(&mut self) {
        if self.failure.is_some() {
            return;
        }
        if self.is_established {
            self.drain_into(&mut [0; 2 * MTU]);
        } else {
            // Kept, because so large a block among small ones that stay would cut up the heap.
            let mut scratch = SCRATCH.take();
            scratch.resize(SCRATCH_BYTES, 0);
            self.drain_into(&mut scratch);
            SCRATCH.set(scratch);
        }
    }

    fn drain_into(&mut self, scratch: &mut [u8]) {
        loop {
            match self.dtls.poll_output(scratch) {
                Output::Packet(bytes) => self.flights.push_back(bytes.to_vec()),
                Output::PeerCert(certificate) => {
                    let verified = self.verifier.take().map_or(Ok(()), |verifier| verifier.check(certificate));
                    if let Err(error) = verified {
                        self.fail(error.to_string());
                        return;
                    }
                }
                // Whoever has shown no certificate is nobody.
                Output::Connected if self.verifier.is_none() => self.is_established = true,
                Output::Connected => self.fail("the server has shown no certificate".into()),
                Output::CloseNotify => self.fail("the peer ended the encrypted session".into()),
                Output::Timeout(at) => {
                    let left = at.saturating_duration_since(instant(self.now));
                    self.due = if left > SOON { Time::NEVER } else { self.now + left };
                    return;
                }
                // Packets are opened elsewhere; here they are out of place.
                Output::ApplicationData(_) | Output::KeyingMaterial(..) => {}
                Output::BufferTooSmall { needed } => return self.drain_into(&mut vec![0; needed.max(SCRATCH_BYTES)]),
                _ => {}
            }
        }
    }

    /// What dimpl says beside a packet that was opened, and all that is behind it.
    fn take_aside(&mut self, output: &Output<'_>) {
        match output {
            Output::Timeout(_) => return,
            Output::Packet(bytes) => self.flights.push_back(bytes.to_vec()),
            Output::CloseNotify => self.fail("the peer ended the encrypted session".into()),
            _ => {}
        }
        self.drain();
    }

    /// A server's first flight must be a ClientHello, and be answered, or there is nothing to keep a session for.
    fn handle_hello(&mut self, bytes: &[u8]) -> bool {
        let is_hello = bytes.first() == Some(&22) && bytes.get(HEADER_1_2) == Some(&1);
        if is_hello {
            let handled = self.dtls.handle_packet(bytes);
            if self.check(handled).is_some() {
                self.drain();
            }
        }
        self.failure.is_none() && !self.flights.is_empty()
    }
}

impl Session for DtlsSession {
    fn is_established(&self) -> bool {
        self.is_established
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn handle_handshake(&mut self, now: Time, bytes: &[u8]) -> bool {
        if self.failure.is_some() || bytes.len() > HANDSHAKE_BYTES_MAX || !is_handshake(bytes) {
            return false;
        }
        self.handle_timeout(now);
        let is_first = !self.dtls.is_active() && !self.is_established && self.due == Time::NEVER;
        if is_first {
            return self.handle_hello(bytes);
        }
        let handled = self.dtls.handle_packet(bytes);
        if self.check(handled).is_some() {
            self.drain();
        }
        true
    }

    fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        if self.failure.is_some() {
            self.due = Time::NEVER;
            return;
        }
        let handled = self.dtls.handle_timeout(instant(now));
        if self.check(handled).is_some() {
            self.drain();
        }
    }

    fn poll_handshake(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let bytes = self.flights.pop_front()?;
        buffer.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        Some(bytes.len())
    }

    fn poll_timeout(&self) -> Time {
        self.due
    }

    fn overhead(&self) -> usize {
        self.kind.overhead()
    }

    fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>) -> usize {
        let (start, sealed) = (plaintext.start, plaintext.end + self.overhead());
        let accepted = self.dtls.send_application_data(&datagram[plaintext.clone()]);
        // Nothing leaves in clear, whatever goes wrong below.
        datagram[plaintext].fill(0);
        if self.failure.is_some() || self.check(accepted).is_none() {
            return sealed;
        }
        // DTLS 1.3 writes a length in front that datagrams do without: the record begins that much earlier.
        let begin = if self.kind == Kind::Dtls13 { start - LENGTH } else { start };
        let saved: [u8; LENGTH] = datagram[start - LENGTH..start].try_into().expect("two bytes");
        loop {
            match self.dtls.poll_output(&mut datagram[begin..]) {
                Output::Packet(bytes) if begin + bytes.len() == sealed => break,
                Output::Packet(bytes) => self.flights.push_back(bytes.to_vec()),
                Output::Timeout(_) | Output::BufferTooSmall { .. } => {
                    self.fail("the encrypted session gave no record".into());
                    datagram[start..sealed].fill(0);
                    break;
                }
                _ => {}
            }
        }
        if self.kind == Kind::Dtls13 {
            datagram.copy_within(begin..begin + HEADER_1_3 - LENGTH, start);
            datagram[start] &= !LENGTH_FLAG;
            datagram[begin..start].copy_from_slice(&saved);
        }
        sealed
    }

    fn open(&mut self, datagram: &mut [u8], header: usize) -> Option<Range<usize>> {
        if self.failure.is_some() || datagram.len() < header + self.overhead() {
            return None;
        }
        let begin = match self.kind {
            Kind::Dtls12 => {
                let length = u16::from_be_bytes([datagram[header + 11], datagram[header + 12]]);
                let is_one = usize::from(length) == datagram.len() - header - HEADER_1_2;
                (datagram[header] == APPLICATION_DATA && is_one).then_some(header)?
            }
            Kind::Dtls13 => {
                let length = (datagram.len() - header - (HEADER_1_3 - LENGTH)) as u16;
                let begin = header.checked_sub(LENGTH)?;
                let flags = datagram[header] | LENGTH_FLAG;
                if datagram[header] & LENGTH_FLAG != 0 || flags & !0b11 != UNIFIED {
                    return None;
                }
                datagram.copy_within(header..header + HEADER_1_3 - LENGTH, begin);
                datagram[begin] = flags;
                datagram[header + 1..header + 1 + LENGTH].copy_from_slice(&length.to_be_bytes());
                begin
            }
        };
        let handled = self.dtls.handle_packet(&datagram[begin..]);
        self.check(handled)?;
        let opened = match self.dtls.poll_output(&mut datagram[header..]) {
            Output::ApplicationData(bytes) => header..header + bytes.len(),
            other => {
                self.take_aside(&other);
                return None;
            }
        };
        // Nearly always there is nothing more to say, and no room is room enough to be told so.
        let more = self.dtls.poll_output(&mut []);
        self.take_aside(&more);
        Some(opened)
    }
}

/// In the first byte of a DTLS 1.3 record: it has a length.
const LENGTH_FLAG: u8 = 0b0000_0100;

/// Whether every record could belong to a handshake. An alert in clear could be anybody's.
fn is_handshake(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(kind) = rest.first() {
        match kind {
            // Sealed: what is in it and behind it cannot be seen from here.
            0b0010_0000..=0b0011_1111 => return true,
            20..=26 if rest.len() > HEADER_1_2 => {
                let is_sealed = rest[3..5] != [0, 0];
                let length = usize::from(u16::from_be_bytes([rest[11], rest[12]]));
                let is_alert = *kind == 21 && !is_sealed;
                let Some(next) = rest.get(HEADER_1_2 + length..).filter(|_| !is_alert) else { return false };
                rest = next;
            }
            _ => return false,
        }
    }
    !bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::Trust;

    fn pair() -> (DtlsSession, DtlsSession) {
        let (identity, now) = (Identity::self_signed().expect("it is made"), Time::from_micros(1_000_000));
        let pin = Verifier::new(&Trust::Pinned(identity.fingerprint()), "localhost").expect("it is a pin");
        let mut client = Kind::Dtls13.dtls(nobody().certificate(), now);
        client.set_active(true);
        let mut client = DtlsSession::new(client, Kind::Dtls13, now, Some(pin.into()));
        client.handle_timeout(now);
        (client, DtlsSession::new(Kind::Dtls13.dtls(identity.certificate(), now), Kind::Dtls13, now, None))
    }

    fn talk(now: Time, from: &mut DtlsSession, to: &mut DtlsSession) {
        let mut buffer = [0; 2_000];
        while let Some(length) = from.poll_handshake(&mut buffer) {
            assert!(to.handle_handshake(now, &buffer[..length]));
        }
    }

    #[test]
    fn the_keys_never_change() {
        assert_eq!(config().aead_encryption_limit(), KEYS_NEVER_CHANGE);
        let suites: Vec<_> = config().dtls13_cipher_suites().map(|suite| suite.suite()).collect();
        assert_eq!(suites, [Dtls13CipherSuite::CHACHA20_POLY1305_SHA256], "AES-GCM would have to change them");
    }

    #[test]
    fn nothing_is_sealed_in_clear_when_the_session_has_failed() {
        let (mut client, mut server) = pair();
        for _ in 0..3 {
            talk(Time::from_micros(1_000_000), &mut client, &mut server);
            talk(Time::from_micros(1_000_000), &mut server, &mut client);
        }
        assert!(client.is_established());
        client.fail("a test".into());
        let mut datagram = [7; 64];
        let length = client.seal(&mut datagram, 4..40);
        assert_eq!(datagram[4..40], [0; 36]);
        assert_eq!(length, 40 + client.overhead());
    }

    #[test]
    fn alerts_in_clear_and_garbage_are_no_handshake() {
        let alert = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40];
        let mut hello = vec![22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 1, 2, 3];
        assert!(is_handshake(&hello) && !is_handshake(&alert) && !is_handshake(&[]));
        hello.extend(alert);
        assert!(!is_handshake(&hello), "behind something else, too");
        assert!(!is_handshake(&hello[..15]) && !is_handshake(b"\x80abc") && is_handshake(&[0x2F, 1, 2]));
    }
}
