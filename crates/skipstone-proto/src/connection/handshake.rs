//! The start of a connection. WIRE.md section 6.

use super::client_handshake::{
    ClientHandshake, OPEN_PATIENCE, RESEND_FIRST, RESEND_MAX, Request, VERSIONS, hello_of, offer_of,
};
use super::event::{ClosedBy, Event, PeerId, code};
use super::identity::{ConnectionIds, Identity, SpareIds};
use super::redundancy::Redundant;
use super::stats::DropReason;
use super::timers::Timers;
use super::transmit::NUMBER_BITS_MIN;
use super::{Connection, ConnectionState, Context, Side};
use crate::channel::channels::Channels;
use crate::channel::classes::Classes;
use crate::channel::packet::Packet;
use crate::mtu::Mtu;
use crate::path::Path;
use crate::recovery::{Control, Record};
use crate::security::plain::KEY_BYTES;
use crate::security::{Plain, Protection, Security};
use crate::time::{Duration, Time};
use crate::wire::cursor::Writer;
use crate::wire::datagram::{self, CHECK_BYTES, Challenge, Open, SUITE_PLAIN};
use crate::wire::frame;
use crate::wire::grease::Grease;
use crate::wire::limits::Limits;
use crate::wire::number::Truncated;
use crate::wire::settings::Settings;
use bytes::Bytes;
use std::sync::Arc;

impl Connection {
    /// A client, which sends HELLO at once.
    pub(crate) fn new_client(now: Time, peer: PeerId, path: Path, local: u32, request: Request) -> Self {
        let Request { nonce, token, protection, limits, timeout } = request;
        let offer = offer_of(&protection, Grease::new(nonce));
        let hello = hello_of(local, nonce, &offer);
        let identity =
            Identity { peer, side: Side::Client, ids: ConnectionIds { local, remote: 0 }, spare: SpareIds::default() };
        // Nothing is sealed before the server's challenge has come.
        let security = Security::Plain(Plain::with_key(&[0; KEY_BYTES]));
        let timers = Timers::new(now, now + timeout);
        let settings = Arc::new(Settings::default());
        let mut client = Connection::new(identity, ConnectionState::Hello, path, security, settings, timers);
        client.handshake = Some(Box::new(ClientHandshake {
            nonce,
            token,
            protection,
            offer: offer.into(),
            limits,
            encoded_limits: Grease::new(nonce).append_entry(limits.encode()).into(),
            datagram: hello,
            asked_at: now,
            resend_at: now,
            interval: RESEND_FIRST,
            challenge_from: now,
            hint: None,
            is_forgotten: false,
        }));
        client
    }

    /// A server's connection to a client whose address is validated. The first packet decides whether the connection is
    /// kept.
    pub(crate) fn new_server(
        now: Time,
        peer: PeerId,
        path: Path,
        ids: ConnectionIds,
        security: Security,
        settings: Arc<Settings>,
        timeout: Duration,
    ) -> Self {
        let identity = Identity { peer, side: Side::Server, ids, spare: SpareIds::default() };
        let timers = Timers::new(now, now + timeout);
        Connection::new(identity, ConnectionState::Requested, path, security, settings, timers)
    }

    /// The application accepts the client.
    pub(crate) fn accept(&mut self, cx: &mut Context<'_>) -> bool {
        if self.state != ConnectionState::Requested {
            return false;
        }
        self.state = ConnectionState::Established;
        self.sending.pending.accept = true;
        self.timers.last_received = cx.now;
        self.want_spare_id();
        cx.events.push(Event::Connected { peer: self.identity.peer, settings: self.terms.for_sending() });
        true
    }

    /// Whether this is the id and nonce that an answer to this client's HELLO bears, and no answer has come yet.
    pub(crate) fn awaits_answer(&self, to: u32, nonce: u64) -> bool {
        let is_ours = self.handshake.as_ref().is_some_and(|handshake| handshake.nonce == nonce);
        self.state == ConnectionState::Hello && self.identity.ids.local == to && is_ours
    }

    /// The path along which the first answer arrived, or whose stream opened. False if there was an answer before.
    pub(crate) fn settle_path(&mut self, path: Path) -> bool {
        if self.state != ConnectionState::Hello {
            return false;
        }
        self.path.current = path;
        self.path.mtu = Mtu::new(path.carrier.overhead_bytes);
        true
    }

