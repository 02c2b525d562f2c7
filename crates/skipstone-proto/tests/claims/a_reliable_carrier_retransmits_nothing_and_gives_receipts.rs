//! On a stream nothing is sent twice, however slow it is, and everything else works as usual.

use crate::simulation::{World, link, ms, server_of};
use skipstone_netsim::LinkConfig;
use skipstone_proto::Carrier;
use skipstone_proto::DeliveryMode;
use skipstone_proto::{Config, ConnectError, DropReason, Endpoint};

#[test]
fn in_every_mode_over_a_slow_stream() {
    for mode in 0..5_u8 {
        let slow = LinkConfig { rate_bits_per_second: Some(1_000_000), jitter: ms(30), ..link(40) };
        let config = server_of(DeliveryMode::try_from(mode).expect("a mode"));
        let mut world = World::on(Carrier::WEBSOCKET, 1, config, &[slow]);
        world.connect();
        let mut ids = Vec::new();
        for number in 0..200_usize {
            ids.push(world.clients[0].send(world.now, 0, vec![number as u8; 10 + number * 10]));
            world.run_for(ms(10));
        }
        world.run_for(ms(10_000));
        let stats = world.clients[0].endpoint.totals();
        assert_eq!((stats.packets_lost, stats.resent, stats.probes), (0, 0, 0), "mode {mode}");
        let fates = world.clients[0].fates();
        assert_eq!(fates.len(), 200, "mode {mode}");
        let arrived = world.server.messages(0).len();
        let acknowledged = fates.iter().filter(|(_, why)| why.is_none()).count();
        assert_eq!(arrived, acknowledged, "mode {mode}");
        assert!(
            arrived == 200 || mode == DeliveryMode::ReliableSequenced as u8 && arrived > 10,
            "mode {mode}: {arrived}"
        );
        let sent = stats.sent.datagrams;
        assert_eq!(world.server.endpoint.totals().received.datagrams, sent - 1, "all but the HELLO");
    }
}

#[test]
fn acks_are_few_and_never_queued_behind_many_packets() {
    // Packets of the client's: the bytes of each and the interval, and how many the server may answer with in two
    // seconds.
    for (bytes, every, answers) in [(50, 16, 16..=20), (3_500, 2, 28..=40)] {
        let mut world = World::on(Carrier::WEBSOCKET, 1, server_of(DeliveryMode::ReliableOrdered), &[link(10)]);
        world.connect();
        world.run_for(ms(1_000));
        let before = world.sent[0].1;
        for _ in 0..2_000 / every {
            world.clients[0].send(world.now, 0, vec![1; bytes]);
            world.run_for(ms(every));
        }
        let answered = world.sent[0].1 - before;
        assert!(answers.contains(&answered), "{bytes} bytes: {answered}");
    }
}

/// The round-trip time is as short as if the application answered at once: acknowledgements, which wait on a stream, do
/// not increase it.
#[test]
fn the_measured_rtt_matches_the_path() {
    for delay in [1, 10, 60] {
        // One message at each of these intervals in ms, and finally none at all.
        for every in [Some(1_000), Some(16), None] {
            let mut world = World::on(Carrier::WEBSOCKET, 1, server_of(DeliveryMode::ReliableOrdered), &[link(delay)]);
            world.connect();
            for _ in 0..20_000 / every.unwrap_or(20_000) {
                if every.is_some() {
                    world.clients[0].send(world.now, 0, b"where am I?".to_vec());
                }
                world.run_for(ms(every.unwrap_or(20_000)));
            }
            let (measured, own) = (world.clients[0].overview().rtt, ms(2 * delay));
            assert!(measured.is_measured(), "every {every:?} ms over {delay} ms");
            let error = measured.smoothed().abs_diff(own);
            assert!(error <= own / 10 + ms(1), "every {every:?} ms: {:?}, not {own:?}", measured.smoothed());
        }
    }
}

#[test]
fn one_stream_carries_one_connection() {
    let config = server_of(DeliveryMode::ReliableOrdered);
    let mut world = World::on(Carrier::WEBSOCKET, 1, config, &[link(10)]);
    world.connect();
    let path = world.path_to_server(0);
    assert_eq!(world.clients[0].endpoint.connect(world.now, path, b""), Err(ConnectError::SocketInUse));
    // Another client requests a connection on the same stream.
    let mut other = Endpoint::new(Config::client(), [9; 32]).expect("good");
    other.connect(world.now, path, b"").expect("it has none yet");
    let mut buffer = vec![0; 1 << 16];
    for _ in 0..2 {
        let asked = other.poll_transmit(world.now, &mut buffer).expect("HELLO, then OPEN");
        world.server.endpoint.handle_datagram(world.now, world.path_to_client(0), &mut buffer[..asked.bytes]);
        if let Some(answer) = world.server.endpoint.poll_transmit(world.now, &mut buffer) {
            other.handle_datagram(world.now, path, &mut buffer[..answer.bytes]);
        }
    }
    assert_eq!(world.server.endpoint.connection_count(), 1);
    assert_eq!(world.server.drops(DropReason::BadFrame), 1);
    world.clients[0].send(world.now, 0, b"still here".to_vec());
    world.run_for(ms(100));
    assert_eq!(world.server.messages(0).len(), 1);
}

#[test]
fn a_late_ack_wakes_no_driver() {
    let mut world = World::on(Carrier::WEBSOCKET, 1, server_of(DeliveryMode::ReliableOrdered), &[link(10)]);
    world.connect();
    world.relink(&link(1_500));
    world.clients[0].send(world.now, 0, vec![1]);
    world.run_for(ms(1_000));
    assert!(world.clients[0].endpoint.poll_timeout() > world.now + ms(100));
}
