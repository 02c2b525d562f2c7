//! Any calls in any order on one endpoint, with datagrams of unauthenticated clients, and with sealed packets of a
//! client whose every frame is chosen by the bytes.

use crate::input::Input;
use crate::parsing;
use bytes::Bytes;
use core::net::SocketAddr;
use skipstone_proto::MessageId;
use skipstone_proto::Plain;
use skipstone_proto::wire::cursor::{Reader, Writer};
use skipstone_proto::wire::datagram::{self, Datagram, Offer, Open, SUITE_PLAIN};
use skipstone_proto::wire::frame::{self, Frame, Frames};
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::wire::repair::encode_repair_header;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{ChannelRule, DeliveryMode, Merging, Overflow, Settings};
use skipstone_proto::{Config, Endpoint, Event, Group, PeerId};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::collections::BTreeSet;

/// One endpoint, and what it has sent.
struct World {
    now: Time,
    endpoint: Endpoint,
    peers: Vec<PeerId>,
    closed: BTreeSet<PeerId>,
    last: Vec<u8>,
    client: Option<Client>,
    buffer: Vec<u8>,
    next_id: u64,
}

/// A handmade client: what it seals is authentic, whatever the content.
struct Client {
    path: Path,
    to: u32,
    plain: Plain,
    number: u64,
    /// One more than the highest packet number of the server.
    heard: u64,
    /// The token of the last PATH_CHALLENGE.
    challenge: u64,
}

impl Client {
    /// The frames of a packet from the server.
    fn open<'a>(&mut self, datagram: &'a [u8]) -> Option<&'a [u8]> {
        let opened = self.plain.open(datagram, datagram::HEADER_BYTES, self.heard)?;
        let mut reader = Reader::new(&datagram[opened]);
        self.heard = self.heard.max(1 + reader.truncated().ok()?.resolve(self.heard));
        Some(reader.rest())
    }
}

/// Drives an endpoint; panics if the endpoint panics, or keeps state that it should not.
pub fn operations(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut world = World::new(&mut input);
    for _ in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        world.step(&mut input);
        world.check();
    }
    world.end();
}

const STEPS_MAX: usize = 2_000;
const PLACES: usize = 6;
const SOURCE: u32 = 0x00a1_b2c3;
/// Choices from this value on are repairs.
const REPAIR_FROM: u8 = 248;

const REDUNDANCIES: [RedundancyMode; 4] = [
    RedundancyMode::Adaptive,
    RedundancyMode::Off,
    RedundancyMode::Lean,
    RedundancyMode::Fixed { sources: 3, repairs: 2 },
];

const OWN_REDUNDANCIES: [Option<RedundancyMode>; 5] = [
    None,
    Some(RedundancyMode::Repeat { bursts: 2 }),
    Some(RedundancyMode::Off),
    Some(RedundancyMode::Fixed { sources: 2, repairs: 1 }),
    Some(RedundancyMode::Adaptive),
];

fn settings(input: &mut Input<'_>) -> Settings {
    let modes = [
        DeliveryMode::Unreliable,
        DeliveryMode::UnreliableSequenced,
        DeliveryMode::ReliableOrdered,
        DeliveryMode::ReliableUnordered,
        DeliveryMode::ReliableSequenced,
    ];
    let choice = input.u8();
    // A mode for each rule, or one for all rules.
    let own = |at: usize| (choice & 0x80 != 0).then(|| OWN_REDUNDANCIES[(usize::from(choice) + at) % 5]).flatten();
    // Where a newer message replaces an older one, repeat mode is refused.
    let can_have = |mode: DeliveryMode, own: &RedundancyMode| {
        mode != DeliveryMode::ReliableSequenced || !matches!(own, RedundancyMode::Repeat { .. })
    };
    let rule = |(at, mode): (usize, &DeliveryMode)| ChannelRule {
        redundancy: own(at).filter(|own| can_have(*mode, own)),
        priority: at as u8 % 3,
        receipts: at % 2 == 0,
        overflow: [Overflow::Refuse, Overflow::DropOldest, Overflow::Disconnect][at % 3],
        queue_messages_max: 40,
        queue_bytes_max: 20_000,
        ..ChannelRule::new(at as u16 * 10..=at as u16 * 10 + 9, *mode)
    };
    Settings {
        message_bytes_max: 4_000,
        window_bytes: 5_000 + 100 * u32::from(choice),
        datagram_bytes_max: [256, 1_200, 1_500][input.below(3)],
        merging: [Merging::Immediate, Merging::After(Duration::from_millis(3)), Merging::Flush][input.below(3)],
        channels: modes.iter().enumerate().map(rule).collect(),
        redundancy: Redundancy {
            mode: REDUNDANCIES[usize::from(choice) % REDUNDANCIES.len()],
            ..Redundancy::default()
        },
        ..Settings::default()
    }
}

