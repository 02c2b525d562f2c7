//! Skipstone as applications use it: the library, its sockets and its encryption, stepped by this thread.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use skipstone::{
    Client, ClientConfig, Close, Event, Identity, PeerId, Security, Server, ServerConfig, Stats, Threading,
};

use super::end::RealEnd;
use crate::compare::condition::Condition;
use crate::compare::contender::Contender;
use crate::compare::packet_logs::PacketLogs;
use crate::compare::peers::peer::{Telemetry, Update};
use crate::compare::peers::skipstone::settings;
use crate::compare::transport::Transport;
use crate::units::Mode;

/// The server, with one client.
pub(super) struct SkipstoneServerEnd {
    server: Server,
    url: String,
    peer: Option<PeerId>,
    arrived: VecDeque<Update>,
    hands_on_ages: bool,
}

/// The client.
pub(super) struct SkipstoneClientEnd {
    client: Client,
    is_connected: bool,
    ended: Option<String>,
    arrived: VecDeque<Update>,
}

impl SkipstoneServerEnd {
    pub(super) fn start(
        contender: Contender,
        condition: &Condition,
        logs: &PacketLogs,
        listen: SocketAddr,
    ) -> Result<Self, String> {
        let identity = Identity::self_signed().map_err(|error| error.to_string())?;
        let mode = contender.mode.unwrap_or(Mode(skipstone::RedundancyMode::Adaptive));
        let config = ServerConfig {
            settings: settings(condition, mode),
            threading: Threading::Stepped,
            security: Some(Security::with(identity).allowing_plain()),
            websocket: matches!(
                contender.transport,
                Transport::SkipstoneWebSocket | Transport::SkipstoneSecureWebSocket
            ),
            webtransport: contender.transport == Transport::SkipstoneWebTransport,
            packet_log: logs.server.clone(),
            ..ServerConfig::new(listen)
        };
        let server = Server::start(config).map_err(|error| error.to_string())?;
        let url = match contender.transport {
            Transport::SkipstonePlain => format!("skip+plain://{}", server.local_addr()),
            Transport::SkipstoneWebSocket => format!("ws://{}", server.local_addr()),
            Transport::SkipstoneSecureWebSocket => server.url().replacen("skip://", "wss://", 1),
            _ => server.url(),
        };
        let hands_on_ages = contender.transport != Transport::SkipstoneAgeless;
        Ok(SkipstoneServerEnd { server, url, peer: None, arrived: VecDeque::new(), hands_on_ages })
    }
}

/// Why nothing more comes.
pub(super) fn ended(close: &Close) -> String {
    format!("the connection ended: {} (code {})", close.reason_text(), close.code)
}

pub(super) fn telemetry(stats: &Stats) -> Telemetry {
    Telemetry {
        resent: Some(stats.resent),
        redundancy_bytes: Some(stats.redundancy.bytes_sent),
        spurious: Some(stats.packets_spurious),
        repaired: Some(stats.redundancy.packets_recovered),
    }
}

impl RealEnd for SkipstoneServerEnd {
    fn drive(&mut self, wait_max: Duration) -> Result<(), String> {
        // Answers since the last round leave together.
        self.server.flush().map_err(|error| format!("the server's driver is gone: {error}"))?;
        self.server.drive(wait_max).map_err(|error| format!("the server's sockets broke: {error}"))?;
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, .. } => drop(self.server.accept(peer)),
                Event::Connected { peer, .. } => self.peer = Some(peer),
                Event::Message { channel, payload, age, .. } => {
                    self.arrived.push_back(Update { entity: channel, payload, age });
                }
                Event::Closed { .. } => self.peer = None,
                _ => {}
            }
        }
        Ok(())
    }

    fn is_connected(&self) -> bool {
        self.peer.is_some()
    }

    fn send(&mut self, update: Update) -> bool {
        let Some(peer) = self.peer else { return false };
        let age = if self.hands_on_ages { update.age } else { Duration::ZERO };
        self.server.send_aged(peer, update.entity, update.payload, age).is_ok()
    }

    fn poll_message(&mut self) -> Option<Update> {
        self.arrived.pop_front()
    }

    fn address(&self) -> String {
        self.url.clone()
    }

    fn telemetry(&mut self) -> Telemetry {
        telemetry(&self.server.stats())
    }
}

impl SkipstoneClientEnd {
    pub(super) fn connect(url: &str, logs: &PacketLogs) -> Result<Self, String> {
        let config =
            ClientConfig { threading: Threading::Stepped, packet_log: logs.client.clone(), ..ClientConfig::default() };
        let client = Client::connect(url, b"", config).map_err(|error| error.to_string())?;
        Ok(SkipstoneClientEnd { client, is_connected: false, ended: None, arrived: VecDeque::new() })
    }
}

impl RealEnd for SkipstoneClientEnd {
    fn drive(&mut self, wait_max: Duration) -> Result<(), String> {
        if let Some(ended) = &self.ended {
            return Err(ended.clone());
        }
        self.client.drive(wait_max).map_err(|error| format!("the client's socket broke: {error}"))?;
        while let Some(event) = self.client.poll_event() {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Message { channel, payload, age, .. } => {
                    self.arrived.push_back(Update { entity: channel, payload, age });
                }
                Event::Closed { close, .. } => self.ended = Some(ended(&close)),
                _ => {}
            }
        }
        Ok(())
    }

    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn send(&mut self, update: Update) -> bool {
        self.client.send(update.entity, update.payload).is_ok()
    }

    fn poll_message(&mut self) -> Option<Update> {
        self.arrived.pop_front()
    }

    fn address(&self) -> String {
        String::new()
    }

    fn telemetry(&mut self) -> Telemetry {
        self.client.overview().map_or_else(Telemetry::default, |overview| telemetry(&overview.stats))
    }
}