    /// The server's challenge: the client opens with it.
    pub(crate) fn handle_challenge(&mut self, now: Time, challenge: &Challenge<'_>) -> Result<(), DropReason> {
        let handshake = self.handshake.as_mut().ok_or(DropReason::BadFrame)?;
        let is_ours = challenge.nonce == handshake.nonce && VERSIONS.contains(&challenge.version);
        if !matches!(self.state, ConnectionState::Hello | ConnectionState::Opening) || !is_ours {
            return Err(DropReason::BadFrame);
        }
        if challenge.suite & handshake.offered() == 0 {
            return Err(DropReason::WrongSuite);
        }
        // If the server's id is known, the server has created a connection from the OPEN.
        if now < handshake.challenge_from || self.identity.ids.remote != 0 {
            return Ok(());
        }
        // If HELLO was sent more than once, the round trip was shorter than this sample. An estimate that is too high
        // costs little at this point.
        let span = now.since(handshake.asked_at);
        self.path.rtt.on_handshake(span);
        self.path.congestion.on_handshake(span);
        handshake.challenge_from = now + OPEN_PATIENCE;
        handshake.interval = RESEND_FIRST;
        match handshake.protection.clone() {
            Protection::Plain => self.open_plain(now, challenge)?,
            Protection::Encrypted(suites) => {
                let header = handshake.open_for(self.identity.ids.local, challenge)?;
                let transcript = datagram::transcript(&header);
                let session = suites.client(now, challenge.suite, transcript).ok_or(DropReason::WrongSuite)?;
                handshake.datagram = header;
                handshake.resend_at = Time::NEVER;
                self.security = Security::Session(session);
            }
        }
        self.state = ConnectionState::Opening;
        Ok(())
    }

    fn open_plain(&mut self, now: Time, challenge: &Challenge<'_>) -> Result<(), DropReason> {
        let Some(handshake) = &mut self.handshake else { return Ok(()) };
        let plain = Plain::new(challenge.cookie);
        handshake.datagram = handshake.open_for(self.identity.ids.local, challenge)?;
        let header = handshake.datagram.len();
        let room = 5
            + frame::connect_len(&handshake.token, &handshake.encoded_limits)
            + Grease::FRAME_BYTES_MAX
            + plain.overhead()
            + CHECK_BYTES;
        handshake.datagram.resize(header + room, 0);
        // A second challenge (the first cookie expired) seals packet 0 again: under another key it is a different
        // packet.
        let number = 0;
        let is_first = self.sending.ledger.next() == number;
        let mut writer = Writer::new(&mut handshake.datagram[header..]);
        writer.truncated(Truncated::with_bits_at_least(number, 1, NUMBER_BITS_MIN));
        frame::encode_connect(&mut writer, &handshake.token, &handshake.encoded_limits);
        Grease::new(handshake.nonce).write_frame(&mut writer);
        let length = header + writer.len();
        let length = plain.seal(&mut handshake.datagram, header..length, number);
        let length = datagram::append_check(&mut handshake.datagram, length);
        handshake.datagram.truncate(length);
        handshake.resend_at = now;
        if is_first {
            let mut packet = Packet::new(Writer::new(&mut []), &mut self.sending.ledger, 0);
            packet.record(Record::Control(Control::Connect));
            self.commit(now, length, true, 0);
        }
        self.security = Security::Plain(plain);
        Ok(())
    }

    /// The session is established: CONNECT is sent now, sealed, and again until ACCEPT arrives.
    pub(super) fn connect_at(&mut self, now: Time) {
        if let Some(handshake) = &mut self.handshake {
            handshake.resend_at = now;
        }
    }

    /// The server supports none of our versions.
    pub(crate) fn handle_versions(&mut self, cx: &mut Context<'_>, nonce: u64, theirs: &[u16]) -> bool {
        let is_ours = self.handshake.as_ref().is_some_and(|handshake| handshake.nonce == nonce);
        // A list that holds one of our versions is an attacker's attempt to stop the handshake.
        if is_ours && self.state == ConnectionState::Hello && !theirs.iter().any(|version| VERSIONS.contains(version)) {
            let reason = format!("this client speaks version {VERSIONS:?}, the server {theirs:?}");
            self.finish(cx, ClosedBy::Nobody, code::NO_COMMON_VERSION, reason.into());
            self.die();
        }
        is_ours
    }

