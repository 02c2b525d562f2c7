//! ENet 1.3 by the crate rusty_enet, which is ENet's C translated: `queue` stands for its socket. Deliveries are
//! reliable, sequenced (ENet's unreliable packets), and unreliable (its unsequenced ones), on each channel.

mod sent;
#[cfg(test)]
mod tests;

use self::sent::Sent;
use super::lifecycle::{Lifecycle, Phase};
use super::limits::{Limits, queue_cost};
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Delivery, Event, Outgoing, Protocol, ProtocolCounts, ProtocolFigures, QUEUE_BYTES_MAX, SendRefused,
    SocketEnd,
};
use crate::target::TargetError;
use bytes::Bytes;
use core::convert::Infallible;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use rusty_enet::{EventNoRef, Host, HostSettings, MTU_MAX, Packet, PacketReceived, PeerID, Socket};
use skipstone_proto::Time;
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "enet",
    carrier: Carrier::Datagrams,
    about: "ENet 1.3, each channel reliable, sequenced or unreliable",
    options: &[
        ("channels", "channels that are asked for, default 2"),
        ("data", "the number that the server gets with the request, default 0"),
    ],
    new: Enet::create,
};

/// A client of ENet.
struct Enet {
    channels: u8,
    data: u32,
    seed: u32,
    lifecycle: Lifecycle,
    host: Option<Host<Queue>>,
    /// Microseconds, for the host.
    clock: Arc<AtomicU64>,
    sent: Sent,
    /// Of reliable messages with their cost: ENet's throttle drops others unsent, so they are no measure of its queue.
    reliable_bytes: u64,
    /// Of other messages, since the last flush, which empties their queue.
    unreliable_bytes: usize,
    must_flush: bool,
    serviced: Time,
    /// Until then something may have to be sent again.
    active_until: Time,
    heard: Time,
    invalid: u64,
}

/// The host's socket: datagrams wait in it in both directions.
#[derive(Debug, Default)]
struct Queue {
    incoming: VecDeque<Vec<u8>>,
    outgoing: VecDeque<Vec<u8>>,
    /// Of `outgoing`, those that `Sent` has counted.
    read: usize,
}

/// The host does not tell when it wants to be called: it is, as often as games do, while something may be in flight.
const SERVICE_ACTIVE: Duration = Duration::from_millis(10);
const SERVICE_IDLE: Duration = Duration::from_millis(100);
const ACTIVE: Duration = Duration::from_secs(1);
/// Without a datagram for this long, a connection that ended has timed out: ENet's shortest timeout.
const SILENCE: Duration = Duration::from_millis(4_500);
/// Bytes of an incoming message, and of those that wait for earlier ones.
const INCOMING_BYTES_MAX: usize = 4 << 20;
/// The goodbye is repeated, because it is unreliable and the client waits for no answer.
const GOODBYES: usize = 3;
const PEER: PeerID = PeerID(0);

impl Enet {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        let target = opening.target;
        Ok(Box::new(Enet {
            channels: target.number("channels", 2, 1..=255)? as u8,
            data: target.number("data", 0, 0..=u32::MAX.into())? as u32,
            seed: opening.seed as u32,
            lifecycle: Lifecycle::default(),
            host: None,
            clock: Arc::default(),
            sent: Sent::default(),
            reliable_bytes: 0,
            unreliable_bytes: 0,
            must_flush: false,
            serviced: Time::ZERO,
            active_until: Time::ZERO,
            heard: Time::ZERO,
            invalid: 0,
        }))
    }

    fn connect(&mut self) -> Option<Host<Queue>> {
        let clock = Arc::clone(&self.clock);
        let settings = HostSettings {
            peer_limit: 1,
            channel_limit: self.channels.into(),
            time: Box::new(move || Duration::from_micros(clock.load(Ordering::Relaxed))),
            seed: Some(self.seed),
            ..HostSettings::default()
        };
        let mut host = Host::new(Queue::default(), settings).ok()?;
        host.set_maximum_packet_size(INCOMING_BYTES_MAX).ok()?;
        host.set_maximum_waiting_data(INCOMING_BYTES_MAX).ok()?;
        host.connect((), self.channels.into(), self.data).ok()?;
        Some(host)
    }

    fn service(&mut self, now: Time) {
        self.serviced = now;
        self.clock.store(now.as_micros(), Ordering::Relaxed);
        while let Some(event) = self.next_event() {
            match event {
                EventNoRef::Connect { .. } => self.lifecycle.open(),
                EventNoRef::Receive { channel_id, packet, .. } => {
                    self.lifecycle.message(channel_id.into(), Bytes::copy_from_slice(packet.data()));
                }
                EventNoRef::Disconnect { data, .. } => self.on_disconnect(now, data),
            }
        }
        self.on_flushed();
        self.read_sent(now);
    }

    fn on_flushed(&mut self) {
        self.must_flush = false;
        self.unreliable_bytes = 0;
    }

    fn next_event(&mut self) -> Option<EventNoRef> {
        self.host.as_mut()?.service().ok()?.map(rusty_enet::Event::no_ref)
    }

    /// ENet has one event for a goodbye, a refusal and silence.
    fn on_disconnect(&mut self, now: Time, data: u32) {
        match self.lifecycle.phase() {
            _ if now.since(self.heard) >= SILENCE => self.lifecycle.end(Cause::TimedOut, "no answer in ENet's time"),
            Phase::Connecting => self.lifecycle.end(Cause::Refused, format!("the server refused, data {data}")),
            _ => self.lifecycle.end(Cause::ByServer, format!("the server disconnected, data {data}")),
        }
    }

    fn flush(&mut self, now: Time) {
        self.clock.store(now.as_micros(), Ordering::Relaxed);
        if let Some(host) = &mut self.host {
            host.flush();
        }
        self.on_flushed();
        self.read_sent(now);
    }

    /// Reads new datagrams of the host: they are behind those that were read before.
    fn read_sent(&mut self, now: Time) {
        let Some(host) = &mut self.host else { return };
        let queue = host.socket_mut();
        let mut has_message = false;
        for datagram in queue.outgoing.iter().skip(queue.read) {
            has_message |= self.sent.on_datagram(datagram);
        }
        queue.read = queue.outgoing.len();
        if has_message {
            self.active_until = now + ACTIVE;
        }
    }

    fn queued_bytes(&self) -> usize {
        self.reliable_bytes.saturating_sub(self.sent.reliable_bytes) as usize + self.unreliable_bytes
    }

    fn channel_count(&self) -> u16 {
        self.host.as_ref().map_or(0, |host| host.peer(PEER).channel_count() as u16)
    }

    fn limits(&self) -> Limits {
        Limits {
            is_open: self.lifecycle.is_open(),
            channel_max: self.channel_count().saturating_sub(1),
            delivery: None,
            message_bytes_max: QUEUE_BYTES_MAX,
            queued: self.queued_bytes(),
        }
    }
}

