//! Peers that make a server hold as much as they can, twenty at once and in every way that a seed finds: its memory
//! stays within its budgets, and all other clients continue.

use crate::simulation::stranger::Stranger;
use crate::simulation::{World, link, ms};
use skipstone_proto::rng::Rng;
use skipstone_proto::wire::message::FragmentHeader;
use skipstone_proto::{Carrier, ChannelRule, Config, DeliveryMode, DropReason, MemoryBudget, Path, Settings, code};
use std::net::SocketAddr;

const BUDGET: MemoryBudget = MemoryBudget { connection: 1 << 20, network: 4 << 20, endpoint: 6 << 20 };
const HOSTILE: u16 = 20;

/// A mode of each kind, 10,000 channels each.
fn config(window_bytes: u32) -> Config {
    let modes = [
        DeliveryMode::ReliableOrdered,
        DeliveryMode::ReliableUnordered,
        DeliveryMode::ReliableSequenced,
        DeliveryMode::Unreliable,
        DeliveryMode::UnreliableSequenced,
    ];
    let rule = |(at, mode): (u16, DeliveryMode)| ChannelRule::new(at * 10_000..=at * 10_000 + 9_999, mode);
    let channels = (0..).zip(modes).map(rule).collect();
    let settings = Settings { window_bytes, message_bytes_max: 60_000, channels, ..Settings::default() };
    Config { memory: BUDGET, ..Config::server(settings) }
}

/// The way in which one of the clients attacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trick {
    /// Messages far ahead, which wait for the first.
    Early,
    /// One byte of each of very many messages.
    Crumbs,
    /// Every second message of an unordered channel.
    Gaps,
    /// One early message on each channel.
    Channels,
    /// Whole messages, while the application does not take any.
    Unread,
    /// A random choice of all tricks.
    Anything,
}

const TRICKS: [Trick; 6] = [Trick::Early, Trick::Crumbs, Trick::Gaps, Trick::Channels, Trick::Unread, Trick::Anything];

/// Sends one packet of a trick, the `at`th.
fn play(trick: Trick, rng: &mut Rng, stranger: &mut Stranger, world: &mut World, at: u32) {
    let (server, now) = (&mut world.server.endpoint, world.now);
    let long = vec![7; 1 + rng.below(1_400) as usize];
    let crumb = |total| Some(FragmentHeader { offset: 0, total });
    match trick {
        Trick::Early => stranger.message(server, now, (0, 1 + at % 200_000), None, &long),
        Trick::Crumbs => stranger.message(server, now, (10_000 + (at % 5_000) as u16, at / 5_000), crumb(9_000), b"x"),
        Trick::Gaps => stranger.message(server, now, (10_000 + (at % 3) as u16, 2 * (at / 3) + 1), None, b""),
        Trick::Channels => stranger.message(server, now, ((at % 20_000) as u16, 1 + at / 20_000), None, b"x"),
        Trick::Unread => stranger.message(server, now, (0, at), None, &long),
        Trick::Anything => {
            let place = (rng.below(50_000) as u16, rng.below(1 << 18));
            let fragment = (rng.below(2) == 0)
                .then(|| FragmentHeader { offset: rng.below(20_000), total: 21_500 + rng.below(30_000) });
            if rng.below(10) == 0 {
                stranger.skip();
            }
            stranger.message(server, now, place, fragment, &long);
        }
    }
}

/// Twenty hostile clients of several networks. Streams have sockets of their own.
fn strangers(world: &mut World, carrier: Carrier) -> Vec<Stranger> {
    let join = |at: u16| {
        let remote = SocketAddr::from(([203, 0, (at % 3) as u8, 1], 5_000 + at));
        let path =
            Path { socket: if carrier.is_reliable { 100 + u32::from(at) } else { 0 }, local: None, remote, carrier };
        Stranger::join(&mut world.server.endpoint, world.now, path)
    };
    (0..HOSTILE).map(join).collect()
}

