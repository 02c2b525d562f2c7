//! A build without encryption: no TLS begins, so its values cannot exist.

use std::io;

/// A server's configuration, which cannot exist.
#[derive(Clone, Debug)]
pub enum TlsServer {}

/// A client's configuration, which cannot exist.
#[derive(Clone, Debug)]
pub enum TlsClient {}

#[derive(Debug)]
pub(super) enum Tls {}

/// Why TLS ended a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFailure {
    /// The server is not the intended one.
    pub is_untrusted: bool,
    /// The error as text.
    pub reason: Box<str>,
}

impl Tls {
    pub(super) fn server(server: &TlsServer, _: &[u8]) -> io::Result<Self> {
        match *server {}
    }

    pub(super) fn client(client: &TlsClient) -> io::Result<Self> {
        match *client {}
    }

    pub(super) fn failure(&self) -> Option<&TlsFailure> {
        match *self {}
    }

    pub(super) fn is_handshaking(&self) -> bool {
        match *self {}
    }

    pub(super) fn unsent_bytes(&self) -> usize {
        match *self {}
    }

    pub(super) fn read<T>(&mut self, _: &mut T, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(super) fn write<T>(&mut self, _: &mut T, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(super) fn flush<T>(&mut self, _: &mut T) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn finish<T>(&mut self, _: &mut T) -> io::Result<bool> {
        match *self {}
    }
}
