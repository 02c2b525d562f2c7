//! A player joins, sends in every delivery mode through loss, finds the path's datagram size, and leaves.

use super::*;
use skipstone_netsim::Loss;
use skipstone_proto::{ChannelRule, ClosedBy, DeliveryMode, Settings, code};

const MODES: [DeliveryMode; 5] = [
    DeliveryMode::ReliableOrdered,
    DeliveryMode::ReliableUnordered,
    DeliveryMode::ReliableSequenced,
    DeliveryMode::Unreliable,
    DeliveryMode::UnreliableSequenced,
];

/// A channel for each mode.
fn server() -> Config {
    let channels = (0..).zip(MODES).map(|(channel, mode)| ChannelRule::new(channel..=channel, mode)).collect();
    Config::server(Settings { channels, ..Settings::default() })
}

fn of(got: &[(u16, Bytes)], channel: u16) -> Vec<u32> {
    let number = |payload: &Bytes| u32::from_be_bytes(payload[..4].try_into().expect("a number"));
    got.iter().filter(|(on, _)| *on == channel).map(|(_, payload)| number(payload)).collect()
}

#[test]
fn at_ten_percent_loss_each_way_all_reliable_messages_and_most_others_arrive() {
    for version in VERSIONS {
        for seed in 0..6 {
            let bad = LinkConfig { loss: Loss::Random(0.1), duplicate: 0.05, reorder: 0.1, ..link() };
            let mut world = World::new(version, seed, server(), bad);
            world.connect();
            let (count, host_peer) = (200_u32, world.host.peer.expect("it is there"));
            for number in 0..count {
                for channel in 0..5 {
                    let message = Bytes::from([&number.to_be_bytes()[..], &[7; 100]].concat());
                    let (now, id) = (world.now, MessageId(0));
                    let (player, host) = (&mut world.player, &mut world.host);
                    player.endpoint.send(now, player.peer, channel, message.clone(), id).expect("room");
                    host.endpoint.send(now, host_peer, channel, message, id).expect("room");
                }
                world.run_for(Duration::from_millis(10));
            }
            world.run_for(Duration::from_secs(3));
            for got in [&world.player.got, &world.host.got] {
                let all: Vec<u32> = (0..count).collect();
                let mut unordered = of(got, 1);
                unordered.sort_unstable();
                assert_eq!((of(got, 0), unordered), (all.clone(), all), "{version:?}, seed {seed}");
                assert_eq!(of(got, 2).last(), Some(&(count - 1)), "the newest");
                for channel in [3, 4] {
                    assert!(of(got, channel).len() > 160, "{version:?}, seed {seed}, channel {channel}");
                }
            }
            assert!(world.player.closes.is_empty() && world.host.closes.is_empty());
        }
    }
}

#[test]
fn datagrams_grow_to_the_path_size_minus_the_record_overhead() {
    for version in VERSIONS {
        for path in [1_500, 1_400, 1_300] {
            // The link limits the length of UDP datagrams.
            let narrow = LinkConfig { datagram_bytes_max: Some(path - 28), ..link() };
            let mut world = World::new(version, 1, Config::server(Settings::default()), narrow);
            world.connect();
            assert!(world.longest <= 1_252, "at first: {}", world.longest);
            for _ in 0..200 {
                let message = Bytes::from(vec![7; 3_000]);
                let (now, peer) = (world.now, world.player.peer);
                world.player.endpoint.send(now, peer, 0, message, MessageId(0)).expect("room");
                world.run_for(Duration::from_millis(20));
            }
            world.run_for(Duration::from_secs(2));
            assert_eq!(world.host.got.len(), 200, "{version:?}, {path}");
            let bytes = world.player.endpoint.overview(world.player.peer).expect("it stands").datagram_bytes;
            // Records of DTLS 1.3 add 22 bytes, and of DTLS 1.2 with ChaCha20-Poly1305 29 bytes; the limit is 37.
            let record = if version == DtlsVersion::V1_3 { 22 } else { 29 };
            let most = (path - 28 - record).min(1_472 - 37) as u16;
            assert!(bytes <= most && bytes + 16 > most, "{version:?}, {path}: {bytes}");
        }
    }
}

#[test]
fn a_leaving_player_ends_its_session_with_a_close_notify() {
    for version in VERSIONS {
        let mut world = World::new(version, 1, server(), link());
        world.connect();
        let (now, peer) = (world.now, world.player.peer);
        world.player.endpoint.close(now, peer, 7, "bye", Duration::ZERO);
        world.run_for(Duration::from_secs(5));
        assert_eq!(world.host.closes.len(), 1);
        let close = &world.host.closes[0];
        assert_eq!((close.by, close.code, close.reason_text().as_ref()), (ClosedBy::Peer, 7, "bye"));
        assert_eq!(world.host.guests.stats().open, 0);
        assert!(world.player.session.failure().is_some_and(|it| it.reason.contains("closed by the peer")));
    }
}

#[test]
fn a_session_closed_by_the_player_ends_the_connection() {
    for version in VERSIONS {
        let mut world = World::new(version, 1, server(), link());
        world.connect();
        world.player.session.close(world.now);
        world.run_for(Duration::from_millis(100));
        assert_eq!(world.host.closes.len(), 1);
        assert_eq!((world.host.closes[0].by, world.host.closes[0].code), (ClosedBy::Nobody, code::CARRIER_LOST));
        assert_eq!((world.host.guests.stats().open, world.host.endpoint.connection_count()), (0, 0));
    }
}

#[test]
fn kicking_a_player_ends_its_session() {
    for version in VERSIONS {
        let mut world = World::new(version, 1, server(), link());
        world.connect();
        let peer = world.host.peer.expect("it is there");
        world.host.endpoint.close(world.now, peer, code::KICKED, "enough", Duration::ZERO);
        world.run_for(Duration::from_secs(5));
        assert_eq!(world.player.closes.len(), 1);
        assert_eq!(world.player.closes[0].code, code::KICKED);
        assert_eq!(world.host.guests.stats().open, 0);
    }
}

/// Refusals by the application, and by a full server.
#[test]
fn a_repeatedly_refused_client_is_answered_at_once_each_time() {
    for (version, is_full) in VERSIONS.into_iter().flat_map(|version| [(version, false), (version, true)]) {
        let mut world = World::new(version, 1, server(), link());
        world.host.refuses = Some(77);
        if is_full {
            world.host.endpoint.set_connections_max(0);
        }
        for attempt in 0..40 {
            world.player = Player::seeded(version, 0xC000_0201, attempt, world.now);
            let span = (0..100).find(|_| {
                world.run_for(Duration::from_millis(10));
                !world.player.closes.is_empty()
            });
            assert!(span.is_some(), "{version:?}, full {is_full}: nothing was heard at attempt {attempt}");
            let expected = if is_full { code::FULL } else { 77 };
            assert_eq!(world.player.closes[0].code, expected);
            world.player.session.close(world.now);
            world.run_for(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_silent_player_is_forgotten_with_its_session() {
    for version in VERSIONS {
        let settings = Settings { idle_timeout: Duration::from_secs(3), ..Settings::default() };
        let mut world = World::new(version, 1, Config::server(settings), link());
        world.connect();
        world.link.up.set_config(LinkConfig { loss: Loss::Random(1.0), ..link() }).expect("a good link");
        world.run_for(Duration::from_secs(8));
        assert_eq!((world.host.guests.stats().open, world.host.endpoint.connection_count()), (0, 0));
        assert_eq!(world.host.closes[0].code, code::IDLE_TIMEOUT);
    }
}
