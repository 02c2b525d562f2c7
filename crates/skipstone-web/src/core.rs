//! An endpoint whose connections are identified by sockets of the page: a WebSocket or a WebTransport session each.

use crate::options::Options;
use crate::outcome::Outcome;
use bytes::Bytes;
use skipstone_proto::{
    Carrier, ConfigError, ConnectError, Duration, Endpoint, MessageId, Overview, Path, PeerId, Protection, SendError,
    ServerTime, Settings, Submission, Time, Transmit,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// A client of one or more servers.
#[derive(Debug)]
pub struct Core {
    endpoint: Endpoint,
    /// The latest time that the page passed: time does not go back.
    now: Time,
    /// Connections by socket, until the page has polled the socket's release: a page has few.
    peers: Vec<(u32, PeerId)>,
    next_socket: u32,
    buffer: Vec<u8>,
}

/// Why a call failed. The page gets its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Refusal {
    /// The core has not been started, or a call came during another call.
    NotStarted = -1,
    /// No connection has this socket.
    UnknownConnection = -2,
    /// An argument is out of its range.
    BadArgument = -3,
    /// The maximum number of connections is reached.
    Full = -4,
    /// The token is longer than 1,024 bytes.
    TokenTooLong = -5,
    /// The connection is not established.
    NotConnected = -6,
    /// No rule of the server's table contains the channel.
    NoSuchChannel = -7,
    /// The message exceeds the channel's maximum length.
    MessageTooLong = -8,
    /// The channel's queue is full.
    QueueFull = -9,
    /// A field of the configuration is out of range.
    BadConfig = -10,
}

/// The kind of carrier, as the page numbers it.
fn carrier(number: u32) -> Option<Carrier> {
    match number {
        0 => Some(Carrier::WEBSOCKET),
        1 => Some(Carrier::WEBTRANSPORT_PAGE),
        2 => Some(Carrier::WEBTRANSPORT_STREAMS),
        _ => None,
    }
}

/// The protocol's time at the start of the page's clock, in µs: not zero, so that earlier times can be expressed.
const CLOCK_FIRST: u64 = 1_000_000;
/// Room for about ten datagrams of a session, or for one packet of a stream.
const BUFFER_BYTES: usize = 16_384;
/// A page does not know its server's address, and the protocol does not need it: the socket identifies the connection.
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

