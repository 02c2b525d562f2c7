//! One WebSocket connection, server or client side: a TCP stream and its current phase.

mod closing;
mod opening;
mod outcomes;

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::time::Instant;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use socket2::SockRef;
use tungstenite::Message;
use tungstenite::error::Error;
use tungstenite::handshake::client::generate_key;
use tungstenite::http::Uri;
use tungstenite::protocol::WebSocketContext;

pub use self::outcomes::{WsConnectError, WsReceive, WsSendError};
use super::handshake::{FirstBytes, Head, encode_request};
use super::outgoing::{FRAME_HEAD_BYTES_MAX, Masks, Outgoing, Pipe, Turn};
use super::{AllowedOrigins, MESSAGE_BYTES_MAX, WsCloseReason, WsOptions, WsPeerClose, WsState, WsStatistics};

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
    /// A ping arrived. Its answer is sent after the last message that was read with it.
    owes_answer: bool,
    statistics: WsStatistics,
}

/// The current use of the TCP stream.
#[derive(Debug)]
enum Phase {
    /// TCP is not connected yet; the request waits.
    Connecting {
        key: String,
    },
    /// A server reads the request.
    Request(Head, AllowedOrigins),
    /// A client reads the answer to its request.
    Response {
        head: Head,
        key: String,
    },
    /// WebSocket frames.
    Frames(Box<WebSocketContext>),
    /// The last bytes are sent. Received bytes are discarded, since closing a socket with unread bytes would reset the
    /// connection and could lose the last bytes.
    Draining {
        peer_may_send: bool,
        is_shut: bool,
    },
    Closed,
}

impl WsConnection {
    pub(super) fn accepted(
        tcp: TcpStream,
        peer: SocketAddr,
        options: WsOptions,
        origins: AllowedOrigins,
    ) -> WsConnection {
        WsConnection::start(tcp, peer, options, Phase::Request(Head::default(), origins))
    }

    /// Begins to connect to `address` and to ask for `url`, whose host is only named in the request.
    ///
    /// # Errors
    /// The URL cannot be read, or the system refuses a TCP socket. A server that does not answer shows later, in
    /// [`close_reason`](Self::close_reason).
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
            turn: Turn::new(),
            masks: None,
            deadline: Some(Instant::now() + options.handshake_timeout),
            close_reason: None,
            peer_close: None,
            owes_answer: false,
            statistics: WsStatistics::default(),
        }
    }

    /// Reports readiness under `token`. Edge-triggered: see the [module](super).
    ///
    /// # Errors
    /// The connection is registered already, or the system refuses to watch it.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.tcp, token, Interest::READABLE | Interest::WRITABLE)
    }

    /// Ends [`register`](Self::register); dropping the connection does so too.
    ///
    /// # Errors
    /// The connection was not registered with this registry.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        registry.deregister(&mut self.tcp)
    }

    /// The other side, IPv4 as IPv4.
    pub fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    /// The current state.
    pub fn state(&self) -> WsState {
        match &self.phase {
            Phase::Closed => WsState::Closed,
            _ if self.close_reason.is_some() => WsState::Closing,
            Phase::Request(..) => WsState::HandshakingServer,
            Phase::Connecting { .. } | Phase::Response { .. } => WsState::HandshakingClient,
            Phase::Frames(_) => WsState::Open,
            Phase::Draining { .. } => WsState::Closing,
        }
    }

    /// Whether messages can be sent.
    pub fn is_open(&self) -> bool {
        self.state() == WsState::Open
    }

    /// Whether the connection is over and can be dropped.
    pub fn is_closed(&self) -> bool {
        self.state() == WsState::Closed
    }

    /// Whether the handshake or the closing took too long: drop the connection (as [`WsCloseReason::TimedOut`] if it
    /// was not closing yet).
    pub fn is_stale(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| now >= deadline) && !self.is_closed()
    }

    /// When [`is_stale`](Self::is_stale) becomes true, if nothing happens until then.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Reason why the connection ended or is ending.
    pub fn close_reason(&self) -> Option<WsCloseReason> {
        self.close_reason
    }

    /// Contents of the peer's Close frame, if one arrived.
    pub fn peer_close(&self) -> Option<&WsPeerClose> {
        self.peer_close.as_ref()
    }

    /// Server side, during the handshake: the client's protocol, as soon as it is known.
    pub fn first_bytes(&self) -> Option<FirstBytes> {
        match &self.phase {
            Phase::Request(head, _) => head.first_bytes(),
            _ => None,
        }
    }

    /// Bytes accepted by `send` that the kernel has not taken yet, frame headers included.
    pub fn unsent_bytes(&self) -> usize {
        self.outgoing.len()
    }

    /// Whether the connection is open and has few unsent bytes. Above that limit, use `send` only for messages that
    /// cannot be dropped.
    pub fn is_writable(&self) -> bool {
        self.is_open() && self.unsent_bytes() < self.options.low_water_bytes
    }

    /// Counters so far.
    pub fn statistics(&self) -> WsStatistics {
        WsStatistics { bytes_in: self.turn.bytes_in, ..self.statistics }
    }

    /// Call this at each readiness event and after [`WsReceive::More`]: it gives the connection a new read budget,
    /// continues the handshake and writes queued bytes. Then call [`receive`](Self::receive) until it returns no
    /// message. Set `may_be_over` if there is no event, or if the event reports an end or an error.
    pub fn on_ready(&mut self, may_be_over: bool) {
        self.turn.begin(may_be_over);
        self.check_connected();
        self.pump_handshake();
        self.flush();
    }

    /// Queues one binary message; [`flush`](Self::flush) sends it, together with all others queued by then.
    ///
    /// # Errors
    /// The connection is not open, the message has more than [`MESSAGE_BYTES_MAX`] bytes, or the bytes that wait to be
    /// written have reached their limit. The message is not queued then.
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
                    self.owes_answer = true;
                }
                Ok(Message::Close(frame)) => self.on_peer_close(frame),
                Ok(Message::Binary(_) | Message::Frame(_)) => {}
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => self.on_frame_error(&error),
            }
        }
        self.discard_incoming();
        if std::mem::take(&mut self.owes_answer) || self.close_reason.is_some() {
            self.flush();
        }
        let had_its_share = self.turn.is_used_up() && !self.is_closed();
        if had_its_share { WsReceive::More } else { WsReceive::Empty }
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
}

/// Room for control frames beyond the high-water mark, and in tungstenite's own buffer.
const CONTROL_BYTES_MAX: usize = 4 << 10;
