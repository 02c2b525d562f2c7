//! A client whose connections are identified by sockets of the page: a WebSocket or a WebTransport session each.

use crate::connections::{BUFFER_BYTES, Connections, Link, Opened};
use crate::moving::Moving;
use crate::options::Options;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use bytes::Bytes;
use skipstone_proto::{
    ConfigError, Duration, Event, GivenUp, MessageId, Overview, SendError, ServerTime, Settings, Submission, Time,
    Transmit,
};
use std::sync::Arc;

/// A client of one or more servers.
#[derive(Debug)]
pub struct Core {
    connections: Connections,
    follows_moves: bool,
    /// The moves of the connection that was established last, if its server can move it.
    moving: Option<Box<Moving>>,
    buffer: Vec<u8>,
}

/// The protocol's time at the start of the page's clock, in µs: not zero, so that earlier times can be expressed.
const CLOCK_FIRST: u64 = 1_000_000;

impl Core {
    /// A core without connections. The seed is the only source of randomness: take it from the page's `crypto`.
    ///
    /// # Errors
    /// An option is out of its range.
    pub fn new(options: Options, seed: [u8; 32]) -> Result<Self, ConfigError> {
        let follows_moves = options.follows_moves();
        let connections = Connections::new(options.into_config(), seed, Time::from_micros(CLOCK_FIRST))?;
        Ok(Core { connections, follows_moves, moving: None, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Sets the page's clock, in µs since it was created. NaN changes nothing.
    pub fn advance(&mut self, micros: f64) {
        let at = Time::from_micros(CLOCK_FIRST.saturating_add(micros as u64));
        self.connections.now = self.connections.now.max(at);
    }

    /// Begins a connection on an open carrier and returns its socket. `packet_bytes_max` is the maximum datagram size
    /// of the session, and 0 if it is unknown, or for a stream.
    ///
    /// # Errors
    /// There is no such carrier, the token is too long, or there are too many connections.
    pub fn connect(&mut self, number: u32, packet_bytes_max: u32, token: &[u8]) -> Result<u32, Refusal> {
        self.connections.begin(Opened { number, packet_bytes_max }, token, None).map(|link| link.socket)
    }

    /// Begins the connection to the server that [`Outcome::OPEN`] named, on an open carrier, and returns its socket.
    ///
    /// # Errors
    /// As [`Core::connect`], or the move has ended meanwhile.
    pub fn connect_there(&mut self, number: u32, packet_bytes_max: u32) -> Result<u32, Refusal> {
        let moving = self.moving.as_mut().ok_or(Refusal::NotMoving)?;
        moving.connect_there(&mut self.connections, Opened { number, packet_bytes_max })
    }

    /// No carrier to the server that [`Outcome::OPEN`] named can be opened: the client stays.
    pub fn move_failed(&mut self) {
        if let Some(moving) = &mut self.moving {
            moving.fail();
            moving.advance(&mut self.connections);
        }
    }

    /// Handles a received datagram or binary message.
    ///
    /// # Errors
    /// No connection has this socket.
    pub fn handle_datagram(&mut self, socket: u32, datagram: &mut [u8]) -> Result<(), Refusal> {
        let (link, now) = (self.connections.link(socket)?, self.connections.now);
        let endpoint = self.connections.endpoint(link);
        // The path is the connection's own; a connection that has just ended has none, and drops the datagram.
        let Some(overview) = endpoint.overview(link.peer) else { return Ok(()) };
        endpoint.handle_datagram(now, overview.path, datagram);
        Ok(())
    }

    /// The carrier accepts no more bytes for now, or accepts bytes again.
    pub fn set_writable(&mut self, socket: u32, is_writable: bool) {
        self.connections.set_writable(socket, is_writable);
    }

    /// Sets the maximum datagram size of a session.
    pub fn set_packet_bytes_max(&mut self, socket: u32, bytes: u32) {
        self.connections.set_packet_bytes_max(socket, bytes);
    }

    /// Handles the loss of a carrier.
    pub fn handle_carrier_lost(&mut self, socket: u32, reason: &str) {
        self.connections.handle_carrier_lost(socket, reason);
    }

    /// Queues a message.
    ///
    /// # Errors
    /// Errors that are known at the call: no connection, no such channel, too long, a full queue.
    pub fn send(&mut self, socket: u32, channel: u32, submission: Submission) -> Result<(), Refusal> {
        let channel = u16::try_from(channel).map_err(|_| Refusal::BadArgument)?;
        let Some((link, message)) = self.route(socket, channel, submission)? else { return Ok(()) };
        let now = self.connections.now;
        self.connections.endpoint(link).submit(now, link.peer, channel, message).map_err(|error| match error {
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
        let channel = u16::try_from(channel).map_err(|_| Refusal::BadArgument)?;
        let id = submission.id;
        match (self.route(socket, channel, submission), &mut self.moving) {
            (Ok(Some((link, message))), _) => self.connections.submit_accepted(link, channel, message),
            (Err(Refusal::QueueFull), Some(moving)) => moving.give_up(id, channel, GivenUp::QueueFull),
            (other, _) => return other.map(drop),
        }
        Ok(())
    }

    /// The connection that a message belongs to; `None` if it waits for a move's end.
    fn route(&mut self, socket: u32, channel: u16, message: Submission) -> Result<Option<(Link, Submission)>, Refusal> {
        let link = self.connections.link(socket)?;
        match self.moving_of(link) {
            Some(moving) => moving.route(channel, message),
            None => Ok(Some((link, message))),
        }
    }

    fn moving_of(&mut self, link: Link) -> Option<&mut Moving> {
        self.moving.as_deref_mut().filter(|moving| moving.here() == link)
    }

    /// Sends messages that wait for a flush.
    pub fn flush(&mut self) {
        self.connections.flush();
    }

    /// Ends a connection; reliable messages have `linger` to arrive first.
    ///
    /// # Errors
    /// No connection has this socket.
    pub fn close(&mut self, socket: u32, code: u64, reason: &str, linger: Duration) -> Result<(), Refusal> {
        let (link, now) = (self.connections.link(socket)?, self.connections.now);
        let moving = self.moving.as_mut().filter(|moving| moving.here() == link);
        let there = moving.and_then(|moving| moving.stop(&mut self.connections));
        for link in there.into_iter().chain([link]) {
            self.connections.endpoint(link).close(now, link.peer, code, reason, linger);
        }
        Ok(())
    }

    /// Handles due timers.
    pub fn handle_timeout(&mut self) {
        self.connections.handle_timeout();
        if let Some(moving) = &mut self.moving {
            moving.advance(&mut self.connections);
        }
    }

    /// When [`Core::handle_timeout`] is due, in µs of the page's clock: in the past if there is work right now,
    /// infinity if there is no timer.
    pub fn poll_timeout(&self) -> f64 {
        let moving = self.moving.as_ref().map_or(Time::NEVER, |moving| moving.poll_timeout());
        match self.connections.poll_timeout().min(moving) {
            Time::NEVER => f64::INFINITY,
            at => at.as_micros() as f64 - CLOCK_FIRST as f64,
        }
    }

    /// The next datagrams to send, with their bytes; `None` if there are none.
    pub fn poll_transmit(&mut self) -> Option<(Transmit, &[u8])> {
        let transmit = self.connections.poll_transmit(&mut self.buffer)?;
        Some((transmit, &self.buffer[..transmit.bytes]))
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Outcome> {
        loop {
            if let Some(outcome) = self.poll_moving() {
                return Some(outcome);
            }
            let waiting = self.moving.as_ref().and_then(|moving| moving.there());
            let (link, event) = self.connections.poll_event(waiting)?;
            let now = self.connections.now;
            let event = match self.moving_of(link) {
                Some(moving) => moving.on_event(event, now),
                None => Some(event),
            };
            if let Some(Event::Connected { settings, .. }) = &event
                && self.follows_moves
            {
                self.moving = Moving::begin(&mut self.connections, link, settings).map(Box::new);
            }
            if let Some(outcome) = event.and_then(|event| Outcome::of(event, link.socket)) {
                return Some(outcome);
            }
        }
    }

    /// Follows the client's moves, and gives the next outcome of them.
    fn poll_moving(&mut self) -> Option<Outcome> {
        let moving = self.moving.as_mut()?;
        moving.advance(&mut self.connections);
        let outcome = moving.poll_outcome()?;
        if outcome.kind == Outcome::CLOSED && outcome.socket == moving.here().socket {
            self.moving = None;
        }
        Some(outcome)
    }

    /// A socket whose connection has ended: the page closes its carrier. All its events have been polled if the page
    /// polls them first.
    pub fn poll_released(&mut self) -> Option<u32> {
        self.connections.poll_released()
    }

    /// The settings of an established connection.
    pub fn settings(&mut self, socket: u32) -> Option<Arc<Settings>> {
        let link = self.connections.link(socket).ok()?;
        self.connections.endpoint(link).settings(link.peer)
    }

    /// State and counters of a connection.
    pub fn overview(&mut self, socket: u32) -> Option<Overview> {
        let link = self.connections.link(socket).ok()?;
        self.connections.endpoint(link).overview(link.peer)
    }

    /// The connection's estimate of the server's clock.
    pub fn server_time(&mut self, socket: u32) -> Option<ServerTime> {
        let (link, now) = (self.connections.link(socket).ok()?, self.connections.now);
        self.connections.endpoint(link).server_time(now, link.peer)
    }

    /// The number and bytes of the messages that are queued on a channel or in flight, or that wait for a move's end.
    pub fn queued(&mut self, socket: u32, channel: u32) -> Option<(u64, u64)> {
        let (link, channel) = (self.connections.link(socket).ok()?, u16::try_from(channel).ok()?);
        let moving = self.moving_of(link).map(|moving| (moving.held(channel), moving.there()));
        let (mut queued, there) = moving.unwrap_or_default();
        for link in there.into_iter().chain([link]) {
            let (messages, bytes) = self.connections.endpoint(link).queued(link.peer, channel);
            queued = (queued.0 + messages, queued.1 + bytes);
        }
        Some(queued)
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