impl Protocol for Enet {
    fn handle_open(&mut self, now: Time) {
        if self.lifecycle.begin() {
            self.clock.store(now.as_micros(), Ordering::Relaxed);
            self.heard = now;
            self.active_until = now + ACTIVE;
            self.host = self.connect();
            if self.host.is_none() {
                self.lifecycle.end(Cause::Unreachable, "ENet's host does not begin");
            }
            self.service(now);
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        let Some(host) = self.host.as_mut().filter(|_| self.lifecycle.is_alive()) else { return };
        if bytes.len() > MTU_MAX || bytes.len() < 2 {
            self.invalid += 1;
            return;
        }
        host.socket_mut().incoming.push_back(bytes.to_vec());
        self.heard = now;
        self.service(now);
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, now: Time) {
        if self.deadline().is_some_and(|due| due <= now) {
            self.service(now);
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        if self.must_flush {
            self.flush(now);
        }
        let datagram = self.host.as_mut().and_then(|host| host.socket_mut().pop_outgoing());
        out.extend_from_slice(datagram.as_deref().unwrap_or_default());
        datagram.is_some()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        if !self.lifecycle.is_alive() {
            return None;
        }
        let is_active =
            self.lifecycle.phase() == Phase::Connecting || self.serviced < self.active_until || self.queued_bytes() > 0;
        Some(self.serviced + if is_active { SERVICE_ACTIVE } else { SERVICE_IDLE })
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        self.limits().check(&message)?;
        let packet = match message.delivery {
            None | Some(Delivery::ReliableOrdered) => Packet::reliable(message.data),
            Some(Delivery::Sequenced) => Packet::always_unreliable(message.data),
            Some(Delivery::Unreliable) => Packet::always_unreliable_unsequenced(message.data),
            Some(_) => return Err(SendRefused::NoDelivery("reliable, sequenced, unreliable")),
        };
        let Some(host) = &mut self.host else { return Err(SendRefused::NotConnected) };
        if host.peer_mut(PEER).send(message.channel as u8, &packet).is_err() {
            return Err(SendRefused::Unwritable("ENet does not take this message"));
        }
        match message.delivery {
            None | Some(Delivery::ReliableOrdered) => self.reliable_bytes += queue_cost(message.data) as u64,
            _ => self.unreliable_bytes += queue_cost(message.data),
        }
        self.must_flush = true;
        Ok(())
    }

    fn close(&mut self, now: Time) {
        if self.lifecycle.is_open() {
            // What waits leaves first: the goodbye empties ENet's queues.
            self.flush(now);
        }
        if let Some(host) = self.host.as_mut().filter(|_| self.lifecycle.is_open()) {
            host.peer_mut(PEER).disconnect_now(0);
            host.socket_mut().repeat_last(GOODBYES);
        }
        self.lifecycle.end(Cause::Closed, "closed by the bot");
    }

    fn figures(&self) -> ProtocolFigures {
        let rtt = self.host.as_ref().filter(|_| self.lifecycle.is_open()).map(|host| host.peer(PEER).round_trip_time());
        let counts = ProtocolCounts {
            invalid: self.invalid,
            retransmitted: self.sent.retransmitted,
            ..ProtocolCounts::default()
        };
        ProtocolFigures { rtt, counts }
    }
}

impl Queue {
    /// The last datagram leaves that number of times.
    fn repeat_last(&mut self, times: usize) {
        if let Some(last) = self.outgoing.back().cloned() {
            self.outgoing.extend(core::iter::repeat_n(last, times - 1));
        }
    }

    fn pop_outgoing(&mut self) -> Option<Vec<u8>> {
        self.read = self.read.saturating_sub(1);
        self.outgoing.pop_front()
    }
}

impl Socket for Queue {
    /// There is one peer.
    type Address = ();
    type Error = Infallible;

    fn send(&mut self, (): (), buffer: &[u8]) -> Result<usize, Infallible> {
        self.outgoing.push_back(buffer.to_vec());
        Ok(buffer.len())
    }

    fn receive(&mut self, buffer: &mut [u8; MTU_MAX]) -> Result<Option<((), PacketReceived)>, Infallible> {
        let Some(datagram) = self.incoming.pop_front() else { return Ok(None) };
        buffer[..datagram.len()].copy_from_slice(&datagram);
        Ok(Some(((), PacketReceived::Complete(datagram.len()))))
    }
}

impl fmt::Debug for Enet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enet").field("lifecycle", &self.lifecycle).field("sent", &self.sent).finish_non_exhaustive()
    }
}
