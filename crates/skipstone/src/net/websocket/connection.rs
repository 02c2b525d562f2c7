//! One WebSocket connection, server or client side: a TCP stream and what it is doing.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::time::Instant;

use bytes::Bytes;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use socket2::SockRef;
use tungstenite::error::{Error, ProtocolError};
use tungstenite::handshake::client::generate_key;
use tungstenite::http::Uri;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig, WebSocketContext};
use tungstenite::{Message, Utf8Bytes};

use super::handshake::{FirstBytes, HEAD_BYTES_MAX, Head, Verdict, encode_request, judge_request, judge_response};
use super::outgoing::{FRAME_HEAD_BYTES_MAX, Outgoing, Pipe, Turn};
use super::{MESSAGE_BYTES_MAX, WsCloseReason, WsOptions, WsPeerClose, WsState, WsStatistics};

/// One connection; see the [module](super) for how to drive it. Never blocks and never panics on what the peer sends;
/// its memory is bounded by the high-water mark, one message being put together, and the head of the handshake.
#[derive(Debug)]
pub struct WsConnection {
    tcp: TcpStream,
    peer: SocketAddr,
    options: WsOptions,
    phase: Phase,
    outgoing: Outgoing,
    turn: Turn,
    masks: Option<Masks>,
    deadline: Option<Instant>,
    close_reason: Option<WsCloseReason>,
    peer_close: Option<WsPeerClose>,
    statistics: WsStatistics,
}

/// What the TCP stream carries at present.
#[derive(Debug)]
enum Phase {
    /// TCP itself is not there yet; the request waits.
    Connecting {
        key: String,
    },
    /// A server reads the request.
    Request(Head),
    /// A client reads the answer to its request.
    Response {
        head: Head,
        key: String,
    },
    /// Frames.
    Frames(Box<WebSocketContext>),
    /// The last bytes leave; what comes in is thrown away, since closing over unread bytes would reset the connection
    /// and could take our last words with it.
    Draining {
        peer_may_send: bool,
        is_shut: bool,
    },
    Closed,
}

/// What [`WsConnection::receive`] found.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum WsReceive {
    /// A binary message; ask again.
    Message(Bytes),
    /// Everything is read: the next bytes cause an event.
    Empty,
    /// This connection had its share: call `on_ready` and `receive` again after the others, without an event.
    More,
}

/// Why [`WsConnection::send`] refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WsSendError {
    /// Too much is unsent: the peer reads more slowly than we write.
    Full,
    /// Beyond [`MESSAGE_BYTES_MAX`].
    TooLarge,
    /// Not in [`WsState::Open`].
    NotOpen,
}

/// Why [`WsConnection::connect`] failed at once.
#[derive(Debug)]
pub enum WsConnectError {
    /// Not a `ws://host[:port][/path]` URL.
    BadUrl,
    /// The system refused.
    Io(io::Error),
}

impl WsConnection {
    pub(super) fn accepted(tcp: TcpStream, peer: SocketAddr, options: WsOptions) -> WsConnection {
        WsConnection::start(tcp, peer, options, Phase::Request(Head::default()))
    }

    /// Begins to connect to `address` and to ask for `url`, whose host is only named in the request.
    pub fn connect(url: &str, address: SocketAddr, options: WsOptions) -> Result<WsConnection, WsConnectError> {
        let uri: Uri = url.parse().map_err(|_| WsConnectError::BadUrl)?;
        let key = generate_key();
        let request = encode_request(&uri, &key).ok_or(WsConnectError::BadUrl)?;
        let tcp = TcpStream::connect(address).map_err(WsConnectError::Io)?;
        let mut connection = WsConnection::start(tcp, address, options, Phase::Connecting { key });
        connection.masks = Some(Masks::default());
        connection.outgoing.append(&request);
        Ok(connection)
    }

    fn start(tcp: TcpStream, peer: SocketAddr, options: WsOptions, phase: Phase) -> WsConnection {
        // Neither can fail on a sound stream, and an unsound one shows at the first read.
        let _ = tcp.set_nodelay(true);
        let _ = SockRef::from(&tcp).set_send_buffer_size(options.kernel_send_buffer_bytes);
        WsConnection {
            tcp,
            peer,
            options,
            phase,
            outgoing: Outgoing::default(),
            turn: Turn { budget_bytes: TURN_BYTES, bytes_in: 0 },
            masks: None,
            deadline: Some(Instant::now() + options.handshake_timeout),
            close_reason: None,
            peer_close: None,
            statistics: WsStatistics::default(),
        }
    }

