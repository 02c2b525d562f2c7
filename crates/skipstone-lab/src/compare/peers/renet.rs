//! renet with netcode's handshake and encryption. With defaults: a reliable ordered channel for each entity, resent
//! after 300 ms. Channels do not share packets, so that every entity has its own datagram. Who knows that puts all
//! entities into one channel, whose messages say which they are of, and resends as soon as an answer can be there.
//!
//! renet asks to be called every frame; here it sends when its application has sent or received a message, when one is
//! due to be sent again, and every 5 ms. It also acknowledges acknowledgements, so two ends that answered each datagram
//! at once would never stop.

use std::collections::VecDeque;
use std::net::SocketAddr;

use renet::{ChannelConfig, ConnectionConfig, RenetClient, RenetServer, SendType};
use renetcode::{ClientAuthentication, NetcodeClient, NetcodeServer, ServerAuthentication, ServerConfig, ServerResult};
use skipstone_proto::{Duration, Time};

use super::ends::{Ends, EndsSetup};
use crate::compare::condition::Condition;
use crate::compare::payload::entity_of;
use crate::compare::peers::peer::{Peer, Update};

/// The channels that renet runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenetTuning {
    /// One for each entity, resent as renet's documents show it.
    Default,
    /// One for all, and one for bulk, resent a round trip and two frames later.
    Expert,
}

pub(super) fn ends(tuning: RenetTuning, setup: EndsSetup<'_>) -> Ends {
    let epoch = Duration::from_micros(setup.now.as_micros());
    let channels = Channels::of(tuning, setup.condition);
    let server = ServerConfig {
        current_time: epoch,
        max_clients: 1,
        protocol_id: PROTOCOL,
        public_addresses: vec![setup.server],
        authentication: ServerAuthentication::Unsecure,
    };
    // The key is not secret, but packets are sealed with it.
    let client = ClientAuthentication::Unsecure {
        protocol_id: PROTOCOL,
        client_id: CLIENT,
        server_addr: setup.server,
        user_data: None,
    };
    let client = NetcodeClient::new(epoch, client).expect("a good token");
    let client = RenetSide::Client { net: Box::new(client), renet: Box::new(RenetClient::new(channels.config())) };
    let server =
        RenetSide::Server { net: Box::new(NetcodeServer::new(server)), renet: RenetServer::new(channels.config()) };
    let end = |side| Box::new(RenetEnd::new(side, setup.now, channels));
    Ends { client: end(client), server: end(server) }
}

/// The channels, and the channel of each entity.
#[derive(Debug, Clone, Copy)]
struct Channels {
    tuning: RenetTuning,
    entities: u16,
    count: u8,
    resend_time: Duration,
}

impl Channels {
    fn of(tuning: RenetTuning, condition: &Condition) -> Self {
        let (entities, bulk) = (condition.entities, u8::from(condition.bulk.is_some()));
        match tuning {
            RenetTuning::Default => {
                Self { tuning, entities, count: entities as u8 + bulk, resend_time: RESEND_DEFAULT }
            }
            RenetTuning::Expert => {
                Self { tuning, entities, count: 1 + bulk, resend_time: condition.round_trip() + 2 * FRAME }
            }
        }
    }

    fn config(self) -> ConnectionConfig {
        let channel = |number| ChannelConfig {
            channel_id: number,
            // A full channel would end the connection.
            max_memory_usage_bytes: 256 << 20,
            send_type: SendType::ReliableOrdered { resend_time: self.resend_time },
        };
        let channels: Vec<_> = (0..self.count).map(channel).collect();
        let client_channels_config = channels.clone();
        ConnectionConfig { server_channels_config: channels, client_channels_config, ..ConnectionConfig::default() }
    }

    fn of_entity(self, entity: u16) -> u8 {
        match self.tuning {
            RenetTuning::Default => entity as u8,
            RenetTuning::Expert => u8::from(entity >= self.entities),
        }
    }
}

const RESEND_DEFAULT: Duration = Duration::from_millis(300);

const PROTOCOL: u64 = 7;
const CLIENT: u64 = 1;
const FRAME: Duration = Duration::from_millis(5);

enum RenetSide {
    Client { net: Box<NetcodeClient>, renet: Box<RenetClient> },
    Server { net: Box<NetcodeServer>, renet: RenetServer },
}

struct RenetEnd {
    side: RenetSide,
    channels: Channels,
    /// The time up to which it was updated.
    updated: Time,
    next_frame: Time,
    /// When messages are due to be sent again, the earliest first.
    resends: VecDeque<Time>,
    has_work: bool,
    ready: VecDeque<(SocketAddr, Vec<u8>)>,
}

