//! kcp2k, the default transport of Mirror: KCP with a handshake, a cookie against spoofed addresses, unreliable
//! messages, pings and a goodbye. Read from kcp2k 1.41 with the pings of September 2024 (commit 66efda66); the default
//! settings are those of Mirror's `KcpTransport`.
//!
//! ```text
//! Hello, cookie 0 ─>          cookie and Hello <─       all datagrams with that cookie ─> ... ─> Disconnect, 5 times
//! ```

mod header;
#[cfg(test)]
mod tests;

use self::header::{DATAGRAM_HEADER, DatagramChannel, ReliableKind, UnreliableKind};
use super::kcp::conversation::{Conversation, KcpFault};
use super::kcp::settings::KcpSettings;
use super::lifecycle::{Lifecycle, Phase};
use super::limits::{Limits, queue_cost};
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{Cause, Delivery, Event, Outgoing, Protocol, ProtocolFigures, SendRefused, SocketEnd};
use crate::target::TargetError;
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;
use std::collections::VecDeque;

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "kcp2k",
    carrier: Carrier::Datagrams,
    about: "kcp2k 1.41, the default transport of Mirror: channel 0 is reliable, channel 1 unreliable",
    options: &[
        ("mtu", "bytes of a datagram, as at the server, default 1200"),
        ("interval", "milliseconds between two flushes, default 10"),
        ("resend", "FastResend, default 2"),
        ("window", "window sizes in segments, as at the server, default 4096"),
        ("timeout", "milliseconds without a message after which the server counts as gone, default 10000"),
    ],
    new: Kcp2k::create,
};

/// A client of kcp2k.
#[derive(Debug)]
struct Kcp2k {
    settings: KcpSettings,
    timeout: Duration,
    lifecycle: Lifecycle,
    /// There from `handle_open` on.
    session: Option<Session>,
    /// Whole datagrams: unreliable messages, and the last reliable ones before the goodbyes.
    unreliable: VecDeque<Vec<u8>>,
    unreliable_bytes: usize,
    invalid: u64,
}

/// What begins with the handshake.
#[derive(Debug)]
struct Session {
    conversation: Conversation,
    /// The server's; 0 until its first datagram.
    cookie: u32,
    began: Time,
    heard: Time,
    ping_at: Time,
    pong_at: Time,
}

/// How often each end pings, and how often it answers at most.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// The goodbye is unreliable, so it is repeated.
const GOODBYES: usize = 5;
/// Mirror's.
const DEFAULTS: KcpSettings = KcpSettings {
    conversation: 0,
    datagram_bytes: 1200,
    interval: Duration::from_millis(10),
    window: 4096,
    resend_skips: 2,
    transmissions_max: TRANSMISSIONS_MAX,
};
/// Mirror's `MaxRetransmit`.
const TRANSMISSIONS_MAX: u32 = 40;

