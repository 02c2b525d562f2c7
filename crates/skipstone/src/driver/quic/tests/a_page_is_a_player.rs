//! A page joins, sends in every delivery mode through loss, sends datagrams as long as the path carries, and leaves.

use super::*;
use crate::driver::chosen_losses::pairs_of_first;
use skipstone_netsim::{Loss, QueueLimit};
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
    let mut arrived = [0; 2];
    for (seed, carrier) in
        (0..6).flat_map(|seed| [(seed, Carrier::WEBTRANSPORT_PAGE), (seed, Carrier::WEBTRANSPORT_STREAMS)])
    {
        let bad = LinkConfig { loss: Loss::Random(0.1), duplicate: 0.05, reorder: 0.1, ..link() };
        let mut world = World::with(seed, server(), bad, carrier);
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
            assert_eq!((of(got, 0), unordered), (all.clone(), all), "seed {seed}");
            assert_eq!(of(got, 2).last(), Some(&(count - 1)), "the newest");
            for (arrived, channel) in arrived.iter_mut().zip([3, 4]) {
                *arrived += of(got, channel).len();
            }
        }
        assert!(world.player.closes.is_empty() && world.host.closes.is_empty());
        assert_eq!(world.host.guests.stats().dropped, 0, "seed {seed}");
    }
    // Summed over all seeds: the keys are random, and so is the choice of lost datagrams.
    assert!(arrived.iter().all(|&arrived| arrived > 2 * 12 * 160), "{arrived:?} of {}", 2 * 12 * 200);
}

/// The server sends to the page as soon as it is accepted. A browser waits for a second before it sends again, and then
/// for twice as long (RFC 9002, section 6.2.2), the server for 300 ms.
#[test]
fn it_joins_despite_the_loss_of_any_two_of_its_first_datagrams() {
    for [one, other] in pairs_of_first(12) {
        let mut world = World::new(1, server(), link());
        world.losses.lost = vec![one, other];
        // Counts one datagram if both are the same.
        let of_way = |way| usize::from(one.0 == way) + usize::from(other.0 == way && other != one);
        let waits = 1_000 * ((1 << of_way(true)) - 1) + 300 * ((1 << of_way(false)) - 1);
        let bound = Duration::from_millis(400 + waits);
        let mut sent = 0_u32;
        while !world.player.is_connected {
            world.run_for(Duration::from_millis(16));
            let took = world.now.since(START);
            assert!(took < bound, "without {one:?} and {other:?}: {took:?} of {bound:?}");
            if let Some(peer) = world.host.peer {
                let message = Bytes::from(sent.to_be_bytes().to_vec());
                world.host.endpoint.send(world.now, peer, 0, message, MessageId(0)).expect("room");
                sent += 1;
            }
        }
        world.run_for(Duration::from_secs(2));
        assert_eq!(of(&world.player.got, 0), (0..sent).collect::<Vec<_>>(), "without {one:?} and {other:?}");
    }
}

#[test]
fn datagrams_are_as_long_as_quic_allows() {
    for path in [1_500, 1_400, 1_300] {
        // The link limits the length of UDP datagrams.
        let narrow = LinkConfig { datagram_bytes_max: Some(path - 28), ..link() };
        let mut world = World::new(1, Config::server(Settings::default()), narrow);
        world.connect();
        for _ in 0..200 {
            let message = Bytes::from(vec![7; 3_000]);
            let (now, peer) = (world.now, world.host.peer.expect("it is there"));
            world.host.endpoint.send(now, peer, 0, message, MessageId(0)).expect("room");
            world.run_for(Duration::from_millis(20));
        }
        world.run_for(Duration::from_secs(2));
        assert_eq!(world.player.got.len(), 200, "{path}");
        let peer = world.host.peer.expect("it is there");
        let bytes = world.host.endpoint.overview(peer).expect("it stands").datagram_bytes;
        let guest = world.host.guests.guests.values_mut().next().expect("it is there");
        let quic = guest.quic.datagrams().max_size().expect("it takes datagrams");
        assert_eq!(usize::from(bytes), quic - 1, "{path}");
        let mtu = usize::from(guest.quic.current_mtu());
        assert!(mtu <= path - 28 && mtu + 24 > (path - 28).min(1_452), "{path}: {mtu}");
    }
}

/// Of QUIC's controllers, CUBIC takes each loss for congestion, and would hold back packets that the protocol's own
/// controller lets go.
#[test]
fn random_losses_do_not_slow_a_page_down() {
    let lossy = LinkConfig {
        loss: Loss::Random(0.02),
        rate_bits_per_second: Some(20_000_000),
        queue: QueueLimit::Bytes(60_000),
        ..link()
    };
    let mut world = World::new(3, Config::server(Settings::default()), lossy);
    world.connect();
    let (mut sent, peer) = (0, world.host.peer.expect("it is there"));
    let end = world.now + Duration::from_secs(6);
    while world.now < end {
        while world.host.endpoint.send(world.now, peer, 0, Bytes::from(vec![0; 10_000]), MessageId(0)).is_ok() {
            sent += 1;
            if sent > world.player.got.len() + 40 {
                break;
            }
        }
        world.run_for(Duration::from_millis(5));
    }
    let megabits = world.player.got.len() as f64 * 10_000.0 * 8.0 / 6e6;
    println!("{megabits:.1} Mbit/s");
    assert!(megabits > 13.0, "{megabits:.1} of 20 Mbit/s");
    assert_eq!(world.host.guests.stats().dropped, 0, "nothing waited for QUIC");
}

