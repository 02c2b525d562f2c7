//! ENet by rusty_enet: a reliable channel for each entity, otherwise with defaults.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use bytes::Bytes;
use mio::{Events, Interest, Poll, Token};
use rusty_enet::{Event, Host, HostSettings, Packet, PeerID};

use super::end::RealEnd;
use crate::compare::peers::peer::Update;

/// A host with one peer.
pub(super) struct EnetEnd {
    host: Host<UdpSocket>,
    address: SocketAddr,
    poll: Poll,
    events: Events,
    /// The same socket, for the poll.
    _watched: mio::net::UdpSocket,
    peer: Option<PeerID>,
    ended: bool,
    arrived: VecDeque<Update>,
}

/// ENet's protocol has no more.
const CHANNELS_MAX: usize = 255;
/// ENet does not expose when its timers are due, so it is called at this interval.
const SERVICE_EVERY: Duration = Duration::from_millis(1);

impl EnetEnd {
    pub(super) fn open(bind: SocketAddr, to: Option<SocketAddr>, entities: u16) -> Result<EnetEnd, String> {
        let text = |error: io::Error| format!("no UDP socket at {bind}: {error}");
        let socket = UdpSocket::bind(bind).map_err(text)?;
        socket.set_nonblocking(true).map_err(text)?;
        let address = socket.local_addr().map_err(text)?;
        let mut watched = mio::net::UdpSocket::from_std(socket.try_clone().map_err(text)?);
        let poll = Poll::new().map_err(text)?;
        poll.registry().register(&mut watched, Token(0), Interest::READABLE).map_err(text)?;
        let channels = (usize::from(entities) + 1).min(CHANNELS_MAX);
        let settings = HostSettings { peer_limit: 1, channel_limit: channels, ..HostSettings::default() };
        let mut host = Host::new(socket, settings).map_err(|error| format!("ENet does not begin: {error}"))?;
        if let Some(to) = to {
            host.connect(to, channels, 0).map_err(|error| format!("ENet does not connect: {error:?}"))?;
        }
        Ok(EnetEnd {
            host,
            address,
            poll,
            events: Events::with_capacity(8),
            _watched: watched,
            peer: None,
            ended: false,
            arrived: VecDeque::new(),
        })
    }

    fn service(&mut self) -> Result<(), String> {
        while let Some(event) = self.host.service().map_err(|error| format!("ENet's socket broke: {error}"))? {
            match event {
                Event::Connect { peer, .. } => self.peer = Some(peer.id()),
                Event::Disconnect { .. } => self.ended = true,
                Event::Receive { channel_id, packet, .. } => {
                    let payload = Bytes::copy_from_slice(packet.data());
                    self.arrived.push_back(Update { entity: channel_id.into(), payload, age: Duration::ZERO });
                }
            }
        }
        Ok(())
    }
}

impl RealEnd for EnetEnd {
    fn drive(&mut self, wait_max: Duration) -> Result<(), String> {
        if self.ended {
            return Err("ENet ended the connection".into());
        }
        self.host.flush();
        let wait = wait_max.min(SERVICE_EVERY);
        skipstone::net::wait::wait(&mut self.poll, &mut self.events, Some(wait))
            .map_err(|error| format!("cannot wait for ENet's socket: {error}"))?;
        self.service()
    }

    fn is_connected(&self) -> bool {
        self.peer.is_some()
    }

    fn send(&mut self, update: Update) -> bool {
        let Some(peer) = self.peer else { return false };
        let channel = update.entity.min(CHANNELS_MAX as u16 - 1) as u8;
        self.host.peer_mut(peer).send(channel, &Packet::reliable(&update.payload[..])).is_ok()
    }

    fn poll_message(&mut self) -> Option<Update> {
        self.arrived.pop_front()
    }

    fn address(&self) -> String {
        self.address.to_string()
    }
}
