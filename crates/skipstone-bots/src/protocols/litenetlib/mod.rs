//! LiteNetLib 2.x, whose protocol has the number 13. Read from LiteNetLib 2.1.3 (commit ae8ece75), with its default
//! settings; and LiteNetLib 1, which has the same number and others of packets. What is left out is what bots need not:
//! NAT punching, broadcasts, packet layers, a client that looks for a larger datagram size (it answers a server that
//! does), address changes.
//!
//! ```text
//! ConnectRequest, every 500 ms ─>      ConnectAccept <─      packets, acknowledgements, pings ─> ... ─> Disconnect
//! ```

mod channels;
mod first_version;
mod fragments;
mod merge;
mod packet;
mod pings;
mod reliable_incoming;
mod reliable_outgoing;
mod sequence;
mod sequenced;
mod session;
mod settings;
#[cfg(test)]
mod tests;

use self::packet::{Accept, CHANNEL_HEADER, MTU_FIRST, Packet, Received, SHUTDOWN_OK};
use self::session::{Session, SessionEnd};
use self::settings::ClientSettings;
use super::lifecycle::{Lifecycle, Phase};
use super::limits::Limits;
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Delivery, Event, Outgoing, Protocol, ProtocolCounts, ProtocolFigures, QUEUE_BYTES_MAX, SendRefused,
    SocketEnd,
};
use crate::target::TargetError;
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "litenetlib",
    carrier: Carrier::Datagrams,
    about: "LiteNetLib 2.1, all five deliveries",
    options: &[
        ("key", "the connection key that the server compares, default none"),
        ("channels", "ChannelsCount of the server, default 1"),
        ("version", "of the server's library: 2 (default), or 1, which FishNet 4 has in Tugboat"),
        ("update", "milliseconds between two updates, default 15"),
        ("timeout", "milliseconds without a packet after which the server counts as gone, default 5000"),
    ],
    new: LiteNetLib::create,
};

/// A client of LiteNetLib.
#[derive(Debug)]
struct LiteNetLib {
    settings: ClientSettings,
    key: String,
    address: Vec<u8>,
    lifecycle: Lifecycle,
    request: Option<Request>,
    session: Option<Session>,
    /// Datagrams before a session, or after a refusal.
    pending: Option<Vec<u8>>,
    invalid: u64,
}

/// A request to connect that is repeated until it is answered.
#[derive(Debug)]
struct Request {
    time: i64,
    packet: Vec<u8>,
    repeats: u32,
    repeat_at: Time,
}

const REPEAT_INTERVAL: Duration = Duration::from_millis(500);
const REPEATS_MAX: u32 = 10;
const KEY_BYTES_MAX: usize = 512;

impl LiteNetLib {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        Ok(Box::new(LiteNetLib::new(opening)?))
    }

    fn new(opening: &Opening<'_>) -> Result<Self, TargetError> {
        let key = opening.target.option("key", "");
        if key.len() > KEY_BYTES_MAX {
            return Err(opening.target.bad_option("key", format!("at most {KEY_BYTES_MAX} bytes")));
        }
        Ok(LiteNetLib {
            settings: ClientSettings::new(opening)?,
            key: key.into(),
            address: settings::socket_address(opening.address),
            lifecycle: Lifecycle::default(),
            request: None,
            session: None,
            pending: None,
            invalid: 0,
        })
    }

    fn on_answer(&mut self, now: Time, bytes: &[u8]) {
        let Some(request) = &self.request else { return };
        match packet::decode(bytes) {
            Some(Received { packet: Packet::ConnectAccept(accept), .. }) if accept.time == request.time => {
                self.begin_session(now, accept);
            }
            Some(Received { packet: Packet::Disconnect { time, data }, .. }) if time == request.time => {
                self.pending = Some(vec![SHUTDOWN_OK]);
                self.lifecycle.end(Cause::Refused, format!("the server refused the connection{}", printed(data)));
            }
            Some(Received { packet: Packet::InvalidProtocol, .. }) => {
                self.lifecycle.end(Cause::Refused, "the server has another version of LiteNetLib's protocol");
            }
            // Data that overtook the consent comes again, if it is reliable.
            Some(_) => {}
            None => self.invalid += 1,
        }
    }

    fn begin_session(&mut self, now: Time, accept: Accept) {
        self.request = None;
        self.pending = None;
        self.session = Some(Session::new(now, self.settings, accept));
        self.lifecycle.open();
    }

    fn end_session(&mut self, end: SessionEnd) {
        let (cause, text) = match end {
            SessionEnd::Disconnected(data) => (Cause::ByServer, format!("the server disconnected{}", printed(&data))),
            SessionEnd::Unknown => (Cause::ByServer, "the server does not know this connection".into()),
            SessionEnd::TooLong => {
                let max = fragments::BYTES_MAX;
                (Cause::Malformed, format!("a message does not fit: fragments that wait have {max} bytes"))
            }
            SessionEnd::Silent => (Cause::TimedOut, format!("no packet for {} ms", self.settings.timeout.as_millis())),
        };
        self.lifecycle.end(cause, text);
    }

    fn repeat_request(&mut self, now: Time) {
        let Some(request) = self.request.as_mut().filter(|request| now >= request.repeat_at) else { return };
        request.repeats += 1;
        request.repeat_at = now + REPEAT_INTERVAL;
        if request.repeats > REPEATS_MAX {
            let text = format!("no answer to {} requests", REPEATS_MAX + 1);
            return self.lifecycle.end(Cause::TimedOut, text);
        }
        self.pending = Some(request.packet.clone());
    }

    fn limits(&self, delivery: Delivery) -> Limits {
        let channel_max = u16::from(self.settings.channels) - 1;
        let (channel_max, message_bytes_max) = match delivery {
            // Their fragments are fewer than 16 bits count.
            Delivery::ReliableOrdered | Delivery::ReliableUnordered => (channel_max, QUEUE_BYTES_MAX),
            Delivery::ReliableSequenced | Delivery::Sequenced => (channel_max, MTU_FIRST - CHANNEL_HEADER),
            Delivery::Unreliable => (0, MTU_FIRST - 1),
        };
        let queued = self.session.as_ref().map_or(0, Session::queued_bytes);
        Limits { is_open: self.lifecycle.is_open(), channel_max, delivery: None, message_bytes_max, queued }
    }
}

