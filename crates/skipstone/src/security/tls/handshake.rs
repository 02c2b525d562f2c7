//! A handshake in progress: handshake bytes of rustls into pieces, pieces into rustls, and retransmission until the
//! peer has acknowledged them. WIRE.md section 2.8.

use super::assembly::Heard;
use super::keys::PacketKeys;
use super::parameters;
use super::pieces::{self, Clear, SEALED_HEADER_BYTES, Sealed, TAG_BYTES};
use super::stream::HandshakeStream;
use super::verify::reason;
use rustls::quic::{Connection, KeyChange, PacketKey};
use skipstone_proto::coding::Writer;
use skipstone_proto::{Duration, Time};

pub(super) struct Handshake {
    /// `None` once rustls has nothing more to send or receive.
    tls: Option<Connection>,
    side: Side,
    /// The transcript, which both sides must send under TLS' own protection.
    transcript: Box<[u8]>,
    keys: Option<HandshakeKeys>,
    clear: HandshakeStream,
    sealed: HandshakeStream,
    /// An acknowledgement to the peer is due.
    owes_word: bool,
    packets: Option<PacketKeys>,
    resend_at: Time,
    interval: Duration,
    /// Timeouts since the last progress of the handshake.
    timeouts: u8,
    /// Datagrams are short: the path may carry no longer ones.
    is_narrow: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

struct HandshakeKeys {
    local: Box<dyn PacketKey>,
    remote: Box<dyn PacketKey>,
    /// Pieces sealed.
    next: u32,
}

impl Side {
    /// Limit on the peer's bytes of one level: a server's chain is long. A client has no certificate, but a
    /// post-quantum key share makes its ClientHello 1,800 bytes long, and a HelloRetryRequest asks for two of them.
    fn heard_max(self) -> usize {
        match self {
            Side::Client => 16_384,
            Side::Server => 4_096,
        }
    }
}

/// Bytes that rustls holds for a handshake (`memory_of_a_tls_session`).
const TLS_BYTES: usize = 6_144;
const RESEND_FIRST: Duration = Duration::from_millis(200);
/// A server forgets a client that sends nothing for three seconds: any two consecutive losses still leave a third try.
const RESEND_MAX: Duration = Duration::from_secs(1);
/// Bytes of pieces in a datagram: with every header the datagram has fewer than 1,200.
const DATAGRAM_BYTES_MAX: usize = 1_100;
/// The same on a path that may be narrow: with every header the datagram has at most 508 bytes, which every path of
/// IPv4 carries (RFC 1122, section 3.3.2).
const NARROW_BYTES_MAX: usize = 400;
/// After this many timeouts without an answer, the path may be narrow.
const TIMEOUTS_UNTIL_NARROW: u8 = 2;
/// Minimum length of a client's unencrypted datagrams, as a limit on amplification (RFC 9000, section 8.1).
const CLEAR_BYTES_MIN: usize = 800;
/// A few in a second are enough. The limit keeps a peer that causes retransmissions again and again from wearing out
/// the key.
const SEALED_PIECES_MAX: u32 = 1 << 16;
/// A piece with fewer bytes of content than this waits for the next datagram.
const SEALED_ROOM_MIN: usize = SEALED_HEADER_BYTES + 8 + 32 + TAG_BYTES;

impl Handshake {
    pub(super) fn new(now: Time, tls: Connection, transcript: &[u8]) -> Self {
        let side = match tls {
            Connection::Client(_) => Side::Client,
            Connection::Server(_) => Side::Server,
        };
        Handshake {
            tls: Some(tls),
            side,
            transcript: transcript.into(),
            keys: None,
            clear: HandshakeStream::default(),
            sealed: HandshakeStream::default(),
            owes_word: false,
            packets: None,
            resend_at: now,
            interval: RESEND_FIRST,
            timeouts: 0,
            is_narrow: false,
        }
    }

    pub(super) fn side(&self) -> Side {
        self.side
    }

    /// The approximate number of bytes that the handshake holds; rustls' share was measured.
    pub(super) fn held_bytes(&self) -> usize {
        let tls = if self.tls.is_some() { TLS_BYTES } else { 0 };
        size_of::<Self>() + tls + self.clear.held_bytes() + self.sealed.held_bytes()
    }

    /// Whether a server waits for the rest of a ClientHello, which it answers with a signature.
    pub(super) fn will_sign(&self) -> bool {
        self.side == Side::Server && self.keys.is_none() && self.tls.is_some()
    }

