//! A relay of UDP: one socket for all clients, one more towards the server for each of them, so that the server tells
//! them apart. Replies come from the address to which a client sent, also if the relay listens on several.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use mio::net::UdpSocket;
use mio::{Interest, Registry, Token};
use skipstone::net::udp::{self, AddressPair, ReceiveBatch, SendBatch, UdpOptions};

use super::capture::End;
use super::live_path::{Direction, LivePath};
use super::snapshot::SessionCounts;
use super::taps::Taps;
use crate::flow_recording::{FlowEvent, FlowId, FlowProtocol};

/// The relay's sockets.
pub(crate) struct UdpRelay {
    registry: Registry,
    listener: udp::UdpSocket,
    local: SocketAddr,
    server: SocketAddr,
    by_address: HashMap<AddressPair, u64>,
    sessions: HashMap<u64, Session>,
    opened: u64,
    /// Sockets that may have something to read: the listener has number 0.
    ready: Vec<u64>,
    swept: Instant,
    refused: u64,
    taps: Taps,
    buffer: Vec<u8>,
    /// Always present, except while its datagrams are processed.
    incoming: Option<ReceiveBatch>,
    outgoing: SendBatch,
}

/// A client, by its number.
struct Session {
    client: AddressPair,
    socket: UdpSocket,
    /// Its address as the server sees it.
    local: SocketAddr,
    heard: Instant,
}

/// The maximum number of clients, unless the system allows fewer open files.
const SESSIONS_MAX: usize = 10_000;
const IDLE_MAX: Duration = Duration::from_secs(300);
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// The number of datagrams that are read from a socket before other sockets and deliveries get their turn.
const BATCH: usize = 16;
const DATAGRAM_MAX: usize = 65_535;
const SOCKET_BYTES: usize = 4 << 20;
/// The listener's number.
const LISTENER: u64 = 0;

impl UdpRelay {
    pub(crate) fn open(
        listen: SocketAddr,
        server: SocketAddr,
        registry: &Registry,
        taps: Taps,
    ) -> Result<UdpRelay, String> {
        let text = |error: io::Error| format!("cannot listen on {listen} over UDP: {error}");
        // Each datagram is its own system call: the model decides when it leaves.
        let options = UdpOptions { gro: false, gso: false, never_fragment: false, ..UdpOptions::server() };
        let mut listener = udp::UdpSocket::bind(listen, &options).map_err(text)?;
        listener.register(registry, Token(LISTENER as usize)).map_err(text)?;
        Ok(UdpRelay {
            registry: registry.try_clone().map_err(text)?,
            local: listener.local_addr().map_err(text)?,
            listener,
            server,
            by_address: HashMap::new(),
            sessions: HashMap::new(),
            opened: 0,
            ready: Vec::new(),
            swept: Instant::now(),
            refused: 0,
            taps,
            buffer: vec![0; DATAGRAM_MAX],
            incoming: Some(ReceiveBatch::with_buffers(BATCH)),
            outgoing: SendBatch::with_capacity(BATCH, BATCH * DATAGRAM_MAX),
        })
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }

    /// A token below the streams' is a number.
    pub(crate) fn on_ready(&mut self, number: u64) {
        if !self.ready.contains(&number) {
            self.ready.push(number);
        }
    }

    /// True if there may be more.
    pub(crate) fn receive(&mut self, path: &mut LivePath) -> bool {
        let mut still = Vec::new();
        for number in std::mem::take(&mut self.ready) {
            let has_more =
                if number == LISTENER { self.receive_clients(path) } else { self.receive_server(number, path) };
            if has_more {
                still.push(number);
            }
        }
        self.ready.append(&mut still);
        self.sweep();
        !self.ready.is_empty()
    }

    fn receive_clients(&mut self, path: &mut LivePath) -> bool {
        let Some(mut incoming) = self.incoming.take() else { return false };
        // Only zero datagrams mean that the socket is drained; after an error it is read again.
        let has_more = !matches!(self.listener.receive_batch(&mut incoming), Ok(0));
        for datagram in incoming.datagrams() {
            let client = datagram.addresses();
            let Some(number) = self.session(client) else {
                self.refused += 1;
                continue;
            };
            let local = self.address_towards(client);
            if let Some(capture) = &mut self.taps.capture {
                capture.udp(End::A, client.remote, local, datagram.bytes);
            }
            self.record(number, FlowEvent::Up, datagram.bytes);
            path.send(Direction::Up, datagram.bytes, number);
        }
        self.incoming = Some(incoming);
        has_more
    }

