//! renet 2 over netcode, by their crates: without tokens (netcode's unsecure authentication), with renet's default
//! channels. Keys and tokens come from the system's random numbers, so equal seeds do not send equal bytes.

#[cfg(test)]
mod tests;

use super::lifecycle::{Lifecycle, Phase};
use super::limits::{Limits, MESSAGE_COST};
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Delivery, Event, Outgoing, Protocol, ProtocolCounts, ProtocolFigures, QUEUE_BYTES_MAX, SendRefused,
    SocketEnd,
};
use crate::target::TargetError;
use bytes::Bytes;
use core::fmt;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use renet::{ConnectionConfig, RenetClient};
use renetcode::{ClientAuthentication, DisconnectReason, NETCODE_MAX_PACKET_BYTES, NetcodeClient};
use skipstone_proto::Time;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::panic::catch_unwind;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "renet",
    carrier: Carrier::Datagrams,
    about: "renet 2 over netcode, unsecure: channel 0 unreliable, 1 reliable-unordered, 2 reliable",
    options: &[
        ("protocol", "netcode's protocol id, as at the server, default 0"),
        ("client", "the client id, by default the seed"),
        ("server", "the server's public address if it is not the target's, such as behind a relay"),
    ],
    new: Renet::create,
};

/// A client of renet.
struct Renet {
    setup: Setup,
    lifecycle: Lifecycle,
    session: Option<Session>,
    invalid: u64,
}

#[derive(Clone, Copy, Debug)]
struct Setup {
    protocol_id: u64,
    client_id: u64,
    server_addr: SocketAddr,
    /// Since 1970: servers compare it with the time until which a token is valid.
    time_of_day: Duration,
}

struct Session {
    net: Box<NetcodeClient>,
    renet: Box<RenetClient>,
    updated: Time,
    /// The last frame.
    framed: Time,
    /// Until then a message may have to be sent again or acknowledged.
    active_until: Time,
    /// Messages since the last frame. WHY: renet's own bound counts bytes alone, and so no empty messages.
    unsent: usize,
    datagrams: VecDeque<Vec<u8>>,
}

/// renet is called once a frame. An idle client needs it only for pings, acknowledgements and the timeout.
const FRAME_ACTIVE: Duration = Duration::from_millis(15);
const FRAME_IDLE: Duration = Duration::from_millis(100);
const ACTIVE: Duration = Duration::from_secs(1);

/// The goodbye is repeated, because it is unreliable and the client waits for no answer.
const GOODBYES: usize = 3;
/// Bytes of a packet's number at most, and of the tag at its end.
const NUMBER_BYTES_MAX: usize = 8;
const TAG_BYTES: usize = 16;

/// renet's default channels.
const CHANNELS: [Delivery; 3] = [Delivery::Unreliable, Delivery::ReliableUnordered, Delivery::ReliableOrdered];

