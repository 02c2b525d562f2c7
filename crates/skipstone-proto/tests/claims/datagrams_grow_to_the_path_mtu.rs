//! Path MTU discovery (RFC 8899): datagrams begin at 1,200 bytes, grow to the path's maximum if that is configured, and
//! shrink at once when large ones are lost.

use crate::simulation::{World, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Carrier;
use skipstone_proto::Config;
use skipstone_proto::Duration;
use skipstone_proto::{DeliveryMode, Settings};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::cell::Cell;
use std::rc::Rc;

/// Without redundancy, whose packets have other sizes.
fn plain_server() -> Config {
    let config = server_of(DeliveryMode::ReliableOrdered);
    Config {
        settings: Settings {
            redundancy: Redundancy { mode: RedundancyMode::Off, ..Redundancy::default() },
            ..config.settings.clone()
        },
        ..config
    }
}

fn path_of(bytes: usize) -> LinkConfig {
    LinkConfig { datagram_bytes_max: Some(bytes), ..link(20) }
}

/// The server sends this much at once, and it arrives.
fn burst(world: &mut World, bytes: usize, within: Duration) {
    let before = world.clients[0].messages(3).len();
    let (now, content) = (world.now, vec![before as u8; bytes]);
    world.server.send(now, 3, content.clone());
    world.run_until_true(within, |world| world.clients[0].messages(3).len() > before);
    assert!(world.clients[0].messages(3)[before] == content);
}

fn world_of(link: LinkConfig) -> World {
    let mut world = World::new(9, plain_server(), &[link]);
    world.connect();
    world
}

#[test]
fn one_probe_fills_a_path_of_ethernet_size() {
    let mut world = world_of(path_of(1_472));
    assert_eq!(world.server.overview().datagram_bytes, 1_200);
    burst(&mut world, 5_000, ms(100));
    world.run_for(ms(100));
    assert_eq!(world.server.overview().datagram_bytes, 1_472);
    let before = world.sent[0].1;
    burst(&mut world, 10_100, ms(100));
    assert_eq!(world.sent[0].1 - before, 7, "10,100 bytes in 7 datagrams");
    assert_eq!(world.server.overview().stats.packets_lost, 0);
}

#[test]
fn a_smaller_path_is_found_by_bisection_without_congestion_signals() {
    for bytes in [1_252, 1_300, 1_420, 1_452] {
        let mut world = world_of(path_of(bytes));
        let window = world.server.overview().congestion_window;
        for _ in 0..100 {
            burst(&mut world, 2_500, ms(100));
            world.run_for(ms(50));
        }
        let overview = world.server.overview();
        let found = usize::from(overview.datagram_bytes);
        assert!(found <= bytes && bytes - found < 16, "{found} of {bytes}");
        assert!(overview.congestion_window >= window, "{overview:?}");
        let lost = world.links[0].down.stats().lost_too_large;
        assert!(lost <= 15, "{lost} probes of {bytes}");
    }
}

#[test]
fn only_probes_exceed_a_path_of_1200_bytes() {
    let mut world = world_of(path_of(1_200));
    for _ in 0..100 {
        burst(&mut world, 4_000, ms(100));
    }
    assert_eq!(world.server.overview().datagram_bytes, 1_200);
    assert_eq!(world.server.overview().stats.resent, 0, "no content is lost with a probe");
}

#[test]
fn a_low_rate_sends_no_probes() {
    let mut world = world_of(path_of(1_472));
    for _ in 0..1_000 {
        let now = world.now;
        world.server.send(now, 3, vec![1; 1_000]);
        world.clients[0].send(now, 3, vec![1; 1_000]);
        world.run_for(ms(20));
    }
    assert_eq!(world.server.overview().datagram_bytes, 1_200);
    let sent = world.server.endpoint.totals().sent;
    assert!(sent.datagram_bytes < 1_100 * sent.messages, "{sent:?}");
}

#[test]
fn a_low_rate_sends_no_probes_after_a_pause_either() {
    let mut world = world_of(path_of(1_472));
    world.lose(|_, _| true);
    let now = world.now;
    world.server.send(now, 3, vec![7; 50]);
    world.run_for(ms(3_000));
    let longest = Rc::new(Cell::new(0));
    let seen = longest.clone();
    world.tap = Some(Box::new(move |_, _, _, bytes| seen.set(seen.get().max(bytes.len()))));
    world.run_for(ms(3_000));
    for _ in 0..100 {
        let now = world.now;
        world.server.send(now, 3, vec![7; 50]);
        world.run_for(ms(50));
    }
    assert_eq!(world.clients[0].messages(3).len(), 101);
    assert!(longest.get() < 200, "{} bytes", longest.get());
}

#[test]
fn a_reliable_carrier_is_not_probed_and_uses_large_packets() {
    for datagram_bytes_max in [256, 1_472, 9_000] {
        let settings = Settings { datagram_bytes_max, ..plain_server().settings };
        let mut world = World::on(Carrier::WEBSOCKET, 9, Config::server(settings), &[link(20)]);
        world.connect();
        let before = world.sent[0].1;
        burst(&mut world, 14_000, ms(500));
        assert_eq!(world.server.overview().datagram_bytes, 4_080);
        assert_eq!(world.sent[0].1 - before, 4, "{datagram_bytes_max}");
    }
}

#[test]
fn larger_settings_let_datagrams_grow_further() {
    let settings = Settings { datagram_bytes_max: 9_000, ..plain_server().settings };
    let mut world = World::new(9, Config::server(settings), &[path_of(8_900)]);
    world.connect();
    for _ in 0..60 {
        burst(&mut world, 40_000, ms(200));
        world.run_for(ms(50));
    }
    let found = world.server.overview().datagram_bytes;
    assert!((8_885..=8_900).contains(&found), "{found}");
}

#[test]
fn a_shrinking_path_is_a_black_hole_only_briefly() {
    for content in [30_000, 1_460, 2_000] {
        let mut world = world_of(path_of(1_472));
        burst(&mut world, 30_000, ms(200));
        world.run_for(ms(100));
        assert_eq!(world.server.overview().datagram_bytes, 1_472);
        world.relink(&path_of(1_300));
        for _ in 0..20 {
            burst(&mut world, content, ms(1_000));
        }
        let overview = world.server.overview();
        assert_eq!((overview.datagram_bytes, overview.stats.black_holes), (1_200, 1), "messages of {content}");
        let lost = overview.stats.packets_lost;
        for _ in 0..20 {
            burst(&mut world, content, ms(100));
        }
        assert_eq!(world.server.overview().stats.packets_lost, lost);
        world.run_for(Duration::from_secs(60));
        for _ in 0..60 {
            burst(&mut world, 30_000, ms(300));
            world.run_for(ms(50));
        }
        let found = world.server.overview().datagram_bytes;
        assert!((1_285..=1_300).contains(&found), "searched again: {found}");
    }
}

#[test]
fn small_packets_continue_while_large_ones_vanish() {
    let mut world = world_of(path_of(1_472));
    burst(&mut world, 30_000, ms(200));
    world.run_for(ms(100));
    assert_eq!(world.server.overview().datagram_bytes, 1_472);
    world.relink(&path_of(1_300));
    let (began, now) = (world.now, world.now);
    world.server.send(now, 3, vec![7; 60_000]);
    let mut latest = Duration::ZERO;
    for number in 0..50_u8 {
        let (now, before) = (world.now, world.server.messages(5).len());
        world.clients[0].send(now, 5, vec![number; 20]);
        world.run_until_true(ms(1_000), |world| world.server.messages(5).len() > before);
        latest = latest.max(world.now.since(now));
    }
    world.run_until_true(ms(2_000), |world| world.clients[0].messages(3).len() == 2);
    assert!(latest <= ms(25), "{latest:?}");
    assert!(world.now.since(began) <= ms(2_000), "{:?}", world.now.since(began));
}

#[test]
fn losses_at_random_and_in_bursts_do_not_keep_datagrams_small() {
    for loss in [Loss::Random(0.02), Loss::Random(0.1), Loss::Burst { rate: 0.02, mean_length: 3.0 }] {
        let mut world = world_of(LinkConfig { loss, ..path_of(1_472) });
        let (mut large, mut black_holes) = (0, 0);
        for _ in 0..1_000 {
            burst(&mut world, 3_000, ms(5_000));
            let overview = world.server.overview();
            large += u32::from(overview.datagram_bytes == 1_472);
            black_holes = overview.stats.black_holes;
        }
        assert!(large > 800, "{large} of 1,000 with {loss:?}, {black_holes} black holes");
    }
}

#[test]
fn no_datagram_is_longer_than_the_session_states() {
    let (limit, longest) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let mut world = World::on(Carrier::WEBTRANSPORT, 9, plain_server(), &[path_of(1_472)]);
    let (allowed, seen) = (limit.clone(), longest.clone());
    world.tap = Some(Box::new(move |_, _, _, bytes| {
        seen.set(seen.get().max(bytes.len()));
        if bytes.len() > allowed.get() {
            bytes.clear();
        }
    }));
    limit.set(1_024);
    world.connect();
    for bytes in [1_024, 1_211, 1_224, 1_100, 300, 1_439] {
        limit.set(usize::from(bytes));
        for endpoint in [&mut world.server.endpoint, &mut world.clients[0].endpoint] {
            endpoint.set_packet_bytes_max(0, bytes);
        }
        longest.set(0);
        for _ in 0..3 {
            burst(&mut world, 20_000, ms(1_000));
            world.run_for(ms(100));
        }
        assert_eq!(longest.get(), limit.get(), "as long as it may be, and no longer");
        assert_eq!(world.server.overview().datagram_bytes, bytes);
    }
    assert_eq!(world.server.overview().stats.packets_lost, 0);
}

#[test]
fn the_settings_limit_the_udp_datagram_around_a_session_too() {
    let settings = Settings { datagram_bytes_max: 1_100, ..plain_server().settings };
    let mut world = World::on(Carrier::WEBTRANSPORT, 9, Config::server(settings), &[path_of(1_472)]);
    world.connect();
    world.server.endpoint.set_packet_bytes_max(0, 1_211);
    burst(&mut world, 20_000, ms(1_000));
    assert_eq!(world.server.overview().datagram_bytes, 1_100 - 33);
    for nonsense in [0, 1, u16::MAX] {
        world.server.endpoint.set_packet_bytes_max(0, nonsense);
        world.server.endpoint.set_packet_bytes_max(77, nonsense);
        burst(&mut world, 20_000, ms(1_000));
    }
}

#[test]
fn a_path_below_1200_bytes_is_found_and_filled() {
    for (bytes, content) in [(1_172, 3_000), (972, 3_000), (548, 3_000), (700, 30_000), (520, 1_000)] {
        for delay in [1, 20, 150] {
            let narrow = LinkConfig { datagram_bytes_max: Some(bytes), ..link(delay) };
            let mut world = World::new(9, plain_server(), &[narrow]);
            world.connect();
            burst(&mut world, content, ms(1_500 + 30 * delay));
            for _ in 0..40 {
                burst(&mut world, content, ms(300 + 20 * delay));
                world.run_for(ms(50));
            }
            let found = usize::from(world.server.overview().datagram_bytes);
            assert!(found <= bytes && bytes - found < 16, "{found} of {bytes}, {delay} ms");
            let lost = world.links[0].down.stats().lost_too_large;
            world.run_for(Duration::from_secs(5));
            burst(&mut world, content, ms(300 + 20 * delay));
            assert_eq!(world.links[0].down.stats().lost_too_large, lost, "nothing is tried again soon");
        }
    }
}

#[test]
fn a_path_that_shrinks_below_1200_bytes_is_found_despite_small_messages() {
    for bytes in [548, 1_100] {
        let mut world = world_of(path_of(1_472));
        burst(&mut world, 30_000, ms(200));
        world.relink(&path_of(bytes));
        let before = world.clients[0].messages(3).len();
        let now = world.now;
        world.server.send(now, 3, vec![7; 3_000]);
        for _ in 0..200 {
            let now = world.now;
            world.server.send(now, 1, vec![1; 50]);
            world.clients[0].send(now, 1, vec![1; 50]);
            world.run_for(ms(16));
        }
        assert_eq!(world.clients[0].messages(3).len(), before + 1, "{bytes}");
    }
}

#[test]
fn a_message_during_an_outage_does_not_reduce_the_datagram_size() {
    let mut world = world_of(path_of(1_472));
    burst(&mut world, 30_000, ms(200));
    world.run_for(ms(200));
    world.lose(|_, _| true);
    let now = world.now;
    world.server.send(now, 3, vec![7; 3_000]);
    world.run_for(ms(3_000));
    world.tap = None;
    world.run_for(ms(1_000));
    burst(&mut world, 30_000, ms(400));
    world.run_for(ms(500));
    assert_eq!(world.server.overview().datagram_bytes, 1_472);
}
