//! A message and its repair, or its copy, are lost together if they are in one packet of QUIC.

use super::*;
use skipstone_netsim::Loss;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};

const ENTITIES: u16 = 25;
const TICK: Duration = Duration::from_micros(16_667);

fn server() -> Config {
    let channels = vec![ChannelRule::new(0..=ENTITIES, DeliveryMode::ReliableOrdered)];
    Config::server(Settings { channels, ..Settings::default() })
}

/// Who sends the updates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    Host,
    /// Its QUIC has CUBIC and a pacer, as a browser's.
    Page,
    /// The same, with datagrams on streams.
    PageOnStreams,
}

/// What became of the updates.
struct Played {
    /// How long each took in ms, sorted.
    late: Vec<u64>,
    repairs: u64,
    /// Messages that were sent again.
    resent: u64,
}

/// Sends updates of all entities for so many ticks.
fn played(sender: Sender, seed: u64, loss: f64, ticks: u32) -> Played {
    let carrier = match sender {
        Sender::PageOnStreams => Carrier::WEBTRANSPORT_STREAMS,
        Sender::Host | Sender::Page => Carrier::WEBTRANSPORT_PAGE,
    };
    let mut world = World::with(seed, server(), LinkConfig { loss: Loss::Random(loss), ..link() }, carrier);
    world.connect();
    let peer = match sender {
        Sender::Host => world.host.peer.expect("it is there"),
        Sender::Page | Sender::PageOnStreams => world.player.peer,
    };
    fn endpoint(world: &mut World, sender: Sender) -> &mut Endpoint {
        if sender == Sender::Host { &mut world.host.endpoint } else { &mut world.player.endpoint }
    }
    let (began, mut late) = (world.now, Vec::new());
    let mut take = |world: &mut World| {
        let got = if sender == Sender::Host { &mut world.player.got } else { &mut world.host.got };
        for (_, update) in got.split_off(0) {
            let tick = u32::from_be_bytes(update[..4].try_into().expect("a number"));
            late.push(world.now.since(began + TICK * tick).as_millis() as u64);
        }
    };
    for tick in 0..ticks {
        while world.now < began + TICK * tick {
            world.run_for(MILLISECOND);
            take(&mut world);
        }
        let now = world.now;
        for entity in 0..ENTITIES {
            let update = Bytes::from([&tick.to_be_bytes()[..], &[7; 46]].concat());
            endpoint(&mut world, sender).send(now, peer, entity, update, MessageId(0)).expect("room");
        }
    }
    for _ in 0..1_000 {
        world.run_for(MILLISECOND);
        take(&mut world);
    }
    assert_eq!(late.len(), ticks as usize * usize::from(ENTITIES));
    late.sort_unstable();
    let overview = endpoint(&mut world, sender).overview(peer).expect("it is connected");
    let stats = overview.stats;
    Played { late, repairs: stats.redundancy.repairs_sent, resent: stats.resent }
}

#[test]
fn the_worst_update_of_a_page_comes_without_a_round_trip() {
    for loss in [0.005, 0.02] {
        let mut late: Vec<u64> = (0..4).flat_map(|seed| played(Sender::Host, seed, loss, 1_200).late).collect();
        late.sort_unstable();
        let at = |share: f64| late[(share * late.len() as f64) as usize];
        println!("{loss}: p50 {} p99 {} p99.8 {} max {} ms", at(0.5), at(0.99), at(0.998), late[late.len() - 1]);
        // The way takes 10 ms, and an acknowledgement that asks for what is missing 20 more.
        assert!(at(0.99) < 20 && at(0.998) < 30, "{loss}: {} and {} ms", at(0.99), at(0.998));
    }
}

#[test]
fn a_page_sends_repairs_that_its_browsers_controller_lets_pass() {
    for loss in [0.005, 0.02] {
        let (mut late, mut repairs) = (Vec::new(), 0);
        for seed in 0..4 {
            let played = played(Sender::Page, seed, loss, 1_200);
            late.extend(played.late);
            repairs += played.repairs;
        }
        late.sort_unstable();
        let at = |share: f64| late[(share * late.len() as f64) as usize];
        let (p99, p998, bursts) = (at(0.99), at(0.998), 4 * 1_200);
        println!("{loss}: p50 {} p99 {p99} p99.8 {p998} ms; {repairs} repairs behind {bursts} bursts", at(0.5));
        // Where the pacer was taken for a slow link, two bursts of five had repairs at most.
        assert!(repairs > bursts * 3 / 4, "{loss}: {repairs} repairs behind {bursts} bursts");
        // TLS draws numbers of its own, with which the page's timings move by some ms: what is late by a retransmission and more fails.
        assert!(p99 < 50, "{loss}: {p99} ms");
    }
}

#[test]
fn on_streams_what_quic_sends_again_is_not_sent_once_more() {
    for loss in [0.005, 0.02] {
        let (mut late, mut resent) = (Vec::new(), 0);
        for seed in 0..4 {
            let played = played(Sender::PageOnStreams, seed, loss, 1_200);
            late.extend(played.late);
            resent += played.resent;
        }
        late.sort_unstable();
        let at = |share: f64| late[(share * late.len() as f64) as usize];
        println!(
            "{loss}: p50 {} p99 {} p99.8 {} ms; {resent} sent again of {}",
            at(0.5),
            at(0.99),
            at(0.998),
            late.len()
        );
        // Of a loss QUIC hears within a round trip and an eighth; without patience a message of each lost packet was sent twice.
        assert!(resent < late.len() as u64 / 1_000, "{loss}: {resent} of {} were sent again", late.len());
        assert!(at(0.998) < 100, "{loss}: p99.8 {} ms", at(0.998));
    }
}