    /// The client's token has arrived, or arrives again because the client does not know yet that it was accepted.
    pub(super) fn on_connect(&mut self, cx: &mut Context<'_>, token: &[u8], limits: Limits) {
        if self.state == ConnectionState::Requested && !self.timers.is_requested {
            self.timers.is_requested = true;
            self.terms.on_limits(limits);
            self.channels.on_window(self.terms.sends.window_bytes.into());
            let (token, remote) = (Bytes::copy_from_slice(token), self.path.current.remote);
            cx.events.push(Event::Requested { peer: self.identity.peer, token, remote });
        } else {
            self.on_request_again(cx.now);
        }
    }

    /// The client repeats its OPEN or CONNECT: it does not know yet that the server has accepted it.
    pub(super) fn on_request_again(&mut self, now: Time) {
        if self.state == ConnectionState::Established && !self.timers.is_confirmed {
            self.timers.last_received = now;
            self.sending.pending.accept = true;
        }
    }

    /// Handles ACCEPT: the server accepts this client, with these settings.
    pub(super) fn on_accept(&mut self, cx: &mut Context<'_>, source: u32, settings: &Settings) {
        if self.state != ConnectionState::Opening {
            return;
        }
        self.identity.ids.remote = source;
        let limits = self.handshake.as_ref().map_or(Limits::NONE, |handshake| handshake.limits);
        self.terms.on_settings(settings, limits);
        self.channels = Channels::new(settings.window_bytes, Classes::new(settings));
        self.redundancy = Redundant::new(settings);
        self.handshake = None;
        self.state = ConnectionState::Established;
        self.time.ask(cx.now);
        self.want_spare_id();
        self.timers.is_confirmed = true;
        cx.events.push(Event::Connected { peer: self.identity.peer, settings: self.terms.for_sending() });
    }

    /// Whether the connection has, or will have, keys of its own.
    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self.security, Security::Session(_))
    }

    /// Whether a handshake of this client cost the server a signature, in the protocol or beneath it.
    pub(crate) fn has_cost_handshake(&self) -> bool {
        self.is_server() && (self.is_encrypted() || self.path.current.carrier.is_signed)
    }

    /// Whether the application has not decided on this client.
    pub(crate) fn waits_to_be_accepted(&self) -> bool {
        self.state == ConnectionState::Requested && self.is_requested()
    }

    /// Whether the client's token was seen.
    pub(crate) fn is_requested(&self) -> bool {
        self.timers.is_requested
    }

    /// Whether the first OPEN justifies a connection: it held the token, or a handshake flight that the session
    /// accepted.
    pub(crate) fn is_opened(&self) -> bool {
        self.is_requested() || matches!(self.security, Security::Session(_)) && self.state != ConnectionState::Dead
    }

    /// Handles the content after the header of an OPEN with a valid cookie, or of a repeated OPEN.
    pub(crate) fn handle_open(
        &mut self,
        cx: &mut Context<'_>,
        open: &Open<'_>,
        bytes: &mut [u8],
    ) -> Result<(), DropReason> {
        let rest = open.header_bytes()..bytes.len() - CHECK_BYTES;
        match (&self.security, open.suite) {
            (Security::Plain(_), SUITE_PLAIN) => {
                self.handle_packet(cx, bytes, rest);
                Ok(())
            }
            (Security::Session(_), suite) if suite != SUITE_PLAIN => self.handle_crypto(cx, open.source, &bytes[rest]),
            _ => Err(DropReason::WrongSuite),
        }
    }

    /// HELLO or OPEN, when it is time to send it (again).
    pub(super) fn poll_handshake(&mut self, now: Time, buffer: &mut [u8]) -> Option<usize> {
        let is_reliable = self.path.current.carrier.is_reliable;
        let handshake = self.handshake.as_mut()?;
        if handshake.resend_at > now {
            return None;
        }
        if matches!(self.security, Security::Session(_)) {
            handshake.resend_at = now + handshake.interval;
            handshake.interval = (handshake.interval * 2).min(RESEND_MAX);
            self.sending.pending.connect = true;
            return None;
        }
        if self.state == ConnectionState::Hello && handshake.interval == RESEND_FIRST {
            // The carrier may have taken a while to accept it.
            handshake.asked_at = now;
        }
        let is_repeated_open = self.state == ConnectionState::Opening && handshake.interval > RESEND_FIRST;
        handshake.resend_at = if is_reliable { Time::NEVER } else { now + handshake.interval };
        handshake.interval = (handshake.interval * 2).min(RESEND_MAX);
        let length = handshake.datagram.len();
        buffer[..length].copy_from_slice(&handshake.datagram);
        if is_repeated_open {
            self.sending.ledger.on_sent_again();
        }
        Some(length)
    }
}