fn attack(seed: u64, carrier: Carrier, reads: bool) {
    let mut world = World::on(carrier, seed, config(1 << 20), &[link(10), link(25)]);
    world.connect();
    let mut hostile = strangers(&mut world, carrier);
    world.server.polls = reads;
    let mut rng = Rng::new(seed);
    let mut sent = 0;
    for round in 0..1_500 {
        for (number, stranger) in hostile.iter_mut().enumerate() {
            let trick = TRICKS[(number + seed as usize) % TRICKS.len()];
            play(trick, &mut rng, stranger, &mut world, round);
            let held = world.server.endpoint.memory_bytes();
            assert!(held <= BUDGET.endpoint, "{held} bytes, seed {seed}, {carrier:?}, {trick:?}");
        }
        if round % 10 == 0 {
            for client in &mut world.clients {
                client.send(world.now, 0, vec![1; 40]);
            }
            sent += 1;
            world.run_for(ms(5));
        }
    }
    world.server.polls = true;
    world.run_for(ms(2_000));
    assert_eq!(world.server.messages(0).iter().filter(|message| message[..] == [1; 40]).count(), 2 * sent);
    assert!(world.clients.iter().all(|client| client.closes().is_empty()), "nobody else is closed");
    world.run_for(ms(30_000));
    let held = world.server.endpoint.memory_bytes();
    assert!(held < 64 << 10, "{held} bytes stay, seed {seed}, {carrier:?}");
}

#[test]
fn by_budgets_for_any_content_on_any_carrier() {
    for carrier in [Carrier::UDP, Carrier::WEBSOCKET, Carrier::LOCAL] {
        for seed in 0..4 {
            attack(seed, carrier, true);
            attack(seed, carrier, false);
        }
    }
}

/// One hostile client plays a trick until it is closed. Returns the code, and the most memory that the server held.
fn alone(carrier: Carrier, trick: Trick, window_bytes: u32) -> (Option<u64>, u64) {
    let mut world = World::on(carrier, 1, config(window_bytes), &[]);
    let path = Path { socket: 9, local: None, remote: SocketAddr::from(([203, 0, 113, 1], 5_000)), carrier };
    let mut stranger = Stranger::join(&mut world.server.endpoint, world.now, path);
    world.server.polls = false;
    let (mut rng, mut greatest) = (Rng::new(1), 0);
    for at in 0..60_000 {
        play(trick, &mut rng, &mut stranger, &mut world, at);
        greatest = greatest.max(world.server.endpoint.memory_bytes());
    }
    let end = world.now + ms(10_000);
    while world.now < end {
        world.run_for(ms(100));
    }
    world.server.polls = true;
    world.run_for(ms(1));
    let closes: Vec<u64> = world.server.closes().iter().map(|close| close.code).collect();
    (closes.first().copied(), greatest)
}

#[test]
fn by_the_window_on_a_stream_whose_violation_ends_the_connection() {
    for carrier in [Carrier::WEBSOCKET, Carrier::LOCAL] {
        for trick in [Trick::Early, Trick::Gaps, Trick::Channels, Trick::Unread] {
            let (closed, greatest) = alone(carrier, trick, 60_000 * 2);
            assert_eq!(closed, Some(code::PROTOCOL), "{carrier:?} {trick:?}");
            assert!(greatest <= BUDGET.connection, "{greatest} bytes, {carrier:?} {trick:?}");
        }
    }
}

#[test]
fn by_a_connection_budget_where_the_window_counts_too_little() {
    // Within its window of 1 MiB, a byte on each of thousands of channels takes many times as much memory.
    let (closed, greatest) = alone(Carrier::UDP, Trick::Channels, 1 << 20);
    assert_eq!(closed, Some(code::MEMORY));
    assert!(greatest <= 4 << 20, "{greatest}");
}

#[test]
fn unpolled_messages_of_a_connection_closed_for_memory_are_counted() {
    let mut config = config(1 << 20);
    config.memory.network = BUDGET.connection;
    let mut world = World::new(1, config, &[]);
    let mut hostile = strangers(&mut world, Carrier::UDP);
    world.server.polls = false;
    for at in 0..3_000 {
        for stranger in &mut hostile {
            stranger.message(&mut world.server.endpoint, world.now, (0, at), None, &[7; 500]);
        }
    }
    let dropped = world.server.endpoint.totals().drops.of(DropReason::OverBudget);
    let drops: Vec<_> = world.server.endpoint.totals().drops.iter().filter(|(_, count)| *count > 0).collect();
    assert!(dropped > 1_000, "{dropped} {drops:?}");
    assert!(world.server.endpoint.memory_bytes() <= 3 * BUDGET.connection);
}

