//! The connections of a client by their sockets, in two endpoints: while the client is moved, events of the one wait
//! for those of the other, and an endpoint has one queue of events for all its connections.

use crate::refusal::Refusal;
use skipstone_proto::{
    Carrier, Config, ConfigError, ConnectError, Duration, Endpoint, Event, Path, PeerId, Protection, Submission, Time,
    Transmit, code,
};
use std::net::{Ipv4Addr, SocketAddr};

/// The endpoints and what is connected by them.
#[derive(Debug)]
pub(crate) struct Connections {
    config: Config,
    seed: [u8; 32],
    /// The second one is there from the first move on. Both stay: no code to end them has to be downloaded.
    endpoints: Vec<Endpoint>,
    /// Connections by socket, until the page has polled the socket's release: a page has few.
    links: Vec<Link>,
    next_socket: u32,
    /// The latest time that the page passed: time does not go back.
    pub(crate) now: Time,
}

/// A connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) socket: u32,
    pub(crate) peer: PeerId,
    /// Its endpoint.
    place: usize,
    /// It ends, and the page hears nothing of it.
    is_parting: bool,
}

/// The carrier of a connection, as the page opened it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    /// The kind of carrier, as the page numbers it.
    pub(crate) number: u32,
    /// Maximum datagram size of a session; 0 if it is unknown, or for a stream.
    pub(crate) packet_bytes_max: u32,
}

fn carrier(number: u32) -> Option<Carrier> {
    match number {
        0 => Some(Carrier::WEBSOCKET),
        1 => Some(Carrier::WEBTRANSPORT_PAGE),
        2 => Some(Carrier::WEBTRANSPORT_STREAMS),
        _ => None,
    }
}

impl Connections {
    pub(crate) fn new(config: Config, seed: [u8; 32], now: Time) -> Result<Self, ConfigError> {
        let endpoints = vec![Endpoint::new(config.clone(), seed)?];
        Ok(Connections { config, seed, endpoints, links: Vec::new(), next_socket: 0, now })
    }

    /// Begins a connection; one that begins beside another is in the other endpoint.
    pub(crate) fn begin(&mut self, opened: Opened, token: &[u8], beside: Option<Link>) -> Result<Link, Refusal> {
        let carrier = carrier(opened.number).ok_or(Refusal::BadArgument)?;
        let place = beside.map_or(0, |link| 1 - link.place);
        if place == self.endpoints.len() {
            // All that is derived from a seed is hashed: another bit makes another endpoint.
            let mut seed = self.seed;
            seed.iter_mut().for_each(|byte| *byte ^= 1);
            self.endpoints.push(Endpoint::new(self.config.clone(), seed).map_err(|_| Refusal::BadConfig)?);
        }
        let socket = self.next_socket;
        let path = Path { socket, local: None, remote: SERVER, carrier };
        let peer =
            self.endpoints[place].connect_with(self.now, path, token, Protection::Plain).map_err(
                |error| match error {
                    ConnectError::TokenTooLong => Refusal::TokenTooLong,
                    _ => Refusal::Full,
                },
            )?;
        self.next_socket += 1;
        let link = Link { socket, peer, place, is_parting: false };
        self.links.push(link);
        if !carrier.is_reliable && opened.packet_bytes_max > 0 {
            self.set_packet_bytes_max(socket, opened.packet_bytes_max);
        }
        Ok(link)
    }

    /// The connection on this socket.
    pub(crate) fn link(&self, socket: u32) -> Result<Link, Refusal> {
        self.links.iter().find(|link| link.socket == socket).copied().ok_or(Refusal::UnknownConnection)
    }

    /// The connection's endpoint.
    pub(crate) fn endpoint(&mut self, link: Link) -> &mut Endpoint {
        &mut self.endpoints[link.place]
    }

    pub(crate) fn set_writable(&mut self, socket: u32, is_writable: bool) {
        if let Ok(link) = self.link(socket) {
            self.endpoint(link).set_writable(socket, is_writable);
        }
    }

    pub(crate) fn set_packet_bytes_max(&mut self, socket: u32, bytes: u32) {
        if let Ok(link) = self.link(socket) {
            self.endpoint(link).set_packet_bytes_max(socket, bytes.min(BUFFER_BYTES as u32) as u16);
        }
    }

    pub(crate) fn handle_carrier_lost(&mut self, socket: u32, reason: &str) {
        if let Ok(link) = self.link(socket) {
            let now = self.now;
            self.endpoint(link).handle_carrier_lost(now, socket, reason);
        }
    }

    pub(crate) fn submit_accepted(&mut self, link: Link, channel: u16, message: Submission) {
        let now = self.now;
        self.endpoint(link).submit_accepted(now, link.peer, channel, message);
    }

    /// Ends a connection of which the page hears nothing more.
    pub(crate) fn part(&mut self, link: Link, reason: &str) {
        let now = self.now;
        self.links.iter_mut().filter(|one| **one == link).for_each(|one| one.is_parting = true);
        self.endpoint(link).close(now, link.peer, code::NONE, reason, Duration::ZERO);
    }

    pub(crate) fn flush(&mut self) {
        let now = self.now;
        self.endpoints.iter_mut().for_each(|endpoint| endpoint.flush(now));
    }

    pub(crate) fn handle_timeout(&mut self) {
        let now = self.now;
        self.endpoints.iter_mut().for_each(|endpoint| endpoint.handle_timeout(now));
    }

    pub(crate) fn poll_timeout(&self) -> Time {
        self.endpoints.iter().map(Endpoint::poll_timeout).min().unwrap_or(Time::NEVER)
    }

    pub(crate) fn poll_transmit(&mut self, buffer: &mut [u8]) -> Option<Transmit> {
        let now = self.now;
        self.endpoints.iter_mut().find_map(|endpoint| endpoint.poll_transmit(now, buffer))
    }

    /// The next event of any connection but those of the endpoint that has `waiting`.
    pub(crate) fn poll_event(&mut self, waiting: Option<Link>) -> Option<(Link, Event)> {
        let waiting = waiting.map(|link| link.place);
        let endpoints = self.endpoints.iter_mut().enumerate().filter(|(place, _)| Some(*place) != waiting);
        for (place, endpoint) in endpoints {
            if let Some(event) = next_event(endpoint, &self.links, place, self.now) {
                return Some(event);
            }
        }
        None
    }

    /// The next event of the endpoint that has this connection.
    pub(crate) fn poll_event_beside(&mut self, link: Link) -> Option<(Link, Event)> {
        next_event(&mut self.endpoints[link.place], &self.links, link.place, self.now)
    }

    /// A socket whose connection has ended.
    pub(crate) fn poll_released(&mut self) -> Option<u32> {
        let socket = self.endpoints.iter_mut().find_map(Endpoint::poll_released)?;
        self.links.retain(|link| link.socket != socket);
        Some(socket)
    }
}

/// The next event of a connection that the page knows.
fn next_event(endpoint: &mut Endpoint, links: &[Link], place: usize, now: Time) -> Option<(Link, Event)> {
    loop {
        let event = endpoint.poll_event(now)?;
        let owner = links.iter().find(|link| link.place == place && link.peer == event.peer());
        if let Some(link) = owner.filter(|link| !link.is_parting) {
            return Some((*link, event));
        }
    }
}

/// Room for about ten datagrams of a session, or for one packet of a stream.
pub(crate) const BUFFER_BYTES: usize = 16_384;
/// A page does not know its server's address, and the protocol does not need it: the socket identifies the connection.
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