impl Kcp2k {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        Ok(Box::new(Kcp2k::new(opening)?))
    }

    fn new(opening: &Opening<'_>) -> Result<Self, TargetError> {
        let target = opening.target;
        let mut settings = KcpSettings::of(target, DEFAULTS)?;
        settings.datagram_bytes -= DATAGRAM_HEADER;
        let timeout = Duration::from_millis(target.number("timeout", 10_000, 100..=3_600_000)?);
        Ok(Kcp2k {
            settings,
            timeout,
            lifecycle: Lifecycle::default(),
            session: None,
            unreliable: VecDeque::new(),
            unreliable_bytes: 0,
            invalid: 0,
        })
    }

    fn on_reliable_message(&mut self, now: Time, message: &Bytes) {
        let Some(session) = &mut self.session else { return };
        let Some((kind, content)) = ReliableKind::decode(message) else {
            return self.lifecycle.end(Cause::Malformed, "a reliable message of an unknown kind");
        };
        session.heard = now;
        match (kind, self.lifecycle.phase()) {
            (ReliableKind::Hello, Phase::Connecting) => self.lifecycle.open(),
            (ReliableKind::Hello, _) => self.lifecycle.end(Cause::Malformed, "a second Hello"),
            (ReliableKind::Data, Phase::Open) if !content.is_empty() => {
                self.lifecycle.message(RELIABLE, message.slice_ref(content));
            }
            (ReliableKind::Data, _) => self.lifecycle.end(Cause::Malformed, "data before the Hello, or empty data"),
            (ReliableKind::Ping, Phase::Open) => session.on_ping(now, content),
            // KCP's acknowledgements measure the round trip better than pongs, which wait for the server's tick.
            (ReliableKind::Ping | ReliableKind::Pong, _) => {}
        }
    }

    fn on_unreliable_message(&mut self, now: Time, message: &[u8]) {
        match UnreliableKind::decode(message) {
            None => self.lifecycle.end(Cause::Malformed, "an unreliable message of an unknown kind"),
            Some((UnreliableKind::Disconnect, _)) => self.lifecycle.end(Cause::ByServer, "the server disconnected"),
            // It overtook the Hello: kcp2k drops it, too.
            Some((UnreliableKind::Data, _)) if !self.lifecycle.is_open() => {}
            Some((UnreliableKind::Data, content)) => {
                self.lifecycle.message(UNRELIABLE, Bytes::copy_from_slice(content));
                if let Some(session) = &mut self.session {
                    session.heard = now;
                }
            }
        }
    }

    fn on_segments(&mut self, now: Time, segments: &[u8]) {
        let Some(session) = &mut self.session else { return };
        let handled = session.conversation.handle_datagram(now, segments);
        while let Some(message) = self.session.as_mut().and_then(|session| session.conversation.poll_message()) {
            self.on_reliable_message(now, &message);
        }
        match handled {
            Ok(()) => {}
            Err(KcpFault::Datagram) => self.invalid += 1,
            Err(KcpFault::Message) => {
                self.lifecycle.end(Cause::Malformed, "the fragments of a message do not count down")
            }
        }
    }

    fn channel_of(message: &Outgoing<'_>) -> Result<DatagramChannel, SendRefused> {
        match (message.channel, message.delivery) {
            (RELIABLE, None | Some(Delivery::ReliableOrdered)) => Ok(DatagramChannel::Reliable),
            (UNRELIABLE, None | Some(Delivery::Unreliable)) => Ok(DatagramChannel::Unreliable),
            (RELIABLE | UNRELIABLE, _) => {
                Err(SendRefused::NoDelivery("reliable on channel 0, unreliable on channel 1"))
            }
            (channel, _) => Err(SendRefused::NoChannel { channel, max: UNRELIABLE }),
        }
    }

    fn limits(&self, channel: DatagramChannel) -> Limits {
        let reliable = self.session.as_ref().map_or(0, |session| session.conversation.queued_bytes());
        Limits {
            is_open: self.lifecycle.is_open(),
            channel_max: UNRELIABLE,
            delivery: None,
            // A byte tells the kind.
            message_bytes_max: match channel {
                DatagramChannel::Reliable => self.settings.message_bytes_max() - 1,
                DatagramChannel::Unreliable => self.settings.datagram_bytes - 1,
            },
            queued: reliable + self.unreliable_bytes,
        }
    }

    /// Reliable messages that wait leave before the goodbye.
    fn push_last(&mut self, now: Time) {
        let Some(session) = self.session.as_mut().filter(|_| self.lifecycle.is_open()) else { return };
        session.last_datagrams(now).into_iter().for_each(|datagram| self.push_datagram(datagram));
    }

    fn push_unreliable(&mut self, kind: UnreliableKind, content: &[u8]) {
        let datagram = kind.datagram(self.session.as_ref().map_or(0, |session| session.cookie), content);
        self.push_datagram(datagram);
    }

    fn push_datagram(&mut self, datagram: Vec<u8>) {
        self.unreliable_bytes += queue_cost(&datagram);
        self.unreliable.push_back(datagram);
    }
}

