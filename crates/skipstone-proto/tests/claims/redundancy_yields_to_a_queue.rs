//! On a slow link redundancy takes the capacity that data leave, from the start of a connection on: the queue stays
//! about as long as without redundancy. On a link with spare capacity there is redundancy.

use crate::simulation::{World, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss, QueueLimit};
use skipstone_proto::{Config, DeliveryMode, Redundancy, RedundancyMode};

/// The result of an echo of some messages each tick.
#[derive(Debug)]
struct Played {
    /// The 95th percentile of the round-trip time.
    late_ms: u64,
    overflowed: u64,
    repairs: u64,
}

fn play(link: LinkConfig, mode: RedundancyMode, (messages, bytes): (u32, usize), tick_ms: u64) -> Played {
    let mut config: Config = server_of(DeliveryMode::ReliableOrdered);
    config.settings.redundancy = Redundancy { mode, ..Redundancy::default() };
    let mut world = World::new(7, config, &[link]);
    world.connect();
    let (client, server) = (world.clients[0].peer(), world.server.peer());
    let (mut times, mut repairs) = (Vec::new(), 0);
    for _ in 0..20_000 / tick_ms {
        for _ in 0..messages {
            let _ = world.clients[0].send_to(world.now, client, 1, vec![7; bytes]);
        }
        for _ in 0..messages {
            let _ = world.server.send_to(world.now, server, 1, vec![7; bytes]);
        }
        world.clients[0].events.clear();
        world.server.events.clear();
        world.run_for(ms(tick_ms));
        let overview = world.clients[0].endpoint.overview(client).expect("it stands");
        times.push(overview.rtt.latest().as_millis() as u64);
        repairs = overview.stats.redundancy.repairs_sent;
    }
    times.sort_unstable();
    let overflowed = world.links[0].up.stats().lost_queue + world.links[0].down.stats().lost_queue;
    Played { late_ms: times[times.len() * 95 / 100], overflowed, repairs }
}

fn slow(kilobits: u64, delay_ms: u64, queue_ms: u64) -> LinkConfig {
    LinkConfig {
        rate_bits_per_second: Some(kilobits * 1_000),
        queue: QueueLimit::Time(ms(queue_ms)),
        loss: Loss::Random(0.003),
        ..link(delay_ms)
    }
}

#[test]
fn a_slow_link_has_no_longer_queue_than_without_redundancy() {
    // Two thirds to four fifths of the rate, on short paths and on long ones, with queues for one packet and for many.
    for (kilobits, delay_ms, queue_ms) in
        [(380, 200, 30), (340, 200, 300), (300, 600, 290), (380, 10, 100), (340, 10, 500)]
    {
        let link = slow(kilobits, delay_ms, queue_ms);
        let [off, adaptive] =
            [RedundancyMode::Off, RedundancyMode::Adaptive].map(|mode| play(link.clone(), mode, (10, 40), 17));
        let case = format!("{kilobits} kbit/s, {delay_ms} ms, queue of {queue_ms} ms: {off:?}, {adaptive:?}");
        assert!(adaptive.late_ms <= off.late_ms + 100, "{case}");
        assert!(adaptive.overflowed <= off.overflowed + 150, "{case}");
    }
}

#[test]
fn initial_repairs_build_no_queue_while_the_rate_is_unknown() {
    // Twice the load is a little more than the link carries: the queue would grow for as long as the guess lasts.
    for (kilobits, delay_ms, bytes, tick_ms) in [(300, 33, 180, 12), (300, 6, 180, 12), (500, 33, 330, 12)] {
        let link = LinkConfig { loss: Loss::None, ..slow(kilobits, delay_ms, 330) };
        let [off, adaptive] =
            [RedundancyMode::Off, RedundancyMode::Adaptive].map(|mode| play(link.clone(), mode, (1, bytes), tick_ms));
        let case = format!("{kilobits} kbit/s, {delay_ms} ms: {off:?}, {adaptive:?}");
        assert!(adaptive.late_ms <= off.late_ms + 20, "{case}");
        assert!(adaptive.repairs > 0, "{case}");
    }
}

#[test]
fn a_link_with_spare_capacity_gets_its_redundancy() {
    let wide = play(slow(3_000, 20, 100), RedundancyMode::Adaptive, (10, 40), 17);
    assert!(wide.repairs > 700 && wide.overflowed == 0, "{wide:?}");
}
