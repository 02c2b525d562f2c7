//! Peers that lie, on every carrier: whatever they send, all others get everything that was sent, no side panics or
//! works without end, and the memory and traffic that they cause stay bounded.

use crate::simulation::lies::{Liar, Manner};
use crate::simulation::{World, glazed, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::rng::Rng;
use skipstone_proto::{
    Carrier, ChannelRule, Config, DeliveryMode, Event, Limits, MemoryBudget, Redundancy, RedundancyMode, Settings,
    TOKEN_BYTES_MAX,
};
use std::cell::RefCell;
use std::rc::Rc;

/// The first clients lie; the last does not.
const CLIENTS: usize = 4;
const HONEST: usize = CLIENTS - 1;
const SPAN_MS: u64 = 3_000;
/// Memory of a network, and of a connection, unless the connection's usual limit is lower. The smallest is less than
/// the charge for three lying connections that hold little, and more than the honest connection makes any side hold.
const NETWORK_BYTES: [u64; 3] = [24_500, 100_000, 4 << 20];
const CONNECTION_BYTES_MAX: u64 = 1 << 20;
const ENDPOINT_BYTES: u64 = 6 << 20;
/// How long the server's application takes no events, in ticks.
const PAUSE_TICKS_MAX: u32 = 6;

/// How many lies were sent.
pub(crate) fn run(seed: u64) -> u64 {
    let mut rng = Rng::new(seed ^ 0x11A5);
    let carriers = [Carrier::UDP, Carrier::DTLS, Carrier::WEBSOCKET];
    let carrier = carriers[rng.below(carriers.len() as u32) as usize];
    let server_lies = rng.below(3) == 0;
    let mut config = config(&mut rng);
    let links = links(&mut rng, carrier);
    if rng.below(2) == 0 && carrier == Carrier::UDP {
        config = glazed(config, seed);
    }
    let budget = config.memory;
    let mut world = World::on(carrier, seed, config, &links);
    // The honest client's network has its own budget.
    world.begin_at(HONEST, ([198, 18, 0, 1], 5_000).into());
    let manner = Manner::drawn(&mut rng);
    let liars: Vec<Rc<RefCell<Liar>>> =
        (0..HONEST).map(|at| Rc::new(RefCell::new(Liar::new(seed ^ at as u64, manner)))).collect();
    let tapped = liars.clone();
    world.tap = Some(Box::new(move |_, client, is_up, datagram| {
        if let Some(liar) = tapped.get(client) {
            liar.borrow_mut().pass(is_up != server_lies, datagram);
        }
    }));
    let who = if server_lies { "the server lies" } else { "clients lie" };
    let what = format!("seed {seed}, {}, {who}, {manner:?}, {budget:?}", carrier.name);
    converse(&mut world, &mut rng, budget, &what);
    // Messages on their way arrive, and no side has work left that achieves nothing.
    world.run_for(ms(4_000));
    for (is_up, node) in [(true, &world.server), (false, &world.clients[HONEST])] {
        for channel in 0..MODES.len() as u16 {
            let got: Vec<u32> = if is_up { from_honest(&world, channel) } else { numbers(node.messages(channel)) };
            check(&what, is_up, MODES[usize::from(channel)], got);
        }
    }
    for at in 0..HONEST {
        let (up, down) = world.sent[at];
        let (_, honest) = world.sent[HONEST];
        assert!(down <= 4 * (up + honest) + 200, "{what}: {down} datagrams to one that sent {up}");
    }
    liars.iter().map(|liar| liar.borrow().lies).sum()
}

/// One channel of each mode.
const MODES: [DeliveryMode; 5] = [
    DeliveryMode::ReliableOrdered,
    DeliveryMode::ReliableUnordered,
    DeliveryMode::ReliableSequenced,
    DeliveryMode::Unreliable,
    DeliveryMode::UnreliableSequenced,
];

fn config(rng: &mut Rng) -> Config {
    let mode = match rng.below(4) {
        0 => RedundancyMode::Off,
        1 => RedundancyMode::Fixed { sources: 2, repairs: 1 },
        _ => RedundancyMode::Adaptive,
    };
    let channels = (0..).zip(MODES).map(|(at, mode)| ChannelRule::new(at..=at, mode)).collect();
    let settings = Settings {
        window_bytes: 20_000 << rng.below(6),
        message_bytes_max: 15_000,
        redundancy: Redundancy { mode, ..Redundancy::default() },
        channels,
        ..Settings::default()
    };
    let network = NETWORK_BYTES[rng.below(NETWORK_BYTES.len() as u32) as usize];
    let memory = MemoryBudget { connection: network.min(CONNECTION_BYTES_MAX), network, endpoint: ENDPOINT_BYTES };
    let server = Config::server(settings);
    // The limit that the clients accept.
    let datagram_bytes_max = [256, 600, server.limits.datagram_bytes_max][rng.below(3) as usize];
    let limits = Limits { datagram_bytes_max, ..server.limits };
    Config { memory, limits, ..server }
}

fn links(rng: &mut Rng, carrier: Carrier) -> Vec<LinkConfig> {
    let loss = if carrier.is_reliable { 0.0 } else { 0.04 * rng.unit() };
    let link =
        LinkConfig { delay: ms(1 + u64::from(rng.below(40))), loss: Loss::Random(loss), ..LinkConfig::default() };
    vec![link; CLIENTS]
}

/// Sixty times a second, every client sends a message on each channel; a liar that was closed reconnects.
fn converse(world: &mut World, rng: &mut Rng, budget: MemoryBudget, what: &str) {
    // The server's application may let its clients wait.
    world.server.polls = false;
    world.run_for(ms(u64::from(rng.below(2) * rng.below(600))));
    world.server.polls = true;
    let moves = rng.below(2) == 0 && !world.carrier.is_bound;
    let pauses = rng.below(2) == 0;
    let mut polls_at = 0;
    world.run_until_true(ms(30_000), |world| standing(world, HONEST).is_some());
    world.run_for(ms(100));
    for tick in 0..SPAN_MS * 60 / 1_000 {
        let now = world.now;
        // One pause at a time: an honest client's messages during several would exceed the least budget.
        if pauses && tick >= polls_at + u64::from(PAUSE_TICKS_MAX) && rng.below(30) == 0 {
            polls_at = tick + 1 + u64::from(rng.below(PAUSE_TICKS_MAX));
        }
        world.server.polls = tick >= polls_at;
        if moves && rng.below(40) == 0 {
            let how = [World::rebind as fn(&mut World, usize), World::wander][rng.below(2) as usize];
            how(world, rng.below(HONEST as u32) as usize);
        }
        let text = (tick as u32).to_le_bytes();
        let peers: Vec<_> = world.asked.iter().map(|(peer, _)| *peer).collect();
        for (channel, peer) in
            peers.iter().flat_map(|peer| (0..MODES.len() as u16).map(move |channel| (channel, *peer)))
        {
            // A liar may have closed its windows, or its connection.
            let _ = world.server.send_to(now, peer, channel, text.to_vec());
        }
        for at in 0..CLIENTS {
            let standing = standing(world, at);
            let Some(peer) = standing else {
                assert!(at != HONEST, "{what}: the honest one was thrown out: {:?}", world.clients[at].closes());
                if tick % 30 == 0 {
                    let path = world.path_to_server(at);
                    let token = vec![7; [5, TOKEN_BYTES_MAX][rng.below(2) as usize]];
                    let _ = world.clients[at].endpoint.connect(now, path, &token);
                }
                continue;
            };
            for channel in 0..MODES.len() as u16 {
                let sent = world.clients[at].send_to(now, peer, channel, text.to_vec());
                assert!(at != HONEST || sent.is_ok(), "{what}: {sent:?}");
            }
        }
        let held = world.server.endpoint.memory_bytes();
        assert!(held <= budget.endpoint, "{what}: {held} bytes held");
        world.run_for(ms(1_000) / 60);
    }
    world.server.polls = true;
}

/// A client's established connection.
fn standing(world: &World, at: usize) -> Option<skipstone_proto::PeerId> {
    let mut standing = None;
    for (_, event) in &world.clients[at].events {
        match event {
            Event::Connected { peer, .. } => standing = Some(*peer),
            Event::Closed { .. } => standing = None,
            _ => {}
        }
    }
    standing
}

/// Numbers of the messages that the server has from the honest client.
fn from_honest(world: &World, channel: u16) -> Vec<u32> {
    let (peer, _) = *world.asked.iter().find(|(_, client)| *client == HONEST).expect("it asked");
    let payloads = world.server.events.iter().filter_map(|(_, event)| match event {
        Event::Message { peer: from, channel: on, payload, .. } if *from == peer && *on == channel => {
            Some(payload.clone())
        }
        _ => None,
    });
    numbers(payloads.collect())
}

fn numbers(payloads: Vec<bytes::Bytes>) -> Vec<u32> {
    payloads.iter().map(|it| u32::from_le_bytes(it[..].try_into().expect("four bytes"))).collect()
}

fn check(what: &str, is_up: bool, mode: DeliveryMode, mut got: Vec<u32>) {
    let what = format!("{what}, {mode:?}, {}", if is_up { "from" } else { "to" });
    if !matches!(mode, DeliveryMode::ReliableUnordered | DeliveryMode::Unreliable) {
        assert!(got.is_sorted_by(|a, b| a < b), "{what}: out of order: {got:?}");
    }
    got.sort_unstable();
    assert!(got.is_sorted_by(|a, b| a < b), "{what}: twice");
    let ticks = (SPAN_MS * 60 / 1_000) as u32;
    match mode {
        DeliveryMode::ReliableOrdered | DeliveryMode::ReliableUnordered => {
            assert!(got.into_iter().eq(0..ticks), "{what}: something is missing");
        }
        DeliveryMode::ReliableSequenced => assert_eq!(got.last(), Some(&(ticks - 1)), "{what}"),
        DeliveryMode::Unreliable | DeliveryMode::UnreliableSequenced => {
            assert!(got.len() as u32 > ticks * 8 / 10, "{what}: {}", got.len());
        }
    }
}
