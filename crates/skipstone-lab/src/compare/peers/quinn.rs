//! QUIC by quinn-proto, with TLS 1.3: one bidirectional stream for each entity, on which messages have their length in
//! two bytes before them.
//!
//! The certificate is an Ed25519 one, whose signatures are all of one length; nothing else that is random in the
//! handshake changes a length or a time.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event, MtuDiscoveryConfig, ServerConfig, Side, StreamEvent, StreamId, TransportConfig, VarInt,
};
use skipstone_proto::{Duration, Time};

use super::ends::{Ends, EndsSetup};
use crate::compare::peers::peer::{Peer, Update};
use crate::framing::HEADER_BYTES;
use crate::framing::{FramedMessages, framed};
use crate::measure::splitmix::splitmix;
use crate::quic::certificate::{NAME, client_crypto, server_crypto};

/// The settings that quinn runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuinnTuning {
    /// quinn's defaults, except for the number of streams.
    Default,
    /// Tuned by an expert for this path and workload.
    Expert,
    /// The same with BBR, which does not take loss for congestion.
    ExpertBbr,
}

pub(super) fn ends(tuning: QuinnTuning, setup: EndsSetup<'_>) -> Ends {
    let base = Base { instant: Instant::now(), time: setup.now };
    let transport = Arc::new(transport(tuning, setup));
    let mut seed = setup.seed;
    let mut endpoint = |server| {
        let mut config = EndpointConfig::default();
        let words: Vec<u8> = (0..4).flat_map(|_| splitmix(&mut seed).to_be_bytes()).collect();
        config.rng_seed(Some(words.try_into().expect("32 bytes")));
        Endpoint::new(Arc::new(config), server, true, None)
    };
    let mut server_config = ServerConfig::with_crypto(server_crypto());
    server_config.transport_config(Arc::clone(&transport));
    let server = endpoint(Some(Arc::new(server_config)));
    let mut client_config = ClientConfig::new(client_crypto());
    client_config.transport_config(transport);
    let mut client = endpoint(None);
    let connected = client.connect(base.instant, client_config, setup.server, NAME);
    let (handle, connection) = connected.expect("a good configuration and address");
    let link = Some(QuinnLink { handle, connection });
    let end = |endpoint, link| Box::new(QuinnEnd::new(endpoint, base, link, setup.condition.waiting_max.is_some()));
    Ends { client: end(client, link), server: end(server, None) }
}

/// A stream for each entity.
const STREAMS_MAX: u32 = 256;

fn transport(tuning: QuinnTuning, setup: EndsSetup<'_>) -> TransportConfig {
    let mut config = TransportConfig::default();
    config.max_concurrent_bidi_streams(VarInt::from_u32(STREAMS_MAX));
    if let Some(each) = setup.condition.waiting_max {
        let update_bytes = setup.condition.payload_bytes as u64 + 2;
        config.send_window(u64::from(each) * u64::from(setup.condition.entities) * update_bytes);
    }
    if tuning == QuinnTuning::Default {
        return config;
    }
    let link = &setup.condition.link;
    let datagram_bytes = link.datagram_bytes_max.unwrap_or(1_500 - HEADER_BYTES).clamp(1_200, 65_527) as u16;
    // No discovery: the path is known.
    config.initial_mtu(datagram_bytes).mtu_discovery_config(None::<MtuDiscoveryConfig>);
    config.initial_rtt(setup.condition.round_trip().max(Duration::from_millis(1)));
    // RFC 9002's smallest: a later packet of the same flight may overtake twice, and an eighth of a round trip.
    config.packet_threshold(3).time_threshold(9.0 / 8.0);
    let mut acks = AckFrequencyConfig::default();
    acks.ack_eliciting_threshold(VarInt::from_u32(0)).max_ack_delay(Some(Duration::from_millis(1)));
    acks.reordering_threshold(VarInt::from_u32(1));
    config.ack_frequency_config(Some(acks));
    config.congestion_controller_factory(controller(tuning));
    config.persistent_congestion_threshold(u32::MAX);
    // Updates of one tick share packets in the order in which they were written.
    config.send_fairness(false);
    config
}

fn controller(tuning: QuinnTuning) -> Arc<dyn ControllerFactory + Send + Sync> {
    if tuning == QuinnTuning::ExpertBbr {
        let mut bbr = BbrConfig::default();
        bbr.initial_window(WINDOW_INITIAL);
        return Arc::new(bbr);
    }
    let mut cubic = CubicConfig::default();
    cubic.initial_window(WINDOW_INITIAL);
    Arc::new(cubic)
}

const WINDOW_INITIAL: u64 = 1 << 20;

/// Where virtual time meets `Instant`: only differences count.
#[derive(Debug, Clone, Copy)]
struct Base {
    instant: Instant,
    time: Time,
}

impl Base {
    fn instant(self, now: Time) -> Instant {
        self.instant + now.since(self.time)
    }

    fn time(self, instant: Instant) -> Time {
        let micros = instant.duration_since(self.instant).as_nanos().div_ceil(1_000) as u64;
        self.time + Duration::from_micros(micros)
    }
}

struct QuinnLink {
    handle: ConnectionHandle,
    connection: Connection,
}

