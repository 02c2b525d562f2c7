//! Non-blocking TCP, in clear or within TLS, distinguished by its first bytes: WebSocket (RFC 6455), where one binary
//! message is one datagram of the protocol; the same datagrams, each after its length (`frames`); and plain HTTP, which
//! is answered. Handshake, frames, bounded buffers and the closing handshake; the layer above interprets the messages.
//!
//! ```text
//!  accept ─> HandshakingServer ─┐ (bad request: short HTTP answer) ─────> Closing ─> Closed
//!                               ├─> Open ── close(), Close frame, error ──> Closing ─> Closed
//! connect ─> HandshakingClient ─┘     └────── TCP ended or broke ───────────────────> Closed
//! ```
//! A server's handshake: the PROXY header of a trusted proxy, TLS if the first byte is 0x16, then the request, or a
//! message. Readiness is edge-triggered: for each event call `on_ready`, then `receive` until it returns no message.
//! Handshakes and closings have deadlines, which `is_stale` checks; a stale connection is dropped.

#[cfg(not(feature = "websocket"))]
mod absent;
mod answers;
#[cfg(feature = "websocket")]
mod connection;
#[cfg(feature = "websocket")]
mod entrance;
#[cfg(feature = "websocket")]
mod fields;
#[cfg(feature = "websocket")]
mod frames;
#[cfg(all(feature = "unstable", feature = "websocket"))]
pub mod fuzzed;
mod gate;
#[cfg(feature = "websocket")]
mod handshake;
#[cfg(feature = "websocket")]
mod heads;
mod hosts;
#[cfg(feature = "websocket")]
mod listener;
mod origins;
#[cfg(feature = "websocket")]
mod outgoing;
mod proxies;
#[cfg(feature = "websocket")]
mod proxy_protocol;
#[cfg(feature = "websocket")]
mod request;
#[cfg_attr(not(all(feature = "__tls", feature = "websocket")), path = "tls_absent.rs")]
#[cfg_attr(not(feature = "websocket"), allow(dead_code, reason = "nothing uses it without WebSockets"))]
mod tls;
#[cfg(feature = "websocket")]
mod transport;
#[cfg(feature = "websocket")]
mod turn;

use std::time::Duration;

#[cfg(not(feature = "websocket"))]
pub use absent::{WsAccept, WsConnectError, WsConnection, WsListener, WsReceive, WsSendError};
pub use answers::{HttpAnswer, HttpAnswers};
#[cfg(feature = "websocket")]
pub use connection::{WsConnectError, WsConnection, WsReceive, WsSendError};
pub use gate::{Admission, StreamRules};
#[cfg(feature = "websocket")]
pub use handshake::{FirstBytes, SUBPROTOCOL};
pub use hosts::AllowedHosts;
#[cfg(feature = "websocket")]
pub use listener::{WsAccept, WsListener, WsListenerStatistics};
pub use origins::AllowedOrigins;
pub use proxies::TrustedProxies;
pub use tls::{TlsClient, TlsFailure, TlsServer};

/// The largest message in either direction, as large as a UDP datagram.
pub const MESSAGE_BYTES_MAX: usize = 65_507;

/// Limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct WsOptions {
    /// `send` refuses beyond this many unsent bytes (frame headers included).
    pub high_water_bytes: usize,
    /// `is_writable` is false from this many unsent bytes on.
    pub low_water_bytes: usize,
    /// The kernel's send buffer: small enough that a peer that stopped reading shows in `unsent_bytes`.
    pub kernel_send_buffer_bytes: usize,
    /// Allocated per connection for reading; larger saves system calls under load.
    pub read_buffer_bytes: usize,
    /// The largest message that is accepted; at least [`MESSAGE_BYTES_MAX`] for this crate's own messages.
    pub message_bytes_max: usize,
    /// Time limit of TCP connect and handshake together.
    pub handshake_timeout: Duration,
    /// Time limit of closing.
    pub close_timeout: Duration,
}

impl Default for WsOptions {
    fn default() -> WsOptions {
        WsOptions {
            high_water_bytes: 256 << 10,
            low_water_bytes: 64 << 10,
            kernel_send_buffer_bytes: 128 << 10,
            read_buffer_bytes: 4 << 10,
            message_bytes_max: MESSAGE_BYTES_MAX,
            handshake_timeout: Duration::from_secs(10),
            close_timeout: Duration::from_secs(3),
        }
    }
}

/// The framing of a connection's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// WebSocket in clear.
    WebSocket,
    /// WebSocket within TLS.
    SecureWebSocket,
    /// Length-prefixed messages, in clear.
    Raw,
    /// A raw stream within TLS.
    SecureRaw,
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WsState {
    /// A server waits for the request.
    HandshakingServer,
    /// A client connects or waits for the answer.
    HandshakingClient,
    /// Messages can be sent and received.
    Open,
    /// The last bytes are sent; nothing is delivered any more.
    Closing,
    /// The connection is over: drop it.
    Closed,
}