impl Renet {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        let target = opening.target;
        let public = target.option("server", "");
        let server_addr = if public.is_empty() { Some(opening.address) } else { public.parse().ok() };
        let needs = "netcode's token has the server's address in numbers, such as server=127.0.0.1:5000";
        let setup = Setup {
            protocol_id: target.number("protocol", 0, 0..=u64::MAX)?,
            client_id: target.number("client", opening.seed, 0..=u64::MAX)?,
            server_addr: server_addr.ok_or_else(|| target.bad_option("server", needs))?,
            time_of_day: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        };
        Ok(Box::new(Renet { setup, lifecycle: Lifecycle::default(), session: None, invalid: 0 }))
    }

    /// One frame: clocks, messages that came, packets that leave.
    fn frame(&mut self, now: Time) {
        let is_connected = self.guarded(|session| {
            session.update(now);
            session.framed = now;
            session.net.is_connected()
        });
        if is_connected == Some(true) {
            self.lifecycle.open();
        }
        self.deliver();
        self.guarded(Session::collect);
        self.end_with_session();
    }

    /// Passes on what has arrived whole.
    fn deliver(&mut self) {
        let messages = self.guarded(Session::messages).unwrap_or_default();
        messages.into_iter().for_each(|(channel, message)| self.lifecycle.message(channel, message));
    }

    fn end_with_session(&mut self) {
        let Some(session) = &self.session else { return };
        let (net, renet) = (session.net.disconnect_reason(), session.renet.disconnect_reason());
        if let Some(reason) = net {
            self.lifecycle.end(cause(reason), reason.to_string());
        } else if let Some(reason) = renet {
            self.lifecycle.end(Cause::Malformed, format!("renet ended the connection: {reason}"));
        }
    }

    /// Calls the crates. WHY: renet 2.0.1 compares no slice's index with its message's count, nor the counts of a
    /// message's slices with each other, so that a hostile server makes it panic. Its state is worth nothing then.
    fn guarded<R>(&mut self, call: impl FnOnce(&mut Session) -> R) -> Option<R> {
        let session = self.session.as_mut()?;
        let outcome = catch_unwind(AssertUnwindSafe(|| call(session)));
        if outcome.is_err() {
            self.session = None;
            self.lifecycle.end(Cause::Malformed, "renet panicked at what the server sent");
        }
        outcome.ok()
    }

    fn check(&self, message: &Outgoing<'_>) -> Result<(), SendRefused> {
        let own = CHANNELS.get(usize::from(message.channel));
        let queued = self.session.as_ref().filter(|_| own.is_some()).map_or(0, |session| {
            let available = session.renet.channel_available_memory(message.channel as u8);
            CHANNEL_MEMORY.saturating_sub(available) + session.unsent * MESSAGE_COST
        });
        let limits = Limits {
            is_open: self.lifecycle.is_open(),
            channel_max: CHANNELS.len() as u16 - 1,
            delivery: None,
            message_bytes_max: QUEUE_BYTES_MAX,
            queued,
        };
        limits.check(message)?;
        if message.delivery.is_some() && message.delivery.as_ref() != own {
            return Err(SendRefused::NoDelivery("unreliable, reliable-unordered and reliable on channels 0, 1 and 2"));
        }
        Ok(())
    }
}

/// renet's own bound of a channel; above it, it ends the connection. Ours is below.
const CHANNEL_MEMORY: usize = 5 * 1024 * 1024;

/// WHY: renetcode 2.0.0 panics where the length of the number, in the upper half of the first byte, is more than 8, or
/// leaves no room for the tag. Any sender can write that.
fn is_readable(datagram: &[u8]) -> bool {
    let number_bytes = datagram.first().map_or(usize::MAX, |prefix| usize::from(prefix >> 4));
    number_bytes <= NUMBER_BYTES_MAX
        && (1 + number_bytes + TAG_BYTES..=NETCODE_MAX_PACKET_BYTES).contains(&datagram.len())
}

fn cause(reason: DisconnectReason) -> Cause {
    match reason {
        DisconnectReason::ConnectionDenied | DisconnectReason::ConnectTokenExpired => Cause::Refused,
        DisconnectReason::DisconnectedByClient => Cause::Closed,
        DisconnectReason::DisconnectedByServer => Cause::ByServer,
        _ => Cause::TimedOut,
    }
}

impl Session {
    fn begin(now: Time, setup: Setup) -> Option<Self> {
        let Setup { protocol_id, client_id, server_addr, time_of_day } = setup;
        let authentication = ClientAuthentication::Unsecure { protocol_id, client_id, server_addr, user_data: None };
        let net = NetcodeClient::new(time_of_day, authentication).ok()?;
        Some(Session {
            net: Box::new(net),
            renet: Box::new(RenetClient::new(ConnectionConfig::default())),
            updated: now,
            framed: now,
            active_until: now + ACTIVE,
            unsent: 0,
            datagrams: VecDeque::new(),
        })
    }