    /// Bytes from the peer that arrived under the handshake's keys.
    pub(super) fn heard_sealed(&self) -> usize {
        self.sealed.heard()
    }

    /// The keys for packets, once the peer has proven everything that is required.
    pub(super) fn take_packets(&mut self) -> Option<PacketKeys> {
        if self.tls.is_some() { None } else { self.packets.take() }
    }

    /// Whether the peer has acknowledged everything.
    pub(super) fn is_over(&self) -> bool {
        self.tls.is_none() && !self.sealed.is_waiting()
    }

    /// Handles a datagram; false if no part of it is usable now. The error is the reason why the handshake failed.
    pub(super) fn handle(&mut self, now: Time, datagram: &[u8]) -> Result<bool, String> {
        let Some(pieces) = pieces::decode(datagram) else { return Ok(false) };
        let mut is_taken = false;
        if let Some(clear) = pieces.clear {
            // A client pads these, unless the path did not carry them.
            self.is_narrow |= self.side == Side::Server && datagram.len() < CLEAR_BYTES_MIN;
            is_taken |= self.on_clear(now, clear)?;
        }
        if let Some(sealed) = pieces.sealed {
            is_taken |= self.on_sealed(now, sealed)?;
        }
        Ok(is_taken)
    }

    fn on_clear(&mut self, now: Time, piece: Clear<'_>) -> Result<bool, String> {
        if self.keys.is_some() {
            // Any host could have sent an unencrypted piece. From a client it shows, at least, that the client is still
            // there.
            return Ok(self.side == Side::Server && piece.offset == 0);
        }
        if self.side == Side::Server && piece.offset == 0 && !begins_hello(piece.bytes) {
            return Ok(false);
        }
        match self.clear.hear(piece.offset, piece.bytes, self.side.heard_max()) {
            Heard::Known | Heard::Rejected => Ok(false),
            heard => {
                // An answer acknowledges this side's pieces.
                self.clear.on_answered();
                self.on_progress(now);
                if let Heard::New(new) = heard {
                    self.read(now, &new)?;
                }
                Ok(true)
            }
        }
    }

    fn on_sealed(&mut self, now: Time, piece: Sealed<'_>) -> Result<bool, String> {
        let Some(keys) = &self.keys else { return Ok(false) };
        let mut bytes = piece.bytes.to_vec();
        let opened = keys.remote.decrypt_in_place(u64::from(piece.counter), piece.header, &mut bytes);
        let Ok(opened) = opened else { return Ok(false) };
        let Some((acknowledged, offset, bytes)) = pieces::decode_inner(opened) else { return Ok(false) };
        self.clear.on_answered();
        let is_new = self.sealed.on_acknowledged(acknowledged);
        let heard = self.sealed.hear(offset, bytes, self.side.heard_max());
        if is_new || matches!(heard, Heard::New(_) | Heard::Ahead) {
            self.on_progress(now);
        }
        match heard {
            Heard::Known if !bytes.is_empty() => {
                // The peer retransmits: it has not received the acknowledgement.
                self.owes_word = true;
                self.sealed.repeat();
            }
            Heard::Known | Heard::Rejected => {}
            Heard::Ahead => self.owes_word = true,
            Heard::New(new) => {
                self.owes_word = true;
                self.read(now, &new)?;
            }
        }
        Ok(true)
    }

    /// The handshake made progress: the retransmission interval starts again at its minimum.
    fn on_progress(&mut self, now: Time) {
        (self.interval, self.resend_at, self.timeouts) = (RESEND_FIRST, now + RESEND_FIRST, 0);
    }

    /// Whether this client waits for more of the server's answer. It then requests the rest, since the server forgets a
    /// client that sends nothing.
    fn awaits_answer(&self) -> bool {
        self.side == Side::Client && self.tls.is_some()
    }

    fn read(&mut self, now: Time, bytes: &[u8]) -> Result<(), String> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        tls.read_hs(bytes).map_err(|error| reason(&error))?;
        self.write(now)
    }

