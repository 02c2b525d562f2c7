//! An accepted client that then sends anything at all: the server neither panics nor keeps more than its settings
//! allow.

use crate::simulation::stranger::Stranger;
use crate::simulation::{World, link, ms, seed_bytes};
use skipstone_proto::wire::ack::encode_ack;
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::frame;
use skipstone_proto::wire::message::{FragmentHeader, MessageEncoder};
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Close, Config, DropReason, Endpoint, Event, code};
use skipstone_proto::{Duration, Time};

/// A server, and a client made by hand.
struct Hostile {
    now: Time,
    server: Endpoint,
    client: Stranger,
    buffer: Vec<u8>,
}

impl Hostile {
    fn new(settings: Settings) -> Self {
        let mut server = Endpoint::new(Config::server(settings), seed_bytes(1)).expect("a good configuration");
        let (now, path) = (Time::from_micros(1_000_000), World::pair(1, link(1)).path_to_client(0));
        let client = Stranger::join(&mut server, now, path);
        Hostile { now, server, client, buffer: vec![0; 1 << 16] }
    }

    /// Sends a packet with this number.
    fn packet(&mut self, number: u64, write: impl FnOnce(&mut Writer<'_>)) {
        self.client.number = number;
        self.client.packet(&mut self.server, self.now, write);
    }

    fn message(&mut self, channel: u16, sequence: u32, fragment: Option<FragmentHeader>, payload: &[u8]) {
        self.client.message(&mut self.server, self.now, (channel, sequence), fragment, payload);
    }

    fn transmit(&mut self) -> usize {
        let mut count = 0;
        while self.server.poll_transmit(self.now, &mut self.buffer).is_some() {
            count += 1;
        }
        count
    }

    fn close(&mut self) -> Option<Close> {
        let mut closes = core::iter::from_fn(|| self.server.poll_event(self.now)).filter_map(|event| match event {
            Event::Closed { close, .. } => Some(close),
            _ => None,
        });
        closes.next()
    }
}

fn settings(mode: DeliveryMode) -> Settings {
    Settings {
        window_bytes: 20_000,
        message_bytes_max: 15_000,
        datagram_bytes_max: 256,
        channels: vec![ChannelRule::new(0..=u16::MAX, mode)],
        ..Settings::default()
    }
}

#[test]
fn wide_gaps_in_packet_numbers_leave_room_for_other_frames() {
    for step in [3, 70, 20_000, 40_000, 2_000_000] {
        for closes in [false, true] {
            for offset in 0..40 {
                let mut hostile = Hostile::new(settings(DeliveryMode::ReliableOrdered));
                for at in 1..50 {
                    let length = if at < offset { 1 } else { step };
                    hostile.packet(at * step + length, frame::encode_ping);
                }
                if closes {
                    hostile.packet(60 * step, |writer| frame::encode_close(writer, 5, "bye"));
                } else {
                    hostile.server.close(hostile.now, hostile.client.peer, 5, &"x".repeat(500), Duration::ZERO);
                }
                assert!(hostile.transmit() > 0);
            }
        }
    }
}

#[test]
fn tiny_fragments_are_charged_their_actual_memory() {
    let mut hostile = Hostile::new(settings(DeliveryMode::ReliableOrdered));
    for sequence in 0..20 {
        for offset in (0..14_000).step_by(2) {
            let fragment = Some(FragmentHeader { offset, total: 15_000 });
            hostile.message(0, sequence, fragment, b"x");
        }
        hostile.now += ms(1);
        hostile.transmit();
        let held = hostile.server.overview(hostile.client.peer).expect("it is there").depth.held_bytes;
        assert!(held <= 3 * 20_000 + 200, "{held}");
    }
    // 140,000 crumbs were sent. Each one kept costs 64 bytes in addition to its own.
    let refused = hostile.server.totals().drops.of(DropReason::WindowExceeded);
    assert!(refused > 139_000, "{refused}");
}

#[test]
fn gaps_between_unordered_messages_are_charged_too() {
    let mut hostile = Hostile::new(settings(DeliveryMode::ReliableUnordered));
    for at in 1..10_000_u32 {
        hostile.message((at % 50) as u16, at / 50 * 2 + 1, None, b"");
        while hostile.server.poll_event(hostile.now).is_some() {}
        hostile.transmit();
    }
    let held = hostile.server.overview(hostile.client.peer).expect("it is there").depth.held_bytes;
    assert!(held <= 3 * 20_000 + 200, "{held}");
    let refused = hostile.server.totals().drops.of(DropReason::WindowExceeded);
    assert!(refused > 9_000, "{refused}");
}

#[test]
fn a_peer_that_acknowledges_nothing_is_disconnected() {
    let mut hostile = Hostile::new(settings(DeliveryMode::ReliableOrdered));
    hostile.packet(1, |writer| assert!(encode_ack(writer, [0..=0].into_iter(), 8_000, 0, None)));
    for number in 2..250_000 {
        hostile.packet(number, frame::encode_ping);
        hostile.now += ms(2);
        hostile.server.handle_timeout(hostile.now);
        hostile.transmit();
        if let Some(close) = hostile.close() {
            assert_eq!(close.code, code::PROTOCOL, "{close:?}");
            return;
        }
    }
    panic!("it is still there");
}

#[test]
fn extension_frames_are_skipped_and_unknown_types_drop_the_packet() {
    let mut hostile = Hostile::new(settings(DeliveryMode::ReliableOrdered));
    let received = |hostile: &mut Hostile, kind: u8, sequence: u32| {
        hostile.packet(hostile.client.number, |writer| {
            writer.bytes(&[kind, 3, 9, 9, 9]);
            let sequence = Some((sequence, Truncated { value: sequence, bits: 32 }));
            MessageEncoder::default().encode_header(writer, 0, sequence, None, 4);
            writer.bytes(b"text");
            writer.bytes(&[0x7F, 0]);
        });
        let events = core::iter::from_fn(|| hostile.server.poll_event(hostile.now));
        events.filter(|event| matches!(event, Event::Message { .. })).count()
    };
    for (sequence, kind) in (0x40..0x80).enumerate() {
        assert_eq!(received(&mut hostile, kind, sequence as u32), 1, "{kind:#x}");
    }
    for kind in [0x10, 0x20, 0x3F] {
        assert_eq!(received(&mut hostile, kind, 64), 0, "{kind:#x}");
    }
    hostile.now += ms(100);
    hostile.server.handle_timeout(hostile.now);
    assert!(hostile.transmit() > 0, "it is acknowledged");
}
