//! A build without the feature `websocket`: nothing listens or connects, and each call that would do so returns an
//! error with the reason. Values of the connection's and the listener's type cannot exist.

use super::{Admission, StreamKind, StreamRules, TlsClient, TlsFailure, WsCloseReason, WsOptions, WsPeerClose};
use bytes::Bytes;
use mio::{Registry, Token};
use skipstone_proto::Cost;
use std::net::SocketAddr;
use std::time::Instant;
use std::{fmt, io};

/// No connection.
#[derive(Debug)]
pub enum WsConnection {}

/// No listener.
#[derive(Debug)]
pub enum WsListener {}

/// The outcome of a read.
#[derive(Debug)]
pub enum WsReceive {
    /// A binary message; ask again.
    Message(Bytes),
    /// Everything is read.
    Empty,
    /// This connection had its share.
    More,
}

/// The outcome of accepting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WsAccept {
    /// Never.
    OutOfFiles,
    /// Others wait.
    More,
}

/// Nothing can be sent.
#[derive(Debug)]
pub enum WsSendError {}

/// This program was built without WebSocket.
#[derive(Debug)]
pub struct WsConnectError;

impl fmt::Display for WsConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this program was built without WebSocket: build the library with its feature websocket")
    }
}

impl std::error::Error for WsConnectError {}

impl WsConnection {
    /// Nothing is framed.
    pub(crate) const ROOM_BYTES: usize = 0;

    /// Refuses.
    ///
    /// # Errors
    /// Always: this build has no WebSocket.
    pub fn connect(
        _: &str,
        _: SocketAddr,
        _: WsOptions,
        _: Option<&TlsClient>,
    ) -> Result<WsConnection, WsConnectError> {
        Err(WsConnectError)
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always: this build has no streams.
    pub fn connect_raw(_: SocketAddr, _: WsOptions) -> io::Result<WsConnection> {
        Err(io::Error::new(io::ErrorKind::Unsupported, WsConnectError))
    }

    pub(crate) fn prefetch(&self) {
        match *self {}
    }

    pub(crate) fn kind(&self) -> Option<StreamKind> {
        match *self {}
    }

    pub(crate) fn tls_failure(&self) -> Option<&TlsFailure> {
        match *self {}
    }

    pub(crate) fn is_securing(&self) -> bool {
        match *self {}
    }

    pub(crate) fn register(&mut self, _: &Registry, _: Token) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn peer_addr(&self) -> SocketAddr {
        match *self {}
    }

    pub(crate) fn is_open(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_closed(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_stale(&self, _: Instant) -> bool {
        match *self {}
    }

    pub(crate) fn is_writable(&self) -> bool {
        match *self {}
    }

    pub(crate) fn close_reason(&self) -> Option<WsCloseReason> {
        match *self {}
    }

    pub(crate) fn peer_close(&self) -> Option<&WsPeerClose> {
        match *self {}
    }

    pub(crate) fn cost(&self) -> Cost {
        match *self {}
    }

    pub(crate) fn is_echo(&self) -> bool {
        match *self {}
    }

    pub(crate) fn on_ready_if(&mut self, _: bool, _: Cost, _: &mut dyn FnMut(Admission, &SocketAddr) -> bool) {
        match *self {}
    }

    pub(crate) fn has_wasted_tls(&self) -> bool {
        match *self {}
    }

    pub(crate) fn send(&mut self, _: &[u8]) -> Result<(), WsSendError> {
        match *self {}
    }

    pub(crate) fn send_now(&mut self, _: &mut [u8]) -> Result<(), WsSendError> {
        match *self {}
    }

    pub(crate) fn flush(&mut self) {
        match *self {}
    }

    pub(crate) fn receive(&mut self) -> WsReceive {
        match *self {}
    }

    pub(crate) fn close(&mut self, _: u16, _: &str) {
        match *self {}
    }
}

impl WsListener {
    /// Refuses.
    ///
    /// # Errors
    /// Always: this build has no WebSocket.
    pub fn bind(_: SocketAddr, _: WsOptions) -> io::Result<WsListener> {
        Err(io::Error::new(io::ErrorKind::Unsupported, WsConnectError))
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always: this build has no WebSocket.
    pub fn bind_beside_others(address: SocketAddr, options: WsOptions) -> io::Result<WsListener> {
        WsListener::bind(address, options)
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always: this build has no WebSocket.
    pub fn adopt(_: std::net::TcpListener, _: WsOptions) -> io::Result<WsListener> {
        Err(io::Error::new(io::ErrorKind::Unsupported, WsConnectError))
    }

    pub(crate) fn duplicate(&self) -> io::Result<std::net::TcpListener> {
        match *self {}
    }

    pub(crate) fn register(&mut self, _: &Registry, _: Token) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn deregister(&mut self, _: &Registry) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn set_rules(&mut self, _: StreamRules) {
        match *self {}
    }

    pub(crate) fn accept_ready(&mut self, _: impl FnMut(WsConnection)) -> WsAccept {
        match *self {}
    }
}
