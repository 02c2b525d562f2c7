//! A message and its repair, or its copy, are lost together if they are in one packet of QUIC.

use super::*;
use skipstone_netsim::Loss;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};

const ENTITIES: u16 = 25;
const TICK: Duration = Duration::from_micros(16_667);
const TICKS: u32 = 1_200;
const BURSTS: u64 = 4 * TICKS as u64;

fn server() -> Config {
    let channels = vec![ChannelRule::new(0..=ENTITIES, DeliveryMode::ReliableOrdered)];
    Config::server(Settings { channels, ..Settings::default() })
}

/// The side that sends the updates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    Host,
    /// Its QUIC has CUBIC and a pacer, as a browser's.
    Page,
    /// The same, with datagrams on streams.
    PageOnStreams,
}

/// The outcome of the updates.
struct Played {
    /// How long each took in ms, sorted.
    late: Vec<u64>,
    repairs: u64,
    /// Messages that were sent again.
    resent: u64,
}

impl Played {
    fn at(&self, share: f64) -> u64 {
        let last = self.late.len() - 1;
        self.late[((share * self.late.len() as f64) as usize).min(last)]
    }
}

/// Sends updates of all entities for `ticks` ticks.
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

/// The pooled outcome of four seeds, 20 s each.
fn pooled(sender: Sender, loss: f64) -> Played {
    let mut all = Played { late: Vec::new(), repairs: 0, resent: 0 };
    for one in (0..4).map(|seed| played(sender, seed, loss, TICKS)) {
        all.late.extend(one.late);
        (all.repairs, all.resent) = (all.repairs + one.repairs, all.resent + one.resent);
    }
    all.late.sort_unstable();
    let at = |share| all.at(share);
    println!(
        "{loss}: p50 {} p99 {} p99.8 {} max {} ms; {} repairs behind {BURSTS} bursts, {} of {} messages sent again",
        at(0.5),
        at(0.99),
        at(0.998),
        at(1.0),
        all.repairs,
        all.resent,
        all.late.len()
    );
    all
}

#[test]
fn late_updates_to_a_page_arrive_without_a_round_trip() {
    for loss in [0.005, 0.02] {
        let played = pooled(Sender::Host, loss);
        // One way takes 10 ms, and an acknowledgement that reports the loss 20 ms more.
        assert!(played.at(0.99) < 20 && played.at(0.998) < 30, "{loss}");
    }
}

#[test]
fn a_page_sends_repairs_within_its_browsers_congestion_control() {
    for loss in [0.005, 0.02] {
        let played = pooled(Sender::Page, loss);
        // When the pacer was mistaken for a slow link, two bursts of five had repairs at most.
        assert!(played.repairs > BURSTS * 3 / 4, "{loss}: {} repairs", played.repairs);
        // TLS draws random numbers of its own, which move the page's timings by some ms: a message that is late by a
        // retransmission and more fails the test.
        assert!(played.at(0.99) < 50, "{loss}");
    }
}

#[test]
fn data_that_quic_retransmits_on_streams_is_not_sent_again() {
    for loss in [0.005, 0.02] {
        let played = pooled(Sender::PageOnStreams, loss);
        // QUIC reports a loss within a round trip and an eighth; without this delay the messages of each lost packet
        // were sent twice. A few packets are lost again with QUIC's own retransmission, depending on random numbers
        // that TLS and QUIC draw.
        let lost = (loss * played.late.len() as f64) as u64;
        assert!(played.resent < lost / 4, "{loss}: {} of some {lost} were sent again", played.resent);
        assert!(played.at(0.998) < 100, "{loss}");
    }
}
