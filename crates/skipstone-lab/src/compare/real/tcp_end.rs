//! The kernel's TCP: one stream with NODELAY, each message after its length. Messages of one tick share a write.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use super::end::RealEnd;
use crate::compare::payload::entity_of;
use crate::compare::peers::peer::Update;
use crate::framing::{FramedMessages, frame};

/// An end of the stream, or a server that has not accepted one yet.
pub(super) struct TcpEnd {
    listener: Option<TcpListener>,
    stream: Option<TcpStream>,
    is_connected: bool,
    poll: Poll,
    events: Events,
    messages: FramedMessages,
    unwritten: VecDeque<u8>,
    unwritten_max: usize,
    buffer: Vec<u8>,
}

const LISTENER: Token = Token(0);
const STREAM: Token = Token(1);
/// The maximum of waiting bytes, unless the plan states one.
const UNWRITTEN_MAX: usize = 64 << 20;

impl TcpEnd {
    pub(super) fn listen(at: SocketAddr, unwritten_max: Option<usize>) -> Result<TcpEnd, String> {
        let text = |error: io::Error| format!("no TCP listener at {at}: {error}");
        let mut listener = TcpListener::bind(at).map_err(text)?;
        let end = TcpEnd::new(unwritten_max).map_err(text)?;
        end.poll.registry().register(&mut listener, LISTENER, Interest::READABLE).map_err(text)?;
        Ok(TcpEnd { listener: Some(listener), ..end })
    }

    pub(super) fn connect(to: SocketAddr, unwritten_max: Option<usize>) -> Result<TcpEnd, String> {
        let text = |error: io::Error| format!("no connection to {to} over TCP: {error}");
        let mut end = TcpEnd::new(unwritten_max).map_err(text)?;
        let stream = TcpStream::connect(to).map_err(text)?;
        end.take(stream).map_err(text)?;
        Ok(end)
    }

    fn new(unwritten_max: Option<usize>) -> io::Result<TcpEnd> {
        Ok(TcpEnd {
            listener: None,
            stream: None,
            is_connected: false,
            poll: Poll::new()?,
            events: Events::with_capacity(8),
            messages: FramedMessages::default(),
            unwritten: VecDeque::new(),
            unwritten_max: unwritten_max.unwrap_or(UNWRITTEN_MAX),
            buffer: vec![0; 1 << 16],
        })
    }

    fn take(&mut self, mut stream: TcpStream) -> io::Result<()> {
        self.poll.registry().register(&mut stream, STREAM, Interest::READABLE | Interest::WRITABLE)?;
        let _ = stream.set_nodelay(true);
        self.stream = Some(stream);
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        let Some(listener) = self.listener.take() else { return Ok(()) };
        match listener.accept() {
            Ok((stream, _)) => self.take(stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.listener = Some(listener);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn exchange(&mut self) -> io::Result<()> {
        self.accept()?;
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if !self.is_connected {
            // It has no peer before it is connected.
            self.is_connected = stream.peer_addr().is_ok();
            if let Some(error) = stream.take_error()? {
                return Err(error);
            }
        }
        loop {
            match stream.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(bytes) => self.messages.add(&self.buffer[..bytes]),
                Err(error) if waits(&error) => break,
                Err(error) => return Err(error),
            }
        }
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while !self.unwritten.is_empty() {
            match stream.write(self.unwritten.make_contiguous()) {
                Ok(bytes) => drop(self.unwritten.drain(..bytes)),
                Err(error) if waits(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn waits(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected | ErrorKind::Interrupted)
}

impl RealEnd for TcpEnd {
    fn drive(&mut self, wait_max: Duration) -> Result<(), String> {
        let text = |error: io::Error| format!("the TCP stream failed: {error}");
        self.write().map_err(text)?;
        skipstone::net::wait::wait(&mut self.poll, &mut self.events, Some(wait_max)).map_err(text)?;
        self.exchange().map_err(text)
    }

    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn send(&mut self, update: Update) -> bool {
        if self.unwritten.len() >= self.unwritten_max {
            return false;
        }
        let mut framed = Vec::with_capacity(update.payload.len() + 2);
        frame(&update.payload, &mut framed);
        self.unwritten.extend(framed);
        true
    }

    fn poll_message(&mut self) -> Option<Update> {
        let payload: Bytes = self.messages.next()?;
        Some(Update { entity: entity_of(&payload), payload, age: Duration::ZERO })
    }

    fn address(&self) -> String {
        let address = self.listener.as_ref().and_then(|listener| listener.local_addr().ok());
        address.map_or_else(String::new, |address| address.to_string())
    }
}