    fn record(&self, number: u64, event: FlowEvent, bytes: &[u8]) {
        if let Some(recorder) = &self.taps.recorder {
            recorder.record(FlowId { number: number as u32, protocol: FlowProtocol::Udp }, event, bytes);
        }
    }

    /// The relay's address as this client knows it.
    fn address_towards(&self, client: AddressPair) -> SocketAddr {
        client.local.map_or(self.local, |ip| SocketAddr::new(ip, self.local.port()))
    }

    fn receive_server(&mut self, number: u64, path: &mut LivePath) -> bool {
        let Some(session) = self.sessions.get_mut(&number) else { return false };
        for _ in 0..BATCH {
            let bytes = match session.socket.recv(&mut self.buffer) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                // The server's port is closed.
                Err(_) => continue,
            };
            session.heard = Instant::now();
            if let Some(capture) = &mut self.taps.capture {
                capture.udp(End::B, self.server, session.local, &self.buffer[..bytes]);
            }
            path.send(Direction::Down, &self.buffer[..bytes], number);
        }
        true
    }

    /// The session of a client, which begins with its first datagram. `None` if there is no room for another.
    fn session(&mut self, client: AddressPair) -> Option<u64> {
        let now = Instant::now();
        if let Some(number) = self.by_address.get(&client) {
            self.sessions.get_mut(number)?.heard = now;
            return Some(*number);
        }
        if self.sessions.len() >= SESSIONS_MAX {
            return None;
        }
        let number = self.opened + 1;
        let (socket, local) = self.connect(number).ok()?;
        self.opened = number;
        self.by_address.insert(client, number);
        self.sessions.insert(number, Session { client, socket, local, heard: now });
        Some(number)
    }

    fn connect(&self, number: u64) -> io::Result<(UdpSocket, SocketAddr)> {
        let any: SocketAddr = match self.server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let mut socket = UdpSocket::bind(any)?;
        socket.connect(self.server)?;
        enlarge(&socket);
        self.registry.register(&mut socket, Token(number as usize), Interest::READABLE)?;
        let local = socket.local_addr()?;
        Ok((socket, local))
    }

    pub(crate) fn transmit(&mut self, path: &mut LivePath) {
        while let Some(arrived) = path.receive(Direction::Up) {
            let Some(session) = self.sessions.get(&arrived.tag) else {
                self.refused += 1;
                continue;
            };
            if let Some(capture) = &mut self.taps.capture {
                capture.udp(End::B, session.local, self.server, arrived.bytes);
            }
            self.refused += u64::from(session.socket.send(arrived.bytes).is_err());
        }
        while let Some(arrived) = path.receive(Direction::Down) {
            let Some(session) = self.sessions.get(&arrived.tag) else {
                self.refused += 1;
                continue;
            };
            let client = session.client;
            let local = self.address_towards(client);
            if let Some(capture) = &mut self.taps.capture {
                capture.udp(End::A, local, client.remote, arrived.bytes);
            }
            self.record(arrived.tag, FlowEvent::Down, arrived.bytes);
            if self.outgoing.is_full() || self.outgoing.space(arrived.bytes.len()).is_none() {
                self.flush();
            }
            self.refused += u64::from(!self.outgoing.push(arrived.bytes, client, None));
        }
        self.flush();
    }

    /// Sends what is due to clients. A datagram that the kernel does not accept is lost, as on a full link.
    fn flush(&mut self) {
        let outcome = self.listener.send_batch(&mut self.outgoing);
        self.refused += outcome.errors.total() + self.outgoing.len() as u64;
        self.outgoing.clear();
    }

    /// Forgets clients that have been silent for long.
    fn sweep(&mut self) {
        if self.swept.elapsed() < SWEEP_EVERY {
            return;
        }
        self.swept = Instant::now();
        let registry = &self.registry;
        let by_address = &mut self.by_address;
        self.sessions.retain(|_, session| {
            let stays = session.heard.elapsed() < IDLE_MAX;
            if !stays {
                by_address.remove(&session.client);
                let _ = registry.deregister(&mut session.socket);
            }
            stays
        });
    }

    pub(crate) fn counts(&self) -> SessionCounts {
        SessionCounts { opened: self.opened, open: self.sessions.len() as u64 }
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }
}

/// As far as the system allows: a burst must not be lost before the link has seen it.
fn enlarge(socket: &UdpSocket) {
    #[cfg(unix)]
    {
        let socket = socket2::SockRef::from(socket);
        let _ = socket.set_recv_buffer_size(SOCKET_BYTES);
        let _ = socket.set_send_buffer_size(SOCKET_BYTES);
    }
    #[cfg(not(unix))]
    let _ = (socket, SOCKET_BYTES);
}
