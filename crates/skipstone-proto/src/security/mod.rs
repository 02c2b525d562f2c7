//! Sealing and opening of packets, and the handshake bytes that lead there. WIRE.md sections 2.4 and 3.
//!
//! The plain suite lives here. Encrypted suites live outside the core, behind [`Session`], because they draw entropy
//! and clocks of their own.

pub mod cookie;
pub mod plain;

use crate::time::Time;
use core::ops::Range;
pub use plain::Plain;

/// One end of an encrypted (or plain) session between two peers.
///
/// Sealing happens in place: the caller leaves [`Session::overhead`] bytes of room behind the plaintext and has none of
/// its own in front of it but the datagram's header.
pub trait Session: Send {
    /// Whether packets can be sealed and opened.
    fn is_established(&self) -> bool;

    /// Takes handshake bytes of the peer's. False if they make no sense; the connection then goes on waiting.
    fn handle_handshake(&mut self, now: Time, bytes: &[u8]) -> bool;

    /// Writes the next handshake bytes to send, as one datagram's content, and returns how many; `None` if there is
    /// nothing to send now.
    fn poll_handshake(&mut self, now: Time, buffer: &mut [u8]) -> Option<usize>;

    /// When [`Session::poll_handshake`] may have something to send again.
    fn poll_timeout(&self) -> Time;

    /// Bytes by which sealing makes a packet longer, at most.
    fn overhead(&self) -> usize;

    /// Seals the plaintext at `plaintext` of `datagram`, whose header lies before it; returns the datagram's length.
    fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>) -> usize;

    /// Opens a datagram whose header ends at `header`. Returns where the plaintext now lies, or `None` if it was not
    /// sealed by the peer or was damaged.
    fn open(&mut self, datagram: &mut [u8], header: usize) -> Option<Range<usize>>;
}

/// How a connection seals.
pub enum Security {
    /// In clear, with a tag against damage.
    Plain(Plain),
    /// Anything else.
    Session(Box<dyn Session>),
}

impl Security {
    /// Bytes by which sealing makes a packet longer, at most.
    pub fn overhead(&self) -> usize {
        match self {
            Security::Plain(plain) => plain.overhead(),
            Security::Session(session) => session.overhead(),
        }
    }

    /// See [`Session::seal`].
    pub fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>) -> usize {
        match self {
            Security::Plain(plain) => plain.seal(datagram, plaintext),
            Security::Session(session) => session.seal(datagram, plaintext),
        }
    }

    /// See [`Session::open`].
    pub fn open(&mut self, datagram: &mut [u8], header: usize) -> Option<Range<usize>> {
        match self {
            Security::Plain(plain) => plain.open(datagram, header),
            Security::Session(session) => session.open(datagram, header),
        }
    }
}

impl core::fmt::Debug for Security {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Security::Plain(_) => "Plain",
            Security::Session(_) => "Session",
        })
    }
}
