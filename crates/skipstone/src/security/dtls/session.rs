//! One end of a DTLS session: handshake, records in and out.
//!
//! Any host can send datagrams with the peer's address. Before the client has proven its address, only a ClientHello
//! counts; once the keys are established, only sealed records count.

use super::super::certificates::Certificates;
use super::super::identity::Identity;
use super::super::verify::Verifier;
use super::config::{Role, config, instant};
use super::records;
use super::version::DtlsVersion;
use dimpl::{Dtls, Error, Output, ProtocolVersion};
use skipstone_proto::{Duration, Time};
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A server's configuration for sessions: its certificates.
#[derive(Clone, Debug)]
pub(crate) struct DtlsServer {
    certificates: Arc<Certificates>,
    /// The certificate at the start, in case no later one is suitable for DTLS.
    first: Arc<Identity>,
}

/// A client's configuration for a session: the check of the server's certificate, and the DTLS version.
#[derive(Clone)]
pub(crate) struct DtlsTrust {
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) version: DtlsVersion,
}

pub(crate) struct DtlsSession {
    dtls: Dtls,
    role: Role,
    /// A client's check of the server's certificate, until it is done.
    verifier: Option<Arc<Verifier>>,
    /// Datagrams that wait to be sent.
    outgoing: VecDeque<Vec<u8>>,
    /// Whether the peer answers at its address.
    is_proven: bool,
    is_established: bool,
    /// A record was opened: the peer has received everything that it needs of the handshake.
    has_opened: bool,
    failure: Option<DtlsFailure>,
    now: Time,
    due: Time,
    /// No timer is due before: a client of dimpl 0.9 acknowledges without delay while a datagram of a flight is
    /// missing.
    quiet_until: Time,
}

/// Why a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DtlsFailure {
    /// The server is not the intended one.
    pub(crate) is_untrusted: bool,
    pub(crate) reason: Box<str>,
}