fn path(at: usize, is_stream: bool) -> Path {
    let carrier = if is_stream { Carrier::WEBSOCKET } else { Carrier::UDP };
    let remote = SocketAddr::from(([192, 0, 2, 1], 1_000 + at as u16));
    Path { socket: if is_stream { at as u32 } else { 0 }, local: None, remote, carrier }
}

impl World {
    fn new(input: &mut Input<'_>) -> Self {
        let config = Config { connections_max: PLACES as u32, ..Config::server(settings(input)) };
        let endpoint = Endpoint::new(config, [7; 32]).expect("a good configuration");
        let mut world = World {
            now: Time::from_micros(1_000_000),
            endpoint,
            peers: Vec::new(),
            closed: BTreeSet::new(),
            last: Vec::new(),
            client: None,
            buffer: vec![0; 1 << 16],
            next_id: 0,
        };
        world.let_client_in(path(0, input.u8() & 1 == 1), input.bytes());
        world
    }

    /// HELLO, CHALLENGE, and OPEN with any frames after CONNECT.
    fn let_client_in(&mut self, path: Path, frames: &[u8]) {
        let nonce = 0x0102_0304_0506_0708;
        let offer = datagram::encode_offer(SUITE_PLAIN, &[1]);
        let mut hello = vec![0; datagram::hello_len(&offer)];
        datagram::encode_hello(&mut Writer::new(&mut hello), SOURCE, nonce, &offer);
        self.endpoint.handle_datagram(self.now, path, &mut hello);
        let Some(transmit) = self.endpoint.poll_transmit(self.now, &mut self.buffer) else { return };
        let answer = self.buffer[..transmit.bytes].to_vec();
        let Ok(Datagram::Challenge(challenge)) = datagram::decode(&answer) else { return };
        let plain = Plain::new(challenge.cookie);
        let Ok(offer) = Offer::decode(&offer) else { return };
        let mut open = vec![0; 700];
        let mut writer = Writer::new(&mut open);
        let header = Open { source: SOURCE, nonce, version: 1, suite: SUITE_PLAIN, cookie: challenge.cookie, offer };
        datagram::encode_open_header(&mut writer, &header);
        writer.truncated(Truncated::new(0, 1));
        frame::encode_connect(&mut writer, b"token", b"");
        writer.bytes(frames);
        let end = writer.len();
        let end = plain.seal(&mut open, header.header_bytes()..end, 0);
        let end = datagram::append_check(&mut open, end);
        self.endpoint.handle_datagram(self.now, path, &mut open[..end]);
        self.client = Some(Client { path, to: 0, plain, number: 1, heard: 0, challenge: 0 });
        self.poll_events(10);
        for peer in self.peers.clone() {
            self.endpoint.accept(self.now, peer);
        }
        self.transmit(10);
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let choice = input.u8();
        if choice >= REPAIR_FROM {
            return self.send_repair(input);
        }
        match choice % 20 {
            0 => self.now += Duration::from_micros(u64::from(input.u16())),
            1 => self.now += Duration::from_millis(u64::from(input.u16())),
            2..6 => self.send_sealed(input),
            6 => {
                let path = path(input.below(8), input.u8() & 1 == 1);
                let mut datagram = parsing::with_check(input.bytes());
                self.endpoint.handle_datagram(self.now, path, &mut datagram);
            }
            7 => {
                // Returns the endpoint's own datagram, possibly damaged.
                let mut datagram = self.last.clone();
                if let Some(byte) = datagram.get_mut(usize::from(input.u8())) {
                    *byte ^= input.u8();
                }
                let mut datagram = if input.u8() & 1 == 0 {
                    datagram
                } else {
                    parsing::with_check(&datagram[..datagram.len().saturating_sub(datagram::CHECK_BYTES)])
                };
                self.endpoint.handle_datagram(self.now, path(input.below(8), false), &mut datagram);
            }
            8..11 => self.send(input),
            11 => self.poll_events(1 + input.below(10)),
            12 => self.transmit(1 + input.below(10)),
            13 => self.endpoint.handle_timeout(self.now),
            14 => self.command(input),
            15 => {
                let (path, token) = (path(input.below(8), input.u8() & 1 == 1), input.bytes());
                if let Ok(peer) = self.endpoint.connect(self.now, path, token) {
                    self.peers.push(peer);
                }
            }
            16 => self.endpoint.flush(self.now),
            17 => self.endpoint.set_writable(input.below(8) as u32, input.u8() & 1 == 1),
            18 => {
                let payload = Bytes::copy_from_slice(input.bytes());
                let (group, channel) = (Group(input.below(3) as u32), input.below(60) as u16);
                self.endpoint.broadcast(self.now, group, channel, &payload, MessageId(0));
            }
            _ => {
                self.endpoint.handle_timeout(self.now);
                self.transmit(100);
                self.poll_events(100);
            }
        }
    }

