//! A protocol and its socket. The caller says when the socket is ready and when the deadline has come.

use crate::protocol::{Ending, Event, Protocol, STREAM_CHUNK, SocketCounts, SocketEnd};
use crate::protocols::row::{Carrier, Opening, ProtocolRow};
use crate::target::{BotTarget, TargetError};
use mio::net::{TcpStream, UdpSocket};
use mio::{Interest, Registry, Token};
use skipstone_proto::Time;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use thiserror::Error;

/// One client: a protocol and the socket below it.
pub struct BotSocket {
    protocol: Box<dyn Protocol>,
    /// Events that were taken from the protocol to learn of its end.
    events: VecDeque<Event>,
    wire: Wire,
    counts: SocketCounts,
    /// Until then a stream must be there, and its protocol's handshake be complete.
    connect_by: Time,
}

/// Why a client could not begin.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The target is wrong.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The system gave no socket.
    #[error("no socket: {0}")]
    Socket(#[from] io::Error),
}

/// The socket, and bytes of a stream that wait for it.
enum Wire {
    Datagrams(UdpSocket),
    Stream {
        stream: TcpStream,
        is_open: bool,
        waiting: Vec<u8>,
    },
    /// The protocol has its sockets itself.
    Own {
        is_open: bool,
    },
    Ended,
}

impl BotSocket {
    /// A client that begins to connect. `address` is that of the target, resolved.
    ///
    /// # Errors
    /// A wrong option of the target, or no socket.
    pub fn open(
        row: &ProtocolRow,
        target: &BotTarget,
        address: SocketAddr,
        seed: u64,
        now: Time,
    ) -> Result<Self, OpenError> {
        let mut protocol = (row.new)(&Opening { target, address, seed })?;
        let wire = match row.carrier {
            Carrier::Datagrams => {
                let socket = UdpSocket::bind(any_port(address))?;
                socket.connect(address)?;
                protocol.handle_open(now);
                Wire::Datagrams(socket)
            }
            Carrier::Stream => {
                let stream = TcpStream::connect(address)?;
                Wire::Stream { stream, is_open: false, waiting: Vec::new() }
            }
            Carrier::Own(_) => Wire::Own { is_open: false },
        };
        Ok(BotSocket {
            protocol,
            events: VecDeque::new(),
            wire,
            counts: SocketCounts::default(),
            connect_by: now + CONNECT_TIMEOUT,
        })
    }

