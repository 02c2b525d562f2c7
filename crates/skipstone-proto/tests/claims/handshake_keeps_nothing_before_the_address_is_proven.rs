//! An unproven host costs nothing and gets no more bytes than it sent, until it has shown that it receives datagrams at
//! its address.

use crate::simulation::{World, link, ms, seed_bytes};
use skipstone_proto::Plain;
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram::{self, Datagram, Offer, Open, SUITE_PLAIN};
use skipstone_proto::wire::frame;
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{Config, DropReason, Endpoint};
use std::net::SocketAddr;

const NOW: Time = Time::from_micros(5_000_000);
const NONCE: u64 = 0x1122_3344_5566_7788;
/// Plain, version 1.
const OFFER: [u8; 4] = [SUITE_PLAIN, 1, 0, 1];

fn server() -> Endpoint {
    Endpoint::new(Config::server(Default::default()), seed_bytes(1)).expect("a good configuration")
}

fn path(host: u32) -> Path {
    Path { socket: 0, local: None, remote: SocketAddr::from((host.to_be_bytes(), 4_000)), carrier: Carrier::UDP }
}

fn hello() -> Vec<u8> {
    let mut hello = vec![0; datagram::hello_len(&OFFER)];
    datagram::encode_hello(&mut Writer::new(&mut hello), 7, NONCE, &OFFER);
    hello
}

/// An OPEN that holds these frames, sealed as its cookie requires.
fn open(cookie: &[u8; 20], write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut open = vec![0; 400];
    let mut writer = Writer::new(&mut open);
    let offer = Offer::decode(&OFFER).expect("it is one");
    let header = Open { source: 7, nonce: NONCE, version: 1, suite: SUITE_PLAIN, cookie, offer };
    datagram::encode_open_header(&mut writer, &header);
    writer.truncated(Truncated::with_bits_at_least(0, 1, 14));
    write(&mut writer);
    let end = writer.len();
    let end = Plain::new(cookie).seal(&mut open, header.header_bytes()..end, 0);
    let end = datagram::append_check(&mut open, end);
    open.truncate(end);
    open
}

/// Passes a datagram to the server; returns the answers.
fn ask(server: &mut Endpoint, path: Path, datagram: &[u8]) -> Vec<Vec<u8>> {
    server.handle_datagram(NOW, path, &mut datagram.to_vec());
    let mut buffer = vec![0; 1 << 16];
    let mut answers = Vec::new();
    while let Some(transmit) = server.poll_transmit(NOW, &mut buffer) {
        answers.push(buffer[..transmit.bytes].to_vec());
    }
    answers
}

fn cookie_for(server: &mut Endpoint, path: Path) -> [u8; 20] {
    let answers = ask(server, path, &hello());
    match datagram::decode(&answers[0]) {
        Ok(Datagram::Challenge(challenge)) => *challenge.cookie,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ten_thousand_spoofed_hellos_and_opens_leave_no_state() {
    let mut server = server();
    let stolen = cookie_for(&mut server, path(1));
    for host in 2..10_000 {
        assert_eq!(ask(&mut server, path(host), &hello()).len(), 1);
        let answers = ask(&mut server, path(host), &open(&stolen, |writer| frame::encode_connect(writer, b"", b"")));
        assert!(matches!(datagram::decode(&answers[0]), Ok(Datagram::Challenge(_))), "a new chance, no connection");
    }
    assert_eq!(server.connection_count(), 0);
    assert_eq!(server.event_count(), 0);
    assert_eq!(server.work().timers, 0);
    assert_eq!(server.totals().drops.of(DropReason::BadCookie), 9_998);
    assert_eq!(server.poll_timeout(), Time::NEVER);
}

#[test]
fn no_answer_is_longer_than_its_request() {
    let mut server = server();
    let cookie = cookie_for(&mut server, path(1));
    let good = [hello(), open(&cookie, |writer| frame::encode_connect(writer, b"", b"")), open(&[0; 20], |_| ())];
    let mut rng = Rng::new(3);
    for round in 0..30_000_u32 {
        let mut question = good[rng.below(3) as usize].clone();
        question.truncate(rng.below(question.len() as u32 + 1) as usize);
        for _ in 0..rng.below(4) {
            if let Some(byte) = question.get_mut(rng.below(64) as usize) {
                *byte = rng.next_u64() as u8;
            }
        }
        let answers = ask(&mut server, path(100 + round), &question);
        let bytes: usize = answers.iter().map(Vec::len).sum();
        assert!(bytes <= question.len(), "{bytes} bytes for {question:02x?}");
    }
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn an_open_without_a_connect_leaves_no_state() {
    let mut server = server();
    let cookie = cookie_for(&mut server, path(1));
    let frames: [fn(&mut Writer<'_>); 4] = [
        |_| (),
        |writer| frame::encode_close(writer, 5, "bye"),
        |writer| {
            frame::encode_close(writer, 5, "bye");
            frame::encode_connect(writer, b"token", b"");
        },
        frame::encode_ping,
    ];
    for write in frames {
        ask(&mut server, path(1), &open(&cookie, write));
        assert_eq!(server.connection_count(), 0);
        assert!(server.poll_event(NOW).is_none(), "nobody heard of it");
    }
    ask(&mut server, path(1), &open(&cookie, |writer| frame::encode_connect(writer, b"token", b"")));
    assert_eq!(server.connection_count(), 1);
}

#[test]
fn a_second_challenge_on_a_slow_path_does_not_change_the_key_in_use() {
    for delay in (130..700).step_by(30) {
        let mut world = World::pair(delay, link(delay));
        world.run_for(ms(5_000));
        assert_eq!(world.clients[0].closes().len(), 0, "delay {delay}");
        world.clients[0].peer();
        world.run_for(ms(2_000));
    }
}

#[test]
fn a_lost_accept_is_sent_again_when_the_client_repeats_its_open() {
    let mut world = World::pair(1, link(10));
    let mut left = 5;
    world.lose(move |is_up, bytes| {
        let is_lost = !is_up && bytes[0] == 0x80 && left > 0;
        left -= u32::from(is_lost);
        is_lost
    });
    world.run_for(ms(6_000));
    let connected = world.clients[0].events[0].0;

    assert!(connected < Time::from_micros(1_000_000) + ms(2_000), "{connected:?}");
}