    /// Reports readiness under `token`. Edge-triggered: see the [module](super).
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.tcp, token, Interest::READABLE | Interest::WRITABLE)
    }

    /// Ends [`register`](Self::register); dropping the connection does so too.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        registry.deregister(&mut self.tcp)
    }

    /// The other side, IPv4 as IPv4.
    pub fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    /// Where it stands.
    pub fn state(&self) -> WsState {
        match &self.phase {
            Phase::Closed => WsState::Closed,
            _ if self.close_reason.is_some() => WsState::Closing,
            Phase::Request(_) => WsState::HandshakingServer,
            Phase::Connecting { .. } | Phase::Response { .. } => WsState::HandshakingClient,
            Phase::Frames(_) => WsState::Open,
            Phase::Draining { .. } => WsState::Closing,
        }
    }

    /// Whether messages can be sent.
    pub fn is_open(&self) -> bool {
        self.state() == WsState::Open
    }

    /// Whether it is over and can be dropped.
    pub fn is_closed(&self) -> bool {
        self.state() == WsState::Closed
    }

    /// Whether its handshake or its closing took too long: drop it (as [`WsCloseReason::TimedOut`] if it was not
    /// closing yet).
    pub fn is_stale(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| now >= deadline) && !self.is_closed()
    }

    /// When [`is_stale`](Self::is_stale) becomes true, if nothing happens until then.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Why it ended or is ending.
    pub fn close_reason(&self) -> Option<WsCloseReason> {
        self.close_reason
    }

    /// What the peer's Close frame said, if one came.
    pub fn peer_close(&self) -> Option<&WsPeerClose> {
        self.peer_close.as_ref()
    }

    /// Server side, during the handshake: what the client speaks, as soon as that is clear.
    pub fn first_bytes(&self) -> Option<FirstBytes> {
        match &self.phase {
            Phase::Request(head) => head.first_bytes(),
            _ => None,
        }
    }

    /// Bytes accepted by `send` that the kernel has not taken yet, frame headers included.
    pub fn unsent_bytes(&self) -> usize {
        self.outgoing.len()
    }

    /// Whether it is open and little is unsent. Reserve `send` beyond that for what cannot be dropped.
    pub fn is_writable(&self) -> bool {
        self.is_open() && self.unsent_bytes() < self.options.low_water_bytes
    }

    /// Counters so far.
    pub fn statistics(&self) -> WsStatistics {
        WsStatistics { bytes_in: self.turn.bytes_in, ..self.statistics }
    }

    /// To be called at each readiness event and after [`WsReceive::More`]: gives it a new share of reading, carries the
    /// handshake on and writes what waits. Then call [`receive`](Self::receive) until it is not a message.
    pub fn on_ready(&mut self) {
        self.turn.budget_bytes = TURN_BYTES;
        self.check_connected();
        self.pump_handshake();
        self.flush();
    }

    /// Queues one binary message; [`flush`](Self::flush) sends it, together with all others queued by then.
    pub fn send(&mut self, message: &[u8]) -> Result<(), WsSendError> {
        if !self.is_open() {
            return Err(WsSendError::NotOpen);
        }
        if message.len() > MESSAGE_BYTES_MAX {
            return Err(WsSendError::TooLarge);
        }
        if self.outgoing.len() + FRAME_HEAD_BYTES_MAX + message.len() > self.options.high_water_bytes {
            return Err(WsSendError::Full);
        }
        self.outgoing.append_message(message, self.masks.as_mut().map(Masks::next));
        self.statistics.messages_out += 1;
        Ok(())
    }

    /// Writes as much as the kernel takes. The rest goes at the next readiness event.
    pub fn flush(&mut self) {
        if matches!(self.phase, Phase::Connecting { .. } | Phase::Closed) {
            return;
        }
        self.write_outgoing();
        self.flush_frames();
        if let Phase::Draining { peer_may_send, is_shut: false } = self.phase
            && self.outgoing.len() == 0
        {
            let shut = self.tcp.shutdown(Shutdown::Write);
            self.phase = match peer_may_send && shut.is_ok() {
                true => Phase::Draining { peer_may_send, is_shut: true },
                false => Phase::Closed,
            };
        }
    }

    /// The next binary message, read from the kernel as needed. Pings are answered, text is counted and ignored.
    pub fn receive(&mut self) -> WsReceive {
        let mut owes_answer = false;
        while let Phase::Frames(frames) = &mut self.phase {
            let mut pipe = Pipe {
                tcp: &mut self.tcp,
                outgoing: &mut self.outgoing,
                outgoing_bytes_max: self.options.high_water_bytes + CONTROL_BYTES_MAX,
                turn: &mut self.turn,
            };
            match frames.read(&mut pipe) {
                Ok(Message::Binary(bytes)) if self.close_reason.is_none() => {
                    self.statistics.messages_in += 1;
                    return WsReceive::Message(bytes);
                }
                Ok(Message::Text(_)) => self.statistics.text_ignored += 1,
                Ok(Message::Ping(_) | Message::Pong(_)) => {
                    self.statistics.control_in += 1;
                    owes_answer = true;
                }
                Ok(Message::Close(frame)) => self.on_peer_close(frame),
                Ok(Message::Binary(_) | Message::Frame(_)) => {}
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => self.on_frame_error(&error),
            }
        }
        self.discard_incoming();
        if owes_answer || self.close_reason.is_some() {
            self.flush();
        }
        let had_its_share = self.turn.budget_bytes == 0 && !self.is_closed();
        if had_its_share { WsReceive::More } else { WsReceive::Empty }
    }

    /// Says goodbye: a Close frame with `code` and `reason` (cut to 123 bytes), then the peer's, then the end. Before
    /// the handshake is through it simply ends.
    pub fn close(&mut self, code: u16, reason: &str) {
        if self.close_reason.is_some() {
            return;
        }
        match self.phase {
            Phase::Frames(_) => {
                self.begin_closing(WsCloseReason::Local);
                self.queue_close(code, reason);
                self.flush();
            }
            _ => self.end(WsCloseReason::Local),
        }
    }

    fn check_connected(&mut self) {
        let Phase::Connecting { key } = &mut self.phase else {
            return;
        };
        if !matches!(self.tcp.take_error(), Ok(None)) {
            return self.end(WsCloseReason::Lost);
        }
        match self.tcp.peer_addr() {
            Ok(_) => self.phase = Phase::Response { head: Head::default(), key: std::mem::take(key) },
            Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
            Err(_) => self.end(WsCloseReason::Lost),
        }
    }

    /// Reads until the head is complete, refused, or nothing more has come.
    fn pump_handshake(&mut self) {
        let mut buffer = [0; 2048];
        loop {
            let head = match &mut self.phase {
                Phase::Request(head) | Phase::Response { head, .. } => head,
                _ => return,
            };
            match self.turn.read(&mut self.tcp, &mut buffer) {
                Ok(0) => return self.end(WsCloseReason::Lost),
                Ok(count) => head.append(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => return self.end(WsCloseReason::Lost),
            }
            debug_assert!(head.bytes().len() <= HEAD_BYTES_MAX + buffer.len(), "the verdict bounds the head");
            let (verdict, role) = match &mut self.phase {
                Phase::Request(head) => (judge_request(head), Role::Server),
                Phase::Response { head, key } => (judge_response(head, key), Role::Client),
                _ => return,
            };
            match verdict {
                Verdict::Incomplete => {}
                Verdict::Upgraded { answer, rest } => self.open(role, &answer, rest),
                Verdict::Refused { answer, reason } => {
                    self.outgoing.append(answer);
                    self.begin_closing(reason);
                    self.phase = Phase::Draining { peer_may_send: true, is_shut: false };
                }
            }
        }
    }

    fn open(&mut self, role: Role, answer: &[u8], rest: Vec<u8>) {
        // Only control frames pass through tungstenite's own write buffer, at once (write_buffer_size 0).
        let config = WebSocketConfig::default()
            .read_buffer_size(self.options.read_buffer_bytes)
            .write_buffer_size(0)
            .max_write_buffer_size(CONTROL_BYTES_MAX)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        self.outgoing.append(answer);
        self.deadline = None;
        self.phase = Phase::Frames(Box::new(WebSocketContext::from_partially_read(rest, role, Some(config))));
    }

    fn write_outgoing(&mut self) {
        match self.outgoing.write_to(&mut self.tcp) {
            Ok(written) => {
                self.statistics.bytes_out += written.bytes;
                self.statistics.writes += written.calls;
            }
            Err(_) => self.end(WsCloseReason::Lost),
        }
    }

    /// Lets tungstenite write the control frames that it holds.
    fn flush_frames(&mut self) {
        let Phase::Frames(frames) = &mut self.phase else {
            return;
        };
        let before = self.outgoing.len();
        let mut pipe = Pipe {
            tcp: &mut self.tcp,
            outgoing: &mut self.outgoing,
            outgoing_bytes_max: self.options.high_water_bytes + CONTROL_BYTES_MAX,
            turn: &mut self.turn,
        };
        match frames.flush(&mut pipe) {
            Ok(()) => {}
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => self.on_frame_error(&error),
        }
        if self.outgoing.len() > before {
            self.write_outgoing();
        }
    }

    fn on_peer_close(&mut self, frame: Option<CloseFrame>) {
        self.begin_closing(WsCloseReason::Remote);
        let frame = frame.unwrap_or(CloseFrame { code: CloseCode::Status, reason: Utf8Bytes::default() });
        self.peer_close = Some(WsPeerClose { code: frame.code.into(), reason: frame.reason.as_str().to_owned() });
    }

    fn on_frame_error(&mut self, error: &Error) {
        match error {
            // Both Close frames are through.
            Error::ConnectionClosed | Error::AlreadyClosed => {
                self.begin_closing(WsCloseReason::Remote);
                self.phase = Phase::Draining { peer_may_send: false, is_shut: false };
            }
            Error::Io(_) | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
                self.end(WsCloseReason::Lost);
            }
            Error::Capacity(_) => self.fail(WsCloseReason::MessageTooLarge, 1009, "message too large"),
            _ => self.fail(WsCloseReason::Protocol, 1002, "broken frame"),
        }
    }

    /// The peer broke a rule: say which, and listen no more.
    fn fail(&mut self, reason: WsCloseReason, code: u16, text: &str) {
        self.begin_closing(reason);
        self.queue_close(code, text);
        self.phase = Phase::Draining { peer_may_send: true, is_shut: false };
    }

    fn queue_close(&mut self, code: u16, reason: &str) {
        let Phase::Frames(frames) = &mut self.phase else {
            return;
        };
        let reason = Utf8Bytes::from(&reason[..reason.floor_char_boundary(CLOSE_REASON_BYTES_MAX)]);
        let mut pipe = Pipe {
            tcp: &mut self.tcp,
            outgoing: &mut self.outgoing,
            outgoing_bytes_max: self.options.high_water_bytes + CONTROL_BYTES_MAX,
            turn: &mut self.turn,
        };
        // If it does not fit, the peer has not read for long: the deadline ends it without goodbye.
        let _ = frames.close(&mut pipe, Some(CloseFrame { code: code.into(), reason }));
    }

    fn begin_closing(&mut self, reason: WsCloseReason) {
        if self.close_reason.is_none() {
            self.close_reason = Some(reason);
            self.deadline = Some(Instant::now() + self.options.close_timeout);
        }
    }

    fn end(&mut self, reason: WsCloseReason) {
        self.begin_closing(reason);
        self.outgoing = Outgoing::default();
        self.phase = Phase::Closed;
    }

    fn discard_incoming(&mut self) {
        let mut buffer = [0; 4096];
        while let Phase::Draining { peer_may_send, .. } = &mut self.phase {
            match self.turn.read(&mut self.tcp, &mut buffer) {
                Ok(0) if self.outgoing.len() > 0 => {
                    // It has said all it wanted, but may still listen.
                    *peer_may_send = false;
                    return;
                }
                Ok(count) if count > 0 => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                _ => self.end(WsCloseReason::Lost),
            }
        }
    }
}

