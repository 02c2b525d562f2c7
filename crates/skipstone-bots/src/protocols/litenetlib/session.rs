//! A connection after the server's consent: its channels, pings, and updates.

use super::channels::{ChannelMessage, Channels, PacketFault};
use super::merge::Merge;
use super::packet::{
    Accept, DISCONNECT, MTU_FIRST, MTU_OK, PACKET_MAX, PEER_NOT_FOUND, Packet, Parts, Received, SHUTDOWN_OK,
    UNRELIABLE, decode, first_byte,
};
use super::pings::Pings;
use super::settings::ClientSettings;
use crate::protocol::{Delivery, ProtocolCounts, ProtocolFigures};
use crate::protocols::limits::queue_cost;
use bytes::Bytes;
use skipstone_proto::Time;
use std::collections::VecDeque;

/// A connection.
#[derive(Debug)]
pub(super) struct Session {
    settings: ClientSettings,
    accept: Accept,
    channels: Channels,
    pings: Pings,
    unreliable: VecDeque<Bytes>,
    unreliable_bytes: usize,
    heard: Time,
    updated: Time,
    /// Ready to leave.
    datagrams: VecDeque<Vec<u8>>,
    invalid: u64,
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// The server disconnected, with these bytes.
    Disconnected(Vec<u8>),
    /// The server does not know the client.
    Unknown,
    /// A message is longer than the bound of incoming messages.
    TooLong,
    /// Nothing came in time.
    Silent,
}

/// The goodbye is repeated, because it is unreliable and the client waits for no answer.
const GOODBYES: usize = 3;

impl Session {
    pub(super) fn new(now: Time, settings: ClientSettings, accept: Accept) -> Self {
        Session {
            settings,
            accept,
            channels: Channels::new(settings.channels, MTU_FIRST).merging(!settings.is_first_version),
            pings: Pings::new(now),
            unreliable: VecDeque::new(),
            unreliable_bytes: 0,
            heard: now,
            updated: now,
            datagrams: VecDeque::new(),
            invalid: 0,
        }
    }

    /// Queues a message.
    pub(super) fn push(&mut self, channel: u8, delivery: Delivery, message: Bytes) {
        if delivery == Delivery::Unreliable {
            self.unreliable_bytes += queue_cost(&message);
            self.unreliable.push_back(message);
        } else {
            self.channels.push(channel, delivery, message);
        }
    }

    pub(super) fn queued_bytes(&self) -> usize {
        self.unreliable_bytes + self.channels.bytes()
    }

    /// A datagram. Appends complete messages to `out`.
    pub(super) fn handle_datagram(
        &mut self,
        now: Time,
        datagram: &[u8],
        out: &mut Vec<ChannelMessage>,
    ) -> Result<(), SessionEnd> {
        match decode(datagram).filter(|_| datagram.len() <= PACKET_MAX) {
            Some(Received { packet: Packet::Merged(parts), connection }) if connection == self.accept.connection => {
                let mut parts = Parts::new(parts);
                for part in parts.by_ref() {
                    self.handle_packet(now, decode(part), out)?;
                }
                self.invalid += u64::from(!parts.is_valid);
                Ok(())
            }
            received => self.handle_packet(now, received, out),
        }
    }

    /// The time of `deadline` has come.
    pub(super) fn handle_deadline(&mut self, now: Time) -> Result<(), SessionEnd> {
        if now >= self.heard + self.settings.timeout {
            return Err(SessionEnd::Silent);
        }
        if now >= self.pings.ping_at() {
            self.datagrams.push_back(self.pings.ping(now, self.accept.connection));
        }
        Ok(())
    }

    pub(super) fn poll_datagram(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.update_at().is_some_and(|at| at <= now) {
            self.update(now);
        }
        self.datagrams.pop_front()
    }

    /// What is ready already: the last messages and the goodbye.
    pub(super) fn pop_datagram(&mut self) -> Option<Vec<u8>> {
        self.datagrams.pop_front()
    }

    pub(super) fn deadline(&self) -> Time {
        let own = self.pings.ping_at().min(self.heard + self.settings.timeout);
        self.update_at().map_or(own, |at| at.min(own))
    }

    /// What waits leaves, then the goodbye.
    pub(super) fn disconnect(&mut self, now: Time) {
        self.update(now);
        let mut goodbye = vec![first_byte(DISCONNECT, self.accept.connection)];
        goodbye.extend_from_slice(&self.accept.time.to_le_bytes());
        self.datagrams.extend((0..GOODBYES).map(|_| goodbye.clone()));
    }

