//! The client against a model of LiteNetLib's server, on a bad path.

use super::super::simulated::{FUZZED, FUZZED_AT, Model, Simulated, bad_path, client, first_datagram, fuzz, numbered};
use super::channels::{Channels, PacketFault};
use super::fragments;
use super::merge::Merge;
use super::packet::{
    Accept, CONNECT_ACCEPT, CONNECT_REQUEST, Content, DISCONNECT, Fragment, INVALID_PROTOCOL, MTU_CHECK, MTU_FIRST,
    MTU_OK, PEER_NOT_FOUND, PONG, Packet, Parts, Received, SHUTDOWN_OK, channel_header, decode, first_byte,
};
use super::sequence::Sequence;
use super::{REPEATS_MAX, ROW};
use crate::protocol::{Cause, Delivery, Ending, Event, Outgoing, SendRefused};
use bytes::Bytes;
use core::time::Duration;
use skipstone_netsim::LinkConfig;
use skipstone_proto::Time;
use std::collections::VecDeque;

const URL: &str = "litenetlib://127.0.0.1:9050?key=secret&channels=2";
const CONNECTION: u8 = 1;
const RESEND_AFTER: Duration = Duration::from_millis(110);
const UPDATE: Duration = Duration::from_millis(15);

/// Returns every message in the way it came.
struct Echo {
    channels: Channels,
    datagrams: VecDeque<Vec<u8>>,
    unreliable: VecDeque<Bytes>,
    /// The time that the client's request had.
    accepted: Option<i64>,
    answers_requests: bool,
    /// Packets by the first five bits of their first byte.
    seen: [usize; 32],
    updated: Time,
}

impl Echo {
    fn new() -> Self {
        Echo {
            channels: Channels::new(2, MTU_FIRST),
            datagrams: VecDeque::new(),
            unreliable: VecDeque::new(),
            accepted: None,
            answers_requests: true,
            seen: [0; 32],
            updated: Time::ZERO,
        }
    }

    fn on_request(&mut self, datagram: &[u8]) {
        assert_eq!(datagram[1..5], 13_i32.to_le_bytes());
        assert!(datagram.ends_with(b"\x07\0secret"), "the key");
        let time = i64::from_le_bytes(datagram[5..13].try_into().expect("8 bytes"));
        if self.answers_requests {
            self.accepted = Some(time);
            self.datagrams.push_back(accept(Accept { time, connection: CONNECTION, peer: 5 }));
        }
    }

    fn on_packet(&mut self, packet: &[u8]) {
        self.seen[usize::from(packet[0] & 0x1F)] += 1;
        let Received { connection, packet } = decode(packet).expect("a packet");
        assert_eq!(connection, CONNECTION);
        let mut messages = Vec::new();
        match packet {
            Packet::Channeled { sequence, channel, content } => {
                self.channels.on_packet(sequence, channel, content, &mut messages).expect("valid");
                for (number, data) in messages {
                    self.channels.push(number as u8, delivery(channel), data);
                }
            }
            Packet::Acknowledge { sequence, channel, bits } => {
                assert!(self.channels.on_acknowledged(sequence, channel, bits));
            }
            Packet::Unreliable(data) => self.unreliable.push_back(Bytes::copy_from_slice(data)),
            Packet::Ping { number } => {
                let pong = [&[first_byte(PONG, CONNECTION)][..], &number.to_le_bytes(), &[0; 8]].concat();
                self.datagrams.push_back(pong);
            }
            _ => {}
        }
    }
}

fn delivery(channel: u8) -> Delivery {
    match channel % 4 {
        0 => Delivery::ReliableUnordered,
        1 => Delivery::Sequenced,
        2 => Delivery::ReliableOrdered,
        _ => Delivery::ReliableSequenced,
    }
}

fn accept(accept: Accept) -> Vec<u8> {
    let mut packet = vec![first_byte(CONNECT_ACCEPT, accept.connection)];
    packet.extend_from_slice(&accept.time.to_le_bytes());
    packet.extend_from_slice(&[accept.connection, 0]);
    packet.extend_from_slice(&accept.peer.to_le_bytes());
    packet
}

impl Model for Echo {
    fn handle_datagram(&mut self, _now: Time, datagram: &[u8]) {
        match (datagram[0] & 0x1F, decode(datagram)) {
            (CONNECT_REQUEST, _) => self.on_request(datagram),
            (SHUTDOWN_OK | PEER_NOT_FOUND, _) => self.seen[usize::from(datagram[0])] += 1,
            (_, Some(Received { packet: Packet::Merged(parts), .. })) => {
                Parts::new(parts).for_each(|it| self.on_packet(it))
            }
            _ => self.on_packet(datagram),
        }
    }

