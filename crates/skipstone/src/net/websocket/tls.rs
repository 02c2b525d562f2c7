//! TLS around a TCP stream, by rustls' connections, which do no I/O of their own. Its memory is bounded: an incomplete
//! record, or the limit of a handshake; 16 KB of plaintext; and the records of one write.

use rustls::pki_types::ServerName;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, Connection, Error, OtherError, ServerConfig, ServerConnection,
};
use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;

/// A server's configuration for TLS: its certificates, within rustls' configuration.
#[derive(Clone)]
pub struct TlsServer(pub Arc<ServerConfig>);

/// A client's configuration for TLS: its trust, and the server's name.
#[derive(Clone)]
pub struct TlsClient {
    /// The client's trust.
    pub config: Arc<ClientConfig>,
    /// The server name to send; an address is not sent.
    pub name: ServerName<'static>,
}

/// One end of TLS.
#[derive(Debug)]
pub(super) struct Tls {
    connection: Connection,
    /// Bytes of the last write whose records are not all in the kernel.
    unsent_bytes: usize,
    failure: Option<TlsFailure>,
    has_said_end: bool,
    /// Bytes that the peer may still send before the handshake is done.
    handshake_bytes_left: usize,
}

/// Why TLS ended a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFailure {
    /// The server is not the intended one.
    pub is_untrusted: bool,
    /// The error as text.
    pub reason: Box<str>,
}

/// Plaintext of one write: two records, so that few sealed bytes wait.
const WRITE_BYTES_MAX: usize = 32 << 10;
/// Bytes of a client's handshake. rustls by itself would join messages of up to 64 KB.
const CLIENT_HANDSHAKE_BYTES_MAX: usize = 20 << 10;
/// Bytes of a server's handshake, including its certificates.
const SERVER_HANDSHAKE_BYTES_MAX: usize = 80 << 10;

impl Tls {
    /// A server's end, for a client that has sent these bytes so far.
    pub(super) fn server(server: &TlsServer, first: &[u8]) -> io::Result<Self> {
        let connection = ServerConnection::new(server.0.clone()).map_err(io::Error::other)?;
        let mut tls = Tls::new(connection.into(), CLIENT_HANDSHAKE_BYTES_MAX);
        let mut rest = first;
        while !rest.is_empty() && tls.failure.is_none() {
            tls.connection.read_tls(&mut rest)?;
            // The failure stays, and its alert waits to be written.
            let _ = tls.process();
        }
        Ok(tls)
    }

    pub(super) fn client(client: &TlsClient) -> io::Result<Self> {
        let connection = ClientConnection::new(client.config.clone(), client.name.clone()).map_err(io::Error::other)?;
        Ok(Tls::new(connection.into(), SERVER_HANDSHAKE_BYTES_MAX))
    }

    fn new(connection: Connection, handshake_bytes_left: usize) -> Self {
        Tls { connection, unsent_bytes: 0, failure: None, has_said_end: false, handshake_bytes_left }
    }

    /// Why TLS has failed, if it has.
    pub(super) fn failure(&self) -> Option<&TlsFailure> {
        self.failure.as_ref()
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Bytes that were accepted and are not all in the kernel.
    pub(super) fn unsent_bytes(&self) -> usize {
        self.unsent_bytes
    }

    /// Reads plaintext. An end without a close_notify counts as an end: the layers above have their own closing.
    pub(super) fn read(&mut self, tcp: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                result => return result,
            }
            let count = self.connection.read_tls(tcp)?;
            self.charge(count)?;
            self.process()?;
        }
    }

    /// Counts bytes of the peer's handshake.
    fn charge(&mut self, bytes: usize) -> io::Result<()> {
        if !self.connection.is_handshaking() {
            return Ok(());
        }
        let left = self.handshake_bytes_left.checked_sub(bytes);
        self.handshake_bytes_left = left.unwrap_or(0);
        left.map(drop).ok_or_else(|| {
            let reason = "the other side's TLS handshake is too long";
            self.failure.get_or_insert(TlsFailure { is_untrusted: false, reason: reason.into() });
            io::Error::new(io::ErrorKind::InvalidData, reason)
        })
    }

    fn process(&mut self) -> io::Result<()> {
        self.connection.process_new_packets().map(drop).map_err(|error| {
            let failure = TlsFailure::of(&error);
            let reason = failure.reason.to_string();
            self.failure.get_or_insert(failure);
            io::Error::new(io::ErrorKind::InvalidData, reason)
        })
    }

    /// Seals and writes. `WouldBlock` if earlier bytes are not in the kernel yet.
    pub(super) fn write(&mut self, tcp: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        self.flush(tcp)?;
        let bytes = &bytes[..bytes.len().min(WRITE_BYTES_MAX)];
        let count = self.connection.writer().write(bytes)?;
        if count == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.unsent_bytes = count;
        match self.flush(tcp) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    /// Writes the sealed bytes.
    pub(super) fn flush(&mut self, tcp: &mut impl Write) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut OneBuffer(tcp)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => drop(result?),
            }
        }
        if !self.connection.is_handshaking() {
            self.unsent_bytes = 0;
        }
        Ok(())
    }

    /// Writes everything, a close_notify last. True when it is in the kernel.
    pub(super) fn finish(&mut self, tcp: &mut impl Write) -> io::Result<bool> {
        if !std::mem::replace(&mut self.has_said_end, true) && self.failure.is_none() {
            self.connection.send_close_notify();
        }
        match self.flush(tcp) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A stream whose writes of one buffer are plain ones: `writev` costs the kernel a tenth more.
struct OneBuffer<'a, W>(&'a mut W);

impl<W: Write> Write for OneBuffer<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        match buffers {
            [one] => self.0.write(one),
            several => self.0.write_vectored(several),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TlsFailure {
    fn of(error: &Error) -> Self {
        let reason = match error {
            // The rules for certificates have texts of their own.
            Error::InvalidCertificate(CertificateError::Other(OtherError(why))) => why.to_string(),
            error => format!("TLS failed: {error}"),
        };
        TlsFailure { is_untrusted: matches!(error, Error::InvalidCertificate(_)), reason: reason.into() }
    }
}

impl fmt::Debug for TlsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsServer").finish_non_exhaustive()
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsClient").field("name", &self.name).finish_non_exhaustive()
    }
}
