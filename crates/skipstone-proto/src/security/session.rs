//! The interface of an encrypted suite, which is outside the core.

use crate::cost::Cost;
use crate::time::Time;
use core::ops::Range;

/// Encrypted suites, implemented outside the core. A client's suites contain its trusted identities, a server's suites
/// its own identity.
pub trait Suites: Send + Sync + core::fmt::Debug {
    /// A bit set of the suites, without that in clear ([`crate::wire::datagram::SUITE_TLS_1_3`] and the like).
    fn offered(&self) -> u8;

    /// A client's session of this suite, which has its first flight to send; `None` if it cannot be created. The
    /// transcript is every field of HELLO and CHALLENGE that affects the outcome (WIRE.md section 2.3); the session
    /// fails if the peer has seen another.
    fn client(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>>;

    /// A server's session of this suite, for a client whose address is proven.
    fn server(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>>;

    /// The cost of a server's handshake: above all the signature.
    fn handshake_cost(&self) -> Cost {
        HANDSHAKE_COST
    }
}

/// A handshake with ECDSA: the signature, the key exchange and their overhead.
pub const HANDSHAKE_COST: Cost = Cost::micros(300);

/// One end of an encrypted session between two peers.
///
/// Sealing happens in place: the caller leaves [`Session::overhead`] bytes of room after the plaintext, and the
/// datagram's header directly before it.
pub trait Session: Send {
    /// Whether packets can be sealed and opened. An established session stays established.
    fn is_established(&self) -> bool;

    /// The reason, in readable text, why the session will never be established (again): the peer's identity is wrong,
    /// or the peer gave up.
    fn failure(&self) -> Option<&str>;

    /// A count that grows with each part of the handshake that proves that the peer has the handshake's keys.
    fn progress(&self) -> u64 {
        u64::from(self.is_established())
    }

    /// Whether a later part of the handshake needs this side's signature.
    fn will_sign(&self) -> bool {
        false
    }

    /// Approximate bytes that the session holds during its handshake.
    fn handshake_bytes(&self) -> usize {
        16_384
    }

    /// Handles the peer's handshake bytes from one datagram. Returns `false` if they are invalid; the connection then
    /// continues to wait.
    fn handle_handshake(&mut self, now: Time, bytes: &[u8]) -> bool;

    /// Handles timers that are due by now, such as the retransmission of a flight.
    fn handle_timeout(&mut self, now: Time);

    /// Writes the next handshake bytes to send, as one datagram's content, and returns how many; `None` if there is
    /// nothing to send now. Established sessions too may have handshake bytes to send.
    fn poll_handshake(&mut self, buffer: &mut [u8]) -> Option<usize>;

    /// Prefetches the keys into the processor's caches: a packet arrives or leaves soon. The session itself is cached
    /// already.
    fn prefetch(&self) {}

    /// When to call [`Session::handle_timeout`]; [`Time::NEVER`] if nothing waits.
    fn poll_timeout(&self) -> Time;

    /// Bytes by which sealing makes a packet longer, at most.
    fn overhead(&self) -> usize;

    /// Seals the plaintext at `plaintext` of `datagram`, whose header lies before it; returns the datagram's length.
    fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>) -> usize;

    /// Opens a datagram whose header ends at `header`. Returns where the plaintext now lies, or `None` if it was not
    /// sealed by the peer or was damaged.
    fn open(&mut self, datagram: &mut [u8], header: usize) -> Option<Range<usize>>;

    /// Whether the last datagram that [`Session::open`] refused bears the number of one that it has opened: most often
    /// a duplicate made by the network. For statistics only, because the datagram is not authenticated.
    fn was_replay(&self) -> bool {
        false
    }
}