    fn handle_deadline(&mut self, now: Time) {
        self.updated = now;
        let mut merge = Merge::new(CONNECTION, MTU_FIRST, &mut self.datagrams);
        self.channels.flush(now, RESEND_AFTER, &mut merge);
        self.unreliable.drain(..).for_each(|data| merge.add(&[&[0][..], &data].concat()));
        merge.finish();
    }

    fn poll_datagram(&mut self, _now: Time) -> Option<Vec<u8>> {
        self.datagrams.pop_front()
    }

    fn deadline(&self) -> Option<Time> {
        self.accepted.map(|_| self.updated + UPDATE)
    }
}

fn connected(path: LinkConfig, seed: u64) -> Simulated<Echo> {
    Simulated::connected(client(&ROW, URL, seed), Echo::new(), path, seed)
}

fn send(run: &mut Simulated<Echo>, channel: u16, delivery: Delivery, data: &[u8]) -> Result<(), SendRefused> {
    run.client.send(run.now, Outgoing { channel, delivery: Some(delivery), data })
}

/// What comes back of numbered messages, sent each 16 ms on a path that loses one of ten datagrams.
fn echoes(delivery: Delivery, length_max: usize, seed: u64) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut run = connected(bad_path(0.1), seed);
    let sent: Vec<Vec<u8>> = (0..200).map(|number| numbered(number, length_max)).collect();
    for message in &sent {
        send(&mut run, 1, delivery, message).expect("accepted");
        run.run(Duration::from_millis(16));
    }
    run.run(Duration::from_secs(20));
    (sent, run.messages(1))
}

#[test]
fn reliable_ordered_messages_come_back_once_and_in_order_on_a_lossy_path() {
    for seed in 0..20 {
        connected(bad_path(0.1), seed).assert_echoed(1, 200);
    }
}

#[test]
fn reliable_unordered_messages_come_back_once() {
    for seed in 0..20 {
        let (mut sent, mut echoed) = echoes(Delivery::ReliableUnordered, 4000, seed);
        assert_ne!(echoed, sent, "some come out of order");
        sent.sort();
        echoed.sort();
        assert_eq!(echoed, sent, "seed {seed}");
    }
}

#[test]
fn sequenced_messages_come_back_in_order_and_a_reliable_last_one_arrives() {
    for seed in 0..20 {
        for delivery in [Delivery::Sequenced, Delivery::ReliableSequenced] {
            let (sent, echoed) = echoes(delivery, 900, seed);
            let numbers: Vec<u32> =
                echoed.iter().map(|message| u32::from_le_bytes(message[..4].try_into().expect("4 bytes"))).collect();
            assert!(numbers.is_sorted_by(|one, next| one < next), "seed {seed}, {delivery:?}: {numbers:?}");
            assert!(numbers.len() > 120 && numbers.len() < 200, "{}", numbers.len());
            assert!(delivery == Delivery::Sequenced || echoed.last() == sent.last(), "seed {seed}");
        }
    }
}

#[test]
fn unreliable_messages_have_no_channel() {
    let mut run = connected(bad_path(0.0), 1);
    send(&mut run, 0, Delivery::Unreliable, b"quick").expect("accepted");
    assert_eq!(send(&mut run, 1, Delivery::Unreliable, b"x"), Err(SendRefused::NoChannel { channel: 1, max: 0 }));
    run.run(Duration::from_millis(200));
    assert_eq!(run.messages(0), [b"quick".to_vec()]);
}

#[test]
fn the_same_seed_sends_the_same_bytes() {
    let sent = || connected(bad_path(0.05), 3).traced();
    assert_eq!(sent(), sent());
    let accepted = |seed| connected(bad_path(0.0), seed).server.accepted;
    assert_ne!(accepted(3), accepted(4));
}

#[test]
fn a_request_is_repeated_until_it_is_answered() {
    let mut run = Simulated::new(client(&ROW, URL, 1), Echo::new(), bad_path(0.5), 2);
    assert!(run.run_until(Time::from_micros(5_400_000), Simulated::<Echo>::is_connected));
}

#[test]
fn a_server_that_never_answers_times_out() {
    let silent = Echo { answers_requests: false, ..Echo::new() };
    let mut run = Simulated::new(client(&ROW, URL, 1), silent, bad_path(0.0), 1);
    run.run(Duration::from_millis(500 * u64::from(REPEATS_MAX) + 600));
    assert!(run.has_timed_out() && run.events.len() == 1, "{:?}", run.events);
}

