//! A server and a client for tests: one stepped by hand, one that uses raw TCP.

use super::wait;
pub(super) use crate::net::websocket::{WsAccept, WsConnection, WsListener, WsOptions, WsReceive};
use mio::{Events, Poll, Token};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A WebSocket server of one connection at a time, stepped by the test.
pub(super) struct Server {
    pub(super) poll: Poll,
    pub(super) listener: WsListener,
    pub(super) address: SocketAddr,
    pub(super) connection: Option<WsConnection>,
    /// The connection had more to read than one turn allows.
    pub(super) has_more: bool,
    pub(super) received: Vec<Vec<u8>>,
}

impl Server {
    pub(super) fn new(address: SocketAddr) -> Server {
        let poll = Poll::new().unwrap();
        let mut listener = WsListener::bind(address, WsOptions::default()).unwrap();
        listener.register(poll.registry(), Token(0)).unwrap();
        let address = listener.local_addr().unwrap();
        Server { poll, listener, address, connection: None, has_more: false, received: Vec::new() }
    }

    pub(super) fn connection(&mut self) -> &mut WsConnection {
        self.connection.as_mut().expect("a client has connected")
    }

    /// One turn, as a driver does it: handles ready sockets, after at most a millisecond of waiting, and all their
    /// messages.
    pub(super) fn step(&mut self) {
        let mut events = Events::with_capacity(16);
        wait(&mut self.poll, &mut events, Some(Duration::from_millis(1))).unwrap();
        let mut ready = self.has_more.then_some(true);
        for event in events.iter().filter(|event| event.token() == Token(1)) {
            let may_be_over = event.is_read_closed() || event.is_write_closed() || event.is_error();
            ready = Some(may_be_over || ready == Some(true));
        }
        let (poll, slot) = (&self.poll, &mut self.connection);
        let outcome = self.listener.accept_ready(|mut connection| {
            connection.register(poll.registry(), Token(1)).unwrap();
            *slot = Some(connection);
            ready = Some(true);
        });
        assert_eq!(outcome, WsAccept::Drained);
        let (Some(connection), Some(may_be_over)) = (&mut self.connection, ready) else {
            return;
        };
        connection.on_ready(may_be_over);
        self.has_more = loop {
            match connection.receive() {
                WsReceive::Message(bytes) => self.received.push(bytes.to_vec()),
                WsReceive::More => break true,
                WsReceive::Empty => break false,
            }
        };
    }

    /// Steps until `done`, for five seconds at most.
    pub(super) fn run_until(&mut self, claim: &str, mut done: impl FnMut(&mut Server) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(5);
        while !done(self) {
            assert!(Instant::now() < deadline, "not within five seconds: {claim}");
            self.step();
        }
    }
}

/// A client on raw TCP.
pub(super) struct RawClient {
    pub(super) tcp: std::net::TcpStream,
    pub(super) received: Vec<u8>,
    pub(super) is_ended: bool,
}

impl RawClient {
    pub(super) fn new(address: SocketAddr) -> RawClient {
        let tcp = std::net::TcpStream::connect(address).unwrap();
        tcp.set_nonblocking(true).unwrap();
        RawClient { tcp, received: Vec::new(), is_ended: false }
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        // The server may have hung up already, which some tests are about.
        let _ = self.tcp.write_all(bytes);
    }

    pub(super) fn read(&mut self) {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match self.tcp.read(&mut buffer) {
                Ok(0) => self.is_ended = true,
                Ok(count) => {
                    self.received.extend_from_slice(&buffer[..count]);
                    continue;
                }
                Err(error) => self.is_ended |= error.kind() != std::io::ErrorKind::WouldBlock,
            }
            return;
        }
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.received).into_owned()
    }

    /// A client whose handshake is through.
    pub(super) fn upgraded(server: &mut Server) -> RawClient {
        let mut client = RawClient::new(server.address);
        client.send(REQUEST.as_bytes());
        server.run_until("the handshake is answered", |_| {
            client.read();
            client.received.ends_with(b"\r\n\r\n")
        });
        client.received.clear();
        client
    }
}

/// The request of RFC 6455, section 1.3.
pub(super) const REQUEST: &str = "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: \
    Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://example.com\r\n\
    Sec-WebSocket-Protocol: chat, skipstone.1\r\nSec-WebSocket-Version: 13\r\n\r\n";

/// A masked frame as a client sends it.
pub(super) fn client_frame(first_byte: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first_byte];
    match payload.len() {
        len @ 0..126 => frame.push(0x80 | len as u8),
        len @ 126..65_536 => {
            frame.push(0x80 | 126);
            frame.extend((len as u16).to_be_bytes());
        }
        len => {
            frame.push(0x80 | 127);
            frame.extend((len as u64).to_be_bytes());
        }
    }
    let mask = [7, 11, 13, 17];
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    frame
}