    fn update(&mut self, now: Time) {
        let span = now.since(self.updated);
        self.updated = now;
        if let Some((datagram, _)) = self.net.update(span) {
            self.datagrams.push_back(datagram.to_vec());
        }
        if self.net.is_connected() {
            self.renet.set_connected();
        }
        self.renet.update(span);
    }

    /// A datagram. Returns whether it had a payload.
    fn take(&mut self, now: Time, mut datagram: Vec<u8>) -> bool {
        self.update(now);
        let Some(payload) = self.net.process_packet(&mut datagram) else { return false };
        self.renet.process_packet(payload);
        self.active_until = now + ACTIVE;
        true
    }

    /// Messages that have arrived whole, each with its channel.
    fn messages(&mut self) -> Vec<(u16, Bytes)> {
        let renet = &mut self.renet;
        let of_channel = |channel: u8| {
            core::iter::from_fn(|| renet.receive_message(channel))
                .map(|message| (channel.into(), message))
                .collect::<Vec<_>>()
        };
        (0..CHANNELS.len() as u8).flat_map(of_channel).collect()
    }

    fn collect(&mut self) {
        if !self.net.is_connected() {
            return;
        }
        self.unsent = 0;
        for packet in self.renet.get_packets_to_send() {
            if let Ok((_, sealed)) = self.net.generate_payload_packet(&packet) {
                self.datagrams.push_back(sealed.to_vec());
            }
        }
    }

    /// What waits leaves before the goodbye.
    fn disconnect(&mut self, now: Time) {
        self.update(now);
        self.collect();
        if let Ok((_, goodbye)) = self.net.disconnect() {
            self.datagrams.extend((0..GOODBYES).map(|_| goodbye.to_vec()));
        }
    }
}

impl Protocol for Renet {
    fn handle_open(&mut self, now: Time) {
        if self.lifecycle.begin() {
            self.session = Session::begin(now, self.setup);
            match &mut self.session {
                Some(session) => session.update(now),
                None => self.lifecycle.end(Cause::Unreachable, "netcode makes no token"),
            }
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        if !self.lifecycle.is_alive() {
            return;
        }
        if !is_readable(bytes) {
            self.invalid += 1;
            return;
        }
        let has_payload = self.guarded(|session| session.take(now, bytes.to_vec()));
        if self.lifecycle.phase() == Phase::Connecting {
            self.frame(now);
        } else if has_payload == Some(true) {
            self.deliver();
            self.end_with_session();
        }
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, now: Time) {
        if self.deadline().is_some_and(|due| due <= now) {
            self.frame(now);
        }
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        let datagram = self.session.as_mut().and_then(|session| session.datagrams.pop_front());
        out.extend_from_slice(datagram.as_deref().unwrap_or_default());
        datagram.is_some()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        let session = self.session.as_ref().filter(|_| self.lifecycle.is_alive())?;
        let is_active = session.updated < session.active_until;
        Some(session.framed + if is_active { FRAME_ACTIVE } else { FRAME_IDLE })
    }

    fn send(&mut self, now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        self.check(&message)?;
        if let Some(session) = &mut self.session {
            session.active_until = now + ACTIVE;
            session.unsent += 1;
            session.renet.send_message(message.channel as u8, Bytes::copy_from_slice(message.data));
        }
        Ok(())
    }

    fn close(&mut self, now: Time) {
        if self.lifecycle.is_open() {
            self.guarded(|session| session.disconnect(now));
        }
        self.lifecycle.end(Cause::Closed, "closed by the bot");
    }

    fn figures(&self) -> ProtocolFigures {
        let open = self.session.as_ref().filter(|_| self.lifecycle.is_open());
        let rtt = open.map(|session| Duration::from_secs_f64(session.renet.rtt().clamp(0.0, 3600.0)));
        let counts = ProtocolCounts { invalid: self.invalid, ..ProtocolCounts::default() };
        ProtocolFigures { rtt, counts }
    }
}

impl fmt::Debug for Renet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renet").field("setup", &self.setup).field("lifecycle", &self.lifecycle).finish_non_exhaustive()
    }
}