/// Why a connection ended or is ending: the first reason is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WsCloseReason {
    /// Our `close`.
    Local,
    /// The peer's Close frame.
    Remote,
    /// TCP ended or broke without a Close frame.
    Lost,
    /// A deadline passed. Never set here: it serves the counters of a caller that drops a stale connection.
    TimedOut,
    /// The client uses TLS, and the server has no certificate.
    Tls,
    /// TLS has failed: the handshake, or a record.
    TlsFailed,
    /// The client requests TLS, and the server may begin no handshake with it now.
    OverBudget,
    /// An invalid PROXY header.
    BadProxy,
    /// A PROXY header from an address that is not a trusted proxy.
    UntrustedProxy,
    /// A request in clear, where TLS is required.
    InClear,
    /// A stream without WebSocket, which this server does not accept.
    NotTaken,
    /// A request for a host name that is not allowed.
    Host,
    /// Plain HTTP, which was answered.
    Answered,
    /// The first bytes are not HTTP.
    NotHttp,
    /// HTTP, but malformed.
    BadRequest,
    /// HTTP without a WebSocket upgrade.
    NoUpgrade,
    /// The head of the request or answer is too long.
    HeadTooLarge,
    /// The server's answer to our handshake is not a proper "101".
    Refused,
    /// A message beyond [`MESSAGE_BYTES_MAX`].
    MessageTooLarge,
    /// A broken frame.
    Protocol,
    /// A page of an origin that is not allowed.
    Origin,
}

impl WsCloseReason {
    /// Each of them once, in declaration order (`reason as usize` is its place), for counters by reason.
    pub const ALL: [WsCloseReason; 21] = [
        WsCloseReason::Local,
        WsCloseReason::Remote,
        WsCloseReason::Lost,
        WsCloseReason::TimedOut,
        WsCloseReason::Tls,
        WsCloseReason::TlsFailed,
        WsCloseReason::OverBudget,
        WsCloseReason::BadProxy,
        WsCloseReason::UntrustedProxy,
        WsCloseReason::InClear,
        WsCloseReason::NotTaken,
        WsCloseReason::Host,
        WsCloseReason::Answered,
        WsCloseReason::NotHttp,
        WsCloseReason::BadRequest,
        WsCloseReason::NoUpgrade,
        WsCloseReason::HeadTooLarge,
        WsCloseReason::Refused,
        WsCloseReason::MessageTooLarge,
        WsCloseReason::Protocol,
        WsCloseReason::Origin,
    ];

    /// Its name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            WsCloseReason::Local => "local",
            WsCloseReason::Remote => "remote",
            WsCloseReason::Lost => "lost",
            WsCloseReason::TimedOut => "timed_out",
            WsCloseReason::Tls => "tls",
            WsCloseReason::TlsFailed => "tls_failed",
            WsCloseReason::OverBudget => "over_budget",
            WsCloseReason::BadProxy => "bad_proxy",
            WsCloseReason::UntrustedProxy => "untrusted_proxy",
            WsCloseReason::InClear => "in_clear",
            WsCloseReason::NotTaken => "not_taken",
            WsCloseReason::Host => "host",
            WsCloseReason::Answered => "answered",
            WsCloseReason::NotHttp => "not_http",
            WsCloseReason::BadRequest => "bad_request",
            WsCloseReason::NoUpgrade => "no_upgrade",
            WsCloseReason::HeadTooLarge => "head_too_large",
            WsCloseReason::Refused => "refused",
            WsCloseReason::MessageTooLarge => "message_too_large",
            WsCloseReason::Protocol => "protocol",
            WsCloseReason::Origin => "origin",
        }
    }
}

/// Contents of the peer's Close frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WsPeerClose {
    /// RFC 6455 section 7.4; 1005 if the frame had none.
    pub code: u16,
    /// Up to 123 bytes.
    pub reason: String,
}

/// Counters of one connection. Within TLS, bytes are those inside of its records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WsStatistics {
    /// Bytes read, the WebSocket handshake included.
    pub bytes_in: u64,
    /// Bytes that the kernel, or TLS for sealing, accepted; the WebSocket handshake included.
    pub bytes_out: u64,
    /// Binary messages delivered.
    pub messages_in: u64,
    /// Messages accepted by `send`.
    pub messages_out: u64,
    /// Text messages, which are ignored.
    pub text_ignored: u64,
    /// Ping and pong frames received.
    pub control_in: u64,
    /// Writes of which at least one byte was taken.
    pub writes: u64,
}
