//! What a client keeps until it is let in: what it asks with, and what it says again until it is answered.

use crate::security::Protection;
use crate::time::{Duration, Time};
use crate::wire::datagram::SUITE_PLAIN;
use bytes::Bytes;

/// The protocol versions that this implementation speaks, best first.
pub(crate) const VERSIONS: [u16; 1] = [1];

/// How a client asks to be let in.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) nonce: u64,
    pub(crate) token: Bytes,
    pub(crate) protection: Protection,
    pub(crate) timeout: Duration,
}

/// What a client keeps until the server has let it in.
#[derive(Debug)]
pub(super) struct ClientHandshake {
    pub(super) nonce: u64,
    pub(super) token: Bytes,
    pub(super) protection: Protection,
    /// What is sent again until it is answered: HELLO, then OPEN; of an encrypted one the header.
    pub(super) datagram: Vec<u8>,
    pub(super) resend_at: Time,
    pub(super) interval: Duration,
    /// Challenges before this are late copies of the one that was answered.
    pub(super) challenge_from: Time,
}

/// How long an OPEN goes unanswered before another challenge counts: before, it is the answer to a repeated HELLO, and
/// following it would change the key of a connection that the server may have made already.
pub(super) const OPEN_PATIENCE: Duration = Duration::from_secs(3);
pub(super) const RESEND_FIRST: Duration = Duration::from_millis(250);
pub(super) const RESEND_MAX: Duration = Duration::from_secs(2);

impl ClientHandshake {
    pub(super) fn resend_at(&self) -> Time {
        self.resend_at
    }

    pub(super) fn token(&self) -> &[u8] {
        &self.token
    }

    /// OPEN up to the handshake bytes.
    pub(super) fn open_header(&self) -> &[u8] {
        &self.datagram
    }

    /// The suites of the HELLO.
    pub(super) fn offered(&self) -> u8 {
        offered(&self.protection)
    }
}

/// The suites that a HELLO names.
pub(super) fn offered(protection: &Protection) -> u8 {
    match protection {
        Protection::Plain => SUITE_PLAIN,
        Protection::Encrypted(suites) => suites.offered() & !SUITE_PLAIN,
    }
}
