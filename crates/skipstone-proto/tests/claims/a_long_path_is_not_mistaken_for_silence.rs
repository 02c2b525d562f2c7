//! A round trip of seconds is a long path: no timeout expires before the first answer, and the window grows to what is
//! sent.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::{DeliveryMode, Event, Time};

/// The server's waits for the client's messages, in ms: `messages` of 1,400 bytes every 16 ms, for `seconds` seconds.
fn waits(one_way_ms: u64, messages: u32, seconds: u64) -> Vec<u64> {
    let mut world = World::new(3, server_of(DeliveryMode::ReliableOrdered), &[link(one_way_ms)]);
    world.connect();
    let end = world.now + ms(1_000 * seconds);
    while world.now < end {
        let text = format!("{:1400}", world.now.as_micros());
        for _ in 0..messages {
            world.clients[0].send(world.now, 3, text.clone());
        }
        world.run_for(ms(16));
    }
    world.run_for(ms(30_000));
    let wait = |(at, event): &(Time, Event)| match event {
        Event::Message { payload, .. } => {
            let sent: u64 = std::str::from_utf8(payload).unwrap().trim().parse().unwrap();
            Some((at.as_micros() - sent) / 1_000)
        }
        _ => None,
    };
    world.server.events.iter().filter_map(wait).collect()
}

#[test]
fn a_games_traffic_fits_the_window_from_the_first_tick_on() {
    for one_way_ms in [40, 300, 750, 1_000] {
        let waits = waits(one_way_ms, 1, 20);
        assert_eq!(waits.len(), 1_250, "one way of {one_way_ms} ms");
        assert_eq!(waits.iter().max(), Some(&one_way_ms), "none waits for the window");
    }
}

/// One megabyte per second fits into the window after a round trip; until then half of the data waits. Twice the window
/// each round trip makes the last wait for 1,222 ms.
#[test]
fn packet_trains_grow_the_window_fourfold_per_round_trip() {
    let waits = waits(500, 20, 20);
    let worst = waits.iter().max().copied().unwrap_or(u64::MAX);
    assert!(worst <= 500 + 700, "the last waited for {worst} ms");
}

#[test]
fn nothing_is_retransmitted_while_the_first_answer_is_due() {
    let mut world = World::new(3, server_of(DeliveryMode::ReliableOrdered), &[link(750)]);
    world.connect();
    for _ in 0..80 {
        world.clients[0].send(world.now, 3, vec![7; 500]);
        world.run_for(ms(16));
    }
    world.run_for(ms(5_000));
    let stats = world.clients[0].overview().stats;
    assert!(stats.resent <= 10, "{} messages", stats.resent);
}