struct QuinnEnd {
    endpoint: Endpoint,
    base: Base,
    link: Option<QuinnLink>,
    is_connected: bool,
    /// Answers of the endpoint's own.
    responses: VecDeque<(SocketAddr, Vec<u8>)>,
    /// Indexed by the number of the stream, which equals the entity's number.
    streams: BTreeMap<u64, Stream>,
    arrived: VecDeque<Update>,
    /// Whether updates that do not fit into the connection's send window are refused; they wait otherwise.
    is_bounded: bool,
}

struct Stream {
    id: StreamId,
    framing: FramedMessages,
    /// Bytes that were written and did not fit yet.
    backlog: VecDeque<Bytes>,
}

impl Stream {
    fn new(id: StreamId) -> Self {
        Self { id, framing: FramedMessages::default(), backlog: VecDeque::new() }
    }
}

impl QuinnEnd {
    fn new(endpoint: Endpoint, base: Base, link: Option<QuinnLink>, is_bounded: bool) -> Self {
        let (responses, arrived) = (VecDeque::new(), VecDeque::new());
        Self { endpoint, base, link, is_connected: false, responses, streams: BTreeMap::new(), arrived, is_bounded }
    }

    /// Takes all that the connection has to tell.
    fn pump(&mut self) {
        let Some(QuinnLink { handle, connection }) = &mut self.link else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.is_connected = true,
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                    while let Some(id) = connection.streams().accept(Dir::Bi) {
                        self.streams.insert(key(id), Stream::new(id));
                        read(connection, self.streams.get_mut(&key(id)), &mut self.arrived);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => {
                    read(connection, self.streams.get_mut(&key(id)), &mut self.arrived);
                }
                Event::Stream(StreamEvent::Writable { id }) => {
                    if let Some(stream) = self.streams.get_mut(&key(id)) {
                        write(connection, stream);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Both ends count their streams from 0.
fn key(id: StreamId) -> u64 {
    id.index() * 2 + u64::from(id.initiator() == Side::Server)
}

fn read(connection: &mut Connection, stream: Option<&mut Stream>, arrived: &mut VecDeque<Update>) {
    let Some(stream) = stream else { return };
    let mut receiving = connection.recv_stream(stream.id);
    let Ok(mut chunks) = receiving.read(true) else { return };
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        stream.framing.add(&chunk.bytes);
    }
    // `poll_transmit` finds the frames that `finalize` makes due, so its result is not needed.
    let _ = chunks.finalize();
    while let Some(payload) = stream.framing.next() {
        arrived.push_back(Update { entity: stream.id.index() as u16, payload, age: Duration::ZERO });
    }
}

fn write(connection: &mut Connection, stream: &mut Stream) {
    while let Some(front) = stream.backlog.front_mut() {
        match connection.send_stream(stream.id).write(front) {
            Ok(bytes) if bytes == front.len() => drop(stream.backlog.pop_front()),
            Ok(bytes) => drop(front.split_to(bytes)),
            Err(_) => return,
        }
    }
}

impl Peer for QuinnEnd {
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, datagram: &mut Vec<u8>) {
        let instant = self.base.instant(now);
        let mut buffer = Vec::new();
        match self.endpoint.handle(instant, from, None, None, BytesMut::from(&datagram[..]), &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(link) = &mut self.link {
                    link.connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.link.is_none() => {
                match self.endpoint.accept(incoming, instant, &mut buffer, None) {
                    Ok((handle, connection)) => self.link = Some(QuinnLink { handle, connection }),
                    Err(error) => {
                        if let Some(response) = error.response {
                            buffer.truncate(response.size);
                            self.responses.push_back((response.destination, buffer));
                        }
                    }
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(response)) => {
                buffer.truncate(response.size);
                self.responses.push_back((response.destination, buffer));
            }
            None => {}
        }
        self.pump();
    }

    fn handle_timeout(&mut self, now: Time) {
        let instant = self.base.instant(now);
        if let Some(link) = &mut self.link
            && link.connection.poll_timeout().is_some_and(|at| at <= instant)
        {
            link.connection.handle_timeout(instant);
            self.pump();
        }
    }

    fn poll_timeout(&mut self) -> Time {
        let timeout = self.link.as_mut().and_then(|link| link.connection.poll_timeout());
        timeout.map_or(Time::NEVER, |instant| self.base.time(instant))
    }

    fn poll_transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SocketAddr> {
        if let Some((to, response)) = self.responses.pop_front() {
            *datagram = response;
            return Some(to);
        }
        datagram.clear();
        let transmit = self.link.as_mut()?.connection.poll_transmit(self.base.instant(now), 1, datagram);
        self.pump();
        Some(transmit?.destination)
    }

    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn send(&mut self, _now: Time, update: Update) -> bool {
        let Some(QuinnLink { connection, .. }) = &mut self.link else { return false };
        // The client's stream of this entity, or the server's own.
        let keys = [0, 1].map(|initiator| u64::from(update.entity) * 2 + initiator);
        let key = loop {
            if let Some(known) = keys.into_iter().find(|key| self.streams.contains_key(key)) {
                break known;
            }
            let Some(id) = connection.streams().open(Dir::Bi) else { return false };
            self.streams.insert(self::key(id), Stream::new(id));
        };
        let stream = self.streams.get_mut(&key).expect("it was just opened");
        if self.is_bounded && !stream.backlog.is_empty() {
            return false;
        }
        stream.backlog.push_back(framed(&update.payload).into());
        write(connection, stream);
        true
    }

    fn poll_message(&mut self, _now: Time) -> Option<Update> {
        self.arrived.pop_front()
    }
}
