//! One WebSocket connection, server or client side: a TCP stream and its current phase.

mod closing;
mod opening;
mod outcomes;
mod sending;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use skipstone_prefetch::prefetch;
use skipstone_proto::Cost;
use socket2::SockRef;
use tungstenite::Message;
use tungstenite::error::Error;
use tungstenite::handshake::client::generate_key;
use tungstenite::http::Uri;
use tungstenite::protocol::WebSocketContext;

pub use self::outcomes::{WsConnectError, WsReceive, WsSendError};
use super::entrance::Entrance;
use super::frames::{RawItem, RawReader};
use super::gate::Admission;
use super::handshake::{FirstBytes, Head, encode_request};
use super::outgoing::{ByteQueue, FRAME_HEAD_BYTES_MAX, Masks, Pipe};
use super::transport::Transport;
use super::turn::Turn;
use super::{
    StreamKind, StreamRules, TlsClient, TlsFailure, WsCloseReason, WsOptions, WsPeerClose, WsState, WsStatistics,
};
use tungstenite::protocol::frame::coding::Data;

/// One connection; see the [module](super) for how to drive it. Never blocks and never panics on the peer's data; its
/// memory is bounded by the high-water mark, one message being put together, and the head of the handshake.
#[derive(Debug)]
pub struct WsConnection {
    transport: Transport,
    peer: SocketAddr,
    /// The framing of messages, once the handshake is complete.
    kind: Option<StreamKind>,
    /// Messages are echoed to their sender.
    echoes: bool,
    options: WsOptions,
    phase: Phase,
    outgoing: ByteQueue,
    turn: Turn,
    masks: Option<Masks>,
    deadline: Option<Instant>,
    close_reason: Option<WsCloseReason>,
    peer_close: Option<WsPeerClose>,
    /// A ping arrived. Its answer is sent after the last message that was read with it.
    owes_answer: bool,
    /// tungstenite may hold frames: it writes only control frames, which answer received ones.
    may_hold_frames: bool,
    statistics: WsStatistics,
}

/// The current use of the TCP stream.
#[derive(Debug)]
enum Phase {
    /// TCP is not connected yet; the request waits.
    Connecting {
        /// `None` for a stream without WebSocket.
        key: Option<String>,
    },
    /// A server reads the request.
    Request(Box<Entrance>),
    /// A client reads the answer to its request.
    Response {
        head: Head,
        key: String,
    },
    /// WebSocket frames.
    Frames(Box<WebSocketContext>),
    /// Length-prefixed messages.
    Raw(RawReader),
    /// The last bytes are sent. Received bytes are discarded, since closing a socket with unread bytes would reset the
    /// connection and could lose the last bytes.
    Draining {
        peer_may_send: bool,
        is_shut: bool,
    },
    Closed,
}

/// Whether a server continues with a client at this address.
pub(super) type Admits<'a> = &'a mut dyn FnMut(Admission, &SocketAddr) -> bool;

impl WsConnection {
    pub(super) fn accepted(
        tcp: TcpStream,
        peer: SocketAddr,
        options: WsOptions,
        rules: &Arc<StreamRules>,
    ) -> WsConnection {
        let entrance = Box::new(Entrance::new(Arc::clone(rules), peer));
        WsConnection::start(tcp, peer, options, Phase::Request(entrance))
    }

    /// Begins to connect to `address` and to ask for `url`, whose host is only named in the request; within TLS if the
    /// URL begins with `wss://`.
    ///
    /// # Errors
    /// The URL is invalid, it begins with `wss://` and there is no trust, or the system refuses a TCP socket. A server
    /// that does not answer is reported later, by [`close_reason`](Self::close_reason).
    pub fn connect(
        url: &str,
        address: SocketAddr,
        options: WsOptions,
        tls: Option<&TlsClient>,
    ) -> Result<WsConnection, WsConnectError> {
        let uri: Uri =
            without_zone(url.split('#').next().unwrap_or_default()).parse().map_err(|_| WsConnectError::BadUrl)?;
        let key = generate_key();
        let request = encode_request(&uri, &key).ok_or(WsConnectError::BadUrl)?;
        let is_secure = uri.scheme_str() == Some("wss");
        let tls = tls.filter(|_| is_secure);
        if is_secure && tls.is_none() {
            return Err(WsConnectError::NoTrust);
        }
        let tcp = TcpStream::connect(address).map_err(WsConnectError::Io)?;
        let mut connection = WsConnection::start(tcp, address, options, Phase::Connecting { key: Some(key) });
        if let Some(tls) = tls {
            connection.transport.ask_for_tls(tls).map_err(WsConnectError::Io)?;
        }
        connection.masks = Some(Masks::default());
        connection.outgoing.append(&request);
        Ok(connection)
    }