impl Protocol for Kcp2k {
    fn handle_open(&mut self, now: Time) {
        if self.lifecycle.begin() {
            self.session = Some(Session::begin(now, self.settings));
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        let Some(session) = self.session.as_mut().filter(|_| self.lifecycle.is_alive()) else { return };
        let Some((channel, cookie, rest)) = header::decode(bytes) else {
            self.invalid += 1;
            return;
        };
        if session.cookie == 0 {
            session.cookie = cookie;
        }
        if session.cookie != cookie {
            self.invalid += 1;
            return;
        }
        match channel {
            DatagramChannel::Reliable => self.on_segments(now, rest),
            DatagramChannel::Unreliable => self.on_unreliable_message(now, rest),
        }
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, now: Time) {
        let Some(session) = self.session.as_mut().filter(|_| self.lifecycle.is_alive()) else { return };
        if now >= session.heard + self.timeout {
            let text = format!("no message for {} ms", self.timeout.as_millis());
            return self.lifecycle.end(Cause::TimedOut, text);
        }
        if now >= session.ping_at {
            session.ping(now);
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if let Some(datagram) = self.unreliable.pop_front() {
            self.unreliable_bytes -= queue_cost(&datagram);
            out.extend_from_slice(&datagram);
            return true;
        }
        let Some(session) = self.session.as_mut().filter(|_| self.lifecycle.is_alive()) else { return false };
        let Some(segments) = session.conversation.poll_datagram(now) else { return false };
        out.extend_from_slice(&session.datagram(&segments));
        if session.conversation.is_peer_gone() {
            self.lifecycle
                .end(Cause::TimedOut, format!("a segment was sent {TRANSMISSIONS_MAX} times without an answer"));
        }
        true
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        let session = self.session.as_ref().filter(|_| self.lifecycle.is_alive())?;
        let own = session.ping_at.min(session.heard + self.timeout);
        Some(session.conversation.deadline().map_or(own, |flush| flush.min(own)))
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        let channel = Self::channel_of(&message)?;
        self.limits(channel).check(&message)?;
        if message.data.is_empty() {
            return Err(SendRefused::Unwritable("kcp2k has no empty messages: its server disconnects who sends one"));
        }
        match (channel, &mut self.session) {
            (DatagramChannel::Unreliable, _) => self.push_unreliable(UnreliableKind::Data, message.data),
            (DatagramChannel::Reliable, Some(session)) => session.send(ReliableKind::Data, message.data),
            (DatagramChannel::Reliable, None) => return Err(SendRefused::NotConnected),
        }
        Ok(())
    }

    fn close(&mut self, now: Time) {
        if self.lifecycle.is_alive() {
            self.push_last(now);
            self.lifecycle.end(Cause::Closed, "closed by the bot");
            (0..GOODBYES).for_each(|_| self.push_unreliable(UnreliableKind::Disconnect, b""));
        }
    }

    fn figures(&self) -> ProtocolFigures {
        self.session.as_ref().map(|session| session.conversation.figures(self.invalid)).unwrap_or_default()
    }
}

impl Session {
    /// The Hello is a reliable message, so it is repeated until the server answers.
    fn begin(now: Time, settings: KcpSettings) -> Self {
        let mut session = Session {
            conversation: Conversation::new(now, settings),
            cookie: 0,
            began: now,
            heard: now,
            ping_at: now + PING_INTERVAL,
            pong_at: now + PING_INTERVAL,
        };
        session.send(ReliableKind::Hello, b"");
        session
    }

    fn send(&mut self, kind: ReliableKind, content: &[u8]) {
        self.conversation.send(kind.message(content).into());
    }

    fn last_datagrams(&mut self, now: Time) -> Vec<Vec<u8>> {
        self.conversation.finish(now);
        let mut datagrams = Vec::new();
        while let Some(segments) = self.conversation.pop_datagram() {
            datagrams.push(self.datagram(&segments));
        }
        datagrams
    }

    fn datagram(&self, segments: &[u8]) -> Vec<u8> {
        let mut datagram = Vec::with_capacity(DATAGRAM_HEADER + segments.len());
        header::encode(DatagramChannel::Reliable, self.cookie, &mut datagram);
        datagram.extend_from_slice(segments);
        datagram
    }

    fn ping(&mut self, now: Time) {
        self.ping_at = now + PING_INTERVAL;
        let time = self.clock(now).to_le_bytes();
        self.send(ReliableKind::Ping, &time);
    }

    /// Older servers ping without a time, and expect no answer.
    fn on_ping(&mut self, now: Time, content: &[u8]) {
        if content.len() == 4 && now >= self.pong_at {
            self.pong_at = now + PING_INTERVAL;
            self.send(ReliableKind::Pong, content);
        }
    }

    /// Milliseconds since the handshake began.
    fn clock(&self, now: Time) -> u32 {
        now.since(self.began).as_millis() as u32
    }
}

/// Mirror's numbers of its channels.
const RELIABLE: u16 = 0;
const UNRELIABLE: u16 = 1;
