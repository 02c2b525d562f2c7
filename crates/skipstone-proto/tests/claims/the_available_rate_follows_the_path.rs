//! The rate that a connection reports as available is the path's, so that a game can scale its traffic by it.

use crate::simulation::{World, link, ms, server_of};
use skipstone_netsim::{LinkConfig, QueueLimit};
use skipstone_proto::{Carrier, Config, Congestion, DeliveryMode, Duration};

/// A link of `bytes_per_second`, headers included, with 20 ms of round trip and 200 ms of queue.
fn link_of(bytes_per_second: u64) -> LinkConfig {
    LinkConfig { rate_bits_per_second: Some(bytes_per_second * 8), queue: QueueLimit::Time(ms(200)), ..link(10) }
}

/// Keeps more in the queue than the path carries, and returns the least and the greatest rate of the span, sampled
/// every 20 ms.
fn rates_while_full(world: &mut World, span: Duration) -> (u64, u64) {
    let (end, peer) = (world.now + span, world.asked[0].0);
    let (mut least, mut greatest) = (u64::MAX, 0);
    while world.now < end {
        while world.server.endpoint.queued(peer, 1).1 < 200_000 {
            let _ = world.server.send_to(world.now, peer, 1, vec![7; 5_000]);
        }
        world.run_for(ms(20));
        let rate = world.server.overview().available_bytes_per_second;
        (least, greatest) = (least.min(rate), greatest.max(rate));
    }
    (least, greatest)
}

#[test]
fn the_rate_of_a_full_path_is_known_at_all_times() {
    for rate in [40_000, 250_000, 1_000_000] {
        let mut world = World::new(3, server_of(DeliveryMode::ReliableOrdered), &[link_of(rate)]);
        world.connect();
        rates_while_full(&mut world, ms(5_000));
        // Every 10 s the window is small for a moment, to measure the path.
        let (least, greatest) = rates_while_full(&mut world, ms(60_000));
        assert!(least * 10 >= rate * 6 && greatest * 10 <= rate * 15, "{least} to {greatest} of {rate}");
    }
}

#[test]
fn a_rate_change_is_followed_within_five_seconds() {
    // Our own queue of before the change looks like another's for a moment.
    for seed in 0..10 {
        let mut world = World::new(seed, server_of(DeliveryMode::ReliableOrdered), &[link_of(250_000)]);
        world.connect();
        rates_while_full(&mut world, ms(10_000));
        for rate in [60_000, 250_000] {
            world.relink(&link_of(rate));
            rates_while_full(&mut world, ms(5_000));
            let (least, greatest) = rates_while_full(&mut world, ms(1_000));
            let about = format!("seed {seed}: {least} to {greatest} of {rate}");
            assert!(least * 10 >= rate * 6 && greatest * 10 <= rate * 16, "{about}");
        }
    }
}

#[test]
fn the_reported_rate_is_never_below_the_rate_in_use() {
    let (mut world, sent) = (World::new(5, server_of(DeliveryMode::Unreliable), &[link_of(100_000)]), 600 * 60);
    world.connect();
    for _ in 0..60 * 60 {
        world.server.send(world.now, 1, vec![7; 600]);
        world.run_for(Duration::from_micros(16_667));
        let rate = world.server.overview().available_bytes_per_second;
        assert!(rate > sent, "{rate} of {sent}");
    }
}

#[test]
fn a_cap_is_reported_as_the_rate_and_no_limit_as_none() {
    let rate_of = |carrier, config| {
        let mut world = World::on(carrier, 6, config, &[link(10)]);
        world.connect();
        world.server.overview().available_bytes_per_second
    };
    let bare = || server_of(DeliveryMode::ReliableOrdered);
    let capped = || Config { bandwidth_max_per_peer: Some(5_000), ..bare() };
    assert_eq!(rate_of(Carrier::UDP, capped()), 5_000);
    assert_eq!(rate_of(Carrier::WEBSOCKET, capped()), 5_000);
    assert_eq!(rate_of(Carrier::WEBSOCKET, bare()), u64::MAX);
    assert_eq!(rate_of(Carrier::UDP, Config { congestion: Congestion::Off, ..bare() }), u64::MAX);
}
