//! ENet by rusty_enet: one reliable channel, default settings, serviced by the tick.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusty_enet::{Event, Host, HostSettings, Packet, PeerID};

use super::driver::{BenchClients, BenchServer, ClientEvent, Inbox, OnEvent, ServerSetup};
use super::listeners;
use super::watch::Watch;
use crate::bench::variant::LineDelivery;
use crate::socket_error::text;

const CHANNEL: u8 = 0;
/// Interval at which every client is serviced, with or without received data: ENet retransmits then.
const SWEEP: Duration = Duration::from_millis(33);

fn packet(line: &[u8], delivery: LineDelivery) -> Packet {
    match delivery {
        LineDelivery::Reliable => Packet::reliable(line),
        LineDelivery::Unreliable => Packet::unreliable(line),
    }
}

fn host(socket: UdpSocket, peers: usize) -> Result<Host<UdpSocket>, String> {
    let settings = HostSettings { peer_limit: peers, channel_limit: 1, ..HostSettings::default() };
    Host::new(socket, settings).map_err(|error| format!("ENet does not begin: {error}"))
}

/// The server.
pub(super) struct EnetServer {
    host: Host<UdpSocket>,
    address: SocketAddr,
    count: usize,
    delivery: LineDelivery,
}

impl EnetServer {
    pub(super) fn start(setup: ServerSetup<'_>) -> Result<Self, String> {
        let (socket, address) = listeners::udp_server(setup.listen)?;
        let host = host(socket, setup.trial.clients as usize)?;
        Ok(Self { host, address, count: 0, delivery: setup.trial.variant.delivery() })
    }
}

impl BenchServer for EnetServer {
    fn url(&self) -> String {
        self.address.to_string()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        while let Some(event) = self.host.service().map_err(text("service ENet's host"))? {
            match event {
                Event::Connect { .. } => self.count += 1,
                Event::Disconnect { .. } => self.count -= 1,
                Event::Receive { peer, packet, .. } => {
                    inbox.0.push((peer.id().0 as u32, Bytes::copy_from_slice(packet.data())));
                }
            }
        }
        Ok(())
    }

    fn broadcast(&mut self, line: &Bytes) {
        self.host.broadcast(CHANNEL, &packet(&line[..], self.delivery));
    }

    fn answer(&mut self, client: u32, line: Bytes) {
        // A peer that has left meanwhile needs no answer.
        let packet = packet(&line, self.delivery);
        let _ = self.host.peer_mut(PeerID(client as usize)).send(CHANNEL, &packet);
    }

    fn flush(&mut self) -> Result<(), String> {
        self.host.flush();
        Ok(())
    }

    fn clients(&self) -> usize {
        self.count
    }
}

/// The clients, each a host of its own.
pub(super) struct EnetClients {
    watch: Watch,
    server: SocketAddr,
    clients: Vec<EnetClient>,
    swept: Instant,
    delivery: LineDelivery,
}

struct EnetClient {
    host: Host<UdpSocket>,
    /// The same socket, for the poll.
    _watched: mio::net::UdpSocket,
}

impl EnetClients {
    pub(super) fn new(server: SocketAddr, delivery: LineDelivery) -> Result<Self, String> {
        Ok(Self { watch: Watch::new()?, server, clients: Vec::new(), swept: Instant::now(), delivery })
    }
}

impl EnetClient {
    /// One pass of ENet's own loop, and its events.
    fn service(&mut self, number: u32, on_event: &mut OnEvent<'_>) {
        // A socket error such as a refused port shows as a connection that ends.
        let Ok(Some(first)) = self.host.service() else { return };
        translate(number, first, on_event);
        while let Some(event) = self.host.check_events() {
            translate(number, event, on_event);
        }
    }
}

fn translate(client: u32, event: Event<'_, UdpSocket>, on_event: &mut OnEvent<'_>) {
    match event {
        Event::Connect { .. } => on_event(ClientEvent::Connected(client)),
        Event::Disconnect { .. } => on_event(ClientEvent::Gone { client, reason: "ENet disconnected".into() }),
        Event::Receive { packet, .. } => on_event(ClientEvent::Line { client, line: packet.data(), at_ns: None }),
    }
}

impl BenchClients for EnetClients {
    fn connect(&mut self) -> Result<(), String> {
        let opened = self.watch.udp_client(self.server, self.clients.len());
        let (socket, watched) = opened.map_err(text("open a socket"))?;
        let mut host = host(socket, 1)?;
        host.connect(self.server, 1, 0).map_err(|error| format!("ENet does not connect: {error}"))?;
        host.flush();
        self.clients.push(EnetClient { host, _watched: watched });
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        let packet = packet(line, self.delivery);
        let host = &mut self.clients[client as usize].host;
        let sent = host.peer_mut(PeerID(0)).send(CHANNEL, &packet).is_ok();
        host.flush();
        sent
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        self.watch.wait(wait_max)?;
        for number in self.watch.ready() {
            self.clients[number].service(number as u32, on_event);
        }
        if self.swept.elapsed() >= SWEEP {
            self.swept = Instant::now();
            self.clients.iter_mut().zip(0..).for_each(|(client, number)| client.service(number, on_event));
        }
        Ok(())
    }

    fn close(&mut self) {
        for client in &mut self.clients {
            client.host.peer_mut(PeerID(0)).disconnect(0);
            client.host.flush();
        }
    }
}