impl RenetEnd {
    fn new(side: RenetSide, now: Time, channels: Channels) -> Self {
        Self {
            side,
            channels,
            updated: now,
            next_frame: now,
            resends: VecDeque::new(),
            has_work: true,
            ready: VecDeque::new(),
        }
    }

    /// Brings its clocks up to now.
    fn update(&mut self, now: Time) {
        let span = now.since(self.updated);
        self.updated = now;
        match &mut self.side {
            RenetSide::Client { net, renet } => {
                if let Some((datagram, to)) = net.update(span) {
                    self.ready.push_back((to, datagram.to_vec()));
                }
                if net.is_connected() {
                    renet.set_connected();
                }
                renet.update(span);
            }
            RenetSide::Server { net, renet } => {
                net.update(span);
                for client in net.clients_id() {
                    on_result(net.update_client(client), renet, &mut self.ready);
                }
                renet.update(span);
            }
        }
    }

    /// Encrypts the packets to send.
    fn collect(&mut self) {
        match &mut self.side {
            RenetSide::Client { net, renet } if net.is_connected() => {
                for packet in renet.get_packets_to_send() {
                    let (to, sealed) = net.generate_payload_packet(&packet).expect("renet's packets fit");
                    self.ready.push_back((to, sealed.to_vec()));
                }
            }
            RenetSide::Client { .. } => {}
            RenetSide::Server { net, renet } => {
                let Ok(packets) = renet.get_packets_to_send(CLIENT) else { return };
                for packet in packets {
                    if let Ok((to, sealed)) = net.generate_payload_packet(CLIENT, &packet) {
                        self.ready.push_back((to, sealed.to_vec()));
                    }
                }
            }
        }
    }
}

fn on_result(result: ServerResult<'_, '_>, renet: &mut RenetServer, ready: &mut VecDeque<(SocketAddr, Vec<u8>)>) {
    match result {
        ServerResult::None => {}
        ServerResult::PacketToSend { addr, payload } => ready.push_back((addr, payload.to_vec())),
        // A packet of a departed client has no owner.
        ServerResult::Payload { client_id, payload } => drop(renet.process_packet_from(payload, client_id)),
        ServerResult::ClientConnected { client_id, addr, payload, .. } => {
            renet.add_connection(client_id);
            ready.push_back((addr, payload.to_vec()));
        }
        ServerResult::ClientDisconnected { client_id, addr, payload } => {
            renet.remove_connection(client_id);
            ready.extend(payload.map(|payload| (addr, payload.to_vec())));
        }
    }
}

impl Peer for RenetEnd {
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, datagram: &mut Vec<u8>) {
        self.update(now);
        match &mut self.side {
            RenetSide::Client { net, renet } => {
                if let Some(payload) = net.process_packet(datagram) {
                    renet.process_packet(payload);
                }
            }
            RenetSide::Server { net, renet } => on_result(net.process_packet(from, datagram), renet, &mut self.ready),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        let due = self.poll_timeout();
        while self.resends.pop_front_if(|resend| now >= *resend).is_some() {}
        if now >= self.next_frame {
            self.next_frame = now + FRAME;
        }
        if now >= due {
            self.update(now);
            self.has_work = true;
        }
    }

    fn poll_timeout(&mut self) -> Time {
        self.resends.front().map_or(self.next_frame, |resend| self.next_frame.min(*resend))
    }

    fn poll_transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SocketAddr> {
        if std::mem::take(&mut self.has_work) {
            self.update(now);
            self.collect();
        }
        let (to, bytes) = self.ready.pop_front()?;
        *datagram = bytes;
        Some(to)
    }

    fn is_connected(&self) -> bool {
        match &self.side {
            RenetSide::Client { renet, .. } => renet.is_connected(),
            RenetSide::Server { renet, .. } => renet.is_connected(CLIENT),
        }
    }

    fn send(&mut self, now: Time, update: Update) -> bool {
        let channel = self.channels.of_entity(update.entity);
        let resend = now + self.channels.resend_time;
        if self.resends.back() != Some(&resend) {
            self.resends.push_back(resend);
        }
        match &mut self.side {
            RenetSide::Client { renet, .. } => renet.send_message(channel, update.payload),
            RenetSide::Server { renet, .. } => renet.send_message(CLIENT, channel, update.payload),
        }
        self.has_work = true;
        true
    }

    fn poll_message(&mut self, _now: Time) -> Option<Update> {
        let (side, channels) = (&mut self.side, 0..self.channels.count);
        let payload = channels.into_iter().find_map(|channel| match side {
            RenetSide::Client { renet, .. } => renet.receive_message(channel),
            RenetSide::Server { renet, .. } => renet.receive_message(CLIENT, channel),
        })?;
        self.has_work = true;
        Some(Update { entity: entity_of(&payload), payload, age: Duration::ZERO })
    }
}
