//! The parsers of unauthenticated bytes on the TCP port, for the fuzz targets.

use super::frames::{RawItem, RawReader};
use super::proxy_protocol::ProxyHeader;
use super::{StreamKind, StreamRules, WsCloseReason, WsConnection, WsOptions, WsReceive};
use bytes::Bytes;
use skipstone_proto::Cost;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

/// The result of parsing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Understood {
    /// The bytes are something else.
    Not,
    /// More are needed.
    Incomplete,
    /// The bytes are invalid.
    Malformed,
    /// This number of leading bytes is complete.
    Whole(usize),
}

/// The bytes in front of a proxied connection.
pub fn proxy_header(bytes: &[u8]) -> Understood {
    match ProxyHeader::read(bytes) {
        ProxyHeader::Absent => Understood::Not,
        ProxyHeader::Incomplete => Understood::Incomplete,
        ProxyHeader::Malformed => Understood::Malformed,
        ProxyHeader::Complete(bytes, _) => Understood::Whole(bytes),
    }
}

/// The messages at the beginning of a stream without WebSocket, and how the rest was understood.
pub fn stream_messages(bytes: &[u8]) -> (Vec<Bytes>, Understood) {
    let mut reader = RawReader::new(bytes.to_vec());
    let mut messages = Vec::new();
    loop {
        match reader.next() {
            RawItem::Message(message) => messages.push(message),
            RawItem::Incomplete => return (messages, Understood::Incomplete),
            RawItem::Broken => return (messages, Understood::Malformed),
        }
    }
}

/// The result of a stream's bytes at a server's port.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened {
    /// The kind of stream that carries messages; `None` if none can come.
    pub kind: Option<StreamKind>,
    /// Why the stream ended, before the client's end was reported.
    pub reason: Option<WsCloseReason>,
    /// The address of the stream's client, possibly as given by a proxy.
    pub peer: SocketAddr,
    /// The received messages.
    pub messages: Vec<Bytes>,
}

/// A client's stream at a server's port: all of it but the kernel's TCP.
pub struct StrangersStream {
    server: WsConnection,
    client: Duplex,
    /// The server's answers so far.
    pub answer: Vec<u8>,
    messages: Vec<Bytes>,
}

/// The two ends of a stream are of one kind on every system.
#[cfg(unix)]
type Duplex = std::os::unix::net::UnixStream;
#[cfg(not(unix))]
type Duplex = std::net::TcpStream;

impl StrangersStream {
    /// A client at this address has connected to a port with these rules.
    ///
    /// # Errors
    /// The system has no pair of sockets.
    pub fn open(rules: &Arc<StreamRules>, peer: SocketAddr) -> io::Result<Self> {
        let (client, server) = pair()?;
        client.set_nonblocking(true)?;
        server.set_nonblocking(true)?;
        let server = mio::net::TcpStream::from_std(server);
        let server = WsConnection::accepted(server, peer, WsOptions::default(), rules);
        Ok(StrangersStream { server, client, answer: Vec::new(), messages: Vec::new() })
    }

    /// Gives the server these bytes; its work on them costs at most `turn` per turn. Returns how many were taken: a
    /// server that has ended the stream takes none.
    pub fn write(&mut self, bytes: &[u8], turn: Cost) -> usize {
        let mut taken = 0;
        while taken < bytes.len() && !self.server.is_closed() {
            match self.client.write(&bytes[taken..]) {
                Ok(count) => taken += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
            self.run(turn);
        }
        taken
    }

    /// Gives the server its turns, until it has read everything.
    fn run(&mut self, turn: Cost) {
        loop {
            let before = self.server.cost();
            self.server.on_ready_if(true, turn, &mut |_, _| true);
            let outcome = loop {
                match self.server.receive() {
                    WsReceive::Message(message) => self.messages.push(message),
                    outcome => break outcome,
                }
            };
            let cost = self.server.cost() - before;
            assert!((turn + OVERDRAFT - cost).is_left(), "a turn of {turn} cost {cost}");
            self.read_answer();
            if outcome != WsReceive::More {
                return;
            }
        }
    }

    fn read_answer(&mut self) {
        let mut buffer = [0; 4_096];
        while let Ok(count @ 1..) = self.client.read(&mut buffer) {
            self.answer.extend_from_slice(&buffer[..count]);
        }
    }

    /// The client closes its direction, then the stream. Returns whether the server's end is over.
    pub fn end(&mut self, turn: Cost) -> bool {
        let _ = self.client.shutdown(std::net::Shutdown::Both);
        self.run(turn);
        self.server.is_closed()
    }

    /// The outcome of the stream.
    pub fn outcome(&mut self) -> Opened {
        Opened {
            kind: self.server.kind(),
            reason: self.server.close_reason(),
            peer: self.server.peer_addr(),
            messages: core::mem::take(&mut self.messages),
        }
    }
}

/// The cost of one read beyond the turn, and of one message.
const OVERDRAFT: Cost = Cost::micros(1_000);

#[cfg(unix)]
fn pair() -> io::Result<(Duplex, std::net::TcpStream)> {
    let (client, server) = Duplex::pair()?;
    Ok((client, std::os::fd::OwnedFd::from(server).into()))
}

#[cfg(not(unix))]
fn pair() -> io::Result<(Duplex, std::net::TcpStream)> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let client = Duplex::connect(listener.local_addr()?)?;
    Ok((client, listener.accept()?.0))
}
