//! WIRE.md section 4.1: of the ACK and REPAIRED frames of a packet the first counts, so that a packet full of them
//! costs no more than one.

use crate::simulation::stranger::Stranger;
use crate::simulation::{World, link, seed_bytes, server_of};
use skipstone_proto::wire::ack::{encode_ack, encode_repaired};
use skipstone_proto::{DeliveryMode, Endpoint, Event, MessageId, Time};

/// A server, and a client made by hand to which the server has sent eight messages, each in another packet. Packet 0
/// accepted the client.
struct Told {
    server: Endpoint,
    client: Stranger,
    now: Time,
}

impl Told {
    fn new() -> Self {
        let mut server =
            Endpoint::new(server_of(DeliveryMode::Unreliable), seed_bytes(1)).expect("a good configuration");
        let now = Time::from_micros(1_000_000);
        let client = Stranger::join(&mut server, now, World::pair(1, link(1)).path_to_client(0));
        let mut buffer = vec![0; 1 << 16];
        for number in 1..=8 {
            server.send(now, client.peer, 0, vec![7; 40].into(), MessageId(number)).expect("it is taken");
            while server.poll_transmit(now, &mut buffer).is_some() {}
        }
        Told { server, client, now }
    }

    /// How many messages have had their receipt since the last time.
    fn receipts(&mut self) -> usize {
        let events = core::iter::from_fn(|| self.server.poll_event(self.now));
        events.filter(|event| matches!(event, Event::Acknowledged { .. })).count()
    }
}

#[test]
fn only_the_first_ack_frame_counts() {
    for windows in [[None, None], [Some(9_000), None], [None, Some(9_000)]] {
        let mut told = Told::new();
        told.client.packet(&mut told.server, told.now, |writer| {
            assert!(encode_ack(writer, [0..=0].into_iter(), 8_000, 0, windows[0]));
            assert!(encode_ack(writer, [0..=8].into_iter(), 8_000, 0, windows[1]));
        });
        assert_eq!(told.receipts(), 0, "{windows:?}");
        told.client.packet(&mut told.server, told.now, |writer| {
            assert!(encode_ack(writer, [0..=8].into_iter(), 8_000, 0, None));
        });
        assert!(told.receipts() > 1, "{windows:?}");
    }
}

#[test]
fn only_the_first_recovered_frame_counts_in_addition_to_an_ack() {
    let mut told = Told::new();
    told.client.packet(&mut told.server, told.now, |writer| {
        for number in [3, 4, 5] {
            assert!(encode_repaired(writer, [number..=number].into_iter(), 8_000, 0));
        }
        assert!(encode_ack(writer, [0..=2].into_iter(), 8_000, 0, None));
    });
    let overview = told.server.overview(told.client.peer).expect("it is there");
    assert_eq!(overview.stats.redundancy.packets_recovered_by_peer, 1);
    assert!(told.receipts() > 0);
}

/// A malformed one drops the packet at any position, as any frame does.
#[test]
fn a_later_ack_of_an_unsent_packet_drops_the_whole_packet() {
    let mut told = Told::new();
    told.client.packet(&mut told.server, told.now, |writer| {
        assert!(encode_ack(writer, [0..=2].into_iter(), 8_000, 0, None));
        assert!(encode_ack(writer, [0..=800].into_iter(), 8_000, 0, None));
    });
    assert_eq!(told.receipts(), 0);
}
