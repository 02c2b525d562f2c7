//! Skipstone itself: a channel for each entity, otherwise with defaults.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{ChannelRule, DeliveryMode, Overflow, Settings, window_cost};
use skipstone_proto::{Config, Endpoint, Event, PacketLog, PeerId, Transmit};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{MessageId, Stats, Submission};

use super::ends::{Ends, EndsSetup};
use crate::compare::condition::Condition;
use crate::compare::peers::peer::{Contents, Peer, Telemetry, Update};
use crate::framing::HEADER_BYTES;
use crate::measure::splitmix::splitmix;
use crate::units::Mode;

/// How packets are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suite {
    /// By a simulated suite with the sizes of TLS 1.3, including its handshake's.
    Sealed,
    /// Cleartext, with a tag that detects damage.
    Plain,
}

/// Whether the application passes on how late an update already is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ages {
    HandedOn,
    /// As with transports that have no such feature.
    Dropped,
}

pub(super) fn ends(suite: Suite, ages: Ages, mode: Mode, setup: EndsSetup<'_>) -> Ends {
    let settings = settings(setup.condition, mode);
    let update_bytes = setup.condition.payload_bytes + MESSAGE_HEADER_BYTES;
    let mut seed = setup.seed;
    // Both ends have the same simulated suite, as both ends of a real connection have the same library.
    let suites = SimulatedSuites::new(splitmix(&mut seed));
    let sealed = |config: Config| match suite {
        Suite::Sealed => config.encrypted(Arc::new(suites)),
        Suite::Plain => config,
    };
    let mut end = |config, log: &Option<Arc<dyn PacketLog>>| {
        let words: Vec<u8> = (0..4).flat_map(|_| splitmix(&mut seed).to_be_bytes()).collect();
        let config = Config { packet_log: log.clone(), ..sealed(config) };
        let endpoint = Endpoint::new(config, words.try_into().expect("32 bytes")).expect("good settings");
        SkipstoneEnd::new(endpoint, ages, update_bytes)
    };
    let (mut client, server) =
        (end(Config::client(), &setup.logs.client), end(Config::server(settings), &setup.logs.server));
    client.endpoint.connect(setup.now, path(setup.server), b"").expect("it may connect");
    Ends { client: Box::new(client), server: Box::new(server) }
}

/// A server's, in virtual time and over sockets.
pub(crate) fn settings(condition: &Condition, mode: Mode) -> Settings {
    let mut settings = Settings {
        redundancy: mode.with_budget(),
        channels: channels(condition),
        window_bytes: window_bytes(condition),
        ..Settings::default()
    };
    for rule in &mut settings.channels {
        // An overloaded link is to be measured, not to end the connection.
        rule.overflow = Overflow::Refuse;
        rule.queue_messages_max = condition.waiting_max.unwrap_or(rule.queue_messages_max);
    }
    settings
}

/// Receive windows limit what is under way: a path with a long round trip needs a greater one than the default. This
/// one holds four round trips' load, as a message that is sent again takes at least two.
fn window_bytes(condition: &Condition) -> u32 {
    let bulk = condition.bulk.map_or(0, |bulk| window_cost(bulk.bytes) * condition.bulk_messages());
    let load = window_cost(condition.payload_bytes) * condition.updates() + bulk;
    let per_round_trip = load as f64 / condition.lasting.as_secs_f64() * condition.round_trip().as_secs_f64();
    let most = Config::client().limits.window_bytes;
    // The cast saturates.
    ((4.0 * per_round_trip) as u32).clamp(Settings::default().window_bytes, most)
}

/// Each entity has a channel with its mode; consecutive channels of one mode share a rule. Bulk has the channel after
/// them, and waits for all others.
fn channels(condition: &Condition) -> Vec<ChannelRule> {
    let (mode, bulk) = (|entity| condition.delivery_of(entity).on_wire(), condition.entities);
    let entities: Vec<u16> = (0..bulk).collect();
    let alike = entities.chunk_by(|one, other| mode(*one) == mode(*other));
    let ends: Vec<(u16, u16)> = alike.map(|run| (run[0], run[run.len() - 1])).collect();
    let rule = |at: usize| {
        let (first, last) = ends[at];
        let is_open = condition.bulk.is_none() && at + 1 == ends.len();
        ChannelRule::new(first..=if is_open { u16::MAX } else { last }, mode(first))
    };
    let behind = ChannelRule::new(bulk..=u16::MAX, DeliveryMode::ReliableOrdered);
    let behind = ChannelRule { priority: behind.priority + 1, ..behind };
    (0..ends.len()).map(rule).chain(condition.bulk.map(|_| behind)).collect()
}

fn path(remote: SocketAddr) -> Path {
    Path { socket: 0, local: None, remote, carrier: Carrier::UDP }
}