    /// Has the socket's readiness reported, edge by edge.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match &mut self.wire {
            Wire::Datagrams(socket) => registry.register(socket, token, Interest::READABLE),
            Wire::Stream { stream, .. } => registry.register(stream, token, Interest::READABLE | Interest::WRITABLE),
            Wire::Own { .. } => {
                self.protocol.set_token(token.0);
                Ok(())
            }
            Wire::Ended => Ok(()),
        }
    }

    /// The next event, in order.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front().or_else(|| self.protocol.poll_event())
    }

    /// How the connection has ended, if the event of that was not taken yet.
    pub(crate) fn ending(&mut self) -> Option<&Ending> {
        self.events.extend(std::iter::from_fn(|| self.protocol.poll_event()));
        self.events.iter().find_map(|event| match event {
            Event::Closed(ending) => Some(ending),
            _ => None,
        })
    }

    /// The protocol, for sending and figures.
    pub fn protocol(&mut self) -> &mut dyn Protocol {
        &mut *self.protocol
    }

    /// Whether its protocol has sockets of its own, which other clients share.
    pub fn is_shared(&self) -> bool {
        matches!(self.wire, Wire::Own { .. })
    }

    /// What went over the socket.
    pub fn counts(&self) -> SocketCounts {
        let mut counts = self.counts;
        counts += self.protocol.traffic();
        counts
    }

    /// When [`handle_deadline`](Self::handle_deadline) is due.
    pub fn deadline(&self) -> Option<Time> {
        let connect_by = self.is_connecting().then_some(self.connect_by);
        [self.protocol.deadline(), connect_by].into_iter().flatten().min()
    }

    /// Reads what has come, `reads_max` times at most. Returns whether more may wait, which no new readiness reports.
    pub fn handle_readable(&mut self, now: Time, scratch: &mut [u8], reads_max: usize) -> bool {
        self.check_open(now);
        for _ in 0..reads_max {
            let got = match &mut self.wire {
                Wire::Datagrams(socket) => socket.recv(scratch),
                Wire::Stream { stream, is_open: true, .. } => stream.read(scratch),
                _ => return false,
            };
            match got {
                Ok(0) if matches!(self.wire, Wire::Stream { .. }) => self.end(now, SocketEnd::Finished),
                Ok(count) => {
                    self.counts.received += 1;
                    self.counts.bytes_in += count as u64;
                    self.protocol.handle_receive(now, &scratch[..count]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.handle_error(now, &error),
            }
        }
        !matches!(self.wire, Wire::Ended)
    }

    /// The protocol's deadline has come.
    pub fn handle_deadline(&mut self, now: Time) {
        if self.is_connecting() && now >= self.connect_by {
            return self.end(now, SocketEnd::TimedOut);
        }
        self.protocol.handle_deadline(now);
    }

    /// Protocols on datagrams have time-outs of their own.
    fn is_connecting(&self) -> bool {
        matches!(self.wire, Wire::Stream { .. }) && self.protocol.is_connecting()
    }

    /// Sends what the protocol has to send, as far as the system takes it. `scratch` is any buffer.
    pub fn flush(&mut self, now: Time, scratch: &mut Vec<u8>) {
        self.check_open(now);
        loop {
            scratch.clear();
            let error = match &mut self.wire {
                Wire::Datagrams(socket) => {
                    if !self.protocol.poll_transmit(now, scratch) {
                        return;
                    }
                    send_datagram(socket, scratch, &mut self.counts)
                }
                Wire::Stream { stream, is_open: true, waiting } => {
                    if waiting.is_empty() && !self.protocol.poll_transmit(now, waiting) {
                        return;
                    }
                    debug_assert!(waiting.len() <= 2 * STREAM_CHUNK, "a protocol appended more than a chunk");
                    match write_stream(stream, waiting, &mut self.counts) {
                        Ok(true) => Ok(()),
                        Ok(false) => return,
                        Err(error) => Err(error),
                    }
                }
                _ => return,
            };
            if let Err(error) = error {
                self.handle_error(now, &error);
            }
        }
    }

    /// A stream is open once its address is known, and has failed once it has an error. A protocol's own sockets may be
    /// opened once it has its token.
    fn check_open(&mut self, now: Time) {
        if let Wire::Own { is_open } = &mut self.wire {
            if !std::mem::replace(is_open, true) {
                self.protocol.handle_open(now);
            }
            return;
        }
        let Wire::Stream { stream, is_open, .. } = &mut self.wire else { return };
        if *is_open {
            return;
        }
        if let Ok(Some(error)) | Err(error) = stream.take_error() {
            return self.handle_error(now, &error);
        }
        if stream.peer_addr().is_ok() {
            *is_open = true;
            // Ticks are small, and wait for nothing.
            let _ = stream.set_nodelay(true);
            self.protocol.handle_open(now);
        }
    }

    fn handle_error(&mut self, now: Time, error: &io::Error) {
        match (&self.wire, error.kind()) {
            (Wire::Datagrams(_), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset) => {
                self.protocol.handle_end(now, SocketEnd::PortClosed);
            }
            _ => self.end(now, SocketEnd::Failed(error.to_string())),
        }
    }

    fn end(&mut self, now: Time, end: SocketEnd) {
        self.wire = Wire::Ended;
        self.protocol.handle_end(now, end);
    }
}

/// How long a stream and the handshake on it may take: the system's own limit is some minutes.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The address of any free port, of the family of the server's address.
fn any_port(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// A datagram that the system does not take is dropped and counted, as a network would drop it.
fn send_datagram(socket: &UdpSocket, datagram: &[u8], counts: &mut SocketCounts) -> io::Result<()> {
    match socket.send(datagram) {
        Ok(_) => {
            counts.sent += 1;
            counts.bytes_out += datagram.len() as u64;
            Ok(())
        }
        Err(error) if is_full(&error) => {
            counts.unsent += 1;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// ENOBUFS, which `ErrorKind` does not name.
#[cfg(unix)]
const NO_BUFFERS: i32 = nix::errno::Errno::ENOBUFS as i32;
/// WSAENOBUFS.
#[cfg(not(unix))]
const NO_BUFFERS: i32 = 10_055;

/// Whether the system has no room for a datagram now.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory) || error.raw_os_error() == Some(NO_BUFFERS)
}

/// Whether all was written.
fn write_stream(stream: &mut TcpStream, waiting: &mut Vec<u8>, counts: &mut SocketCounts) -> io::Result<bool> {
    match stream.write(waiting) {
        Ok(count) => {
            counts.sent += 1;
            counts.bytes_out += count as u64;
            waiting.drain(..count);
            Ok(waiting.is_empty() || count > 0)
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Cause, Ending, Event, Outgoing};
    use crate::protocols::table::find;
    use mio::{Events, Poll};

    /// Polls until the client has an event.
    fn next_event(poll: &mut Poll, client: &mut BotSocket) -> Event {
        let mut scratch = vec![0; 65_536];
        let mut events = Events::with_capacity(8);
        for _ in 0..100 {
            client.flush(Time::ZERO, &mut Vec::new());
            if let Some(event) = client.poll_event() {
                return event;
            }
            poll.poll(&mut events, Some(Duration::from_millis(100))).expect("polled");
            while client.handle_readable(Time::ZERO, &mut scratch, 16) {}
        }
        panic!("no event in ten seconds");
    }

    fn client(url: &str) -> (Poll, BotSocket) {
        let (row, target) = find(url).expect("a target");
        let address = format!("{}:{}", target.host, target.port).parse().expect("an address");
        let mut client = BotSocket::open(row, &target, address, 1, Time::ZERO).expect("a socket");
        let poll = Poll::new().expect("a poll");
        client.register(poll.registry(), Token(0)).expect("registered");
        (poll, client)
    }

    #[test]
    fn a_datagram_goes_to_a_server_and_back() {
        let server = std::net::UdpSocket::bind("127.0.0.1:0").expect("bound");
        let (mut poll, mut client) = client(&format!("udp://{}", server.local_addr().expect("an address")));
        assert_eq!(next_event(&mut poll, &mut client), Event::Connected);
        let ping = Outgoing { channel: 0, delivery: None, data: b"ping" };
        client.protocol().send(Time::ZERO, ping).expect("accepted");
        client.flush(Time::ZERO, &mut Vec::new());
        let mut buffer = [0; 100];
        let (count, from) = server.recv_from(&mut buffer).expect("received");
        server.send_to(&buffer[..count], from).expect("sent");
        let Event::Message { data, .. } = next_event(&mut poll, &mut client) else { panic!("no message") };
        assert_eq!(&data[..], b"ping");
        let counts = client.counts();
        assert_eq!((counts.bytes_out, counts.bytes_in, counts.sent, counts.received), (4, 4, 1, 1));
    }

    #[test]
    fn a_system_without_room_drops_a_datagram_and_ends_nothing() {
        assert!(is_full(&io::Error::from_raw_os_error(NO_BUFFERS)));
        assert!(!is_full(&ErrorKind::ConnectionRefused.into()));
    }

    #[test]
    fn a_stream_that_does_not_open_times_out() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = server.local_addr().expect("an address");
        // The system accepts both; one protocol has no handshake, the other's is not answered.
        for (scheme, answers) in [("tcp", true), ("ws", false)] {
            let (mut poll, mut client) = client(&format!("{scheme}://{address}"));
            let due = client.deadline().expect("a time-out");
            if answers {
                assert_eq!(next_event(&mut poll, &mut client), Event::Connected);
                assert_eq!(client.deadline(), None);
                client.handle_deadline(due);
                assert_eq!(client.poll_event(), None);
            } else {
                let _connection = server.accept().and_then(|_| server.accept()).expect("accepted");
                client.flush(Time::ZERO, &mut Vec::new());
                client.handle_deadline(due);
                let closed = next_event(&mut poll, &mut client);
                assert!(matches!(closed, Event::Closed(Ending { cause: Cause::TimedOut, .. })), "{closed:?}");
                assert_eq!(client.deadline(), None);
            }
        }
    }

    #[test]
    fn the_time_before_a_stream_is_there_counts() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let (mut poll, mut client) = client(&format!("tcp://{}", server.local_addr().expect("an address")));
        let due = client.deadline().expect("a time-out");
        client.handle_deadline(due);
        let closed = next_event(&mut poll, &mut client);
        assert!(matches!(closed, Event::Closed(Ending { cause: Cause::TimedOut, .. })), "{closed:?}");
    }

    #[test]
    fn a_port_without_a_server_ends_a_bot_of_raw_udp() {
        let free = std::net::UdpSocket::bind("127.0.0.1:0").expect("bound").local_addr().expect("an address");
        let (mut poll, mut client) = client(&format!("udp://{free}"));
        assert_eq!(next_event(&mut poll, &mut client), Event::Connected);
        client.protocol().send(Time::ZERO, Outgoing { channel: 0, delivery: None, data: b"x" }).expect("accepted");
        let closed = next_event(&mut poll, &mut client);
        assert!(matches!(closed, Event::Closed(Ending { cause: Cause::Unreachable, .. })), "{closed:?}");
    }
}
