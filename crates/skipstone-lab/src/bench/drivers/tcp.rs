//! TCP, one write per client and tick: what a game server without a library would do, and hard to beat for cost.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use mio::net::TcpStream;

use super::driver::{BenchClients, BenchServer, ClientEvent, Inbox, OnEvent, ServerSetup};
use super::watch::{self, Door, StreamServer, Watch};
use crate::framing::{Unframe, frame};
use crate::socket_error::text;

/// The server.
pub(super) struct TcpServer {
    door: Door,
    clients: Vec<Option<TcpClient>>,
    /// The lines that are broadcast at the end of this tick.
    tick: Vec<u8>,
    /// Clients that have their own answer waiting, or that accepted only a part of the last write.
    behind: Vec<u32>,
    buffer: Vec<u8>,
}

struct TcpClient {
    stream: TcpStream,
    unframe: Unframe,
    waiting: Vec<u8>,
    is_behind: bool,
}

const READ_BYTES: usize = 64 << 10;
/// A client that leaves more bytes unread is dropped.
const WAITING_MAX: usize = 16 << 20;

impl TcpServer {
    pub(super) fn start(setup: ServerSetup<'_>) -> Result<Self, String> {
        Ok(Self {
            door: Door::open(setup.listen)?,
            clients: Vec::new(),
            tick: Vec::new(),
            behind: Vec::new(),
            buffer: vec![0; READ_BYTES],
        })
    }
}

impl StreamServer for TcpServer {
    fn door(&mut self) -> &mut Door {
        &mut self.door
    }

    fn add(&mut self, stream: TcpStream) {
        let client = TcpClient { stream, unframe: Unframe::default(), waiting: Vec::new(), is_behind: false };
        self.clients.push(Some(client));
    }

    fn read(&mut self, number: usize, inbox: &mut Inbox) {
        let Some(client) = self.clients[number].as_mut() else { return };
        let is_open = read_all(&mut client.stream, &mut self.buffer, |bytes| {
            client.unframe.add(bytes, |line| inbox.0.push((number as u32, Bytes::copy_from_slice(line))));
        });
        if !is_open {
            self.clients[number] = None;
        }
    }
}

impl BenchServer for TcpServer {
    fn url(&self) -> String {
        self.door.address().to_string()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        watch::receive(self, inbox)
    }

    fn broadcast(&mut self, line: &Bytes) {
        frame(line, &mut self.tick);
    }

    fn answer(&mut self, client: u32, line: Bytes) {
        let Some(to) = self.clients[client as usize].as_mut() else { return };
        frame(&line, &mut to.waiting);
        if !std::mem::replace(&mut to.is_behind, true) {
            self.behind.push(client);
        }
    }

    fn flush(&mut self) -> Result<(), String> {
        if self.tick.is_empty() {
            for number in std::mem::take(&mut self.behind) {
                self.write(number, false);
            }
        } else {
            self.behind.clear();
            (0..self.clients.len() as u32).for_each(|number| self.write(number, true));
            self.tick.clear();
        }
        Ok(())
    }

    fn clients(&self) -> usize {
        self.clients.iter().flatten().count()
    }
}

impl TcpServer {
    /// One write: the client's own queue, or the shared lines of the tick.
    fn write(&mut self, number: u32, with_tick: bool) {
        let Some(client) = self.clients[number as usize].as_mut() else { return };
        client.is_behind = false;
        if with_tick && client.waiting.is_empty() {
            let written = write_some(&mut client.stream, &self.tick);
            client.waiting.extend_from_slice(&self.tick[written..]);
        } else {
            if with_tick {
                client.waiting.extend_from_slice(&self.tick);
            }
            let written = write_some(&mut client.stream, &client.waiting);
            client.waiting.drain(..written);
        }
        if client.waiting.len() > WAITING_MAX {
            self.clients[number as usize] = None;
        } else if !client.waiting.is_empty() {
            client.is_behind = true;
            self.behind.push(number);
        }
    }
}

/// The number of bytes written; an error is detected at the next read.
fn write_some(stream: &mut TcpStream, bytes: &[u8]) -> usize {
    let mut written = 0;
    while written < bytes.len() {
        match stream.write(&bytes[written..]) {
            Ok(some) => written += some,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    written
}

/// Reads until nothing is left; false if the stream ended.
fn read_all(stream: &mut impl Read, buffer: &mut [u8], mut take: impl FnMut(&[u8])) -> bool {
    loop {
        match stream.read(buffer) {
            Ok(0) => return false,
            Ok(count) => {
                take(&buffer[..count]);
                // A stream that returned less than requested is empty, and its readiness is reported again.
                if count < buffer.len() {
                    return true;
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

/// The clients.
pub(super) struct TcpClients {
    watch: Watch,
    server: SocketAddr,
    clients: Vec<Option<(TcpStream, Unframe)>>,
    fresh: Vec<u32>,
    buffer: Vec<u8>,
    line: Vec<u8>,
}

impl TcpClients {
    pub(super) fn new(server: SocketAddr) -> Result<Self, String> {
        Ok(Self {
            watch: Watch::new()?,
            server,
            clients: Vec::new(),
            fresh: Vec::new(),
            buffer: vec![0; READ_BYTES],
            line: Vec::new(),
        })
    }
}

impl BenchClients for TcpClients {
    fn connect(&mut self) -> Result<(), String> {
        let stream = self.watch.tcp_client(self.server, self.clients.len()).map_err(text("connect a client"))?;
        self.fresh.push(self.clients.len() as u32);
        self.clients.push(Some((stream, Unframe::default())));
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        let Some((stream, _)) = self.clients[client as usize].as_mut() else { return false };
        self.line.clear();
        frame(line, &mut self.line);
        // A line or two a second: the kernel's buffer holds hundreds.
        write_some(stream, &self.line) == self.line.len()
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        self.fresh.drain(..).for_each(|client| on_event(ClientEvent::Connected(client)));
        self.watch.wait(wait_max)?;
        for number in self.watch.ready() {
            let client = number as u32;
            let Some((stream, unframe)) = self.clients[number].as_mut() else { continue };
            let is_open = read_all(stream, &mut self.buffer, |bytes| {
                unframe.add(bytes, |line| on_event(ClientEvent::Line { client, line, at_ns: None }));
            });
            if !is_open {
                self.clients[number] = None;
                on_event(ClientEvent::Gone { client, reason: "the stream ended".into() });
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        for (stream, _) in self.clients.iter().flatten() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}