struct SkipstoneEnd {
    endpoint: Endpoint,
    ages: Ages,
    peer: Option<PeerId>,
    is_connected: bool,
    arrived: VecDeque<Update>,
    buffer: Vec<u8>,
    /// The part of the buffer that has not left yet.
    rest: Option<(Transmit, usize)>,
    messages: u64,
    /// Bytes of an update in a packet.
    update_bytes: usize,
    written: Written,
}

/// The last write: one datagram, or several of a size.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    ip_bytes: usize,
    contents: Contents,
    /// IP bytes of the datagram that left last.
    last: usize,
    /// The endpoint's counters so far.
    totals: Stats,
}

/// A message's own bytes in a packet that holds several, about.
const MESSAGE_HEADER_BYTES: usize = 3;

/// Room for datagrams that are written at once.
const BUFFER_BYTES: usize = 1 << 16;

impl SkipstoneEnd {
    fn new(endpoint: Endpoint, ages: Ages, update_bytes: usize) -> Self {
        Self {
            endpoint,
            ages,
            peer: None,
            is_connected: false,
            arrived: VecDeque::new(),
            buffer: vec![0; BUFFER_BYTES],
            rest: None,
            messages: 0,
            update_bytes,
            written: Written::default(),
        }
    }

    /// Classifies the datagram that was just written, by the change of the endpoint's counters.
    fn note_written(&mut self, transmit: &Transmit) {
        let (totals, before) = (self.endpoint.totals(), self.written.totals);
        let ip_bytes = transmit.bytes + transmit.bytes.div_ceil(transmit.segment_bytes) * HEADER_BYTES;
        let redundancy = totals.redundancy.bytes_sent - before.redundancy.bytes_sent;
        let carried = ip_bytes.saturating_sub(redundancy as usize);
        let resent = (totals.resent - before.resent) as usize * self.update_bytes;
        let contents = match (totals.sent.payload_bytes > before.sent.payload_bytes, resent > 0) {
            (true, _) => Contents { first: carried.saturating_sub(resent), again: resent.min(carried) },
            (false, true) => Contents { first: 0, again: carried },
            (false, false) => Contents::default(),
        };
        self.written = Written { ip_bytes, contents, last: 0, totals };
    }

    /// Takes all that the endpoint has to tell.
    fn pump(&mut self, now: Time) {
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Event::Requested { peer, .. } => drop(self.endpoint.accept(now, peer)),
                Event::Connected { peer, .. } => {
                    self.peer = Some(peer);
                    self.is_connected = true;
                }
                Event::Message { channel, payload, age, .. } => {
                    self.arrived.push_back(Update { entity: channel, payload, age });
                }
                Event::Closed { .. } => self.peer = None,
                _ => {}
            }
        }
    }
}

impl Peer for SkipstoneEnd {
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, datagram: &mut Vec<u8>) {
        self.endpoint.handle_datagram(now, path(from), datagram);
        self.pump(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.endpoint.handle_timeout(now);
        self.pump(now);
    }

    fn poll_timeout(&mut self) -> Time {
        self.endpoint.poll_timeout()
    }

    fn poll_transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SocketAddr> {
        if self.rest.is_none() {
            self.rest = self.endpoint.poll_transmit(now, &mut self.buffer).map(|transmit| (transmit, 0));
            if let Some((transmit, _)) = self.rest {
                self.note_written(&transmit);
            }
        }
        let (transmit, from) = self.rest?;
        let to = (from + transmit.segment_bytes).min(transmit.bytes);
        datagram.clear();
        datagram.extend_from_slice(&self.buffer[from..to]);
        self.written.last = to - from + HEADER_BYTES;
        self.rest = (to < transmit.bytes).then_some((transmit, to));
        Some(transmit.path.remote)
    }

    fn contents(&self) -> Option<Contents> {
        let Written { ip_bytes, contents, last, .. } = self.written;
        let part = |bytes: usize| bytes * last / ip_bytes.max(1);
        Some(Contents { first: part(contents.first), again: part(contents.again) })
    }

    fn is_connected(&self) -> bool {
        self.is_connected
    }

    fn send(&mut self, now: Time, update: Update) -> bool {
        let Some(peer) = self.peer else { return false };
        self.messages += 1;
        let age = if self.ages == Ages::HandedOn { update.age } else { Duration::ZERO };
        let message = Submission { payload: update.payload, id: MessageId(self.messages), age };
        self.endpoint.submit(now, peer, update.entity, message).is_ok()
    }

    fn poll_message(&mut self, _now: Time) -> Option<Update> {
        self.arrived.pop_front()
    }

    fn telemetry(&mut self) -> Telemetry {
        let totals = self.endpoint.totals();
        Telemetry {
            resent: Some(totals.resent),
            redundancy_bytes: Some(totals.redundancy.bytes_sent),
            spurious: Some(totals.packets_spurious),
            repaired: Some(totals.redundancy.packets_recovered),
        }
    }
}
