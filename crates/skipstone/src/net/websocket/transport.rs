//! A TCP stream, in clear or within TLS, and the cost of reading it.

use super::heads::{Framing, Heads};
use super::tls::{Tls, TlsClient, TlsFailure, TlsServer};
use mio::net::TcpStream;
use skipstone_proto::Cost;
use std::io::{self, Read, Write};
use std::net::Shutdown;

/// A TCP stream, possibly within TLS.
#[derive(Debug)]
pub(super) struct Transport {
    pub(super) tcp: TcpStream,
    tls: Option<Box<Tls>>,
    tap: Tap,
}

/// What is known about the bytes that wait in the kernel's buffer.
#[derive(Debug, Default)]
struct Tap {
    /// A read that does not fill its buffer has emptied the socket.
    trusts_short_reads: bool,
    /// The socket was emptied in this turn.
    is_dry: bool,
    /// Within TLS.
    records: Option<Heads>,
}

/// TCP below TLS.
struct Tapped<'a> {
    tcp: &'a mut TcpStream,
    tap: &'a mut Tap,
    /// The budget of reads. WHY: TLS continues to read while records are empty.
    left: &'a mut Cost,
}

/// A call that reads.
const READ: Cost = Cost::nanos(1_000);
/// Bytes that cost a nanosecond to copy, and to open within TLS.
const BYTES_PER_NANO: usize = 4;
/// A TLS record, whatever its content.
const RECORD: Cost = Cost::nanos(400);

/// With epoll a short read is the last: later bytes cause another event (epoll(7), question 9). Elsewhere readiness is
/// reported again only after a read that would have blocked.
const SHORT_READS_ARE_LAST: bool = cfg!(target_os = "linux");

impl Transport {
    pub(super) fn new(tcp: TcpStream) -> Self {
        Transport { tcp, tls: None, tap: Tap::default() }
    }

    /// Starts a new turn. A stream that `may_be_over` is drained, because no further event would report the end.
    pub(super) fn begin_turn(&mut self, may_be_over: bool) {
        self.tap.trusts_short_reads = SHORT_READS_ARE_LAST && !may_be_over;
        self.tap.is_dry = false;
    }

    /// Continues within TLS, as a server whose client has sent these bytes.
    pub(super) fn serve_tls(&mut self, server: &TlsServer, first: &[u8]) -> io::Result<()> {
        self.tap.records.insert(Heads::of(Framing::Tls)).pass(first);
        let tls = self.tls.insert(Box::new(Tls::server(server, first)?));
        let _ = tls.flush(&mut self.tcp);
        Ok(())
    }

    /// Begins with TLS, as a client.
    pub(super) fn ask_for_tls(&mut self, client: &TlsClient) -> io::Result<()> {
        self.tap.records = Some(Heads::of(Framing::Tls));
        self.tls = Some(Box::new(Tls::client(client)?));
        Ok(())
    }

    pub(super) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    pub(super) fn failure(&self) -> Option<&TlsFailure> {
        self.tls.as_ref().and_then(|tls| tls.failure())
    }

    /// Bytes that were written and are not in the kernel.
    pub(super) fn unsent_bytes(&self) -> usize {
        self.tls.as_ref().map_or(0, |tls| tls.unsent_bytes())
    }

    /// Writes the bytes that TLS holds. `WouldBlock` is not an error.
    pub(super) fn push(&mut self) -> io::Result<()> {
        match self.tls.as_mut().map_or(Ok(()), |tls| tls.flush(&mut self.tcp)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }

    /// Ends the sending direction. False if bytes are still to be written first.
    pub(super) fn shut(&mut self) -> io::Result<bool> {
        if let Some(tls) = &mut self.tls
            && !tls.finish(&mut self.tcp)?
        {
            return Ok(false);
        }
        self.tcp.shutdown(Shutdown::Write).map(|()| true)
    }

    /// Reads within about the rest of the budget, and charges the cost to it.
    pub(super) fn read(&mut self, left: &mut Cost, buffer: &mut [u8]) -> io::Result<usize> {
        let mut tapped = Tapped { tcp: &mut self.tcp, tap: &mut self.tap, left };
        let Some(tls) = &mut self.tls else { return tapped.read(buffer) };
        let read = tls.read(&mut tapped, buffer);
        // Handshakes and alerts; a kernel that takes nothing now is asked again at the next readiness.
        let _ = tls.flush(&mut self.tcp);
        read
    }
}

impl Read for Tapped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.tap.is_dry || !self.left.is_left() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        *self.left -= READ;
        let count = loop {
            match self.tcp.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        *self.left -= Cost::nanos((count / BYTES_PER_NANO) as i64);
        if let Some(records) = &mut self.tap.records {
            *self.left -= RECORD * records.pass(&buffer[..count]);
        }
        self.tap.is_dry = self.tap.trusts_short_reads && (1..buffer.len()).contains(&count);
        Ok(count)
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => tls.write(&mut self.tcp, bytes),
            None => self.tcp.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
