//! A connection to a server of HTTP: its socket, TLS if the URL has it, and the exchange that uses it.

use super::exchange::Exchange;
use crate::protocol::Ending;
use crate::tls::{TlsSettings, TlsStream};
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

/// A connection, idle or not.
#[derive(Debug)]
pub(super) struct HttpConnection {
    stream: TcpStream,
    is_open: bool,
    tls: Option<TlsStream>,
    /// Bytes for the socket.
    outgoing: Vec<u8>,
    exchange: Option<Exchange>,
}

/// How far a connection has come.
#[derive(Debug)]
pub(super) enum Driven {
    /// It waits for its socket.
    Waits,
    /// More may have arrived, which no new readiness reports.
    Unread,
    /// The answer is whole; the connection is idle if it may be used again, else over.
    Answered(Box<Exchange>),
    /// It is over.
    Over(Broken),
}

/// How a connection has ended.
#[derive(Debug)]
pub(super) struct Broken {
    /// In a sentence.
    pub(super) why: String,
    /// Before it was open: another address of the name may do.
    pub(super) is_unreachable: bool,
    /// Before any byte of the answer.
    pub(super) is_silent: bool,
}

impl HttpConnection {
    /// Begins to connect.
    pub(super) fn open(address: SocketAddr, tls: Option<&TlsSettings>) -> Result<Self, String> {
        let tls = tls.map(TlsStream::new).transpose()?;
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        Ok(HttpConnection { stream, is_open: false, tls, outgoing: Vec::new(), exchange: None })
    }

    pub(super) fn register(&mut self, registry: &Registry, token: usize) -> io::Result<()> {
        registry.register(&mut self.stream, Token(token), Interest::READABLE | Interest::WRITABLE)
    }

    /// Sends a request, and waits for its answer.
    pub(super) fn begin(&mut self, request: Vec<u8>, exchange: Exchange) {
        self.exchange = Some(exchange);
        match &mut self.tls {
            Some(tls) => tls.seal(&request),
            None => self.outgoing.extend(request),
        }
    }

    /// What it waits for, for the sentence about a time-out.
    pub(super) fn waits_for(&self) -> &'static str {
        match (&self.tls, &self.exchange) {
            _ if !self.is_open => "the connection",
            (Some(tls), _) if tls.is_handshaking() => "the handshake of TLS",
            (_, Some(exchange)) => exchange.waits_for(),
            _ => "nothing",
        }
    }

    /// Writes and reads as far as the socket does, within bounds.
    pub(super) fn drive(&mut self, scratch: &mut [u8], plain: &mut Vec<u8>) -> Driven {
        match self.check_open() {
            Ok(true) => {}
            Ok(false) => return Driven::Waits,
            Err(why) => return Driven::Over(Broken { why, is_unreachable: true, is_silent: true }),
        }
        for _ in 0..READS_MAX {
            if let Err(error) = self.write() {
                // The server may have answered before it stopped reading.
                self.outgoing.clear();
                if error.kind() != ErrorKind::BrokenPipe {
                    return self.broken(error.to_string());
                }
            }
            let count = match self.stream.read(scratch) {
                Ok(0) => return self.ended(),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Driven::Waits,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.broken(error.to_string()),
            };
            plain.clear();
            let received = match &mut self.tls {
                Some(tls) => tls.receive(&scratch[..count], plain).map_err(|Ending { text, .. }| text),
                None => {
                    plain.extend_from_slice(&scratch[..count]);
                    Ok(())
                }
            };
            let whole = self.exchange.as_mut().map(|exchange| exchange.receive(plain));
            match (whole, received) {
                (Some(Ok(true)), _) => return self.answered(),
                (Some(Err(why)), _) | (_, Err(why)) => {
                    // An alert of TLS, if the socket takes it.
                    let _ = self.write();
                    return self.broken(why);
                }
                (None, Ok(())) if !plain.is_empty() => return self.broken("the server spoke unasked".into()),
                _ => {}
            }
        }
        Driven::Unread
    }

    fn check_open(&mut self) -> Result<bool, String> {
        if self.is_open {
            return Ok(true);
        }
        if let Ok(Some(error)) | Err(error) = self.stream.take_error() {
            return Err(error.to_string());
        }
        self.is_open = self.stream.peer_addr().is_ok();
        if self.is_open {
            // A request is short, and waits for nothing.
            let _ = self.stream.set_nodelay(true);
        }
        Ok(self.is_open)
    }

    fn write(&mut self) -> io::Result<()> {
        loop {
            if self.outgoing.is_empty() && !self.tls.as_mut().is_some_and(|tls| tls.transmit(&mut self.outgoing)) {
                return Ok(());
            }
            match self.stream.write(&self.outgoing) {
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Only a connection that has sent its whole request may be used again; the client asks the exchange for the rest.
    pub(super) fn is_drained(&self) -> bool {
        self.outgoing.is_empty()
    }

    fn answered(&mut self) -> Driven {
        Driven::Answered(Box::new(self.exchange.take().expect("the answer is this one's")))
    }

    fn ended(&mut self) -> Driven {
        match self.exchange.as_mut().map(Exchange::end) {
            Some(Ok(())) => self.answered(),
            Some(Err(why)) if self.tls.as_ref().is_some_and(TlsStream::is_handshaking) => {
                drop(why);
                self.broken("the server ended the connection in the handshake of TLS".into())
            }
            Some(Err(why)) => self.broken(why),
            None => self.broken("the server ended the connection".into()),
        }
    }

    fn broken(&self, why: String) -> Driven {
        let is_silent = self.exchange.as_ref().is_none_or(|exchange| !exchange.has_begun);
        Driven::Over(Broken { why, is_unreachable: false, is_silent })
    }
}

/// Reads of a connection in its turn.
const READS_MAX: usize = 32;
