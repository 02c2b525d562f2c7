//! Polls the sockets of many clients, or a server's streams. Each socket is identified by its client's number.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Registry, Token};

use super::driver::Inbox;
use super::listeners;
use crate::socket_error::text;

/// The sockets of clients.
pub(super) struct Watch {
    poll: Poll,
    events: Events,
}

const EVENTS_MAX: usize = 1_024;

impl Watch {
    pub(super) fn new() -> Result<Self, String> {
        let poll = Poll::new().map_err(text("make a poll"))?;
        Ok(Self { poll, events: Events::with_capacity(EVENTS_MAX) })
    }

    pub(super) fn registry(&self) -> &Registry {
        self.poll.registry()
    }

    /// A stream to the server.
    pub(super) fn tcp_client(&self, server: SocketAddr, number: usize) -> io::Result<TcpStream> {
        let mut stream = TcpStream::from_std(listeners::tcp_client(server)?);
        self.registry().register(&mut stream, Token(number), Interest::READABLE)?;
        Ok(stream)
    }

    /// A socket for datagrams to the server, and a second handle to it for the poll.
    #[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "for the peers over UDP"))]
    pub(super) fn udp_client(&self, server: SocketAddr, number: usize) -> io::Result<(UdpSocket, mio::net::UdpSocket)> {
        let socket = listeners::udp_client(server)?;
        let mut watched = mio::net::UdpSocket::from_std(socket.try_clone()?);
        self.registry().register(&mut watched, Token(number), Interest::READABLE)?;
        Ok((socket, watched))
    }

    /// Waits until something comes.
    pub(super) fn wait(&mut self, wait_max: Duration) -> Result<(), String> {
        let waited = skipstone::net::wait::wait(&mut self.poll, &mut self.events, Some(wait_max));
        waited.map(drop).map_err(text("wait for sockets"))
    }

    /// The clients whose sockets have data.
    pub(super) fn ready(&self) -> impl Iterator<Item = usize> {
        self.events.iter().map(|event| event.token().0)
    }
}

/// A server's end of streams: its listener, and the streams that came through it.
pub(super) struct Door {
    watch: Watch,
    listener: TcpListener,
    address: SocketAddr,
    /// Streams that came through it.
    count: usize,
}

const LISTENER: Token = Token(usize::MAX);

impl Door {
    pub(super) fn open(listen: SocketAddr) -> Result<Self, String> {
        let listener = listeners::tcp_server(listen).map_err(text("listen"))?;
        let address = listener.local_addr().map_err(text("listen"))?;
        let (watch, mut listener) = (Watch::new()?, TcpListener::from_std(listener));
        watch.registry().register(&mut listener, LISTENER, Interest::READABLE).map_err(text("listen"))?;
        Ok(Self { watch, listener, address, count: 0 })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The sockets that are ready by now; there may be more if there are [`EVENTS_MAX`].
    fn look(&mut self) -> Result<Vec<Token>, String> {
        let Watch { poll, events } = &mut self.watch;
        poll.poll(events, Some(Duration::ZERO)).map_err(text("wait for sockets"))?;
        Ok(events.iter().map(|event| event.token()).collect())
    }

    /// The next connection from the listener.
    fn accept(&mut self) -> Result<Option<TcpStream>, String> {
        let mut stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(text("accept a client")(error)),
        };
        let registered = stream
            .set_nodelay(true)
            .and_then(|()| self.watch.registry().register(&mut stream, Token(self.count), Interest::READABLE));
        registered.map_err(text("accept a client"))?;
        self.count += 1;
        Ok(Some(stream))
    }
}

/// A server of streams, each of which goes by its number from 0.
pub(super) trait StreamServer {
    fn door(&mut self) -> &mut Door;

    /// The next stream.
    fn add(&mut self, stream: TcpStream);

    /// Reads a stream's data.
    fn read(&mut self, number: usize, inbox: &mut Inbox);
}

/// Accepts waiting connections, and reads the received data.
pub(super) fn receive(server: &mut impl StreamServer, inbox: &mut Inbox) -> Result<(), String> {
    loop {
        let ready = server.door().look()?;
        for token in &ready {
            if *token != LISTENER {
                server.read(token.0, inbox);
                continue;
            }
            while let Some(stream) = server.door().accept()? {
                server.add(stream);
            }
        }
        if ready.len() < EVENTS_MAX {
            return Ok(());
        }
    }
}
