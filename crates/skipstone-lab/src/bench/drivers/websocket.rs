//! WebSocket by tungstenite: a message for each line, one write per client and tick.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use mio::net::TcpStream;
use tungstenite::client::client_with_config;
use tungstenite::handshake::client::ClientHandshake;
use tungstenite::handshake::server::{NoCallback, ServerHandshake};
use tungstenite::handshake::{HandshakeError, MidHandshake};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

use super::driver::{BenchClients, BenchServer, ClientEvent, Inbox, ServerSetup};
use super::error::text;
use super::watch::{Door, Watch};

/// As tungstenite advises for many connections; a tick's lines fit.
fn config() -> WebSocketConfig {
    WebSocketConfig::default().read_buffer_size(4 << 10)
}

/// Every message that has come; false if the connection is over.
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

/// The server.
pub(super) struct WebSocketServer {
    door: Door,
    clients: Vec<ServerSide>,
    count: usize,
    tick: Vec<Bytes>,
    answered: Vec<u32>,
}

enum ServerSide {
    Shaking(MidHandshake<ServerHandshake<TcpStream, NoCallback>>),
    Open(WebSocket<TcpStream>),
    Gone,
}

impl WebSocketServer {
    pub(super) fn start(setup: ServerSetup<'_>) -> Result<Self, String> {
        Ok(WebSocketServer {
            door: Door::open(setup.listen)?,
            clients: Vec::new(),
            count: 0,
            tick: Vec::new(),
            answered: Vec::new(),
        })
    }

    fn accept(&mut self) -> Result<(), String> {
        while let Some(stream) = self.door.accept(self.clients.len())? {
            let begun = tungstenite::accept_with_config(stream, Some(config()));
            self.clients.push(ServerSide::Gone);
            self.shake(self.clients.len() - 1, begun);
        }
        Ok(())
    }

    fn shake(
        &mut self,
        number: usize,
        result: Result<WebSocket<TcpStream>, HandshakeError<ServerHandshake<TcpStream, NoCallback>>>,
    ) {
        self.clients[number] = match result {
            Ok(socket) => {
                self.count += 1;
                ServerSide::Open(socket)
            }
            Err(HandshakeError::Interrupted(half)) => ServerSide::Shaking(half),
            Err(HandshakeError::Failure(_)) => ServerSide::Gone,
        };
    }

    fn read(&mut self, number: usize, inbox: &mut Inbox) {
        if let ServerSide::Shaking(_) = self.clients[number]
            && let ServerSide::Shaking(half) = std::mem::replace(&mut self.clients[number], ServerSide::Gone)
        {
            self.shake(number, half.handshake());
        }
        let ServerSide::Open(socket) = &mut self.clients[number] else { return };
        if !read_all(socket, |line| inbox.0.push((number as u32, line))) {
            let _ = socket.flush();
            self.clients[number] = ServerSide::Gone;
            self.count -= 1;
        }
    }
}

impl BenchServer for WebSocketServer {
    fn url(&self) -> String {
        self.door.address().to_string()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        loop {
            let ready = self.door.look()?;
            if ready.at_door {
                self.accept()?;
            }
            ready.streams.into_iter().for_each(|number| self.read(number, inbox));
            if !ready.is_full {
                return Ok(());
            }
        }
    }

    fn broadcast(&mut self, line: &Bytes) {
        self.tick.push(line.clone());
    }

    fn answer(&mut self, client: u32, line: Bytes) {
        if let ServerSide::Open(socket) = &mut self.clients[client as usize] {
            let _ = socket.write(Message::Binary(line));
            self.answered.push(client);
        }
    }

    fn flush(&mut self) -> Result<(), String> {
        for client in self.answered.drain(..) {
            if let ServerSide::Open(socket) = &mut self.clients[client as usize] {
                let _ = socket.flush();
            }
        }
        if self.tick.is_empty() {
            return Ok(());
        }
        for client in &mut self.clients {
            let ServerSide::Open(socket) = client else { continue };
            for line in &self.tick {
                // What the kernel does not take now stays in the buffer and leaves with the next tick.
                let _ = socket.write(Message::Binary(line.clone()));
            }
            let _ = socket.flush();
        }
        self.tick.clear();
        Ok(())
    }

    fn clients(&self) -> usize {
        self.count
    }
}

/// The clients.
pub(super) struct WebSocketClients {
    watch: Watch,
    server: SocketAddr,
    clients: Vec<ClientSide>,
    /// Those whose handshake was done before they were looked at.
    fresh: Vec<u32>,
}

enum ClientSide {
    Shaking(MidHandshake<ClientHandshake<TcpStream>>),
    Open(WebSocket<TcpStream>),
    Gone,
}

impl WebSocketClients {
    pub(super) fn new(server: SocketAddr) -> Result<Self, String> {
        Ok(WebSocketClients { watch: Watch::new()?, server, clients: Vec::new(), fresh: Vec::new() })
    }
}

impl BenchClients for WebSocketClients {
    fn connect(&mut self) -> Result<(), String> {
        let stream = self.watch.tcp_client(self.server, self.clients.len()).map_err(text("connect a client"))?;
        let begun = client_with_config(format!("ws://{}/", self.server), stream, Some(config()));
        self.clients.push(match begun {
            Ok((socket, _)) => {
                self.fresh.push(self.clients.len() as u32);
                ClientSide::Open(socket)
            }
            Err(HandshakeError::Interrupted(half)) => ClientSide::Shaking(half),
            Err(HandshakeError::Failure(error)) => return Err(format!("cannot connect a client: {error}")),
        });
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        let ClientSide::Open(socket) = &mut self.clients[client as usize] else { return false };
        socket.send(Message::Binary(Bytes::copy_from_slice(line))).is_ok()
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut dyn FnMut(ClientEvent<'_>)) -> Result<(), String> {
        self.fresh.drain(..).for_each(|client| on_event(ClientEvent::Connected(client)));
        self.watch.wait(wait_max)?;
        for number in self.watch.ready() {
            let side = &mut self.clients[number];
            if matches!(side, ClientSide::Shaking(_)) {
                let ClientSide::Shaking(half) = std::mem::replace(side, ClientSide::Gone) else { continue };
                match half.handshake() {
                    Ok((socket, _)) => {
                        *side = ClientSide::Open(socket);
                        on_event(ClientEvent::Connected(number as u32));
                    }
                    Err(HandshakeError::Interrupted(half)) => *side = ClientSide::Shaking(half),
                    Err(HandshakeError::Failure(error)) => {
                        on_event(ClientEvent::Gone { client: number as u32, reason: error.to_string() });
                    }
                }
            }
            let client = number as u32;
            let ClientSide::Open(socket) = side else { continue };
            if !read_all(socket, |line| on_event(ClientEvent::Line { client, line: &line, at_ns: None })) {
                *side = ClientSide::Gone;
                on_event(ClientEvent::Gone { client, reason: "the stream ended".into() });
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        for client in &mut self.clients {
            if let ClientSide::Open(socket) = client {
                let _ = socket.close(None);
                let _ = socket.flush();
            }
        }
    }
}