    pub(super) fn figures(&self) -> ProtocolFigures {
        let (retransmitted, duplicates, dropped) = self.channels.retransmitted_duplicates_lost();
        let counts = ProtocolCounts { invalid: self.invalid, retransmitted, duplicates, dropped };
        ProtocolFigures { rtt: self.pings.round_trip(), counts }
    }

    fn handle_packet(
        &mut self,
        now: Time,
        received: Option<Received<'_>>,
        out: &mut Vec<ChannelMessage>,
    ) -> Result<(), SessionEnd> {
        let Some(Received { connection, packet }) = received else {
            self.invalid += 1;
            return Ok(());
        };
        match packet {
            Packet::PeerNotFound(rest) => return self.on_peer_not_found(rest),
            // Late answers to requests that were repeated.
            Packet::ConnectAccept(_) | Packet::Ignored | Packet::InvalidProtocol => return Ok(()),
            _ if connection != self.accept.connection => {
                self.invalid += 1;
                return Ok(());
            }
            Packet::Disconnect { time, data } if time == self.accept.time => {
                self.datagrams.push_back(vec![SHUTDOWN_OK]);
                return Err(SessionEnd::Disconnected(data.to_vec()));
            }
            _ => self.heard = now,
        }
        self.handle_data(now, packet, out)
    }

    fn handle_data(&mut self, now: Time, packet: Packet<'_>, out: &mut Vec<ChannelMessage>) -> Result<(), SessionEnd> {
        match packet {
            Packet::Unreliable(data) => out.push((0, Bytes::copy_from_slice(data))),
            Packet::Channeled { sequence, channel, content } => {
                match self.channels.on_packet(sequence, channel, content, out) {
                    Ok(()) => {}
                    Err(PacketFault::Packet) => self.invalid += 1,
                    Err(PacketFault::TooLong) => return Err(SessionEnd::TooLong),
                }
            }
            Packet::Acknowledge { sequence, channel, bits } => {
                self.invalid += u64::from(!self.channels.on_acknowledged(sequence, channel, bits));
            }
            Packet::Ping { number } => {
                let ticks = self.settings.ticks(now);
                self.datagrams.extend(self.pings.pong(number, self.accept.connection, ticks));
            }
            Packet::Pong { number } => self.pings.on_pong(now, number),
            Packet::MtuCheck(packet) => self.on_mtu_check(packet),
            _ => self.invalid += 1,
        }
        Ok(())
    }

    /// The server tries a larger datagram: it is returned as it came, so that the server sends larger ones.
    fn on_mtu_check(&mut self, packet: &[u8]) {
        let size = (packet.len() as i32).to_le_bytes();
        let is_whole = packet.len() >= MTU_FIRST && packet[1..5] == size && packet.ends_with(&size);
        if !is_whole {
            self.invalid += 1;
            return;
        }
        let mut answer = packet.to_vec();
        answer[0] = first_byte(MTU_OK, self.accept.connection);
        self.datagrams.push_back(answer);
    }

    /// The server asks who that is, and is told once; then it has no such client.
    fn on_peer_not_found(&mut self, rest: &[u8]) -> Result<(), SessionEnd> {
        match rest {
            [] => {
                let mut packet = vec![PEER_NOT_FOUND];
                packet.extend_from_slice(&self.accept.time.to_le_bytes());
                packet.extend_from_slice(&[self.accept.connection, 1]);
                packet.extend_from_slice(&self.accept.peer.to_le_bytes());
                self.datagrams.push_back(packet);
                Ok(())
            }
            [1] => Err(SessionEnd::Unknown),
            _ => {
                self.invalid += 1;
                Ok(())
            }
        }
    }

    /// What is ready within one update leaves together.
    fn update_at(&self) -> Option<Time> {
        let earliest = self.updated + self.settings.update;
        if !self.unreliable.is_empty() || self.channels.is_ready() {
            return Some(earliest);
        }
        self.channels.resend_at(self.pings.resend_after()).map(|at| at.max(earliest))
    }

    fn update(&mut self, now: Time) {
        self.updated = now;
        let mut merge = Merge::new(self.accept.connection, MTU_FIRST, &mut self.datagrams);
        self.channels.flush(now, self.pings.resend_after(), &mut merge);
        for message in self.unreliable.drain(..) {
            merge.add(&[&[UNRELIABLE][..], &message].concat());
        }
        self.unreliable_bytes = 0;
        merge.finish();
    }
}
