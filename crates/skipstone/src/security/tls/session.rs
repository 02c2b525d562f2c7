//! A session behind the protocol's interface: first a handshake, then only two keys and two counters.

use super::handshake::{Handshake, Side};
use super::keys::{OVERHEAD, PacketKeys};
use super::parameters;
use super::pieces;
use rustls::pki_types::ServerName;
use rustls::quic::{ClientConnection, Connection, ServerConnection, Version};
use rustls::{ClientConfig, ServerConfig};
use skipstone_proto::coding::Grease;
use skipstone_proto::{Session, Time};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct TlsSession {
    pub(super) packets: Option<PacketKeys>,
    /// The handshake, until the peer has received everything that it needs.
    pub(super) handshake: Option<Box<Handshake>>,
    /// A server's last handshake datagram, for a client that has not received it.
    last_word: Option<LastWord>,
    failure: Option<Box<str>>,
    /// The endpoint has not noticed the failure yet.
    is_due: bool,
}

/// The datagram that acknowledges a client's last flight.
struct LastWord {
    bytes: Box<[u8]>,
    is_due: bool,
    /// Number of times that it may still be sent.
    left: u8,
}

/// Handshake bytes that one datagram may bring.
const HANDSHAKE_BYTES_MAX: usize = 1_500;
/// A client asks for the last datagram again eight times in ten seconds; packets acknowledge the flight as well.
const LAST_WORDS_MAX: u8 = 32;

impl TlsSession {
    /// A client's session, which has its ClientHello to send.
    pub(crate) fn client(now: Time, config: Arc<ClientConfig>, transcript: &[u8]) -> Option<Self> {
        // This name is never sent; the rules of the configuration contain the right one.
        let name = ServerName::try_from("skipstone.invalid").ok()?;
        let tls = ClientConnection::new(config, Version::V1, name, TlsSession::parameters(transcript)).ok()?;
        TlsSession::of(now, tls.into(), transcript)
    }

    /// A server's session, which waits for a ClientHello.
    pub(crate) fn server(now: Time, config: Arc<ServerConfig>, transcript: &[u8]) -> Option<Self> {
        let tls = ServerConnection::new(config, Version::V1, TlsSession::parameters(transcript)).ok()?;
        TlsSession::of(now, tls.into(), transcript)
    }

    fn parameters(transcript: &[u8]) -> Vec<u8> {
        // The nonce of the HELLO, after the client's id.
        let nonce = transcript.get(3..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        parameters::encode(transcript, Grease::new(u64::from_be_bytes(nonce)))
    }

    fn of(now: Time, tls: Connection, transcript: &[u8]) -> Option<Self> {
        let mut handshake = Handshake::new(now, tls, transcript);
        handshake.write(now).ok()?;
        let handshake = Some(Box::new(handshake));
        Some(TlsSession { packets: None, handshake, last_word: None, failure: None, is_due: false })
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why.into());
        (self.handshake, self.last_word, self.is_due) = (None, None, true);
    }

    /// The handshake may have come further, or to its end.
    fn advance(&mut self) {
        let Some(handshake) = &mut self.handshake else { return };
        if let Some(packets) = handshake.take_packets() {
            self.packets = Some(packets);
            if handshake.side() == Side::Server {
                let mut buffer = [0; 64];
                let said = handshake.poll_last_word(&mut buffer).map(|length| buffer[..length].into());
                self.last_word = said.map(|bytes| LastWord { bytes, is_due: true, left: LAST_WORDS_MAX });
                self.handshake = None;
                return;
            }
        }
        if handshake.is_over() {
            self.handshake = None;
        }
    }

    /// Handles handshake bytes after the end of the handshake: the client may not have received the last datagram.
    fn handle_late(&mut self, bytes: &[u8]) -> bool {
        let is_sealed = pieces::decode(bytes).is_some_and(|pieces| pieces.sealed.is_some());
        match &mut self.last_word {
            // The answer is never longer than the received datagram.
            Some(word) if is_sealed && word.left > 0 && bytes.len() >= word.bytes.len() => {
                word.is_due = true;
                true
            }
            _ => false,
        }
    }
}

impl Session for TlsSession {
    fn is_established(&self) -> bool {
        self.packets.is_some()
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn progress(&self) -> u64 {
        // Once the session is established, the handshake may have been dropped.
        let heard = self.handshake.as_ref().map_or(0, |handshake| handshake.heard_sealed());
        if self.is_established() { u64::MAX } else { heard as u64 }
    }

    fn will_sign(&self) -> bool {
        self.handshake.as_ref().is_some_and(|handshake| handshake.will_sign())
    }

    fn handshake_bytes(&self) -> usize {
        size_of::<Self>() + self.handshake.as_ref().map_or(0, |handshake| handshake.held_bytes())
    }

    fn handle_handshake(&mut self, now: Time, bytes: &[u8]) -> bool {
        if self.failure.is_some() || bytes.len() > HANDSHAKE_BYTES_MAX {
            return false;
        }
        let Some(handshake) = &mut self.handshake else { return self.handle_late(bytes) };
        match handshake.handle(now, bytes) {
            Ok(true) => {
                self.advance();
                true
            }
            Ok(false) => false,
            Err(why) => {
                self.fail(why);
                false
            }
        }
    }

    fn prefetch(&self) {
        self.packets.iter().for_each(PacketKeys::prefetch);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.is_due = false;
        if let Some(handshake) = &mut self.handshake {
            handshake.handle_timeout(now);
        }
    }

    fn poll_handshake(&mut self, buffer: &mut [u8]) -> Option<usize> {
        if let Some(handshake) = &mut self.handshake {
            return handshake.poll(buffer);
        }
        let word = self.last_word.as_mut().filter(|word| word.is_due)?;
        buffer.get_mut(..word.bytes.len())?.copy_from_slice(&word.bytes);
        (word.is_due, word.left) = (false, word.left.saturating_sub(1));
        Some(word.bytes.len())
    }

    fn poll_timeout(&self) -> Time {
        if self.is_due {
            return Time::ZERO;
        }
        self.handshake.as_ref().map_or(Time::NEVER, |handshake| handshake.poll_timeout())
    }

    fn overhead(&self) -> usize {
        OVERHEAD
    }

    fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>) -> usize {
        let sealed = plaintext.end + OVERHEAD;
        let (header, rest) = datagram[..sealed].split_at_mut(plaintext.start);
        let (payload, trailer) = rest.split_at_mut(plaintext.len());
        let is_usable = self.failure.is_none();
        let is_sealed =
            self.packets.as_mut().is_some_and(|packets| is_usable && packets.seal(header, payload, trailer));
        if !is_sealed {
            // No plaintext leaves, even after a failure.
            rest.fill(0);
            self.fail("a packet could not be sealed".into());
        }
        sealed
    }

    fn was_replay(&self) -> bool {
        self.packets.as_ref().is_some_and(|packets| packets.was_replay())
    }

    fn open(&mut self, datagram: &mut [u8], header: usize) -> Option<Range<usize>> {
        if self.failure.is_some() || datagram.len() < header + OVERHEAD {
            return None;
        }
        let packets = self.packets.as_mut()?;
        let (head, sealed) = datagram.split_at_mut(header);
        if packets.open(head, sealed) {
            // A peer that seals packets has received the whole handshake.
            self.handshake = None;
            return Some(header..datagram.len() - OVERHEAD);
        }
        if packets.are_worn_out() {
            self.fail("too many forged or damaged packets arrived: connect again".into());
        }
        None
    }
}