/// Connections that are each charged the minimum exceed their network's budget together.
#[test]
fn by_closing_idle_connections_when_very_many_hold_little() {
    let budget = MemoryBudget { connection: 100_000, network: 100_000, endpoint: 1 << 20 };
    let mut world = World::new(1, Config { memory: budget, ..config(1 << 20) }, &[]);
    world.server.polls = false;
    let join = |at: u16| {
        let path = Path {
            socket: 0,
            local: None,
            remote: SocketAddr::from(([203, 0, 113, 1], 5_000 + at)),
            carrier: Carrier::UDP,
        };
        Stranger::join(&mut world.server.endpoint, world.now, path)
    };
    let strangers: Vec<Stranger> = (0..20).map(join).collect();
    let mut fill = |mut stranger: Stranger| {
        for number in 0..10 {
            stranger.message(&mut world.server.endpoint, world.now, (0, number), None, &[7; 800]);
        }
        world.server.endpoint.memory_bytes()
    };
    // Each is charged 8 KiB, so that twelve are within the budget; events that wait in the queue take a little more.
    // The thirteenth closes two, so that not every further client causes a search for the largest.
    let held: Vec<u64> = strangers.into_iter().map(&mut fill).collect();
    assert!(held[12..].iter().all(|now| *now <= held[11]), "it stays within the budget: {held:?}");
    world.server.polls = true;
    world.run_for(ms(5_000));
    let closes: Vec<u64> = world.server.closes().iter().map(|close| close.code).collect();
    assert_eq!(closes.iter().filter(|closed| **closed == code::MEMORY).count(), 8, "{closes:?}");
}

/// Hosts behind one NAT fill the budget of their network, each with as much as it can, while a player of the same
/// address sends little.
fn neighbour(trick: Trick, crowd: u16, network: u64, reads: bool) {
    let budget = MemoryBudget { connection: 1 << 18, network, endpoint: 64 << 20 };
    let mut world = World::new(1, Config { memory: budget, ..config(128 << 10) }, &[link(10)]);
    world.connect();
    let remote = world.address(0).ip();
    let join = |at: u16| {
        let remote = SocketAddr::new(remote, 20_000 + at);
        let path = Path { socket: 0, local: None, remote, carrier: Carrier::UDP };
        Stranger::join(&mut world.server.endpoint, world.now, path)
    };
    let mut hostile: Vec<Stranger> = (0..crowd).map(join).collect();
    let (mut rng, mut sent) = (Rng::new(1), 0);
    world.server.polls = reads;
    for at in 0..40_000 / u32::from(crowd) {
        for stranger in &mut hostile {
            play(trick, &mut rng, stranger, &mut world, at);
            // Charges are in steps of 8 KiB.
            let held = world.server.endpoint.memory_bytes();
            assert!(held <= network + (u64::from(crowd) << 13), "{held} bytes, {trick:?} by {crowd}");
        }
        if at % (8_000 / u32::from(crowd)) == 0 {
            // If the server does not take these messages, they become 20 KB: less than any of the others holds in the
            // end.
            for _ in 0..8 {
                world.clients[0].send(world.now, 0, vec![1; 400]);
            }
            sent += 8;
            world.run_for(ms(5));
        }
    }
    world.server.polls = true;
    world.run_for(ms(5_000));
    assert!(world.clients[0].closes().is_empty(), "{trick:?} by {crowd} of {network}: {:?}", world.clients[0].closes());
    assert_eq!(world.server.messages(0).iter().filter(|message| message[..] == [1; 400]).count(), sent);
    let is_full = world.server.closes().iter().any(|close| close.code == code::MEMORY);
    assert!(is_full || trick == Trick::Unread && reads, "{trick:?} by {crowd} of {network} fills the budget");
}

#[test]
fn by_closing_the_largest_hosts_but_not_the_player_behind_the_same_nat() {
    for trick in [Trick::Early, Trick::Crumbs, Trick::Channels, Trick::Unread, Trick::Anything] {
        for (crowd, network) in [(6, 1 << 19), (12, 1 << 19), (20, 1 << 20), (40, 3 << 19)] {
            neighbour(trick, crowd, network, true);
            neighbour(trick, crowd, network, false);
        }
    }
}
