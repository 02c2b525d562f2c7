//! A simulated transport, which has neither sockets nor a clock, on a UDP socket and the machine's clock.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use skipstone_proto::Time;

use super::end::RealEnd;
use crate::compare::peers::peer::{Peer, Telemetry, Update};

/// A peer and its socket.
pub(super) struct SocketEnd {
    peer: Box<dyn Peer>,
    socket: UdpSocket,
    poll: Poll,
    events: Events,
    epoch: Instant,
    datagram: Vec<u8>,
    buffer: Vec<u8>,
}

/// The time at which its clock begins; not zero, which means "never" to some transports.
pub(super) const BEGIN: Time = Time::from_micros(1_000_000);
const DATAGRAM_MAX: usize = 65_535;
#[cfg(unix)]
const SOCKET_BYTES: usize = 4 << 20;

impl SocketEnd {
    pub(super) fn new(peer: Box<dyn Peer>, bind: SocketAddr, epoch: Instant) -> Result<SocketEnd, String> {
        let text = |error: io::Error| format!("no UDP socket at {bind}: {error}");
        let mut socket = UdpSocket::bind(bind).map_err(text)?;
        #[cfg(unix)]
        {
            let _ = socket2::SockRef::from(&socket).set_recv_buffer_size(SOCKET_BYTES);
        }
        let poll = Poll::new().map_err(text)?;
        poll.registry().register(&mut socket, Token(0), Interest::READABLE).map_err(text)?;
        Ok(SocketEnd {
            peer,
            socket,
            poll,
            events: Events::with_capacity(8),
            epoch,
            datagram: Vec::new(),
            buffer: vec![0; DATAGRAM_MAX],
        })
    }

    fn now(&self) -> Time {
        BEGIN + Duration::from_micros(self.epoch.elapsed().as_micros() as u64)
    }

    fn receive(&mut self) -> Result<(), String> {
        loop {
            match self.socket.recv_from(&mut self.buffer) {
                Ok((bytes, from)) => {
                    self.datagram.clear();
                    self.datagram.extend_from_slice(&self.buffer[..bytes]);
                    self.peer.handle_datagram(self.now(), from, &mut self.datagram);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // An ICMP error for an undeliverable datagram counts as a loss.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(format!("the UDP socket failed: {error}")),
            }
        }
    }

    fn transmit(&mut self) {
        while let Some(to) = self.peer.poll_transmit(self.now(), &mut self.datagram) {
            // A datagram that the kernel rejects is lost, as on any link.
            let _ = self.socket.send_to(&self.datagram, to);
        }
    }
}

impl RealEnd for SocketEnd {
    fn drive(&mut self, wait_max: Duration) -> Result<(), String> {
        self.transmit();
        let left = self.peer.poll_timeout().since(self.now()).min(wait_max);
        let waited = skipstone::net::wait::wait(&mut self.poll, &mut self.events, Some(left));
        waited.map_err(|error| format!("cannot wait for the UDP socket: {error}"))?;
        self.receive()?;
        if self.now() >= self.peer.poll_timeout() {
            self.peer.handle_timeout(self.now());
        }
        self.transmit();
        Ok(())
    }

    fn is_connected(&self) -> bool {
        self.peer.is_connected()
    }

    fn send(&mut self, update: Update) -> bool {
        self.peer.send(self.now(), update)
    }

    fn poll_message(&mut self) -> Option<Update> {
        self.peer.poll_message(self.now())
    }

    fn address(&self) -> String {
        self.socket.local_addr().map_or_else(|error| error.to_string(), |address| address.to_string())
    }

    fn telemetry(&mut self) -> Telemetry {
        self.peer.telemetry()
    }
}
