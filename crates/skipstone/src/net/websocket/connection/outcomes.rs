//! Results of the calls of a connection.

use std::{fmt, io};

use bytes::Bytes;

/// Result of [`WsConnection::receive`](super::WsConnection::receive).
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum WsReceive {
    /// A binary message; ask again.
    Message(Bytes),
    /// Everything is read: the next bytes cause an event.
    Empty,
    /// The connection has had its turn: call `on_ready` and `receive` again after the others, without an event.
    More,
}

/// Why [`WsConnection::send`](super::WsConnection::send) refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WsSendError {
    /// Too much is unsent: the peer reads more slowly than we write.
    Full,
    /// Beyond [`MESSAGE_BYTES_MAX`](crate::net::websocket::MESSAGE_BYTES_MAX).
    TooLarge,
    /// Not in [`WsState::Open`](crate::net::websocket::WsState::Open).
    NotOpen,
}

/// Why [`WsConnection::connect`](super::WsConnection::connect) failed at once.
#[derive(Debug)]
pub enum WsConnectError {
    /// Not a `ws://host[:port][/path]` or `wss://` URL.
    BadUrl,
    /// A `wss://` URL without trust in any server.
    NoTrust,
    /// The system refused.
    Io(io::Error),
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
            WsConnectError::BadUrl => formatter.write_str("not a ws:// or wss:// URL"),
            WsConnectError::NoTrust => formatter.write_str("nobody is trusted to be the server"),
            WsConnectError::Io(error) => write!(formatter, "cannot connect: {error}"),
        }
    }
}

impl std::error::Error for WsConnectError {}
