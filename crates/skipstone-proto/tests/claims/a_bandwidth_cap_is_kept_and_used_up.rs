//! A cap on the bandwidth to each peer, or to all together, is never exceeded beyond a short burst, and is used up by
//! peers with enough to send. Peers share the common cap fairly, and a peer that sends little does not wait for one
//! that sends much.

use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Carrier;
use skipstone_proto::Congestion;
use skipstone_proto::rng::Rng;
use skipstone_proto::{ChannelRule, DeliveryMode, Overflow, Settings};
use skipstone_proto::{Config, Event, PeerId, Work};
use skipstone_proto::{Duration, Time};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The datagrams that left the server: time, client, and bytes including IP headers.
type Departures = Rc<RefCell<VecDeque<(Time, usize, u64)>>>;

fn config() -> Config {
    let rule = ChannelRule { overflow: Overflow::Refuse, ..ChannelRule::new(0..=9, DeliveryMode::ReliableOrdered) };
    Config::server(Settings { channels: vec![rule], ..Settings::default() })
}

fn world(carrier: Carrier, seed: u64, config: Config, links: &[LinkConfig]) -> (World, Departures) {
    let mut world = World::on(carrier, seed, config, links);
    let departures = Departures::default();
    let (noted, headers) = (departures.clone(), u64::from(carrier.overhead_bytes));
    world.tap = Some(Box::new(move |now, client, is_up, bytes| {
        if !is_up {
            noted.borrow_mut().push_back((now, client, bytes.len() as u64 + headers));
        }
    }));
    world.connect();
    (world, departures)
}

/// Keeps `queued` bytes in the queues to these clients for `span`.
fn fill(world: &mut World, clients: &[(PeerId, usize)], (bytes, queued): (usize, u64), span: Duration) {
    let end = world.now + span;
    while world.now < end {
        for (peer, _) in clients {
            while world.server.endpoint.queued(*peer, 1).1 < queued {
                world.server.send_to(world.now, *peer, 1, vec![7; bytes]).expect("there is room");
            }
        }
        world.run_for(ms(10));
    }
}

/// Bytes that left in a span, of one client or of all.
fn sent(departures: &Departures, from: Time, to: Time, client: Option<usize>) -> u64 {
    let departures = departures.borrow();
    let wanted =
        |(at, of, _): &&(Time, usize, u64)| *at >= from && *at < to && client.is_none_or(|client| *of == client);
    departures.iter().filter(wanted).map(|(.., bytes)| bytes).sum()
}

/// The most that a token bucket of this rate lacks at any time: the bytes sent beyond the rate.
fn burst(departures: &Departures, client: Option<usize>, rate: u64) -> u64 {
    let (mut debt, mut last, mut worst) = (0.0_f64, Time::ZERO, 0.0_f64);
    for (at, of, bytes) in departures.borrow().iter() {
        if client.is_some_and(|client| client != *of) {
            continue;
        }
        debt = (debt - at.since(last).as_secs_f64() * rate as f64).max(0.0) + *bytes as f64;
        (last, worst) = (*at, worst.max(debt));
    }
    worst as u64
}

#[test]
fn the_cap_per_peer_is_kept_and_used_up() {
    for seed in 0..24 {
        let mut rng = Rng::new(seed);
        let rate = [5_000, 20_000, 100_000, 1_000_000][rng.below(4) as usize];
        let carrier = if rng.chance(0.3) { Carrier::WEBSOCKET } else { Carrier::UDP };
        let congestion = if rng.chance(0.3) { Congestion::Off } else { Congestion::default() };
        let loss = if carrier.is_reliable || rng.chance(0.5) { Loss::None } else { Loss::Random(0.02) };
        let delay = u64::from(1 + rng.below(60));
        let bytes = [60, 300, 1_000, 5_000][rng.below(4) as usize];
        // More than is in flight, including acknowledgements that wait.
        let load = (bytes, 10_000 + rate * 3 / 10);
        let config = Config { bandwidth_max_per_peer: Some(rate), congestion: congestion.clone(), ..config() };
        let path = LinkConfig { loss, ..link(delay) };
        let (mut world, departures) = world(carrier, seed, config, &[path.clone(), path]);
        let clients = world.asked.clone();
        fill(&mut world, &clients, load, ms(2_000));
        let (from, span) = (world.now, Duration::from_secs(20));
        fill(&mut world, &clients, load, span);
        for client in 0..2 {
            let share = sent(&departures, from, world.now, Some(client)) as f64 / (rate as f64 * span.as_secs_f64());
            let debt = burst(&departures, Some(client), rate);
            let about = format!("seed {seed}, {rate} B/s, {bytes} bytes, {delay} ms, {congestion:?}, {carrier:?}");
            assert!((share - 1.0).abs() <= 0.02, "{about}: {share:.4} of the cap");
            assert!(debt <= (rate / 50).max(3_000) + 6_000, "{about}: a burst of {debt}");
        }
    }
}