    /// Begins to connect to `address`, for messages without WebSocket.
    ///
    /// # Errors
    /// The system refuses a TCP socket.
    pub fn connect_raw(address: SocketAddr, options: WsOptions) -> io::Result<WsConnection> {
        let tcp = TcpStream::connect(address)?;
        Ok(WsConnection::start(tcp, address, options, Phase::Connecting { key: None }))
    }

    fn start(tcp: TcpStream, peer: SocketAddr, options: WsOptions, phase: Phase) -> WsConnection {
        // Neither can fail on a sound stream, and an unsound one shows at the first read.
        let _ = tcp.set_nodelay(true);
        let _ = SockRef::from(&tcp).set_send_buffer_size(options.kernel_send_buffer_bytes);
        WsConnection {
            transport: Transport::new(tcp),
            peer,
            kind: None,
            echoes: false,
            options,
            phase,
            outgoing: ByteQueue::default(),
            turn: Turn::new(),
            masks: None,
            deadline: Some(Instant::now() + options.handshake_timeout),
            close_reason: None,
            peer_close: None,
            owes_answer: false,
            may_hold_frames: false,
            statistics: WsStatistics::default(),
        }
    }

    /// Reports readiness under `token`. Edge-triggered: see the [module](super).
    ///
    /// # Errors
    /// The connection is registered already, or the system refuses to watch it.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.transport.tcp, token, Interest::READABLE | Interest::WRITABLE)
    }

    /// Ends [`register`](Self::register); dropping the connection does so too.
    ///
    /// # Errors
    /// The connection was not registered with this registry.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        registry.deregister(&mut self.transport.tcp)
    }

    /// Prefetches the data that is read with the next message. The connection itself is in the caches.
    pub(crate) fn prefetch(&self) {
        if let Phase::Frames(frames) = &self.phase {
            prefetch(&**frames);
        }
    }

    /// The framing of messages; `None` before the handshake is complete.
    pub fn kind(&self) -> Option<StreamKind> {
        self.kind
    }

    /// Why TLS has failed, if it has.
    pub fn tls_failure(&self) -> Option<&TlsFailure> {
        self.transport.failure()
    }

    /// Whether the handshake of TLS is in progress.
    pub fn is_securing(&self) -> bool {
        self.transport.is_handshaking()
    }

    /// The peer's address, IPv4 as IPv4: the client that a trusted proxy names, once its header has arrived.
    pub fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    /// The current state.
    pub fn state(&self) -> WsState {
        match &self.phase {
            Phase::Closed => WsState::Closed,
            _ if self.close_reason.is_some() => WsState::Closing,
            Phase::Request(_) => WsState::HandshakingServer,
            Phase::Connecting { .. } | Phase::Response { .. } => WsState::HandshakingClient,
            Phase::Frames(_) | Phase::Raw(_) => WsState::Open,
            Phase::Draining { .. } => WsState::Closing,
        }
    }

    /// Whether messages can be sent.
    pub fn is_open(&self) -> bool {
        self.state() == WsState::Open
    }

    /// Whether the connection has ended and can be dropped.
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

    /// Why the connection ended or is ending.
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
            Phase::Request(entrance) => entrance.head.first_bytes(),
            _ => None,
        }
    }

    /// Bytes accepted by `send` that the kernel has not taken yet, frame headers included.
    pub fn unsent_bytes(&self) -> usize {
        self.outgoing.len() + self.transport.unsent_bytes()
    }

    /// Whether the connection is open and has few unsent bytes. Above that limit, use `send` only for messages that
    /// cannot be dropped.
    pub fn is_writable(&self) -> bool {
        self.is_open() && self.unsent_bytes() < self.options.low_water_bytes
    }

    /// Whether messages are echoed to their sender.
    pub(crate) fn is_echo(&self) -> bool {
        self.echoes
    }

    /// The cost so far of reading this connection.
    pub(crate) fn cost(&self) -> Cost {
        self.turn.spent()
    }

    /// Counters so far.
    pub fn statistics(&self) -> WsStatistics {
        WsStatistics { bytes_in: self.turn.bytes_in, ..self.statistics }
    }

    /// Call this at each readiness event and after [`WsReceive::More`]: it begins a turn of the connection,
    /// continues the handshake and writes queued bytes. Then call [`receive`](Self::receive) until it returns no
    /// message. Set `may_be_over` if there is no event, or if the event reports an end or an error.
    pub fn on_ready(&mut self, may_be_over: bool) {
        self.on_ready_if(may_be_over, TURN, &mut |_, _| true);
    }

    /// Like [`on_ready`](Self::on_ready), for a turn with this budget, and a server that decides whether it continues
    /// with this client.
    pub fn on_ready_if(&mut self, may_be_over: bool, cost_max: Cost, admits: Admits<'_>) {
        self.turn.begin(cost_max);
        self.transport.begin_turn(may_be_over);
        self.check_connected();
        self.pump_handshake(admits);
        self.flush();
    }

    /// Server side: whether a TLS handshake began and led to neither a WebSocket nor a request.
    pub fn has_wasted_tls(&self) -> bool {
        let is_nothing = matches!(
            self.close_reason,
            None | Some(WsCloseReason::Lost | WsCloseReason::TimedOut | WsCloseReason::TlsFailed)
        );
        self.transport.is_secure() && is_nothing
    }

    /// The next binary message, read from the kernel as needed. Pings are answered, text is counted and ignored.
    pub fn receive(&mut self) -> WsReceive {
        if let Some(message) = self.receive_raw() {
            self.turn.charge(MESSAGE);
            return WsReceive::Message(message);
        }
        while let Phase::Frames(frames) = &mut self.phase
            && !self.turn.is_used_up()
        {
            let mut pipe = Pipe {
                transport: &mut self.transport,
                outgoing: &mut self.outgoing,
                outgoing_bytes_max: self.options.high_water_bytes + CONTROL_BYTES_MAX,
                turn: &mut self.turn,
            };
            match frames.read(&mut pipe) {
                Ok(Message::Binary(bytes)) if self.echoes => self.echo(Data::Binary, &bytes),
                Ok(Message::Text(text)) if self.echoes => self.echo(Data::Text, text.as_bytes()),
                Ok(Message::Binary(bytes)) if self.close_reason.is_none() => {
                    self.statistics.messages_in += 1;
                    self.turn.charge(MESSAGE);
                    return WsReceive::Message(bytes);
                }
                Ok(Message::Text(_)) => self.statistics.text_ignored += 1,
                Ok(Message::Ping(_) | Message::Pong(_)) => {
                    self.statistics.control_in += 1;
                    (self.owes_answer, self.may_hold_frames) = (true, true);
                }
                Ok(Message::Close(frame)) => {
                    self.may_hold_frames = true;
                    self.on_peer_close(frame);
                }
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

    /// The next message of a stream without WebSocket.
    fn receive_raw(&mut self) -> Option<Bytes> {
        while let Phase::Raw(reader) = &mut self.phase
            && !self.turn.is_used_up()
        {
            match reader.next() {
                RawItem::Message(message) => {
                    self.statistics.messages_in += 1;
                    return Some(message);
                }
                RawItem::Broken => {
                    self.begin_closing(WsCloseReason::Protocol);
                    self.phase = Phase::Draining { peer_may_send: true, is_shut: false };
                    break;
                }
                RawItem::Incomplete => {}
            }
            match reader.fill(&mut self.turn, &mut self.transport) {
                Ok(0) => self.end(WsCloseReason::Lost),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.end_broken(),
            }
        }
        None
    }

    /// Sends a message back to its sender.
    fn echo(&mut self, kind: Data, payload: &[u8]) {
        if self.close_reason.is_some() {
            return;
        }
        match self.unsent_bytes() + FRAME_HEAD_BYTES_MAX + payload.len() > self.options.high_water_bytes {
            // A client that asks for echoes is expected to read them.
            true => self.end(WsCloseReason::Lost),
            false => self.outgoing.append_message(kind, payload, self.masks.as_mut().map(Masks::next)),
        }
        self.owes_answer = true;
    }
}

/// A turn of a connection that shares its thread with few others.
const TURN: Cost = Cost::micros(50);
/// Cost of a message that is passed on.
const MESSAGE: Cost = Cost::nanos(800);

/// Room for control frames beyond the high-water mark, and in tungstenite's own buffer.
const CONTROL_BYTES_MAX: usize = 4 << 10;

/// A request's URL without the zone of an address, which only this machine knows (RFC 6874, section 4).
fn without_zone(url: &str) -> String {
    let bracketed = url.split_once("://[").and_then(|(scheme, rest)| Some((scheme, rest.split_once(']')?)));
    match bracketed {
        Some((scheme, (host, rest))) => format!("{scheme}://[{}]{rest}", host.split('%').next().unwrap_or(host)),
        None => url.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_zone;

    #[test]
    fn only_the_zone_is_removed() {
        for (url, told) in [
            ("ws://[fe80::1%eth0]:7/p", "ws://[fe80::1]:7/p"),
            ("ws://[fe80::1%25eth0]:7/p?a=%20&b[]=1", "ws://[fe80::1]:7/p?a=%20&b[]=1"),
            ("wss://h/p?a=%20&ids[]=1", "wss://h/p?a=%20&ids[]=1"),
            ("ws://[::1]:7", "ws://[::1]:7"),
        ] {
            assert_eq!(without_zone(url), told);
        }
    }
}