    /// A packet of the client with any frames.
    fn send_sealed(&mut self, input: &mut Input<'_>) {
        let skip = input.u8();
        let skipped = if skip < 250 { u64::from(skip % 4) } else { u64::from(input.u16()) };
        // Mostly from the client's address; it answers the last challenge, or another one, from any address.
        let path = (skip % 8 == 7).then(|| path(input.below(4), false));
        self.seal(skipped, path, |client, writer| {
            if skip % 4 == 3 {
                frame::encode_path_response(writer, client.challenge);
            }
            writer.bytes(input.bytes());
        });
    }

    /// A well-formed repair of any of the client's packets so far, or of packets that were never sent. It may be a
    /// correct one: a symbol over one packet with known content.
    fn send_repair(&mut self, input: &mut Input<'_>) {
        let (index, count, is_right) = (input.u8() % 64, 1 + input.below(32), input.u8().is_multiple_of(4));
        self.seal(1 + u64::from(input.u8() % 4), None, |client, writer| {
            let mut ranges = Vec::new();
            let Some(mut top) = client.number.checked_sub(1 + u64::from(input.u8() % 8)) else { return };
            for _ in 0..count {
                let start = top.saturating_sub(u64::from(input.u8() % 16));
                ranges.push(start..=top);
                let Some(below) = start.checked_sub(2 + u64::from(input.u8() % 4)) else { break };
                top = below;
            }
            let first = *ranges[0].start();
            if is_right {
                ranges = vec![first..=first];
            }
            encode_repair_header(writer, client.number, index, ranges.into_iter());
            let mut symbol = if is_right { symbol(index, first, input.bytes()) } else { input.bytes().to_vec() };
            symbol.resize(symbol.len().max(7), 0);
            writer.bytes(&symbol);
        });
    }