#[test]
fn an_idle_client_pings_once_a_second_and_stays() {
    let mut run = connected(bad_path(0.02), 1);
    run.run(Duration::from_secs(60));
    assert!((54..=63).contains(&run.server.seen[4]), "{}", run.server.seen[4]);
    assert_eq!(run.events, [Event::Connected]);
    let rtt = run.client.figures().rtt.expect("a round trip");
    assert!((Duration::from_millis(40)..Duration::from_millis(90)).contains(&rtt), "{rtt:?}");
}

#[test]
fn a_silent_server_times_out() {
    let mut run = connected(bad_path(0.0), 1);
    run.silence_server();
    run.run(Duration::from_secs(6));
    assert!(run.has_timed_out());
    assert_eq!(run.client.deadline(), None);
}

#[test]
fn a_goodbye_names_the_connection() {
    let mut run = connected(bad_path(0.0), 1);
    run.client.close(run.now);
    run.run(Duration::from_millis(100));
    assert!(run.server.seen[usize::from(DISCONNECT)] >= 3);
    assert_eq!(run.ending().cause, Cause::Closed);
    assert_eq!(run.send(0, b"late"), Err(SendRefused::NotConnected));
}

fn goodbye(time: i64, text: &[u8]) -> Vec<u8> {
    [&[first_byte(DISCONNECT, CONNECTION)][..], &time.to_le_bytes(), text].concat()
}

#[test]
fn the_servers_goodbye_ends_the_connection_with_its_text() {
    let mut run = connected(bad_path(0.0), 1);
    let time = run.server.accepted.expect("accepted");
    run.client.handle_receive(run.now, &goodbye(time + 1, b"of another connection"));
    run.server.datagrams.push_back(goodbye(time, b"server full"));
    run.run(Duration::from_millis(100));
    assert_eq!(run.ending(), &Ending::new(Cause::ByServer, "the server disconnected: server full"));
    run.run(Duration::from_millis(100));
    assert_eq!(run.server.seen[usize::from(SHUTDOWN_OK)], 1);
}

#[test]
fn a_refusal_and_another_version_are_told_apart() {
    for (answer, text) in [(DISCONNECT, "refused the connection: no"), (INVALID_PROTOCOL, "another version")] {
        let waiting = Echo { answers_requests: false, ..Echo::new() };
        let mut run = Simulated::new(client(&ROW, URL, 1), waiting, bad_path(0.0), 1);
        let request = first_datagram(&ROW, URL, 1, Time::from_micros(1));
        let refusal = [&[DISCONNECT][..], &request[5..13], b"no"].concat();
        let answer = if answer == DISCONNECT { refusal } else { vec![INVALID_PROTOCOL] };
        run.server.datagrams.push_back(answer);
        run.run(Duration::from_millis(1200));
        assert_eq!(run.ending().cause, Cause::Refused);
        assert!(run.ending().text.contains(text), "{:?}", run.ending());
    }
}

#[test]
fn a_server_that_forgot_the_client_ends_the_connection() {
    let mut run = connected(bad_path(0.0), 1);
    run.server.datagrams.push_back(vec![PEER_NOT_FOUND]);
    run.run(Duration::from_millis(100));
    assert_eq!(run.server.seen[usize::from(PEER_NOT_FOUND)], 1);
    run.server.datagrams.push_back(vec![PEER_NOT_FOUND, 1]);
    run.run(Duration::from_millis(100));
    assert_eq!(run.ending().cause, Cause::ByServer);
}

#[test]
fn a_server_that_looks_for_a_larger_datagram_is_answered() {
    let mut run = connected(bad_path(0.0), 1);
    let size = 1164_i32;
    let mut check = vec![0; size as usize];
    check[0] = first_byte(MTU_CHECK, CONNECTION);
    check[1..5].copy_from_slice(&size.to_le_bytes());
    check[1160..].copy_from_slice(&size.to_le_bytes());
    run.server.datagrams.push_back(check[..1100].to_vec());
    run.server.datagrams.push_back(check);
    run.run(Duration::from_millis(100));
    assert_eq!(run.server.seen[usize::from(MTU_OK)], 1);
    assert_eq!(run.client.figures().counts.invalid, 1);
}

