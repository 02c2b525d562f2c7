//! Sealing and opening of packets, and the handshake bytes before that. WIRE.md sections 2.4 and 3.
//!
//! The plain suite lives here. Encrypted suites are outside the core, behind [`Session`], because they need entropy and
//! a clock.

pub mod cookie;
pub mod plain;
pub mod secret_rng;
mod session;
pub mod simulated;

use crate::time::Time;
use core::ops::Range;
pub use plain::Plain;
pub use session::{HANDSHAKE_COST, Session, Suites};
use std::sync::Arc;

/// The protection that a client requests. A client never falls back from one protection to the other.
#[derive(Clone, Debug)]
pub enum Protection {
    /// In clear.
    Plain,
    /// Encrypted, by one of these suites.
    Encrypted(Arc<dyn Suites>),
}

/// The way in which a connection seals its packets.
pub enum Security {
    /// In clear, with a tag against damage.
    Plain(Plain),
    /// Anything else.
    Session(Box<dyn Session>),
}

impl Security {
    /// The session, if the connection has one; a plain connection has none.
    pub fn session(&mut self) -> Option<&mut (dyn Session + 'static)> {
        match self {
            Security::Plain(_) => None,
            Security::Session(session) => Some(&mut **session),
        }
    }

    /// Whether packets can be sealed and opened.
    pub fn is_established(&self) -> bool {
        match self {
            Security::Plain(_) => true,
            Security::Session(session) => session.is_established(),
        }
    }

    /// See [`Session::poll_timeout`].
    pub fn poll_timeout(&self) -> Time {
        match self {
            Security::Plain(_) => Time::NEVER,
            Security::Session(session) => session.poll_timeout(),
        }
    }

    /// Bytes by which sealing makes a packet longer, at most.
    pub fn overhead(&self) -> usize {
        match self {
            Security::Plain(plain) => plain.overhead(),
            Security::Session(session) => session.overhead(),
        }
    }

    /// Seals packet `number`, see [`Session::seal`].
    pub fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>, number: u64) -> usize {
        match self {
            Security::Plain(plain) => plain.seal(datagram, plaintext, number),
            Security::Session(session) => session.seal(datagram, plaintext),
        }
    }

    /// Opens the packet whose number is the one nearest to `reference`, see [`Session::open`].
    pub fn open(&mut self, datagram: &mut [u8], header: usize, reference: u64) -> Option<Range<usize>> {
        match self {
            Security::Plain(plain) => plain.open(datagram, header, reference),
            Security::Session(session) => session.open(datagram, header),
        }
    }

    /// Whether the datagram that was refused last is a duplicate, see [`Session::was_replay`]. Duplicates in clear are
    /// detected by their numbers, once they are open.
    pub fn was_replay(&self) -> bool {
        match self {
            Security::Plain(_) => false,
            Security::Session(session) => session.was_replay(),
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
