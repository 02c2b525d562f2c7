//! renet over netcode, encrypted by netcode's tokens: one reliable ordered channel, resent after 300 ms, updated by the
//! tick.

use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use renet::{ChannelConfig, ConnectionConfig, RenetClient, RenetServer, SendType, ServerEvent};
use renet_netcode::{
    ClientAuthentication, ConnectToken, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication,
    ServerConfig,
};

use super::driver::{BenchClients, BenchServer, ClientEvent, ClientSetup, Inbox, OnEvent, ServerSetup};
use super::listeners;
use super::watch::Watch;
use crate::bench::variant::LineDelivery;
use crate::socket_error::text;

const CHANNEL: u8 = 0;
const PROTOCOL: u64 = 7;
/// Known to both processes only.
const KEY: [u8; 32] = [7; 32];
/// A full channel would end the connection.
const QUEUE_BYTES_MAX: usize = 64 << 20;
const TOKEN_LASTS_S: u64 = 300;
const TIMEOUT_S: i32 = 15;
/// A client's frame, if nothing came before.
const FRAME: Duration = Duration::from_millis(16);

fn config(delivery: LineDelivery) -> ConnectionConfig {
    let channel = ChannelConfig {
        channel_id: CHANNEL,
        max_memory_usage_bytes: QUEUE_BYTES_MAX,
        send_type: match delivery {
            LineDelivery::Reliable => SendType::ReliableOrdered { resend_time: Duration::from_millis(300) },
            LineDelivery::Unreliable => SendType::Unreliable,
        },
    };
    let channels = vec![channel];
    ConnectionConfig {
        server_channels_config: channels.clone(),
        client_channels_config: channels,
        ..ConnectionConfig::default()
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The server.
pub(super) struct RenetDriver {
    renet: RenetServer,
    transport: NetcodeServerTransport,
    address: SocketAddr,
    updated: Instant,
    /// Those that are connected.
    clients: Vec<u64>,
}

impl RenetDriver {
    pub(super) fn start(setup: ServerSetup<'_>) -> Result<Self, String> {
        let (socket, address) = listeners::udp_server(setup.listen)?;
        let config = ServerConfig {
            current_time: since_1970(),
            max_clients: setup.trial.clients as usize,
            protocol_id: PROTOCOL,
            public_addresses: vec![address],
            authentication: ServerAuthentication::Secure { private_key: KEY },
        };
        let transport = NetcodeServerTransport::new(config, socket).map_err(text("listen"))?;
        let renet = RenetServer::new(self::config(setup.trial.variant.delivery()));
        Ok(Self { renet, transport, address, updated: Instant::now(), clients: Vec::new() })
    }
}

impl BenchServer for RenetDriver {
    fn url(&self) -> String {
        self.address.to_string()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        let span = self.updated.elapsed();
        self.updated += span;
        self.renet.update(span);
        self.transport.update(span, &mut self.renet).map_err(|error| format!("renet: {error}"))?;
        while let Some(event) = self.renet.get_event() {
            match event {
                ServerEvent::ClientConnected { client_id } => self.clients.push(client_id),
                ServerEvent::ClientDisconnected { client_id, .. } => self.clients.retain(|id| *id != client_id),
            }
        }
        for client in &self.clients {
            while let Some(line) = self.renet.receive_message(*client, CHANNEL) {
                inbox.0.push((*client as u32, line));
            }
        }
        Ok(())
    }

    fn broadcast(&mut self, line: &Bytes) {
        self.renet.broadcast_message(CHANNEL, line.clone());
    }

    fn answer(&mut self, client: u32, line: Bytes) {
        self.renet.send_message(u64::from(client), CHANNEL, line);
    }

    fn flush(&mut self) -> Result<(), String> {
        self.transport.send_packets(&mut self.renet);
        Ok(())
    }

    fn clients(&self) -> usize {
        self.clients.len()
    }
}

/// The clients.
pub(super) struct RenetClients {
    watch: Watch,
    server: SocketAddr,
    clients: Vec<RenetPeer>,
    swept: Instant,
    setup: ClientSetup,
}

struct RenetPeer {
    renet: RenetClient,
    transport: NetcodeClientTransport,
    /// The same socket, for the poll.
    _watched: mio::net::UdpSocket,
    updated: Instant,
    was_connected: bool,
    is_gone: bool,
    is_closing: bool,
}

impl RenetClients {
    pub(super) fn new(server: SocketAddr, setup: ClientSetup) -> Result<Self, String> {
        Ok(Self { watch: Watch::new()?, server, clients: Vec::new(), swept: Instant::now(), setup })
    }
}

impl RenetPeer {
    /// A frame: receives, and sends all packets that are due.
    fn frame(&mut self, number: u32, on_event: &mut OnEvent<'_>) {
        if self.is_gone {
            return;
        }
        let span = self.updated.elapsed();
        self.updated += span;
        self.renet.update(span);
        if let Err(error) = self.transport.update(span, &mut self.renet) {
            self.is_gone = true;
            return on_event(ClientEvent::Gone { client: number, reason: format!("renet: {error}") });
        }
        if self.renet.is_connected() && !self.was_connected {
            self.was_connected = true;
            on_event(ClientEvent::Connected(number));
        }
        while let Some(line) = self.renet.receive_message(CHANNEL) {
            on_event(ClientEvent::Line { client: number, line: &line, at_ns: None });
        }
        // A packet that the socket does not accept is lost, and renet retransmits its messages.
        let _ = self.transport.send_packets(&mut self.renet);
    }
}

impl BenchClients for RenetClients {
    fn connect(&mut self) -> Result<(), String> {
        let opened = self.watch.udp_client(self.server, self.clients.len());
        let (socket, watched) = opened.map_err(text("open a socket"))?;
        let (now, number) = (since_1970(), u64::from(self.setup.first) + self.clients.len() as u64);
        let servers = vec![self.server];
        let token = ConnectToken::generate(now, PROTOCOL, TOKEN_LASTS_S, number, TIMEOUT_S, servers, None, &KEY);
        let connect_token = token.map_err(|error| format!("renet makes no token: {error}"))?;
        let transport = NetcodeClientTransport::new(now, ClientAuthentication::Secure { connect_token }, socket);
        self.clients.push(RenetPeer {
            renet: RenetClient::new(config(self.setup.trial.variant.delivery())),
            transport: transport.map_err(|error| format!("renet does not connect: {error}"))?,
            _watched: watched,
            updated: Instant::now(),
            was_connected: false,
            is_gone: false,
            is_closing: false,
        });
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        let client = &mut self.clients[client as usize];
        client.renet.send_message(CHANNEL, Bytes::copy_from_slice(line));
        client.transport.send_packets(&mut client.renet).is_ok()
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        self.watch.wait(wait_max)?;
        for number in self.watch.ready() {
            self.clients[number].frame(number as u32, on_event);
        }
        if self.swept.elapsed() >= FRAME {
            self.swept = Instant::now();
            for (client, number) in self.clients.iter_mut().zip(0..) {
                if client.is_closing && !std::mem::replace(&mut client.is_gone, true) {
                    on_event(ClientEvent::Gone { client: number, reason: "it left".into() });
                } else if client.updated.elapsed() >= FRAME {
                    client.frame(number, on_event);
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        for client in &mut self.clients {
            client.transport.disconnect();
            client.is_closing = true;
        }
    }
}