impl Core {
    /// A core without connections. The seed is the only source of randomness: take it from the page's `crypto`.
    ///
    /// # Errors
    /// An option is out of its range.
    pub fn new(options: Options, seed: [u8; 32]) -> Result<Self, ConfigError> {
        Ok(Core {
            endpoint: Endpoint::new(options.into_config(), seed)?,
            now: Time::from_micros(CLOCK_FIRST),
            peers: Vec::new(),
            next_socket: 0,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// Sets the page's clock, in µs since it was created. NaN changes nothing.
    pub fn advance(&mut self, micros: f64) {
        let at = Time::from_micros(CLOCK_FIRST.saturating_add(micros as u64));
        self.now = self.now.max(at);
    }

    /// Begins a connection on an open carrier and returns its socket. `packet_bytes_max` is the maximum datagram size
    /// of the session, and 0 if it is unknown, or for a stream.
    ///
    /// # Errors
    /// There is no such carrier, the token is too long, or there are too many connections.
    pub fn connect(&mut self, number: u32, packet_bytes_max: u32, token: &[u8]) -> Result<u32, Refusal> {
        let carrier = carrier(number).ok_or(Refusal::BadArgument)?;
        let socket = self.next_socket;
        let path = Path { socket, local: None, remote: SERVER, carrier };
        let peer =
            self.endpoint.connect_with(self.now, path, token, Protection::Plain).map_err(|error| match error {
                ConnectError::TokenTooLong => Refusal::TokenTooLong,
                _ => Refusal::Full,
            })?;
        self.next_socket += 1;
        self.peers.push((socket, peer));
        if !carrier.is_reliable && packet_bytes_max > 0 {
            self.set_packet_bytes_max(socket, packet_bytes_max);
        }
        Ok(socket)
    }

    /// Handles a received datagram or binary message.
    ///
    /// # Errors
    /// No connection has this socket.
    pub fn handle_datagram(&mut self, socket: u32, datagram: &mut [u8]) -> Result<(), Refusal> {
        let peer = self.peer(socket)?;
        // The path is the connection's own; a connection that has just ended has none, and drops the datagram.
        let Some(overview) = self.endpoint.overview(peer) else { return Ok(()) };
        self.endpoint.handle_datagram(self.now, overview.path, datagram);
        Ok(())
    }

    /// The carrier accepts no more bytes for now, or accepts bytes again.
    pub fn set_writable(&mut self, socket: u32, is_writable: bool) {
        self.endpoint.set_writable(socket, is_writable);
    }

    /// Sets the maximum datagram size of a session.
    pub fn set_packet_bytes_max(&mut self, socket: u32, bytes: u32) {
        self.endpoint.set_packet_bytes_max(socket, bytes.min(BUFFER_BYTES as u32) as u16);
    }

    /// Handles the loss of a carrier.
    pub fn handle_carrier_lost(&mut self, socket: u32, reason: &str) {
        self.endpoint.handle_carrier_lost(self.now, socket, reason);
    }

    /// Queues a message.
    ///
    /// # Errors
    /// Errors that are known at the call: no connection, no such channel, too long, a full queue.
    pub fn send(&mut self, socket: u32, channel: u32, submission: Submission) -> Result<(), Refusal> {
        let peer = self.peer(socket)?;
        let channel = u16::try_from(channel).map_err(|_| Refusal::BadArgument)?;
        self.endpoint.submit(self.now, peer, channel, submission).map_err(|error| match error {
            SendError::UnknownPeer => Refusal::UnknownConnection,
            SendError::NotConnected => Refusal::NotConnected,
            SendError::NoSuchChannel | SendError::WrongDirection => Refusal::NoSuchChannel,
            SendError::TooLong { .. } => Refusal::MessageTooLong,
            SendError::QueueFull => Refusal::QueueFull,
        })
    }

    /// Queues a message that was already accepted: errors are reported by an event.
    ///
    /// # Errors
    /// No connection has this socket, or the channel number is invalid.
    pub fn send_accepted(&mut self, socket: u32, channel: u32, submission: Submission) -> Result<(), Refusal> {
        let peer = self.peer(socket)?;
        let channel = u16::try_from(channel).map_err(|_| Refusal::BadArgument)?;
        self.endpoint.submit_accepted(self.now, peer, channel, submission);
        Ok(())
    }

    /// Sends messages that wait for a flush.
    pub fn flush(&mut self) {
        self.endpoint.flush(self.now);
    }

    /// Ends a connection; reliable messages have `linger` to arrive first.
    ///
    /// # Errors
    /// No connection has this socket.
    pub fn close(&mut self, socket: u32, code: u64, reason: &str, linger: Duration) -> Result<(), Refusal> {
        let peer = self.peer(socket)?;
        self.endpoint.close(self.now, peer, code, reason, linger);
        Ok(())
    }

    /// Handles due timers.
    pub fn handle_timeout(&mut self) {
        self.endpoint.handle_timeout(self.now);
    }

    /// When [`Core::handle_timeout`] is due, in µs of the page's clock: in the past if there is work right now,
    /// infinity if there is no timer.
    pub fn poll_timeout(&self) -> f64 {
        match self.endpoint.poll_timeout() {
            Time::NEVER => f64::INFINITY,
            at => at.as_micros() as f64 - CLOCK_FIRST as f64,
        }
    }

    /// The next datagrams to send, with their bytes; `None` if there are none.
    pub fn poll_transmit(&mut self) -> Option<(Transmit, &[u8])> {
        let transmit = self.endpoint.poll_transmit(self.now, &mut self.buffer)?;
        Some((transmit, &self.buffer[..transmit.bytes]))
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Outcome> {
        while let Some(event) = self.endpoint.poll_event(self.now) {
            let owner = self.peers.iter().find(|(_, peer)| *peer == event.peer());
            if let Some(outcome) = owner.copied().and_then(|(socket, _)| Outcome::of(event, socket)) {
                return Some(outcome);
            }
        }
        None
    }

    /// A socket whose connection has ended: the page closes its carrier. All its events have been polled if the page
    /// polls them first.
    pub fn poll_released(&mut self) -> Option<u32> {
        let socket = self.endpoint.poll_released()?;
        self.peers.retain(|(one, _)| *one != socket);
        Some(socket)
    }

    /// The settings of an established connection.
    pub fn settings(&mut self, socket: u32) -> Option<Arc<Settings>> {
        let peer = self.peer(socket).ok()?;
        self.endpoint.settings(peer)
    }

    /// State and counters of a connection.
    pub fn overview(&mut self, socket: u32) -> Option<Overview> {
        let peer = self.peer(socket).ok()?;
        self.endpoint.overview(peer)
    }

    /// The connection's estimate of the server's clock.
    pub fn server_time(&mut self, socket: u32) -> Option<ServerTime> {
        let peer = self.peer(socket).ok()?;
        self.endpoint.server_time(self.now, peer)
    }

    /// The number and bytes of the messages that are queued on a channel or in flight.
    pub fn queued(&mut self, socket: u32, channel: u32) -> Option<(u64, u64)> {
        let peer = self.peer(socket).ok()?;
        Some(self.endpoint.queued(peer, u16::try_from(channel).ok()?))
    }

    fn peer(&self, socket: u32) -> Result<PeerId, Refusal> {
        self.peers.iter().find(|(one, _)| *one == socket).map(|(_, peer)| *peer).ok_or(Refusal::UnknownConnection)
    }
}

/// A message in the form in which the page submits it.
pub(crate) fn submission(payload: Bytes, id: f64, age_us: f64) -> Submission {
    Submission { payload, id: MessageId(id as u64), age: Duration::from_micros(age_us as u64) }
}

/// The server's time at its start, as for the page.
pub(crate) fn since_first(at: Time) -> Duration {
    at.since(Time::from_micros(CLOCK_FIRST))
}