#[test]
fn a_leaving_page_ends_its_session() {
    let mut world = World::new(1, server(), link());
    world.connect();
    let (now, peer) = (world.now, world.player.peer);
    world.player.endpoint.close(now, peer, 7, "bye", Duration::ZERO);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.host.closes.len(), 1);
    let close = &world.host.closes[0];
    assert_eq!((close.by, close.code, close.reason_text().as_ref()), (ClosedBy::Peer, 7, "bye"));
    assert_eq!(world.host.guests.stats().open, 0);
    assert!(world.player.page.is_session_over && world.player.page.lost.is_some());
}

#[test]
fn a_page_closing_its_session_ends_the_connection_with_its_reason() {
    for (reason, told) in [("off to bed", "off to bed"), ("", "the peer closed the session")] {
        let mut world = World::new(1, server(), link());
        world.connect();
        world.player.page.close(3, reason);
        world.run_for(Duration::from_millis(100));
        assert_eq!(world.host.closes.len(), 1);
        let close = &world.host.closes[0];
        assert_eq!((close.by, close.code), (ClosedBy::Nobody, code::CARRIER_LOST));
        assert_eq!(close.reason_text(), told);
        assert_eq!((world.host.guests.stats().open, world.host.endpoint.connection_count()), (0, 0));
    }
}

#[test]
fn a_closed_quic_connection_ends_its_session() {
    let mut world = World::new(1, server(), link());
    world.connect();
    world.player.page.abort(instant(world.now));
    world.run_for(Duration::from_millis(100));
    assert_eq!((world.host.closes[0].by, world.host.closes[0].code), (ClosedBy::Nobody, code::CARRIER_LOST));
    assert_eq!((world.host.guests.stats().open, world.host.endpoint.connection_count()), (0, 0));
    assert!(world.host.guests.by_handle.is_empty() && world.host.guests.poll_timeout() == Time::NEVER);
}

#[test]
fn kicking_a_player_ends_its_session() {
    let mut world = World::new(1, server(), link());
    world.connect();
    let peer = world.host.peer.expect("it is there");
    world.host.endpoint.close(world.now, peer, code::KICKED, "enough", Duration::ZERO);
    world.run_for(Duration::from_secs(5));
    assert_eq!(world.player.closes.len(), 1);
    assert_eq!(world.player.closes[0].code, code::KICKED);
    assert_eq!(world.host.guests.stats().open, 0);
}

#[test]
fn a_silent_player_is_forgotten_with_its_session() {
    let settings = Settings { idle_timeout: Duration::from_secs(3), ..Settings::default() };
    let mut world = World::new(1, Config::server(settings), link());
    world.connect();
    world.link.up.set_config(LinkConfig { loss: Loss::Random(1.0), ..link() }).expect("a good link");
    world.run_for(Duration::from_secs(8));
    assert_eq!((world.host.guests.stats().open, world.host.endpoint.connection_count()), (0, 0));
    assert_eq!(world.host.closes[0].code, code::IDLE_TIMEOUT);
}

#[test]
fn an_idle_page_stays_connected_for_minutes_by_the_protocols_keepalive() {
    let mut world = World::new(1, server(), link());
    world.connect();
    world.run_for(Duration::from_secs(200));
    assert!(world.player.closes.is_empty() && world.host.closes.is_empty());
    assert_eq!(world.host.guests.stats().open, 1);
}

#[test]
fn the_datagrams_of_one_round_share_an_acknowledgement() {
    let (mut host, mut client) = (Host::new(Config::server(Default::default())), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    assert_eq!(client.granted, Some(true));
    let now = START + MILLISECOND * 50;
    host.step(now);
    let dropped = host.guests.stats().dropped;
    (0..40).for_each(|_| client.send(&[0xFF; 60]));
    let datagrams = client.datagrams(instant(now));
    assert!(datagrams.len() >= 2, "they fill more than one packet");
    for _ in 0..6 {
        client.send(&[0xFF; 1_000]);
    }
    let datagrams = [datagrams, client.datagrams(instant(now))].concat();
    let mut came = 0;
    for datagram in &datagrams {
        let deliver = &mut |_: &mut Endpoint, _: Path, content: &mut [u8]| {
            assert!(matches!(content.len(), 60 | 1_000) && content.iter().all(|byte| *byte == 0xFF));
            came += 1;
        };
        host.guests.handle(now, (SOCKET, address(1).into()), datagram, &mut host.endpoint, deliver);
    }
    host.now = now;
    assert_eq!((came, host.guests.stats().dropped), (46, dropped));
    assert_eq!(host.said().len(), 1, "of {} packets", datagrams.len());
}
