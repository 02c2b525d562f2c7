//! A lost message is detected as soon as its acknowledgement is overdue, or when a later packet has arrived and a short
//! time has passed.

use crate::simulation::{World, link, ms, no_redundancy};
use skipstone_proto::Config;
use skipstone_proto::Duration;
use skipstone_proto::Settings;

/// When each message arrived at the server, counted from when it was sent.
fn latencies(world: &World, sent: &[skipstone_proto::Time]) -> Vec<Duration> {
    let arrived = world.server.events.iter().filter_map(|(at, event)| match event {
        skipstone_proto::Event::Message { payload, .. } => Some((payload[0] as usize, *at)),
        _ => None,
    });
    let mut latencies = vec![Duration::MAX; sent.len()];
    arrived.for_each(|(number, at)| latencies[number] = at.since(sent[number]));
    latencies
}

/// Sends messages 1 ms apart over 10 ms each way, of which these packets are lost.
fn run(count: u8, lost: &'static [u32]) -> Vec<Duration> {
    let settings = Settings { redundancy: no_redundancy(), ..Settings::default() };
    let mut world = World::new(1, Config::server(settings), &[link(10)]);
    world.connect();
    // Round-trip times become known.
    for _ in 0..20 {
        world.clients[0].send(world.now, 1, vec![0]);
        world.run_for(ms(20));
    }
    world.server.events.clear();
    let mut at = 0;
    world.lose(move |is_up, bytes| {
        at += u32::from(is_up && bytes.len() > 8);
        is_up && lost.contains(&at)
    });
    let mut sent = Vec::new();
    for number in 0..count {
        sent.push(world.now);
        world.clients[0].send(world.now, 0, vec![number]);
        world.run_for(ms(1));
    }
    world.run_for(ms(1_000));
    latencies(&world, &sent)
}

#[test]
fn after_a_later_packet_within_two_round_trips() {
    let latencies = run(20, &[5]);
    assert_eq!(latencies[0], ms(10));
    // One way, back with the news that a later one arrived, a short wait, one way.
    assert!(latencies[4] >= ms(30) && latencies[4] <= ms(36), "{latencies:?}");
}

#[test]
fn the_last_message_is_resent_after_a_probe() {
    let latencies = run(5, &[5]);
    assert!(latencies[4] >= ms(30) && latencies[4] <= ms(50), "{latencies:?}");
}

#[test]
fn a_lost_retransmission_is_resent_too() {
    let latencies = run(40, &[5, 26, 27, 28, 29]);
    assert!(latencies.iter().all(|latency| *latency <= ms(80)), "{latencies:?}");
}

#[test]
fn a_repeated_open_does_not_skew_the_first_rtt() {
    let mut world = World::pair(1, link(10));
    let mut left = 1;
    world.lose(move |is_up, bytes| {
        let is_lost = is_up && bytes[0] == 0x83 && left > 0;
        left -= u32::from(is_lost);
        is_lost
    });
    world.connect();
    world.clients[0].send(world.now, 0, vec![0]);
    world.run_for(ms(100));
    let smoothed = world.clients[0].overview().rtt.smoothed();
    assert!(smoothed < ms(30), "{smoothed:?}");
}

#[test]
fn a_client_that_lost_a_packet_and_then_only_listens_can_send_again() {
    let mut world = World::pair(1, link(10));
    world.connect();
    let mut at = 0;
    world.lose(move |is_up, _| {
        at += u32::from(is_up);
        is_up && at == 1
    });
    world.clients[0].send(world.now, 0, b"lost".to_vec());
    world.run_for(ms(1));
    world.clients[0].send(world.now, 0, b"not lost".to_vec());
    world.run_for(ms(60));
    for _ in 0..9_000 {
        world.server.send(world.now, 0, b"news".to_vec());
        world.run_for(Duration::from_micros(2_500));
    }
    world.clients[0].send(world.now, 0, b"hello?".to_vec());
    world.run_for(ms(100));
    assert_eq!(world.server.messages(0), [&b"lost"[..], b"not lost", b"hello?"]);
    let asked = world.server.overview().stats.received.datagrams;
    assert!(asked < 10_000, "{asked}");
}

#[test]
fn a_probe_whose_content_arrived_in_another_copy_is_still_sent() {
    let mut world = World::pair(1, link(10));
    world.connect();
    for _ in 0..20 {
        world.clients[0].send(world.now, 1, vec![0]);
        world.run_for(ms(20));
    }
    // The path becomes slow, so that packets that arrived are suspected lost. The third fragment is lost, and then all
    // copies of the first, and of the third, until shortly after the acknowledgements have come.
    world.relink(&link(100));
    let (mut at, until) = (0, world.now + ms(260));
    world.tap = Some(Box::new(move |now, _, is_up, bytes| {
        at += u32::from(is_up);
        if is_up && (at == 3 || at > 4 && now < until) {
            bytes.clear();
        }
    }));
    world.clients[0].send(world.now, 0, vec![0; 3_000]);
    world.run_for(ms(1));
    world.clients[0].send(world.now, 2, vec![0]);
    world.run_for(ms(2_000));
    assert_eq!(world.server.messages(0).len(), 1);
    assert_eq!(world.clients[0].overview().bytes_in_flight, 0);
}
