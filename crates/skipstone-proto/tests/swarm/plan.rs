//! The plan of a seed: settings, links, carrier, clients, workload and ends.

use crate::simulation::ms;
use skipstone_netsim::{LinkConfig, Loss, Outage, QueueLimit};
use skipstone_proto::Carrier;
use skipstone_proto::Config;
use skipstone_proto::Duration;
use skipstone_proto::rng::Rng;
use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::{ChannelRule, DeliveryMode, Merging, Overflow, Settings, window_cost};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::sync::Arc;

/// Everything that one seed decides before the world begins.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) config: Config,
    pub(crate) carrier: Carrier,
    pub(crate) links: Vec<LinkConfig>,
    /// The links after the workload: the same delay, and nothing lost.
    pub(crate) healed: LinkConfig,
    pub(crate) steps: u32,
    pub(crate) step: Duration,
    /// Bytes that each direction of each client may send.
    pub(crate) budget: u32,
    /// Messages that a step sends in each direction, at most.
    pub(crate) per_step: u32,
    pub(crate) refuses: Vec<usize>,
    pub(crate) ends: Vec<End>,
    /// Clients change their addresses.
    pub(crate) moves: bool,
    /// From this step on the paths carry only the healed link's datagram size.
    pub(crate) shrinks_at: Option<u32>,
}

/// How a client's connection ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) how: How,
    pub(crate) linger: Duration,
    /// In the middle of the workload, at this step; otherwise when all is quiet.
    pub(crate) at_step: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Client,
    Server,
    Both,
    Killed,
    CarrierLost,
}

/// The broadcast channel of all clients: reliable and ordered, with a queue that never fills.
pub(crate) const BROADCAST_CHANNEL: u16 = 60_000;

impl Plan {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut paths = Rng::new(!seed);
        let is_stream = rng.chance(0.2);
        let carrier = match is_stream {
            true => Carrier::WEBSOCKET,
            false if Rng::new(seed ^ 0xD715).chance(0.2) => Carrier::DTLS,
            false if Rng::new(seed ^ 0x3EB7).chance(0.2) => Carrier::WEBTRANSPORT,
            false => Carrier::UDP,
        };
        let clients = 1 + rng.below(4) as usize;
        let delay = ms(u64::from(rng.below(151)));
        let links = (0..clients).map(|_| if is_stream { stream(&mut rng, delay) } else { link(&mut rng, delay) });
        let mut links: Vec<LinkConfig> = links.collect();
        let steps = 20 + rng.below(80);
        let ends = (0..clients).map(|_| end(&mut rng, steps, is_stream)).collect();
        let mut config = config(&mut rng);
        if Rng::new(seed ^ 0xE5C).chance(0.5) {
            config = config.encrypted(Arc::new(SimulatedSuites::new(seed)));
        }
        let budget = [20_000, 60_000, 250_000][rng.below(3) as usize];
        let limits = [None, Some(1_200), Some(1_280), Some(1_400), Some(1_472)];
        let mut limit = || if is_stream { None } else { limits[paths.below(5) as usize] };
        let (at_first, at_last) = (limit(), limit());
        links.iter_mut().for_each(|link| link.datagram_bytes_max = at_first);
        Plan {
            moves: paths.chance(0.4) && !carrier.is_bound,
            shrinks_at: paths.chance(0.5).then(|| paths.below(steps)),
            // A small window lets little through in a round trip.
            budget: budget.min(config.settings.window_bytes.saturating_mul(40)),
            config,
            carrier,
            links,
            healed: LinkConfig { delay, datagram_bytes_max: at_last, ..LinkConfig::default() },
            steps,
            step: Duration::from_micros(u64::from(1_000 + rng.below(25_000))),
            per_step: [1, 3, 10, 60][rng.below(4) as usize],
            refuses: (1..clients).filter(|_| rng.chance(0.1)).collect(),
            ends,
        }
    }
}

fn end(rng: &mut Rng, steps: u32, is_stream: bool) -> End {
    let how = match rng.below(8) {
        0..3 => How::Client,
        3..5 => How::Server,
        5 => How::Both,
        6 if is_stream => How::CarrierLost,
        _ => How::Killed,
    };
    let linger = if rng.chance(0.5) { Duration::ZERO } else { ms(u64::from(rng.below(3_000))) };
    End { how, linger, at_step: rng.chance(0.3).then(|| rng.below(steps)) }
}

fn stream(rng: &mut Rng, delay: Duration) -> LinkConfig {
    let rate_bits_per_second = rng.chance(0.5).then(|| u64::from(500_000 + rng.below(20_000_000)));
    LinkConfig { delay, jitter: ms(u64::from(rng.below(20))), rate_bits_per_second, ..LinkConfig::default() }
}

