//! WebSocket by tungstenite: a message for each line, one write per client and tick.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use mio::net::TcpStream;
use tungstenite::client::client_with_config;
use tungstenite::handshake::client::ClientHandshake;
use tungstenite::handshake::server::{NoCallback, ServerHandshake};
use tungstenite::handshake::{HandshakeError, HandshakeRole, MidHandshake};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

use super::driver::{BenchClients, BenchServer, ClientEvent, Inbox, OnEvent, ServerSetup};
use super::watch::{self, Door, StreamServer, Watch};
use crate::socket_error::text;

/// As tungstenite advises for many connections; a tick's lines fit.
fn config() -> WebSocketConfig {
    WebSocketConfig::default().read_buffer_size(4 << 10)
}

/// Reads every message that has arrived; false if the connection has ended.
fn read_all(socket: &mut WebSocket<TcpStream>, mut take: impl FnMut(Bytes)) -> bool {
    loop {
        match socket.read() {
            Ok(Message::Binary(line)) => take(line),
            Ok(Message::Close(_)) => return false,
            Ok(_) => {}
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return true,
            Err(_) => return false,
        }
    }
}

/// One end of a connection, in the role that it has in the handshake.
#[expect(clippy::large_enum_variant, reason = "a handshake under way is as large")]
enum Side<R: HandshakeRole> {
    Shaking(MidHandshake<R>),
    Open(WebSocket<TcpStream>),
    Gone,
}

impl<R: HandshakeRole> Side<R> {
    /// Handles the result of a handshake's step, which holds the socket.
    fn after(
        step: Result<R::FinalResult, HandshakeError<R>>,
        socket: fn(R::FinalResult) -> WebSocket<TcpStream>,
    ) -> Result<Self, Error> {
        match step {
            Ok(done) => Ok(Side::Open(socket(done))),
            Err(HandshakeError::Interrupted(half)) => Ok(Side::Shaking(half)),
            Err(HandshakeError::Failure(error)) => Err(error),
        }
    }

    /// The handshake that is under way, taken out.
    fn half(&mut self) -> Option<MidHandshake<R>> {
        match std::mem::replace(self, Side::Gone) {
            Side::Shaking(half) => Some(half),
            other => {
                *self = other;
                None
            }
        }
    }

    fn open(&mut self) -> Option<&mut WebSocket<TcpStream>> {
        if let Side::Open(socket) = self { Some(socket) } else { None }
    }
}

type ServerRole = ServerHandshake<TcpStream, NoCallback>;
type ServerSide = Side<ServerRole>;
type ClientSide = Side<ClientHandshake<TcpStream>>;

/// The server.
pub(super) struct WebSocketServer {
    door: Door,
    clients: Vec<ServerSide>,
    tick: Vec<Bytes>,
    answered: Vec<u32>,
}

impl WebSocketServer {
    pub(super) fn start(setup: ServerSetup<'_>) -> Result<Self, String> {
        Ok(Self { door: Door::open(setup.listen)?, clients: Vec::new(), tick: Vec::new(), answered: Vec::new() })
    }

    fn shake(&mut self, number: usize, step: Result<WebSocket<TcpStream>, HandshakeError<ServerRole>>) {
        self.clients[number] = ServerSide::after(step, |socket| socket).unwrap_or(Side::Gone);
    }
}

impl StreamServer for WebSocketServer {
    fn door(&mut self) -> &mut Door {
        &mut self.door
    }

    fn add(&mut self, stream: TcpStream) {
        let begun = tungstenite::accept_with_config(stream, Some(config()));
        self.clients.push(Side::Gone);
        self.shake(self.clients.len() - 1, begun);
    }

    fn read(&mut self, number: usize, inbox: &mut Inbox) {
        if let Some(half) = self.clients[number].half() {
            self.shake(number, half.handshake());
        }
        let Some(socket) = self.clients[number].open() else { return };
        if !read_all(socket, |line| inbox.0.push((number as u32, line))) {
            let _ = socket.flush();
            self.clients[number] = Side::Gone;
        }
    }
}

impl BenchServer for WebSocketServer {
    fn url(&self) -> String {
        self.door.address().to_string()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        watch::receive(self, inbox)
    }

    fn broadcast(&mut self, line: &Bytes) {
        self.tick.push(line.clone());
    }

    fn answer(&mut self, client: u32, line: Bytes) {
        if let Some(socket) = self.clients[client as usize].open() {
            let _ = socket.write(Message::Binary(line));
            self.answered.push(client);
        }
    }

    fn flush(&mut self) -> Result<(), String> {
        for client in self.answered.drain(..) {
            let _ = self.clients[client as usize].open().map(WebSocket::flush);
        }
        if self.tick.is_empty() {
            return Ok(());
        }
        for socket in self.clients.iter_mut().filter_map(Side::open) {
            for line in &self.tick {
                // Bytes that the kernel does not accept now stay in the buffer and leave with the next tick.
                let _ = socket.write(Message::Binary(line.clone()));
            }
            let _ = socket.flush();
        }
        self.tick.clear();
        Ok(())
    }

    fn clients(&self) -> usize {
        self.clients.iter().filter(|side| matches!(side, Side::Open(_))).count()
    }
}

/// The clients.
pub(super) struct WebSocketClients {
    watch: Watch,
    server: SocketAddr,
    clients: Vec<ClientSide>,
    /// Connections whose handshake was complete before they were checked.
    fresh: Vec<u32>,
}

impl WebSocketClients {
    pub(super) fn new(server: SocketAddr) -> Result<Self, String> {
        Ok(Self { watch: Watch::new()?, server, clients: Vec::new(), fresh: Vec::new() })
    }
}

impl BenchClients for WebSocketClients {
    fn connect(&mut self) -> Result<(), String> {
        let stream = self.watch.tcp_client(self.server, self.clients.len()).map_err(text("connect a client"))?;
        let begun = client_with_config(format!("ws://{}/", self.server), stream, Some(config()));
        let mut side = ClientSide::after(begun, |(socket, _)| socket)
            .map_err(|error| format!("cannot connect a client: {error}"))?;
        self.fresh.extend(side.open().map(|_| self.clients.len() as u32));
        self.clients.push(side);
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        let line = Message::Binary(Bytes::copy_from_slice(line));
        self.clients[client as usize].open().is_some_and(|socket| socket.send(line).is_ok())
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        self.fresh.drain(..).for_each(|client| on_event(ClientEvent::Connected(client)));
        self.watch.wait(wait_max)?;
        for number in self.watch.ready() {
            let (side, client) = (&mut self.clients[number], number as u32);
            if let Some(half) = side.half() {
                match ClientSide::after(half.handshake(), |(socket, _)| socket) {
                    Ok(next) => *side = next,
                    Err(error) => on_event(ClientEvent::Gone { client, reason: error.to_string() }),
                }
                if side.open().is_some() {
                    on_event(ClientEvent::Connected(client));
                }
            }
            let Some(socket) = side.open() else { continue };
            if !read_all(socket, |line| on_event(ClientEvent::Line { client, line: &line, at_ns: None })) {
                *side = Side::Gone;
                on_event(ClientEvent::Gone { client, reason: "the stream ended".into() });
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        for socket in self.clients.iter_mut().filter_map(Side::open) {
            let _ = socket.close(None);
            let _ = socket.flush();
        }
    }
}
