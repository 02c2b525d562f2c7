//! A host that begins encrypted handshakes and never ends one holds few places, and keeps no other client out.

use crate::simulation::stranger::Stranger;
use crate::simulation::{BEGINNING, World, encrypted, link, ms, seed_bytes, server_of};
use skipstone_proto::DeliveryMode;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{Config, DropReason, Endpoint};
use skipstone_proto::{Duration, Time};
use std::net::SocketAddr;

fn server(connections_max: u32) -> Config {
    Config { connections_max, ..encrypted(server_of(DeliveryMode::ReliableOrdered), 3) }
}

/// Lets a client at this address send HELLO and OPEN, and nothing more.
fn half_open(server: &mut Endpoint, now: Time, remote: SocketAddr, seed: u64) {
    let config = encrypted(Config::client(), 3);
    let mut client = Endpoint::new(config, seed_bytes(seed)).expect("a good configuration");
    let home = Path { socket: 0, local: None, remote, carrier: Carrier::UDP };
    client.connect(now, home, b"").expect("it may");
    let mut buffer = vec![0; 2_000];
    for _ in 0..2 {
        server.handle_timeout(now);
        while let Some(transmit) = client.poll_transmit(now, &mut buffer) {
            server.handle_datagram(now, home, &mut buffer[..transmit.bytes].to_vec());
        }
        while let Some(transmit) = server.poll_transmit(now, &mut buffer) {
            // Of the server's datagrams, only the challenge arrives.
            if transmit.path.remote == remote && buffer[0] == 0x82 {
                client.handle_datagram(now, home, &mut buffer[..transmit.bytes].to_vec());
            }
        }
    }
}

fn alone(connections_max: u32) -> Endpoint {
    Endpoint::new(server(connections_max), seed_bytes(1)).expect("a good configuration")
}

#[test]
fn at_most_a_thousand_in_total_and_a_quarter_per_network() {
    let (mut server, mut now) = (alone(65_536), BEGINNING);
    for number in 0..600_u32 {
        now += ms(2);
        half_open(
            &mut server,
            now,
            ([203, 0, 113, number as u8], 5_000 + number as u16).into(),
            100 + u64::from(number),
        );
    }
    let of_one = server.connection_count();
    assert!(of_one <= 512, "{of_one}");
    for number in 0..1_200_u32 {
        now += ms(2);
        let [_, _, high, low] = number.to_be_bytes();
        half_open(&mut server, now, ([198, high, low, 1], 5_000).into(), 10_000 + u64::from(number));
    }
    let of_all = server.connection_count();
    assert!((1_000..=1_024).contains(&of_all), "{of_all}");
    assert!(server.totals().drops.of(DropReason::TooManyHandshakes) > 500);
}

#[test]
fn a_stalled_handshake_is_forgotten_after_three_seconds() {
    let (mut server, now) = (alone(65_536), BEGINNING);
    half_open(&mut server, now, ([203, 0, 113, 1], 5_000).into(), 7);
    assert_eq!(server.connection_count(), 1);
    for step in 0..32 {
        server.handle_timeout(now + ms(100 * step));
        while server.poll_transmit(now + ms(100 * step), &mut [0; 2_000]).is_some() {}
    }
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn a_new_client_is_admitted_while_half_open_handshakes_fill_the_server() {
    let mut world = World::new(3, server(8), &[link(20), link(20)]);
    for number in 0..8_u16 {
        half_open(
            &mut world.server.endpoint,
            world.now,
            ([203, 0, 113, 1], 5_000 + number).into(),
            100 + u64::from(number),
        );
    }
    assert_eq!(world.server.endpoint.connection_count(), 8);
    world.run_for(Duration::from_millis(3_000));
    let closes = world.clients.iter().map(|client| client.closes().len()).sum::<usize>();
    assert_eq!(closes, 0, "nobody is told that the server is full");
    assert_eq!(world.clients.iter_mut().map(|client| client.endpoint.open_count()).sum::<usize>(), 2);
}

#[test]
fn an_admitted_client_is_not_displaced() {
    let mut world = World::new(3, server(2), &[link(20), link(20), link(20)]);
    world.run_for(Duration::from_millis(1_500));
    let refused = world.clients.iter().filter(|client| !client.closes().is_empty()).count();
    assert_eq!((refused, world.server.endpoint.player_count()), (1, 2));
}

/// A client that the server lets in, and that leaves at once, costs the server a signature each time.
#[test]
fn a_host_that_reconnects_constantly_leaves_handshakes_to_others() {
    let (mut server, now) =
        (Endpoint::new(Config::server(Default::default()), seed_bytes(1)).expect("good"), BEGINNING);
    let host = |number: u16| SocketAddr::from(([203, 0, 113, 1], 5_000 + number));
    let joins = (0..5_000).take_while(|number| {
        let remote = host(*number);
        let is_admitted = server.admits_handshake(now, &remote);
        if is_admitted {
            server.on_handshake_begun(&remote);
            let path = Path { socket: (*number).into(), local: None, remote, carrier: Carrier::DTLS };
            let peer = Stranger::join(&mut server, now, path).peer;
            server.close(now, peer, 0, "", ms(0));
        }
        is_admitted
    });
    let joins = joins.count();
    assert!((1_500..2_400).contains(&joins), "{joins}");
    assert!(server.admits_handshake(now, &([198, 51, 100, 1], 5_000).into()), "a newcomer beside it");
}

/// Behind a proxy that ends TLS, thousands play by WebSocket in clear. They cost no signature when they come, and none
/// is charged when they leave.
#[test]
fn plaintext_stream_players_are_not_charged_to_their_host() {
    let (mut server, now) =
        (Endpoint::new(Config::server(Default::default()), seed_bytes(1)).expect("good"), BEGINNING);
    let host = |number: u16| SocketAddr::from(([203, 0, 113, 1], 5_000 + number));
    for (first, carrier) in [(0, Carrier::WEBSOCKET), (1_000, Carrier::TCP)] {
        for number in first..first + 1_000 {
            let path = Path { socket: number.into(), local: None, remote: host(number), carrier };
            Stranger::join(&mut server, now, path);
        }
    }
    for socket in 0..2_000 {
        server.handle_carrier_lost(now, socket, "it leaves");
    }
    // Others, of a network each, spend most of a budget that has 2,500 at once: the rest is for hosts that began few.
    for number in 0..2_300_u16 {
        let remote = SocketAddr::from(([198, number.to_be_bytes()[0], number.to_be_bytes()[1], 1], 5_000));
        assert!(server.admits_handshake(now, &remote));
        server.on_handshake_begun(&remote);
    }
    assert!(server.admits_handshake(now, &host(0)), "its first handshake");
}