fn link(rng: &mut Rng, delay: Duration) -> LinkConfig {
    let loss = match rng.below(4) {
        0 => Loss::None,
        1 => Loss::Burst { rate: rng.unit() * 0.15, mean_length: 1.0 + rng.unit() * 6.0 },
        2 => Loss::Random(rng.unit() * 0.02),
        _ => Loss::Random(rng.unit() * 0.2),
    };
    let outage =
        Outage { start: ms(1_000 + u64::from(rng.below(2_000))), length: ms(100 + u64::from(rng.below(1_900))) };
    let mut some = |most: f64| if rng.chance(0.5) { rng.unit() * most } else { 0.0 };
    LinkConfig {
        delay,
        loss,
        reorder: some(0.1),
        duplicate: some(0.1),
        corrupt: some(0.05),
        reorder_extra: ms(1 + u64::from(rng.below(80))),
        jitter: ms(if rng.chance(0.5) { u64::from(rng.below(20)) } else { 0 }),
        jitter_reorders: rng.chance(0.2),
        rate_bits_per_second: rng.chance(0.4).then(|| u64::from(500_000 + rng.below(10_000_000))),
        queue: QueueLimit::Time(ms(20 + u64::from(rng.below(300)))),
        outages: if rng.chance(0.3) { vec![outage] } else { Vec::new() },
        ..LinkConfig::default()
    }
}

fn merging(rng: &mut Rng) -> Merging {
    match rng.below(3) {
        0 => Merging::Immediate,
        1 => Merging::After(Duration::from_micros(u64::from(100 + rng.below(30_000)))),
        _ => Merging::Flush,
    }
}

fn config(rng: &mut Rng) -> Config {
    let message_bytes_max = match rng.below(4) {
        0 => 16 + rng.below(300),
        1 => 1_000 + rng.below(3_000),
        2 => 20_000,
        _ => 100_000,
    };
    let cost = window_cost(message_bytes_max as usize) as u32;
    let window_bytes = match rng.below(3) {
        0 => cost + rng.below(100),
        1 => cost * 2 + rng.below(10_000),
        _ => 2 << 20,
    };
    let mut settings = Settings {
        idle_timeout: ms(12_000),
        keepalive: ms(u64::from(2_000 + rng.below(3_000))),
        ack_delay: Duration::from_micros([0, 500, 2_000, 10_000][rng.below(4) as usize]),
        ack_delay_max: Duration::from_micros([0, 5_000, 70_000, 200_000][rng.below(4) as usize]),
        message_bytes_max,
        window_bytes,
        datagram_bytes_max: if rng.chance(0.3) { 1_200 } else { 256 + rng.below(1_245) as u16 },
        merging: merging(rng),
        channels: rules(rng),
        ..Settings::default()
    };
    settings.redundancy =
        Redundancy { mode: redundancy(rng), budget_percent: [0, 20, 100, 300][rng.below(4) as usize] };
    // A block code needs its budget.
    let modes = settings.channels.iter().map(|rule| settings.redundancy_of(rule)).chain([settings.redundancy.mode]);
    let needed = modes.map(RedundancyMode::budget_percent_min).max().unwrap_or(0);
    settings.redundancy.budget_percent = settings.redundancy.budget_percent.max(needed);
    // Where a newer message replaces an older one, nothing can be repeated.
    let all = settings.redundancy.mode;
    let replacing = settings.channels.iter_mut().filter(|rule| rule.mode == DeliveryMode::ReliableSequenced);
    for rule in replacing.filter(|rule| matches!(rule.redundancy.unwrap_or(all), RedundancyMode::Repeat { .. })) {
        rule.redundancy = Some(RedundancyMode::Lean);
    }
    let mut config = Config { handshake_timeout: ms(30_000), ..Config::server(settings.clone()) };
    if config.check().is_err() {
        settings.datagram_bytes_max = 900;
        config.settings = settings;
    }
    config.merging = rng.chance(0.5).then(|| merging(rng));
    config
}

fn redundancy(rng: &mut Rng) -> RedundancyMode {
    match rng.below(5) {
        0 => RedundancyMode::Off,
        1 => RedundancyMode::Lean,
        2 => RedundancyMode::Adaptive,
        3 => RedundancyMode::Repeat { bursts: 1 + rng.below(8) as u8 },
        _ => RedundancyMode::Fixed { sources: 1 + rng.below(12) as u8, repairs: 1 + rng.below(4) as u8 },
    }
}

fn rules(rng: &mut Rng) -> Vec<ChannelRule> {
    let mut rules = vec![ChannelRule::new(BROADCAST_CHANNEL..=BROADCAST_CHANNEL, DeliveryMode::ReliableOrdered)];
    let mut first = 0;
    for _ in 0..1 + rng.below(8) {
        let last = first + [0, 1, 10, 300, 5_000][rng.below(5) as usize];
        let mode = DeliveryMode::try_from(rng.below(5) as u8).expect("there are five");
        rules.push(ChannelRule {
            priority: rng.below(4) as u8,
            weight: 1 + rng.below(5) as u8,
            overflow: match rng.below(20) {
                0 => Overflow::Disconnect,
                1..6 => Overflow::DropOldest,
                _ => Overflow::Refuse,
            },
            receipts: rng.chance(0.5),
            queue_messages_max: if rng.chance(0.3) { 1 + rng.below(50) } else { 16_384 },
            queue_bytes_max: if rng.chance(0.3) { 100 + rng.below(100_000) } else { 8 << 20 },
            redundancy: rng.chance(0.5).then(|| redundancy(rng)),
            ..ChannelRule::new(first..=last, mode)
        });
        first = last + 1;
    }
    rules
}