/// The keys that a client masks its frames with: unpredictable to the application, as RFC 6455 section 10.3 asks, since
/// the standard library keys the hash from the system's entropy.
#[derive(Debug, Default)]
struct Masks {
    keyed: RandomState,
    count: u64,
}

impl Masks {
    fn next(&mut self) -> [u8; 4] {
        self.count += 1;
        (self.keyed.hash_one(self.count) as u32).to_ne_bytes()
    }
}

impl fmt::Display for WsSendError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            WsSendError::Full => "too many bytes are unsent",
            WsSendError::TooLarge => "the message is too large",
            WsSendError::NotOpen => "the connection is not open",
        })
    }
}

impl std::error::Error for WsSendError {}

impl fmt::Display for WsConnectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WsConnectError::BadUrl => formatter.write_str("not a ws:// URL"),
            WsConnectError::Io(error) => write!(formatter, "cannot connect: {error}"),
        }
    }
}

impl std::error::Error for WsConnectError {}

/// What one connection may read before the others have their turn.
const TURN_BYTES: usize = 64 << 10;
/// Room for control frames beyond the high-water mark, and in tungstenite's own buffer.
const CONTROL_BYTES_MAX: usize = 4 << 10;
/// RFC 6455 section 5.5: a control frame carries 125 bytes, two of which are the code.
const CLOSE_REASON_BYTES_MAX: usize = 123;
