//! An echo server behind a simulated network, which can move its client to another server.

use skipstone_netsim::{Duplex, LinkConfig, Loss};
use skipstone_proto::{
    Carrier, ChannelRule, Config, DeliveryMode, Duration, Endpoint, Event, MessageId, MoveMessage, MoveStage, Overflow,
    Path, PeerId, Settings, Time, code,
};
use std::collections::VecDeque;

/// The server and the path to it.
pub(crate) struct FarEnd {
    endpoint: Endpoint,
    link: Duplex,
    path: Path,
    buffer: Vec<u8>,
    arrived: Vec<u8>,
    next_id: u64,
    client: Option<PeerId>,
    /// It came with the token of a move.
    pub(crate) has_ticket: bool,
    /// What the client said about moves.
    stages: VecDeque<MoveStage>,
}

/// The channel of moves.
const MOVES: u16 = 64;
/// How long the last messages to a client that has left may take.
const LINGER: Duration = Duration::from_secs(5);

/// The server's time at the start of the page's clock.
const BEGINNING: u64 = 1_000_000;

impl FarEnd {
    pub(crate) fn new(seed: u64, carrier: u32, loss: f64, delay_us: f64) -> Self {
        let carrier = if carrier == 0 { Carrier::WEBSOCKET } else { Carrier::WEBTRANSPORT };
        let link = LinkConfig {
            delay: Duration::from_micros(delay_us as u64),
            loss: if loss > 0.0 { Loss::Random(loss) } else { Loss::None },
            ..LinkConfig::default()
        };
        let mut own = [7; 32];
        own[..8].copy_from_slice(&seed.to_be_bytes());
        FarEnd {
            endpoint: Endpoint::new(Config::server(settings()), own).expect("good settings"),
            link: Duplex::symmetric(link, seed).expect("a good link"),
            path: Path { socket: 0, local: None, remote: ([192, 0, 2, 1], 1_000).into(), carrier },
            buffer: vec![0; 1 << 16],
            arrived: Vec::new(),
            next_id: 0,
            client: None,
            has_ticket: false,
            stages: VecDeque::new(),
        }
    }

    pub(crate) fn send(&mut self, now_us: f64, datagram: &[u8]) {
        self.link.up.send(span(now_us), datagram, 0);
    }

    pub(crate) fn receive(&mut self, now_us: f64, into: &mut Vec<u8>) -> Option<usize> {
        self.link.down.receive(span(now_us), into).map(|_| into.len())
    }

    pub(crate) fn step(&mut self, now_us: f64) {
        let now = Time::from_micros(BEGINNING + now_us as u64);
        while self.link.up.receive(span(now_us), &mut self.arrived).is_some() {
            self.endpoint.handle_datagram(now, self.path, &mut self.arrived);
        }
        self.endpoint.handle_timeout(now);
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Event::Requested { peer, token, .. } => match &token[..] {
                    b"refuse me" => drop(self.endpoint.refuse(now, peer, 77, "not you")),
                    _ => {
                        (self.client, self.has_ticket) = (Some(peer), &token[..] == b"ticket");
                        self.endpoint.accept(now, peer);
                    }
                },
                Event::Message { peer, channel: MOVES, payload, .. } => {
                    let stage = MoveMessage::decode(&payload).ok().flatten().and_then(|message| message.stage());
                    if let Some(MoveStage::Left(_)) = stage {
                        self.endpoint.close(now, peer, code::NONE, "moved", LINGER);
                    }
                    self.stages.extend(stage);
                }
                Event::Message { peer, channel, payload, .. } => {
                    self.next_id += 1;
                    // A client that has disconnected, or whose queue is full, gets no echo.
                    let _ = self.endpoint.send(now, peer, channel, payload, MessageId(self.next_id));
                }
                _ => {}
            }
        }
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut self.buffer) {
            for datagram in self.buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                self.link.down.send(span(now_us), datagram, 0);
            }
        }
    }

    pub(crate) fn due(&mut self) -> f64 {
        let arrivals = [&self.link.up, &self.link.down]
            .map(|link| link.next_arrival().map_or(f64::INFINITY, |at| at.as_nanos().div_ceil(1_000) as f64));
        let timeout = match self.endpoint.poll_timeout() {
            Time::NEVER => f64::INFINITY,
            at => at.as_micros() as f64 - BEGINNING as f64,
        };
        arrivals.into_iter().fold(timeout, f64::min)
    }

    /// Tells the client something about a move.
    pub(crate) fn tell(&mut self, now_us: f64, message: MoveMessage<'_>) {
        let now = Time::from_micros(BEGINNING + now_us as u64);
        if let Some(client) = self.client {
            self.endpoint.send(now, client, MOVES, message.encode().into(), MessageId(0)).expect("it is connected");
            self.endpoint.flush(now);
        }
    }

    /// What the client said next about moves.
    pub(crate) fn stage(&mut self) -> Option<MoveStage> {
        self.stages.pop_front()
    }

    pub(crate) fn close(&mut self, now_us: f64, code: u64) {
        let now = Time::from_micros(BEGINNING + now_us as u64);
        self.endpoint.close_all(now, code, "by the test", Duration::ZERO);
    }

    pub(crate) fn set_size(&mut self, bytes: u16) {
        self.endpoint.set_packet_bytes_max(0, bytes);
    }
}

/// A channel of each mode, numbered as WIRE.md numbers the modes, with receipts; channel 9, which has a short queue and
/// refuses messages; ordered channels for entities from 10 on; and the channel of moves.
fn settings() -> Settings {
    let modes = (0..5).map(|mode| {
        let mode = DeliveryMode::try_from(mode).expect("there are five");
        ChannelRule { receipts: true, ..ChannelRule::new(mode as u16..=mode as u16, mode) }
    });
    let short = ChannelRule {
        overflow: Overflow::Refuse,
        queue_messages_max: 10,
        ..ChannelRule::new(9..=9, DeliveryMode::ReliableOrdered)
    };
    let entities = ChannelRule::new(10..=63, DeliveryMode::ReliableOrdered);
    let moves = ChannelRule::new(MOVES..=MOVES, DeliveryMode::ReliableOrdered);
    let channels = modes.chain([short, entities, moves]).collect();
    Settings { channels, moves_channel: MOVES.into(), ..Settings::default() }
}

fn span(micros: f64) -> Duration {
    Duration::from_micros(micros as u64)
}