    /// The client's next packet, after the number of packets that it claims to have sent.
    fn seal(&mut self, skipped: u64, path: Option<Path>, frames: impl FnOnce(&Client, &mut Writer<'_>)) {
        let Some(client) = &mut self.client else { return };
        client.number += skipped;
        let mut packet = vec![0; 800];
        let mut writer = Writer::new(&mut packet);
        datagram::encode_packet_header(&mut writer, client.to);
        writer.truncated(Truncated::new(client.number, 1 << 20));
        frames(client, &mut writer);
        let end = writer.len();
        let end = client.plain.seal(&mut packet, datagram::HEADER_BYTES..end, client.number);
        self.endpoint.handle_datagram(self.now, path.unwrap_or(client.path), &mut packet[..end]);
    }

    fn peer(&self, input: &mut Input<'_>) -> Option<PeerId> {
        self.peers.get(input.below(self.peers.len())).copied()
    }

    fn send(&mut self, input: &mut Input<'_>) {
        let Some(peer) = self.peer(input) else { return };
        let (channel, count, length) = (input.below(60) as u16, 1 + input.below(8), usize::from(input.u16()) % 5_000);
        for _ in 0..count {
            self.next_id += 1;
            let _ = self.endpoint.send(self.now, peer, channel, vec![1; length].into(), MessageId(self.next_id));
        }
    }

    fn command(&mut self, input: &mut Input<'_>) {
        let Some(peer) = self.peer(input) else { return };
        let linger = Duration::from_millis(u64::from(input.u8()) * 10);
        match input.below(10) {
            0 => drop(self.endpoint.close(self.now, peer, 5, "over", linger)),
            1 => drop(self.endpoint.refuse(self.now, peer, 6, "not you")),
            2 => drop(self.endpoint.accept(self.now, peer)),
            3 => drop(self.endpoint.join(peer, Group(1))),
            4 => self.endpoint.leave(peer, Group(1)),
            5 => self.endpoint.set_merging(peer, Merging::After(linger)),
            6 => self.endpoint.set_merging(peer, Merging::Immediate),
            7 => self.endpoint.set_merging(peer, Merging::Flush),
            8 => drop(self.endpoint.set_path(self.now, peer, path(input.below(8), input.u8() & 1 == 1))),
            _ => self.endpoint.handle_carrier_lost(self.now, input.below(8) as u32, "gone"),
        }
    }

    fn poll_events(&mut self, count: usize) {
        for _ in 0..count {
            let Some(event) = self.endpoint.poll_event(self.now) else { return };
            let peer = event.peer();
            assert!(!self.closed.contains(&peer), "{event:?} after the end");
            match event {
                Event::Closed { .. } => drop(self.closed.insert(peer)),
                Event::Requested { .. } => self.peers.push(peer),
                _ => assert!(self.peers.contains(&peer), "{event:?} of nobody"),
            }
        }
    }

    fn transmit(&mut self, count: usize) {
        for _ in 0..count {
            let Some(transmit) = self.endpoint.poll_transmit(self.now, &mut self.buffer) else { return };
            assert!(transmit.bytes > 0 && transmit.segment_bytes > 0, "{transmit:?}");
            self.note_challenge(transmit.bytes);
            self.last = self.buffer[..transmit.bytes.min(transmit.segment_bytes)].to_vec();
            if let Some(client) = &mut self.client
                && client.to == 0
            {
                client.to = server_id(&self.last.clone(), client).unwrap_or(0);
            }
        }
    }

    /// A packet with a PATH_CHALLENGE is opened, so that the client can answer it.
    fn note_challenge(&mut self, bytes: usize) {
        let Some(client) = &mut self.client else { return };
        let Some(frames) = client.open(&self.buffer[..bytes]) else { return };
        for frame in Frames::new(frames).flatten() {
            if let Frame::PathChallenge { token } = frame {
                client.challenge = token;
            }
        }
    }

    /// The held memory stays within the limits of the settings.
    fn check(&mut self) {
        // A connection that is closing, or was not accepted, takes no place.
        assert!(self.endpoint.player_count() <= PLACES, "more connections than allowed");
        assert!(self.endpoint.is_population_balanced(), "places were not counted as they came and went");
        for peer in self.peers.clone() {
            let Some(overview) = self.endpoint.overview(peer) else { continue };
            let depth = overview.depth;
            let window = self.endpoint.settings(peer).map_or(0, |settings| u64::from(settings.window_bytes));
            // One packet beyond the limit, whose smallest messages cost 64 bytes each in addition to their payload.
            assert!(depth.held_bytes <= 3 * window + 64 * 400, "{depth:?}");
            assert!(depth.messages <= 40 * 50, "{depth:?}");
        }
    }

    /// Once no side sends any more, everything ends, and timers do not fire repeatedly at one time.
    fn end(&mut self) {
        for _ in 0..1_000 {
            self.endpoint.handle_timeout(self.now);
            self.transmit(10_000);
            self.poll_events(usize::MAX);
            if self.endpoint.connection_count() == 0 {
                break;
            }
            (0..8).for_each(|socket| self.endpoint.set_writable(socket, true));
            self.transmit(10_000);
            self.now = self.endpoint.poll_timeout().max(self.now + Duration::from_micros(1));
        }
        assert_eq!(self.endpoint.connection_count(), 0, "still there at {:?}", self.now);
        let open = self.peers.iter().find(|peer| !self.closed.contains(peer));
        assert_eq!(open, None, "it ended without an event");
    }
}

/// The id in an ACCEPT of the server.
fn server_id(datagram: &[u8], client: &mut Client) -> Option<u32> {
    Frames::new(client.open(datagram)?).flatten().find_map(|frame| match frame {
        frame::Frame::Accept { source, .. } => Some(source),
        _ => None,
    })
}

/// The symbol of a repair over one packet with this content.
fn symbol(index: u8, number: u64, content: &[u8]) -> Vec<u8> {
    let mut symbol = (content.len() as u16).to_be_bytes().to_vec();
    let checksum = crc32fast::hash(&[&number.to_be_bytes()[..], content].concat());
    symbol.extend_from_slice(&checksum.to_be_bytes());
    symbol.extend_from_slice(content);
    skipstone_gf256::scale(&mut symbol, skipstone_gf256::coefficient(index, number));
    symbol
}
