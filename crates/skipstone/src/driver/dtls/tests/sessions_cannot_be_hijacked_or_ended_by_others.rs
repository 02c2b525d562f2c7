//! Datagrams of another host, from the player's address or another, change nothing.

use super::*;
use skipstone_proto::DropReason;

fn connected(version: DtlsVersion) -> World {
    let mut world = World::new(version, 1, Config::server(Default::default()), link());
    world.connect();
    world
}

/// Whether messages still go both ways.
fn assert_well(world: &mut World) {
    let peer = world.host.peer.expect("it is there");
    let (now, before) = (world.now, (world.player.got.len(), world.host.got.len()));
    world.player.endpoint.send(now, world.player.peer, 0, Bytes::from_static(b"up"), MessageId(0)).expect("room");
    world.host.endpoint.send(now, peer, 0, Bytes::from_static(b"down"), MessageId(0)).expect("room");
    world.run_for(Duration::from_millis(500));
    assert_eq!((world.player.got.len(), world.host.got.len()), (before.0 + 1, before.1 + 1));
    assert!(world.player.closes.is_empty() && world.host.closes.is_empty());
}

#[test]
fn plaintext_records_after_the_handshake_change_nothing() {
    for version in VERSIONS {
        let mut world = connected(version);
        let from = world.player.address;
        for first in [20, 21, 22, 23] {
            for content in [&[1_u8, 0][..], &[2, 40], &[7; 40]] {
                let header = [first, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 9, 9, 0, content.len() as u8];
                world.host.take(world.now, from, &mut [&header, content].concat());
                world.player.take(world.now, &[&header, content].concat());
            }
        }
        assert_well(&mut world);
    }
}

#[test]
fn a_session_is_not_entered_by_bare_datagrams_or_through_another_session() {
    for version in VERSIONS {
        let mut world = connected(version);
        let dropped = |world: &mut World| world.host.endpoint.totals().drops.of(DropReason::WrongPath);
        // The packet that the player would send, without its record: from its own address, and from another.
        let (now, peer) = (world.now, world.player.peer);
        world.player.endpoint.send(now, peer, 0, Bytes::from_static(b"bare"), MessageId(0)).expect("room");
        let mut buffer = vec![0; 2_000];
        let transmit = world.player.endpoint.poll_transmit(now, &mut buffer).expect("it has something to say");
        for from in [world.player.address, address(77)] {
            let before = dropped(&mut world);
            world.host.take(now, from, &mut buffer[..transmit.bytes].to_vec());
            assert_eq!(dropped(&mut world), before + 1, "{from}");
        }
        assert!(world.host.got.is_empty());
        // Another session does not change that either.
        let mut other = session(version, now);
        shake_hands(&mut world.host, now, address(78), &mut other, 4);
        assert!(other.is_established());
        let before = dropped(&mut world);
        other.send(now, &buffer[..transmit.bytes]);
        shake_hands(&mut world.host, now, address(78), &mut other, 1);
        assert_eq!(dropped(&mut world), before + 1);
        // In its own session the same datagram is accepted.
        world.player.session.send(now, &buffer[..transmit.bytes]);
        world.run_for(Duration::from_millis(100));
        assert_eq!(world.host.got.len(), 1);
        assert_eq!(world.host.endpoint.totals().paths_changed, 0);
    }
}

#[test]
fn an_encrypting_server_accepts_the_plain_suite_only_inside_a_session() {
    let mut host = Host::new(Config::server(Default::default()));
    let mut bare = Endpoint::new(Config::client(), [9; 32]).expect("it is good");
    let path = Path { carrier: Carrier::UDP, ..server_path() };
    bare.connect(START, path, b"").expect("it may");
    let mut buffer = vec![0; 2_000];
    let transmit = bare.poll_transmit(START, &mut buffer).expect("a HELLO");
    host.take(START, address(1), &mut buffer[..transmit.bytes]);
    let (_, mut answer) = host.step(START).remove(0);
    bare.handle_datagram(START, path, &mut answer);
    let Some(Event::Closed { close, .. }) = bare.poll_event(START) else { panic!("it is refused") };
    assert_eq!(close.code, skipstone_proto::code::NO_COMMON_SUITE);
    connected(DtlsVersion::V1_3);
}

#[test]
fn records_from_another_address_are_dropped() {
    for version in VERSIONS {
        let mut world = connected(version);
        let (now, before) = (world.now, world.host.guests.stats().dropped);
        world.player.session.send(now, b"from elsewhere");
        for mut record in spoken(&mut world.player.session) {
            world.host.take(now, address(77), &mut record);
        }
        assert_eq!(world.host.guests.stats().dropped, before + 1, "{version:?}");
        assert!(world.host.said().is_empty());
        assert_well(&mut world);
    }
}

#[test]
fn a_second_session_from_the_same_address_counts_once_it_has_keys() {
    for version in VERSIONS {
        let mut world = connected(version);
        let from = world.player.address;
        // A host that does not receive datagrams sent to the address.
        world.host.take(world.now, from, &mut hello());
        let cookie = world.host.said().len();
        assert_eq!(cookie, 1, "{version:?}");
        world.host.take(world.now, from, &mut hello());
        world.host.said();
        assert_well(&mut world);
        world.run_for(Duration::from_secs(3));
        assert_well(&mut world);
        // The player itself, after a restart.
        let (now, mut again) = (world.now, session(version, world.now));
        shake_hands(&mut world.host, now, from, &mut again, 3);
        assert!(again.is_established(), "{version:?}");
        world.host.step(now);
        assert_eq!(world.host.closes.len(), 1);
        assert_eq!(world.host.guests.stats().open, 1);
    }
}

#[test]
fn a_bare_connection_is_not_entered_through_a_session() {
    for version in VERSIONS {
        // A server that also accepts plain clients, and one such client.
        let mut host = Host::made(Config::server(Default::default()), true);
        let mut bare = Endpoint::new(Config::client(), [9; 32]).expect("it is good");
        let (path, from) = (Path { carrier: Carrier::UDP, ..server_path() }, address(1));
        let peer = bare.connect(START, path, b"").expect("it may");
        let (mut buffer, mut now) = (vec![0; 2_000], START);
        for _ in 0..20 {
            now += MILLISECOND;
            while let Some(transmit) = bare.poll_transmit(now, &mut buffer) {
                host.take(now, from, &mut buffer[..transmit.bytes]);
            }
            host.step(now).iter_mut().for_each(|(_, answer)| bare.handle_datagram(now, path, answer));
        }
        assert!(host.peer.is_some(), "it is in");
        bare.send(now, peer, 0, Bytes::from_static(b"bare"), MessageId(0)).expect("room");
        let transmit = bare.poll_transmit(now, &mut buffer).expect("a packet");
        // From its own address and from another one, in a record.
        for from in [from, address(2)] {
            let mut other = session(version, now);
            shake_hands(&mut host, now, from, &mut other, 4);
            assert!(other.is_established(), "{version:?}");
            let before = host.endpoint.totals().drops.of(DropReason::WrongPath);
            other.send(now, &buffer[..transmit.bytes]);
            shake_hands(&mut host, now, from, &mut other, 1);
            assert_eq!(host.endpoint.totals().drops.of(DropReason::WrongPath), before + 1, "{version:?}");
        }
        host.step(now);
        assert_eq!((host.got.len(), host.endpoint.totals().paths_changed), (0, 0));
        host.take(now, from, &mut buffer[..transmit.bytes]);
        host.step(now);
        assert_eq!(host.got.len(), 1, "bare it counts");
    }
}