#[test]
fn messages_that_litenetlib_cannot_carry_are_refused() {
    let mut run = connected(bad_path(0.0), 1);
    assert_eq!(run.send(2, b"x"), Err(SendRefused::NoChannel { channel: 2, max: 1 }));
    let long = [0; 1025];
    for (delivery, max) in
        [(Delivery::Unreliable, 1023), (Delivery::Sequenced, 1020), (Delivery::ReliableSequenced, 1020)]
    {
        let size = max + 1;
        assert_eq!(send(&mut run, 0, delivery, &long[..size]), Err(SendRefused::TooLong { size, max }));
        assert_eq!(send(&mut run, 0, delivery, &long[..max]), Ok(()));
    }
    for (_, delivery) in Delivery::ALL {
        for data in [&[1; 1000][..], b""] {
            let message = Outgoing { channel: 0, delivery: Some(*delivery), data };
            assert!(run.fills_queue(message), "{delivery:?}");
            run.run(Duration::from_secs(60));
            assert_eq!(run.client.send(run.now, message), Ok(()), "{delivery:?}");
        }
    }
}

#[test]
fn a_long_message_and_an_empty_one_arrive() {
    let mut run = connected(bad_path(0.02), 1);
    let long: Vec<u8> = (0..300_000_u32).map(|at| (at / 7) as u8).collect();
    run.send(0, b"").expect("accepted");
    run.send(0, &long).expect("accepted");
    run.send(0, b"last").expect("accepted");
    run.run(Duration::from_secs(10));
    assert_eq!(run.messages(0), [b"".to_vec(), long, b"last".to_vec()]);
}

#[test]
fn what_is_sent_leaves_before_the_goodbye() {
    let mut run = connected(bad_path(0.0), 1);
    let pings = run.server.seen;
    for delivery in [Delivery::ReliableOrdered, Delivery::Sequenced, Delivery::Unreliable] {
        send(&mut run, 0, delivery, b"last words").expect("accepted");
    }
    run.client.close(run.now);
    run.run(Duration::from_millis(100));
    let seen = |kind: usize| run.server.seen[kind] - pings[kind];
    assert_eq!((seen(0), seen(1), seen(2), seen(usize::from(DISCONNECT))), (1, 1, 1, 3));
}

#[test]
fn an_invalid_merged_packet_takes_nothing_else_with_it() {
    let mut channels = Channels::new(1, MTU_FIRST);
    let mut messages = Vec::new();
    let mut receive = |number, content| channels.on_packet(Sequence::default().plus(number), 2, content, &mut messages);
    assert_eq!(receive(1, Content::Message(b"second")), Ok(()));
    // The original merges an empty message with a length of 0, which ends the packet at its own receiver, too.
    assert_eq!(receive(0, Content::Messages(b"\x05\0first\0\0\x01\0x")), Err(PacketFault::Packet));
    assert_eq!(messages, [(0, "first".into()), (0, "second".into())]);
    let whole = Fragment { message: 1, part: 0, parts: 2 };
    let mut receive = |number, content| channels.on_packet(Sequence::default().plus(number), 2, content, &mut messages);
    let long = vec![0; fragments::BYTES_MAX];
    assert_eq!(receive(3, Content::Fragment(whole, &long)), Ok(()), "it waits for the packet before it");
    assert_eq!(receive(2, Content::Messages(b"\x09\0short")), Err(PacketFault::TooLong), "the worst of two faults");
}

#[test]
fn hostile_datagrams_never_panic() {
    let request = first_datagram(&ROW, URL, FUZZED, FUZZED_AT);
    let time = i64::from_le_bytes(request[5..13].try_into().expect("8 bytes"));
    let mut server = Echo::new();
    server.channels.push(0, Delivery::ReliableOrdered, Bytes::from(vec![1; 3000]));
    server.channels.push(1, Delivery::ReliableUnordered, "short".into());
    server.channels.push(0, Delivery::ReliableSequenced, "state".into());
    server.handle_deadline(Time::ZERO);
    let mut real: Vec<Vec<u8>> = server.datagrams.into();
    let acknowledgement = [channel_header(3, Sequence::default(), 2), vec![0xFF; 9]].concat();
    real.extend([acknowledgement, vec![first_byte(4, CONNECTION), 9, 0], vec![PEER_NOT_FOUND], goodbye(time, b"")]);
    // Every other datagram is the consent, so that most runs are connected.
    let consent = accept(Accept { time, connection: CONNECTION, peer: 1 });
    let count = real.len();
    real.extend(core::iter::repeat_n(consent, count));
    assert!(fuzz(&ROW, URL, &real, 200) > 100);
}
