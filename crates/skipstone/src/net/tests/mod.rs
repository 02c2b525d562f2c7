//! What the I/O shell promises, one file per claim; over loopback, with ports that the system chooses.

mod udp_backends_behave_alike;
mod udp_batch_survives_partial_sends;
mod udp_one_bad_destination_never_stops_the_rest;
mod udp_segments_arrive_as_separate_datagrams;
mod udp_serves_both_families_on_one_socket;
mod wait_is_precise_below_a_millisecond;
mod websocket_answers_strangers_and_hangs_up;
mod websocket_bounds_a_reader_that_stops;
mod websocket_closes_with_a_reason;
mod websocket_echoes_both_ways;
mod websocket_survives_garbage;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token};

use super::udp::{Backend, ReceiveBatch, SendBatch, UdpOptions, UdpSocket};
use super::wait::wait;
use super::websocket::{WsAccept, WsConnection, WsListener, WsOptions, WsReceive};

fn loopback_v4() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn loopback_v6() -> SocketAddr {
    (Ipv6Addr::LOCALHOST, 0).into()
}

fn udp(address: SocketAddr, backend: Backend) -> UdpSocket {
    UdpSocket::bind(address, &UdpOptions { backend, ..UdpOptions::client() }).expect("loopback can be bound")
}

/// Receives until `count` datagrams came, or none for a second: what came, with the senders.
fn receive_datagrams(socket: &mut UdpSocket, count: usize) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut poll = Poll::new().unwrap();
    let mut events = Events::with_capacity(8);
    socket.register(poll.registry(), Token(0)).unwrap();
    let mut batch = ReceiveBatch::new();
    let mut received = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(1);
    while received.len() < count && Instant::now() < deadline {
        wait(&mut poll, &mut events, Some(Duration::from_millis(20))).unwrap();
        while socket.receive_batch(&mut batch).unwrap() > 0 {
            received.extend(batch.datagrams().map(|datagram| (datagram.from, datagram.bytes.to_vec())));
        }
    }
    socket.deregister(poll.registry()).unwrap();
    received
}

fn bytes_of(received: &[(SocketAddr, Vec<u8>)]) -> Vec<Vec<u8>> {
    received.iter().map(|(_, bytes)| bytes.clone()).collect()
}

/// splitmix64: every test's randomness comes from a seed in its text.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// A WebSocket server of one connection at a time, stepped by the test.
struct Server {
    poll: Poll,
    listener: WsListener,
    address: SocketAddr,
    connection: Option<WsConnection>,
    /// It had more to read than its share.
    has_more: bool,
    received: Vec<Vec<u8>>,
}

impl Server {
    fn new(address: SocketAddr) -> Server {
        let poll = Poll::new().unwrap();
        let mut listener = WsListener::bind(address, WsOptions::default()).unwrap();
        listener.register(poll.registry(), Token(0)).unwrap();
        let address = listener.local_addr().unwrap();
        Server { poll, listener, address, connection: None, has_more: false, received: Vec::new() }
    }

    fn connection(&mut self) -> &mut WsConnection {
        self.connection.as_mut().expect("a client has connected")
    }

    /// One turn, as a driver has it: what is ready, with a millisecond of waiting, and all messages of it.
    fn step(&mut self) {
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
    fn run_until(&mut self, claim: &str, mut done: impl FnMut(&mut Server) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(5);
        while !done(self) {
            assert!(Instant::now() < deadline, "not within five seconds: {claim}");
            self.step();
        }
    }
}

/// A client that speaks raw TCP.
struct RawClient {
    tcp: std::net::TcpStream,
    received: Vec<u8>,
    is_ended: bool,
}

impl RawClient {
    fn new(address: SocketAddr) -> RawClient {
        let tcp = std::net::TcpStream::connect(address).unwrap();
        tcp.set_nonblocking(true).unwrap();
        RawClient { tcp, received: Vec::new(), is_ended: false }
    }

    fn send(&mut self, bytes: &[u8]) {
        // The server may have hung up already, which is what some tests are about.
        let _ = self.tcp.write_all(bytes);
    }

    fn read(&mut self) {
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

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.received).into_owned()
    }

    /// A client whose handshake is through.
    fn upgraded(server: &mut Server) -> RawClient {
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
const REQUEST: &str = "GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://example.com\r\n\
    Sec-WebSocket-Protocol: chat, skipstone.1\r\nSec-WebSocket-Version: 13\r\n\r\n";

/// A masked frame as a client sends it.
fn client_frame(first_byte: u8, payload: &[u8]) -> Vec<u8> {
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

fn send_all(socket: &mut UdpSocket, batch: &mut SendBatch) -> super::udp::SendOutcome {
    let outcome = socket.send_batch(batch);
    assert!(!outcome.would_block, "loopback takes a few datagrams");
    assert!(batch.is_empty());
    outcome
}