    /// Takes the handshake bytes of rustls, and the keys that result.
    pub(super) fn write(&mut self, now: Time) -> Result<(), String> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        loop {
            let level = if self.keys.is_some() { &mut self.sealed } else { &mut self.clear };
            let before = level.said.len();
            let change = tls.write_hs(&mut level.said);
            if level.said.len() > before {
                (self.interval, self.resend_at, self.timeouts) = (RESEND_FIRST, now + RESEND_FIRST, 0);
            }
            match change {
                Some(KeyChange::Handshake { keys }) => {
                    let (local, remote) = (keys.local.packet, keys.remote.packet);
                    self.keys = Some(HandshakeKeys { local, remote, next: 0 });
                }
                Some(KeyChange::OneRtt { keys, next }) => self.packets = Some(PacketKeys::new(keys, next)),
                None => break,
            }
        }
        if tls.quic_transport_parameters().is_some_and(|theirs| !parameters::are_of(theirs, &self.transcript)) {
            return Err("the encrypted handshake failed: its HELLO or CHALLENGE was changed on the way".into());
        }
        if !tls.is_handshaking() && self.packets.is_some() {
            self.tls = None;
        }
        Ok(())
    }

    /// Retransmits bytes that were not acknowledged in time, or reports that the peer's answer is not complete.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.poll_timeout() > now {
            return;
        }
        self.clear.repeat();
        self.sealed.repeat();
        if self.awaits_answer() {
            match self.keys {
                Some(_) => self.owes_word = true,
                None => self.clear.repeat_all(),
            }
        }
        self.timeouts = self.timeouts.saturating_add(1);
        self.is_narrow |= self.timeouts >= TIMEOUTS_UNTIL_NARROW;
        self.interval = (self.interval * 2).min(RESEND_MAX);
        self.resend_at = now + self.interval;
    }

    pub(super) fn poll_timeout(&self) -> Time {
        let is_waiting = self.clear.is_waiting() || self.sealed.is_waiting() || self.awaits_answer();
        if is_waiting { self.resend_at } else { Time::NEVER }
    }

    /// The next datagram, if there is something to send.
    pub(super) fn poll(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let room = buffer.len().min(if self.is_narrow { NARROW_BYTES_MAX } else { DATAGRAM_BYTES_MAX });
        let writer = &mut Writer::new(&mut buffer[..room]);
        let overhead = pieces::clear_overhead(self.clear.offset(), room);
        if self.clear.has_more() && writer.room() > overhead {
            let offset = self.clear.offset();
            pieces::encode_clear(writer, offset, self.clear.take(room - overhead));
        }
        if (self.sealed.has_more() || self.owes_word) && writer.room() >= SEALED_ROOM_MIN {
            self.write_sealed(writer);
        }
        if self.side == Side::Client && self.keys.is_none() && !writer.is_empty() && !self.is_narrow {
            pieces::pad(writer, CLEAR_BYTES_MIN);
        }
        (!writer.is_empty()).then_some(writer.len())
    }

    /// A server's last datagram. The client has received everything, since it has sent its last flight.
    pub(super) fn poll_last_word(&mut self, buffer: &mut [u8]) -> Option<usize> {
        self.sealed.on_answered();
        let writer = &mut Writer::new(buffer);
        self.write_sealed(writer);
        (!writer.is_empty()).then_some(writer.len())
    }

    fn write_sealed(&mut self, writer: &mut Writer<'_>) {
        let (heard, offset) = (self.sealed.heard(), self.sealed.offset());
        let bytes_max = writer.room() - SEALED_HEADER_BYTES - pieces::inner_len(heard, offset) - TAG_BYTES;
        let Some(keys) = self.keys.as_mut().filter(|keys| keys.next < SEALED_PIECES_MAX) else { return };
        let mut inner = [0; DATAGRAM_BYTES_MAX];
        let mut content = Writer::new(&mut inner);
        content.varint(heard as u64);
        content.varint(offset as u64);
        content.bytes(self.sealed.take(bytes_max));
        let content = content.into_written();
        let header = pieces::sealed_header(keys.next);
        let Ok(tag) = keys.local.encrypt_in_place(u64::from(keys.next), &header, content) else { return };
        keys.next += 1;
        writer.bytes(&header);
        writer.bytes(content);
        writer.bytes(tag.as_ref());
        self.owes_word = false;
    }
}

/// Whether the bytes begin a ClientHello that a server would take: its type, and a length within the limit.
fn begins_hello(bytes: &[u8]) -> bool {
    const CLIENT_HELLO: u8 = 1;
    let [CLIENT_HELLO, a, b, c, ..] = *bytes else { return false };
    u32::from_be_bytes([0, a, b, c]) as usize + 4 <= Side::Server.heard_max()
}