impl Protocol for LiteNetLib {
    fn handle_open(&mut self, now: Time) {
        if self.lifecycle.begin() {
            let time = self.settings.ticks(now);
            let packet = packet::connect_request(time, &self.address, &self.key);
            self.pending = Some(packet.clone());
            self.request = Some(Request { time, packet, repeats: 0, repeat_at: now + REPEAT_INTERVAL });
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        let renumbered = self.settings.is_first_version.then(|| first_version::received(bytes));
        let bytes = renumbered.as_deref().unwrap_or(bytes);
        let mut messages = Vec::new();
        match (self.lifecycle.phase(), &mut self.session) {
            (Phase::Connecting, _) => self.on_answer(now, bytes),
            (Phase::Open, Some(session)) => {
                let handled = session.handle_datagram(now, bytes, &mut messages);
                messages.into_iter().for_each(|(channel, data)| self.lifecycle.message(channel, data));
                if let Err(end) = handled {
                    self.end_session(end);
                }
            }
            _ => {}
        }
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, now: Time) {
        match (self.lifecycle.phase(), &mut self.session) {
            (Phase::Connecting, _) => self.repeat_request(now),
            (Phase::Open, Some(session)) => {
                if let Err(end) = session.handle_deadline(now) {
                    self.end_session(end);
                }
            }
            _ => {}
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let is_open = self.lifecycle.is_open();
        let of_session = || {
            let session = self.session.as_mut()?;
            if is_open { session.poll_datagram(now) } else { session.pop_datagram() }
        };
        let Some(datagram) = self.pending.take().or_else(of_session) else { return false };
        out.extend_from_slice(&datagram);
        if self.settings.is_first_version {
            first_version::renumber_sent(out);
        }
        true
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        match (self.lifecycle.phase(), &self.session, &self.request) {
            (Phase::Open, Some(session), _) => Some(session.deadline()),
            (Phase::Connecting, _, Some(request)) => Some(request.repeat_at),
            _ => None,
        }
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        let delivery = message.delivery.unwrap_or(Delivery::ReliableOrdered);
        self.limits(delivery).check(&message)?;
        if let Some(session) = &mut self.session {
            session.push(message.channel as u8, delivery, Bytes::copy_from_slice(message.data));
        }
        Ok(())
    }

    fn close(&mut self, now: Time) {
        if let Some(session) = self.session.as_mut().filter(|_| self.lifecycle.is_open()) {
            session.disconnect(now);
        }
        self.lifecycle.end(Cause::Closed, "closed by the bot");
    }

    fn figures(&self) -> ProtocolFigures {
        let before = ProtocolCounts { invalid: self.invalid, ..ProtocolCounts::default() };
        let figures = self.session.as_ref().map(Session::figures).unwrap_or_default();
        ProtocolFigures { counts: figures.counts + before, ..figures }
    }
}

/// The bytes of a goodbye for people: as text if they are one.
fn printed(data: &[u8]) -> String {
    match std::str::from_utf8(data) {
        _ if data.is_empty() => String::new(),
        Ok(text) if text.chars().all(|letter| !letter.is_control()) => format!(": {text}"),
        _ => format!(", with the bytes {}", data.iter().take(32).map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}