#[test]
fn the_total_cap_is_kept_used_up_and_shared_fairly() {
    for seed in 0..16 {
        let mut rng = Rng::new(seed ^ 0xA11);
        let rate = [20_000, 100_000, 1_000_000][rng.below(3) as usize];
        let carrier = if rng.chance(0.3) { Carrier::WEBSOCKET } else { Carrier::UDP };
        let congestion = if rng.chance(0.3) { Congestion::Off } else { Congestion::default() };
        let count = 2 + rng.below(6) as usize;
        let delay = u64::from(1 + rng.below(60));
        let config = Config { bandwidth_max: Some(rate), congestion: congestion.clone(), ..config() };
        let (mut world, departures) = world(carrier, seed, config, &vec![link(delay); count]);
        let clients = world.asked.clone();
        fill(&mut world, &clients, (400, 10_000 + rate * 3 / 10), ms(2_000));
        let (from, span) = (world.now, Duration::from_secs(20));
        fill(&mut world, &clients, (400, 10_000 + rate * 3 / 10), span);
        let all = rate as f64 * span.as_secs_f64();
        let share = sent(&departures, from, world.now, None) as f64 / all;
        let debt = burst(&departures, None, rate);
        let about = format!("seed {seed}, {rate} B/s, {count} clients, {delay} ms, {congestion:?}, {carrier:?}");
        assert!((share - 1.0).abs() <= 0.02, "{about}: {share:.4} of the cap");
        assert!(debt <= (rate / 50).max(3_000) + 10_000, "{about}: a burst of {debt}");
        for client in 0..count {
            let fair = sent(&departures, from, world.now, Some(client)) as f64 / (all / count as f64);
            assert!((fair - 1.0).abs() <= 0.15, "{about}: client {client} has {fair:.3} of its share");
        }
    }
}

/// Seven clients fill their queues, one gets 60 messages of 20 bytes per second.
#[test]
fn a_low_rate_client_does_not_wait_for_high_rate_ones() {
    let config = Config { bandwidth_max: Some(500_000), ..config() };
    let (mut world, _) = world(Carrier::UDP, 5, config, &vec![link(20); 8]);
    let clients = world.asked.clone();
    let (small, client) = clients[0];
    let mut sent_at = Vec::new();
    for _ in 0..300 {
        sent_at.push(world.now);
        world.server.send_to(world.now, small, 2, vec![1; 20]).expect("there is room");
        fill(&mut world, &clients[1..], (1_000, 100_000), ms(10));
    }
    world.run_for(ms(200));
    let arrived = world.clients[client].events.iter().filter(|(_, event)| matches!(event, Event::Message { .. }));
    let took: Vec<_> = arrived.zip(&sent_at).map(|((at, _), sent)| at.since(*sent)).collect();
    let worst = took.iter().max().expect("they came");
    // A round of the others takes 7 x 4,096 bytes at 500 kB/s, or 57 ms, probes of the path's size take some more, and
    // the path takes 20 ms.
    assert!(took.len() == 300 && *worst <= ms(20 + 90), "{} came, the slowest after {worst:?}", took.len());
}

#[test]
fn caps_change_nothing_for_an_endpoint_below_them() {
    let play = |config: Config| {
        let (mut world, departures) = world(Carrier::UDP, 9, config, &[link(20), link(30)]);
        let clients = world.asked.clone();
        for _ in 0..100 {
            for (peer, _) in &clients {
                world.server.send_to(world.now, *peer, 1, vec![3; 100]).expect("there is room");
            }
            world.run_for(ms(16));
        }
        world.run_for(Duration::from_secs(60));
        let mut departures: Vec<_> = departures.take().into();
        // The order of two clients at one moment may differ.
        departures.sort_by_key(|(at, client, _)| (*at, *client));
        (departures, world.server.endpoint.work())
    };
    let free = play(config());
    let capped = play(Config { bandwidth_max: Some(1_000_000), bandwidth_max_per_peer: Some(500_000), ..config() });
    assert!(free.0 == capped.0, "the same datagrams at the same times");
    // Two clients that are busy at the same moment take turns, which touches one of them once more.
    let woken = |work: Work| (work.entries, work.timeouts, work.timers);
    assert_eq!(woken(free.1), woken(capped.1), "woken as often");
    assert!(capped.1.transmits <= free.1.transmits + 100, "{:?}, without caps {:?}", capped.1, free.1);
}