/// Bytes of a handshake datagram.
const HANDSHAKE_BYTES_MAX: usize = 1_500;
/// Limit on datagrams that wait to be sent; dropped ones are sent again, by dimpl or by the protocol.
const OUTGOING_MAX: usize = 64;
/// Shortest time between two datagrams that a timer causes.
pub(super) const TIMER_SPACING: Duration = Duration::from_millis(50);
/// Room for all that dimpl gives at once: dimpl panics if gathered data do not fit.
const SCRATCH_BYTES: usize = 1 << 16;
/// A later timeout of dimpl means that dimpl waits for nothing.
const SOON: Duration = Duration::from_secs(3_600);
thread_local! {
    /// Buffer for output, one session at a time, and the content of a record.
    static SCRATCH: Cell<(Vec<u8>, Vec<u8>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

impl DtlsServer {
    /// `None` if no certificate is suitable for DTLS.
    pub(crate) fn new(certificates: Arc<Certificates>) -> Option<Self> {
        let first = certificates.for_dtls()?;
        Some(DtlsServer { certificates, first })
    }

    /// A session for an unauthenticated client that has sent a ClientHello, with the version that it requests.
    pub(crate) fn session(&self, now: Time) -> DtlsSession {
        let identity = self.certificates.for_dtls().unwrap_or_else(|| Arc::clone(&self.first));
        let dtls = Dtls::new_auto(config(Role::Server).clone(), identity.certificate(), instant(now));
        DtlsSession::new(dtls, Role::Server, None, now)
    }
}

impl DtlsTrust {
    /// A session that begins at once.
    pub(crate) fn session(&self, now: Time) -> DtlsSession {
        let (config, certificate) = (config(Role::Client).clone(), nobody().certificate());
        let mut dtls = match self.version {
            DtlsVersion::V1_2 => Dtls::new_12(config, certificate, instant(now)),
            DtlsVersion::V1_3 => Dtls::new_13(config, certificate, instant(now)),
        };
        dtls.set_active(true);
        let mut session = DtlsSession::new(dtls, Role::Client, Some(self.verifier.clone()), now);
        session.handle_timeout(now);
        session
    }
}

/// dimpl requires a certificate of clients too, though servers here never ask for one.
fn nobody() -> &'static Identity {
    static NOBODY: OnceLock<Identity> = OnceLock::new();
    NOBODY.get_or_init(|| Identity::self_signed().expect("the system has entropy"))
}

impl DtlsSession {
    fn new(dtls: Dtls, role: Role, verifier: Option<Arc<Verifier>>, now: Time) -> Self {
        DtlsSession {
            dtls,
            role,
            verifier,
            outgoing: VecDeque::new(),
            is_proven: role == Role::Client,
            is_established: false,
            has_opened: false,
            failure: None,
            now,
            due: Time::NEVER,
            quiet_until: Time::ZERO,
        }
    }

    /// Whether the peer has answered the cookie; a server's address needs no proof.
    pub(crate) fn is_proven(&self) -> bool {
        self.is_proven
    }

    /// Whether records can be sealed and opened.
    pub(crate) fn is_established(&self) -> bool {
        self.is_established
    }

    /// Why the session has ended, if it has.
    pub(crate) fn failure(&self) -> Option<&DtlsFailure> {
        self.failure.as_ref()
    }

    /// Handles a datagram from the peer, and passes the content of each record of application data to `take`. False if
    /// the datagram is ignored.
    pub(crate) fn handle_datagram(&mut self, now: Time, bytes: &[u8], take: &mut dyn FnMut(&mut [u8])) -> bool {
        if self.failure.is_some() {
            return false;
        }
        if self.is_established {
            return self.handle_established(now, bytes, take);
        }
        let is_hello = records::client_hello(bytes).is_some();
        let is_welcome = bytes.len() <= HANDSHAKE_BYTES_MAX
            && records::are_handshake(bytes, self.role.records_max())
            && (self.is_proven || is_hello);
        if is_welcome {
            self.wake(now);
            let handled = self.dtls.handle_packet(bytes);
            self.check(handled);
            self.drain(take);
        }
        is_welcome
    }

    /// Records in clear are ignored: any host could have sent them, and some make dimpl retransmit its last flight. One
    /// datagram needs them: the client's last flight of 1.2, which it repeats because the server's was lost. It is
    /// answered until an opened record shows that it was not.
    fn handle_established(&mut self, now: Time, bytes: &[u8], take: &mut dyn FnMut(&mut [u8])) -> bool {
        let is_last_flight = self.role == Role::Server
            && !self.has_opened
            && self.dtls.protocol_version() == Some(ProtocolVersion::DTLS1_2)
            && bytes.len() <= HANDSHAKE_BYTES_MAX
            && records::is_last_flight_1_2(bytes);
        if is_last_flight {
            self.wake(now);
            // Errors are ignored: any host could have sent the packet.
            let _ = self.dtls.handle_packet(bytes);
            self.drain(take);
            return true;
        }
        let Some(sealed) = records::sealed(bytes) else { return false };
        self.wake(now);
        // One at a time, so that dimpl never gathers more than one.
        for record in records::each(sealed) {
            let handled = self.dtls.handle_packet(record);
            self.check(handled);
            self.drain(take);
        }
        true
    }

    /// Refreshes dimpl's clock.
    fn wake(&mut self, now: Time) {
        self.now = now;
        let handled = self.dtls.handle_timeout(instant(now));
        self.check(handled);
    }

    /// Handles timers that are due.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if self.failure.is_some() {
            return;
        }
        self.wake(now);
        let before = self.outgoing.len();
        self.drain(&mut |_| ());
        if self.outgoing.len() > before {
            self.quiet_until = now + TIMER_SPACING;
            self.due = self.due.max(self.quiet_until);
        }
    }

    /// When to call [`DtlsSession::handle_timeout`].
    pub(crate) fn poll_timeout(&self) -> Time {
        self.due
    }

    /// The next datagram to send.
    pub(crate) fn poll_datagram(&mut self) -> Option<Vec<u8>> {
        self.outgoing.pop_front()
    }

    /// Queues a record with this content. Before the session is established it is dropped.
    pub(crate) fn send(&mut self, now: Time, content: &[u8]) {
        if !self.is_established || self.failure.is_some() {
            return;
        }
        self.now = now;
        let accepted = self.dtls.send_application_data(content).map(drop);
        self.check(accepted);
        self.drain(&mut |_| ());
    }

    /// Queues a close_notify and ends the session.
    pub(crate) fn close(&mut self, now: Time) {
        self.now = now;
        if self.is_established && self.failure.is_none() && self.dtls.close().is_ok() {
            self.drain(&mut |_| ());
        }
        self.fail("the DTLS session was closed".into());
    }

    fn fail(&mut self, reason: String) {
        self.failure.get_or_insert(DtlsFailure { is_untrusted: false, reason: reason.into() });
        self.due = Time::NEVER;
    }

    /// Every error of dimpl is permanent, except a full queue, whose content is sent again.
    fn check(&mut self, result: Result<(), Error>) {
        match result {
            Ok(()) | Err(Error::TransmitQueueFull) => {}
            Err(error) => self.fail(format!("DTLS failed: {error}")),
        }
    }

    /// Handles all of dimpl's output.
    fn drain(&mut self, take: &mut dyn FnMut(&mut [u8])) {
        if self.failure.is_some() {
            return;
        }
        // The buffers are kept, because freeing so large a block between small blocks that stay would fragment the
        // heap.
        let (mut scratch, mut content) = SCRATCH.take();
        scratch.resize(SCRATCH_BYTES, 0);
        while self.drain_one(&mut scratch, &mut content, take) {}
        SCRATCH.set((scratch, content));
    }

    /// False if there is no more.
    fn drain_one(&mut self, scratch: &mut [u8], content: &mut Vec<u8>, take: &mut dyn FnMut(&mut [u8])) -> bool {
        match self.dtls.poll_output(scratch) {
            Output::Packet(bytes) => {
                self.is_proven |= records::is_after_cookie(bytes);
                if self.outgoing.len() < OUTGOING_MAX {
                    self.outgoing.push_back(bytes.to_vec());
                }
            }
            Output::PeerCert(certificate) => {
                let verified = self.verifier.take().map_or(Ok(()), |verifier| verifier.check(certificate, &[]));
                if let Err(error) = verified {
                    self.failure.get_or_insert(DtlsFailure { is_untrusted: true, reason: error.to_string().into() });
                    self.outgoing.clear();
                    self.due = Time::NEVER;
                    return false;
                }
            }
            // A server without a certificate is refused, whatever its keys.
            Output::Connected if self.verifier.is_none() => self.is_established = true,
            Output::Connected => self.fail("the server has shown no certificate".into()),
            Output::ApplicationData(bytes) => {
                self.has_opened = true;
                if self.is_established {
                    content.clear();
                    content.extend_from_slice(bytes);
                    take(content);
                }
            }
            Output::CloseNotify => {
                // The answer, if dimpl has not given it.
                let _ = self.dtls.close();
                self.fail("the DTLS session was closed by the peer".into());
            }
            Output::Timeout(at) => {
                let left = at.saturating_duration_since(instant(self.now));
                // Times are truncated to microseconds, and dimpl's are not.
                let at = self.now + left + Duration::from_micros(1);
                self.due = if left > SOON { Time::NEVER } else { at.max(self.quiet_until) };
                return false;
            }
            Output::BufferTooSmall { .. } => {
                self.fail("DTLS gave more than a datagram holds".into());
                return false;
            }
            _ => {}
        }
        true
    }
}

impl fmt::Debug for DtlsTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DtlsTrust").field("version", &self.version).finish_non_exhaustive()
    }
}

impl fmt::Debug for DtlsSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DtlsSession").field("dtls", &self.dtls).field("failure", &self.failure).finish_non_exhaustive()
    }
}
