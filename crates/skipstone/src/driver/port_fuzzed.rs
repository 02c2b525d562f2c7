//! A server's UDP port without its socket, for the fuzz targets: the choice of a datagram's carrier, the carriers'
//! sessions, and the endpoint behind them, in the order of a driver's round.

use super::dtls::DtlsGuests;
use super::guests::Guests;
use super::quic::fuzzed::HeldForStranger;
use super::quic::{PageRules, QuicGuests};
use super::receive::Serving;
use crate::driver_stats::{DtlsStats, WebTransportStats};
use crate::net::udp::AddressPair;
use crate::net::websocket::TlsServer;
use crate::security::Security;
use skipstone_proto::{Config, Duration, Endpoint, Event, Shard, Time};
use std::net::SocketAddr;

/// The port. It accepts every client that asks.
pub struct Port {
    now: Time,
    guests: Guests,
    endpoint: Endpoint,
    buffer: Vec<u8>,
    /// Connections that were established at some time.
    pub connected: usize,
}

impl Port {
    /// A port that serves every carrier.
    ///
    /// # Panics
    /// The server has no certificate, or the configuration is out of range.
    pub fn new(security: &Security, config: Config) -> Port {
        let config = Config { suites: security.suites(), allows_plain: true, ..config };
        let idle_timeout = config.settings.idle_timeout;
        let endpoint = Endpoint::new(config, [5; 32]).expect("a good configuration");
        let shard = Shard { index: 0, bits: 0 };
        let quic = security.quic().expect("it has a certificate");
        let quic = QuicGuests::new(&quic, shard, idle_timeout, PageRules::new(&[], &[]));
        let dtls = DtlsGuests::new(security.dtls().expect("it has a certificate"));
        let guests = Guests { dtls: Some(Box::new(dtls)), quic: Some(Box::new(quic)) };
        let now = Time::from_micros(1_000_000);
        Port { now, guests, endpoint, buffer: vec![0; 1 << 16], connected: 0 }
    }

    /// A datagram has come.
    pub fn handle(&mut self, from: SocketAddr, bytes: &mut [u8]) {
        let mut server = Serving { endpoint: &mut self.endpoint, peer_shards: &mut None, guests: &mut self.guests };
        server.take_own(self.now, SOCKET, AddressPair::from(from), bytes);
        self.guests.take_cost();
    }

    /// Time goes by.
    pub fn advance(&mut self, span: Duration) {
        self.now += span;
    }

    /// The time of the last call.
    pub fn now(&self) -> Time {
        self.now
    }

    /// One round of a driver, between two waits. Returns the datagrams that leave, with their destinations.
    pub fn step(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        let now = self.now;
        self.endpoint.handle_timeout(now);
        self.guests.handle_timeout(now, &mut self.endpoint);
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Event::Requested { peer, .. } => drop(self.endpoint.accept(now, peer)),
                Event::Connected { .. } => self.connected += 1,
                _ => {}
            }
        }
        let mut left = Vec::new();
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.buffer) {
            let (path, bytes) = (transmit.path, &self.buffer[..transmit.bytes]);
            if !self.guests.send(now, path.socket, bytes, transmit.segment_bytes, &mut self.endpoint) {
                left.extend(bytes.chunks(transmit.segment_bytes).map(|bytes| (path.remote, bytes.to_vec())));
            }
        }
        while let Some(socket) = self.endpoint.poll_released() {
            self.guests.close(now, socket, &mut self.endpoint);
        }
        self.guests.advance(now, &mut self.endpoint);
        self.guests.transmit(now, &mut |_, to, bytes, segment| {
            let segment = segment.unwrap_or(bytes.len()).max(1);
            left.extend(bytes.chunks(segment).map(|bytes| (to.remote, bytes.to_vec())));
        });
        left
    }

    /// Sessions without a connection, of DTLS and of WebTransport.
    pub fn strangers(&self) -> usize {
        self.guests.handshake_count()
    }

    /// The outcomes of all sessions that have begun.
    pub fn stats(&self) -> (DtlsStats, WebTransportStats) {
        self.guests.stats()
    }

    /// What is held for the streams of each WebTransport client without a connection.
    pub fn held_for_strangers(&self) -> Vec<HeldForStranger> {
        self.guests.quic.as_ref().map_or_else(Vec::new, |quic| quic.held_for_strangers())
    }

    /// Connections of the protocol.
    pub fn connections(&self) -> usize {
        self.endpoint.connection_count()
    }
}

/// The server's configuration for streams within TLS.
pub fn tls(security: &Security) -> Option<TlsServer> {
    security.streams().map(TlsServer)
}

/// The shared socket.
const SOCKET: u32 = 3;
