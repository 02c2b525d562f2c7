//! A suite whose handshake is the simulated one, and whose packets are sealed with a publicly known key: for tests that
//! read and write the packets of an encrypted peer.

use skipstone_proto::Plain;
use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::wire::cursor::Reader;
use skipstone_proto::{Session, Suites, Time};
use std::ops::Range;

/// The glass suites: the key is known.
#[derive(Debug)]
pub(crate) struct GlassSuites(pub(crate) SimulatedSuites);

/// Seals and opens the packets of all their sessions.
pub(crate) fn seal() -> Plain {
    Plain::with_key(b"everybody knows.")
}

struct GlassSession {
    handshake: Box<dyn Session>,
    /// One more than the greatest packet number that was sealed, and that was opened.
    sealed: u64,
    opened: u64,
}

impl GlassSession {
    fn around(handshake: Box<dyn Session>) -> Box<dyn Session> {
        Box::new(GlassSession { handshake, sealed: 0, opened: 0 })
    }
}

impl Suites for GlassSuites {
    fn offered(&self) -> u8 {
        self.0.offered()
    }

    fn client(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        self.0.client(now, suite, transcript).map(GlassSession::around)
    }

    fn server(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        self.0.server(now, suite, transcript).map(GlassSession::around)
    }
}

impl Session for GlassSession {
    fn is_established(&self) -> bool {
        self.handshake.is_established()
    }

    fn failure(&self) -> Option<&str> {
        self.handshake.failure()
    }

    fn progress(&self) -> u64 {
        self.handshake.progress()
    }

    fn handshake_bytes(&self) -> usize {
        self.handshake.handshake_bytes()
    }

    fn handle_handshake(&mut self, now: Time, bytes: &[u8]) -> bool {
        self.handshake.handle_handshake(now, bytes)
    }

    fn handle_timeout(&mut self, now: Time) {
        self.handshake.handle_timeout(now);
    }

    fn poll_handshake(&mut self, buffer: &mut [u8]) -> Option<usize> {
        self.handshake.poll_handshake(buffer)
    }

    fn poll_timeout(&self) -> Time {
        self.handshake.poll_timeout()
    }

    fn overhead(&self) -> usize {
        seal().overhead()
    }

    fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>) -> usize {
        let number = number(&datagram[plaintext.clone()], self.sealed).expect("a packet has a number");
        self.sealed = self.sealed.max(number + 1);
        seal().seal(datagram, plaintext, number)
    }

    fn open(&mut self, datagram: &mut [u8], header: usize) -> Option<Range<usize>> {
        let plaintext = seal().open(datagram, header, self.opened)?;
        self.opened = self.opened.max(number(&datagram[plaintext.clone()], self.opened)? + 1);
        Some(plaintext)
    }
}

fn number(packet: &[u8], reference: u64) -> Option<u64> {
    Some(Reader::new(packet).truncated().ok()?.resolve(reference))
}
