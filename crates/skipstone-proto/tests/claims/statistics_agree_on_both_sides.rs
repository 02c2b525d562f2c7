//! The bytes that one side counts as sent equal those that the other counts as received, in 64 bits, payload and
//! overhead apart.

use crate::simulation::{Node, World, encrypted, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Carrier;
use skipstone_proto::Config;
use skipstone_proto::PeerId;

#[test]
fn every_counter_agrees_on_a_lossless_link() {
    for carrier in [Carrier::UDP, Carrier::UDP6, Carrier::WEBSOCKET] {
        let mut world = World::on(carrier, 1, Config::server(Default::default()), &[link(10)]);
        world.connect();
        for number in 0..500_usize {
            world.clients[0].send(world.now, 0, vec![1; number]);
            world.server.send(world.now, 0, vec![1; 50]);
            world.run_for(ms(3));
        }
        world.run_for(ms(1_000));
        let (client, server) = (world.clients[0].endpoint.totals(), world.server.endpoint.totals());
        assert_eq!(client.sent.messages, 500);
        assert_eq!(client.sent.payload_bytes, 499 * 500 / 2);
        assert_eq!((server.received.messages, server.received.payload_bytes), (500, 499 * 500 / 2));
        assert_eq!((server.sent.messages, client.received.messages), (500, 500));
        // HELLO and CHALLENGE belong to no connection.
        assert_eq!(client.sent.datagrams - server.received.datagrams, 1, "{carrier:?}");
        assert_eq!(client.sent.datagram_bytes - server.received.datagram_bytes, 64);
        let headers = u64::from(carrier.overhead_bytes);
        for flow in [client.sent, server.sent, client.received, server.received] {
            assert_eq!(flow.ip_bytes, flow.datagram_bytes + flow.datagrams * headers);
            assert!(flow.overhead_percent() > Some(5.0), "{flow:?}");
        }
        assert_eq!(client.sent.datagram_bytes, world.links[0].up.stats().bytes_sent);
        assert_eq!((client.packets_lost, client.resent, client.drops.total()), (0, 0, 0));
    }
}

#[test]
fn large_messages_have_little_overhead() {
    let mut world = World::pair(1, link(10));
    world.connect();
    world.clients[0].send(world.now, 0, vec![1; 1 << 20]);
    world.run_for(ms(5_000));
    let sent = world.clients[0].endpoint.totals().sent;
    assert_eq!((sent.messages, sent.payload_bytes), (1, 1 << 20));
    // A path about which little is known gets repairs.
    let overhead = sent.overhead_percent().expect("it has payload");
    assert!(overhead < 8.0, "{overhead}");
}

#[test]
fn retransmissions_are_counted_separately() {
    let mut world = World::pair(1, LinkConfig { loss: Loss::Random(0.1), ..link(10) });
    world.connect();
    for _ in 0..500 {
        world.clients[0].send(world.now, 0, vec![1; 500]);
        world.run_for(ms(2));
    }
    world.run_for(ms(2_000));
    let (client, server) = (world.clients[0].endpoint.totals(), world.server.endpoint.totals());
    assert_eq!((client.sent.messages, server.received.messages), (500, 500));
    assert!(client.resent >= 30 && client.packets_lost >= 30, "{client:?}");
    assert!(client.packets_spurious * 5 < client.packets_lost, "{client:?}");
}

#[test]
fn counters_of_closed_connections_are_kept() {
    let mut world = World::pair(1, link(10));
    world.connect();
    world.clients[0].send(world.now, 0, vec![1; 500]);
    world.run_for(ms(100));
    let before = world.server.endpoint.totals();
    let peer = world.clients[0].peer();
    world.clients[0].endpoint.close(world.now, peer, 0, "", ms(0));
    world.run_for(ms(5_000));
    assert_eq!(world.server.endpoint.connection_count(), 0);
    let after = world.server.endpoint.totals();
    assert_eq!(after.received.messages, before.received.messages);
    assert_eq!(after.received.datagrams, before.received.datagrams + 1, "the CLOSE");
}

#[test]
fn no_counter_decreases_when_a_server_restart_restarts_the_handshake() {
    let config = encrypted(Config::server(Default::default()), 3);
    let mut world = World::new(1, config.clone(), &[link(10)]);
    world.accepts = false;
    let client = PeerId { index: 0, generation: 0 };
    let (mut last, mut greatest_due) = ((0, 0, 0, 0), 0);
    for step in 0..400 {
        if step == 100 {
            world.server = Node::made(config.clone(), 2);
        }
        world.accepts = step >= 100;
        world.run_for(ms(20));
        let now = world.clients[0].endpoint.overview(client).expect("it is there");
        let flows = (now.stats.sent.datagrams, now.stats.received.datagrams);
        let next = (now.packets_due, now.packets_received, flows.0, flows.1);
        assert!(next.0 >= last.0 && next.1 >= last.1 && next.2 >= last.2 && next.3 >= last.3, "{last:?}, {next:?}");
        (last, greatest_due) = (next, greatest_due.max(next.0));
    }
    world.clients[0].peer();
    assert!(greatest_due > 4, "packets of both handshakes are counted: {greatest_due}");
}
