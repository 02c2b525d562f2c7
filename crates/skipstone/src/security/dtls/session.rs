//! One end of a DTLS session: handshake, sealing, opening.

use super::super::records;
use super::super::verify::Verifier;
use super::kind::{HEADER_1_2, HEADER_1_3, Kind, LENGTH, MTU, QUEUE_MAX, Role, instant};
use dimpl::{Dtls, Error, Output};
use skipstone_proto::Session;
use skipstone_proto::{Duration, Time};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

pub(super) struct DtlsSession {
    dtls: Dtls,
    kind: Kind,
    role: Role,
    /// A client's check of the server's certificate, until it is done.
    verifier: Option<Arc<Verifier>>,
    /// Handshake datagrams that wait to be sent.
    flights: VecDeque<Vec<u8>>,
    is_established: bool,
    /// A packet was opened: the peer has received everything that it needs of the handshake.
    has_opened: bool,
    failure: Option<Box<str>>,
    now: Time,
    due: Time,
}

impl DtlsSession {
    pub(super) fn new(dtls: Dtls, kind: Kind, now: Time, role: Role, verifier: Option<Arc<Verifier>>) -> Self {
        let (flights, due) = (VecDeque::new(), Time::NEVER);
        let (is_established, has_opened, failure) = (false, false, None);
        DtlsSession { dtls, kind, role, verifier, flights, is_established, has_opened, failure, now, due }
    }

    pub(super) fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why.into());
        self.flights.clear();
        self.due = Time::ZERO;
    }

    fn check<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.fail(format!("the encrypted handshake failed: {error}"))).ok()
    }

    /// Handles all output of dimpl outside of sealing and opening.
    fn drain(&mut self) {
        if self.failure.is_some() {
            return;
        }
        if self.is_established {
            self.drain_into(&mut [0; 2 * MTU]);
        } else {
            // The buffer is kept, because freeing so large a block between small blocks that stay would fragment the
            // heap.
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
                    let verified = self.verifier.take().map_or(Ok(()), |verifier| verifier.check(certificate, &[]));
                    if let Err(error) = verified {
                        self.fail(error.to_string());
                        return;
                    }
                }
                // A server without a certificate is refused, whatever its keys.
                Output::Connected if self.verifier.is_none() => self.is_established = true,
                Output::Connected => self.fail("the server has shown no certificate".into()),
                Output::CloseNotify => self.fail("the peer ended the encrypted session".into()),
                Output::Timeout(at) => {
                    let left = at.saturating_duration_since(instant(self.now));
                    self.due = if left > SOON { Time::NEVER } else { self.now + left };
                    return;
                }
                // Packets are opened in `open`; application data is ignored here.
                Output::ApplicationData(_) | Output::KeyingMaterial(..) => {}
                Output::BufferTooSmall { needed } => return self.drain_into(&mut vec![0; needed.max(SCRATCH_BYTES)]),
                _ => {}
            }
        }
    }

    /// Handles dimpl's output other than an opened packet, until there is no more.
    fn take_aside(&mut self, output: &Output<'_>) {
        match output {
            Output::Timeout(_) => return,
            Output::Packet(bytes) => self.flights.push_back(bytes.to_vec()),
            Output::CloseNotify => self.fail("the peer ended the encrypted session".into()),
            _ => {}
        }
        self.drain();
    }

    /// Handles the first datagram at a server. The datagram must be a ClientHello that dimpl answers; otherwise there
    /// is no reason to keep a session.
    fn handle_hello(&mut self, bytes: &[u8]) -> bool {
        if records::is_client_hello(bytes) {
            let handled = self.dtls.handle_packet(bytes);
            if self.check(handled).is_some() {
                self.drain();
            }
        }
        self.failure.is_none() && !self.flights.is_empty()
    }
}

impl DtlsSession {
    /// Handles handshake bytes after the keys are established. Unencrypted records are ignored: anybody could have sent
    /// them, and some types make dimpl retransmit its last flight. One datagram needs them: the client's last flight of
    /// 1.2, which the client retransmits because the server's was lost. Until an opened packet shows that it was not
    /// lost, dimpl answers the datagram after growing intervals.
    fn handle_late(&mut self, bytes: &[u8]) -> bool {
        let is_last_flight = self.role == Role::Server
            && self.kind == Kind::Dtls12
            && !self.has_opened
            && records::is_last_flight_1_2(bytes);
        let handled = match records::sealed(bytes) {
            _ if is_last_flight => self.dtls.handle_packet(bytes).or(Ok(())),
            Some(sealed) => self.dtls.handle_packet(sealed),
            None => return false,
        };
        if self.note(handled).is_some() {
            self.drain();
        }
        true
    }

    /// Like `check`, after the keys are established. A full transmit queue does not end the session, because the flight
    /// can be retransmitted.
    fn note(&mut self, result: Result<(), Error>) -> Option<()> {
        match result {
            Err(Error::TransmitQueueFull) => Some(()),
            result => self.check(result),
        }
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
        let is_handshake = bytes.len() <= HANDSHAKE_BYTES_MAX && records::are_handshake(bytes, self.role.records_max());
        if self.failure.is_some() || !is_handshake {
            return false;
        }
        self.handle_timeout(now);
        if self.is_established {
            return self.handle_late(bytes);
        }
        let is_first = !self.dtls.is_active() && self.due == Time::NEVER;
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
        // No plaintext leaves, whatever fails below.
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
                let is_sealed = datagram[header + 3..header + 5] == [0, 1];
                (datagram[header] == APPLICATION_DATA && is_sealed && is_one).then_some(header)?
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
        self.note(handled)?;
        let opened = match self.dtls.poll_output(&mut datagram[header..]) {
            Output::ApplicationData(bytes) => header..header + bytes.len(),
            other => {
                self.take_aside(&other);
                return None;
            }
        };
        // Nearly always there is no more output, and an empty buffer is enough to find that out.
        self.has_opened = true;
        let more = self.dtls.poll_output(&mut []);
        self.take_aside(&more);
        Some(opened)
    }
}

/// Content type of application data.
const APPLICATION_DATA: u8 = 23;
/// The top bits of a DTLS 1.3 record with a sequence of 16 bits and a length, and without a connection id.
const UNIFIED: u8 = 0b0010_1100;
/// In the first byte of a DTLS 1.3 record: it has a length.
const LENGTH_FLAG: u8 = 0b0000_0100;
/// Limit on the handshake bytes of one datagram.
const HANDSHAKE_BYTES_MAX: usize = 1_500;
/// Room for all data that dimpl has gathered in a handshake: dimpl panics if a certificate does not fit.
const SCRATCH_BYTES: usize = 1 << 16;
const _: () = assert!(QUEUE_MAX * HANDSHAKE_BYTES_MAX < SCRATCH_BYTES);
thread_local! {
    /// Buffer for the output of handshakes, one at a time.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}
/// A later timeout of dimpl means that dimpl waits for nothing.
const SOON: Duration = Duration::from_secs(3_600);
