//! State of a client's handshake, until the server accepts the client: the request, and the datagrams that are
//! retransmitted.

use super::stats::DropReason;
use crate::security::Protection;
use crate::time::{Duration, Time};
use crate::wire::cursor::Writer;
use crate::wire::datagram::{self, Challenge, Offer, Open, SUITE_PLAIN};
use crate::wire::grease::Grease;
use crate::wire::limits::Limits;
use bytes::Bytes;

/// The protocol versions that this implementation speaks, best first.
pub(crate) const VERSIONS: [u16; 1] = [1];

/// A client's connection request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) nonce: u64,
    pub(crate) token: Bytes,
    pub(crate) protection: Protection,
    pub(crate) limits: Limits,
    pub(crate) timeout: Duration,
}

/// State of a client's handshake, until the server has accepted the client.
#[derive(Debug)]
pub(super) struct ClientHandshake {
    pub(super) nonce: u64,
    pub(super) token: Bytes,
    pub(super) protection: Protection,
    /// The offer of the HELLO.
    pub(super) offer: Box<[u8]>,
    /// Limits on what this client accepts; CONNECT carries them.
    pub(super) limits: Limits,
    pub(super) encoded_limits: Box<[u8]>,
    /// The datagram that is sent again until the server answers: HELLO, then OPEN; for an encrypted OPEN, only the
    /// header.
    pub(super) datagram: Vec<u8>,
    /// Time at which the datagram was first sent.
    pub(super) asked_at: Time,
    pub(super) resend_at: Time,
    pub(super) interval: Duration,
    /// Challenges that arrive before this time are late copies of the one that was answered.
    pub(super) challenge_from: Time,
    /// A hint that the handshake has failed, until the server shows otherwise.
    pub(super) hint: Option<Hint>,
    /// The server has forgotten the handshake, and the endpoint should begin another.
    pub(super) is_forgotten: bool,
}

/// A datagram that ends the handshake, unless the server shows in time that the handshake continues.
#[derive(Debug)]
pub(super) struct Hint {
    pub(super) due: Time,
    /// The server's proof of progress when the hint arrived.
    pub(super) progress: (u64, u64),
    pub(super) news: News,
}

/// The content of the hint.
#[derive(Debug)]
pub(super) enum News {
    /// REFUSE: the server does not accept the client.
    Refused { code: u64, reason: Bytes },
    /// RESET: the server does not know the handshake any more.
    Forgotten,
}

/// Time that an OPEN must be unanswered before another challenge counts: an earlier one answers a repeated HELLO, and
/// following it would change the key of a connection that the server may have created already.
pub(super) const OPEN_PATIENCE: Duration = Duration::from_secs(3);
pub(super) const RESEND_FIRST: Duration = Duration::from_millis(250);
/// So that a handshake timeout of 10 s holds 20 tries: a burst of losses outlasts a few.
pub(super) const RESEND_MAX: Duration = Duration::from_millis(500);

impl ClientHandshake {
    pub(super) fn due(&self) -> Time {
        self.hint.as_ref().map_or(self.resend_at, |hint| hint.due.min(self.resend_at))
    }

    pub(super) fn token(&self) -> &[u8] {
        &self.token
    }

    pub(super) fn limits(&self) -> &[u8] {
        &self.encoded_limits
    }

    pub(super) fn grease(&self) -> Grease {
        Grease::new(self.nonce)
    }

    /// OPEN up to the handshake bytes.
    pub(super) fn open_header(&self) -> &[u8] {
        &self.datagram
    }

    /// The OPEN that answers a challenge, up to its sealed part.
    pub(super) fn open_for(&self, source: u32, challenge: &Challenge<'_>) -> Result<Vec<u8>, DropReason> {
        let Challenge { nonce, version, suite, cookie, .. } = *challenge;
        let offer = Offer::decode(&self.offer).map_err(|_| DropReason::BadFrame)?;
        let open = Open { source, nonce, version, suite, cookie, offer };
        let mut header = vec![0; open.header_bytes()];
        datagram::encode_open_header(&mut Writer::new(&mut header), &open);
        Ok(header)
    }

    /// Sends the HELLO now, and follows whatever answers it.
    pub(super) fn begin_anew(&mut self, now: Time, source: u32, nonce: u64) {
        self.nonce = nonce;
        self.datagram = hello_of(source, nonce, &self.offer);
        (self.asked_at, self.resend_at, self.challenge_from) = (now, now, now);
        (self.interval, self.hint, self.is_forgotten) = (RESEND_FIRST, None, false);
    }

    /// The suites of the HELLO.
    pub(super) fn offered(&self) -> u8 {
        offered(&self.protection)
    }
}

/// The HELLO with this offer.
pub(super) fn hello_of(source: u32, nonce: u64, offer: &[u8]) -> Vec<u8> {
    let mut hello = vec![0; datagram::hello_len(offer)];
    datagram::encode_hello(&mut Writer::new(&mut hello), source, nonce, offer);
    hello
}

/// Suites and versions, and some unknown ones (grease): a server that cannot skip unknown ones could never learn of new
/// ones.
pub(super) fn offer_of(protection: &Protection, grease: Grease) -> Vec<u8> {
    let versions: Vec<u16> = VERSIONS.into_iter().chain([grease.version()]).collect();
    datagram::encode_offer(offered(protection) | grease.suites(), &versions)
}

/// The suites that a HELLO names.
fn offered(protection: &Protection) -> u8 {
    match protection {
        Protection::Plain => SUITE_PLAIN,
        Protection::Encrypted(suites) => suites.offered() & !SUITE_PLAIN,
    }
}
