//! Whatever a client sends above QUIC, the result is an answer, a refusal, or the end of its connection; other clients
//! are not affected.

use super::*;
use crate::driver::quic::session::KEPT_BYTES_MAX;
use quinn_proto::Dir;
use quinn_proto::{ApplicationClose, TransportConfig};
use web_transport_proto::{ConnectRequest, Settings};

fn host() -> Host {
    Host::for_origins(Config::server(Default::default()), &["https://game.example".into()])
}

fn request() -> Vec<u8> {
    let mut bytes = Vec::new();
    let url = url::Url::parse("https://game.example/").expect("a URL");
    ConnectRequest::new(url).encode(&mut bytes).expect("it is short");
    bytes
}

fn settings() -> Vec<u8> {
    let (mut settings, mut bytes) = (Settings::default(), Vec::new());
    settings.enable_webtransport(1);
    settings.encode(&mut bytes);
    bytes
}

fn saying(request: Vec<u8>, settings: Vec<u8>) -> Page {
    Page::saying(instant(START), SERVER, request, settings)
}

/// The code with which a connection ended, if it did.
fn code(client: &Page) -> Option<u64> {
    match &client.lost {
        Some(ConnectionError::ApplicationClosed(ApplicationClose { error_code, .. })) => Some(error_code.into_inner()),
        _ => None,
    }
}

#[test]
fn settings_cover_both_drafts_and_the_request_is_granted() {
    let (mut host, mut client) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    assert!(client.has_settings && client.granted == Some(true) && client.lost.is_none());
    assert_eq!(host.guests.stats().sessions, 1);
}

#[test]
fn other_origins_are_refused() {
    for (origin, is_granted) in [
        ("https://game.example", true),
        ("https://evil.example", false),
        ("http://game.example", false),
        ("null", false),
    ] {
        let (mut host, mut client) = (host(), Page::new(instant(START), SERVER, Some(origin)));
        exchange(&mut host, START, address(1), &mut client, 8);
        assert_eq!(client.granted, Some(is_granted), "{origin}");
        assert_eq!(host.guests.stats().refused, u64::from(!is_granted));
        assert_eq!(host.guests.stats().sessions, u64::from(is_granted));
    }
}

#[test]
fn a_request_may_arrive_before_the_settings_and_in_pieces() {
    let (mut host, mut client) = (host(), saying(Vec::new(), Vec::new()));
    exchange(&mut host, START, address(1), &mut client, 8);
    let id = client.quic.streams().open(Dir::Bi).expect("it may");
    client.connect = Some(id);
    for byte in request() {
        client.quic.send_stream(id).write(&[byte]).expect("room");
        exchange(&mut host, START, address(1), &mut client, 1);
    }
    exchange(&mut host, START, address(1), &mut client, 4);
    assert_eq!(client.granted, None, "not without settings");
    let control = client.quic.streams().open(Dir::Uni).expect("it may");
    for byte in settings() {
        client.quic.send_stream(control).write(&[byte]).expect("room");
        exchange(&mut host, START, address(1), &mut client, 1);
    }
    exchange(&mut host, START, address(1), &mut client, 4);
    assert_eq!(client.granted, Some(true), "{:?}", client.lost);
}

#[test]
fn a_violation_of_http_3_ends_only_its_own_connection() {
    let (mut host, mut good) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut good, 8);
    let empty = {
        let mut bytes = Vec::new();
        Settings::default().encode(&mut bytes);
        bytes
    };
    for (number, (request, settings, expected)) in (2..).zip([
        (request(), empty, 0x109),
        (request(), vec![0, 0, 1, 7], 0x10a),
        (request(), vec![0, 4, 1, 0xFF], 0x109),
        (request(), [&[0, 4, 0xC0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF][..], &[0; 9_000]].concat(), 0x109),
        (vec![0, 1, 2], settings(), 0x105),
        (vec![1, 3, 0, 0, 0x80], settings(), 0x105),
        ([&request()[..], &[0, 5, 0x68, 0x43, 2, 1, 1]].concat(), settings(), 0x10e),
    ]) {
        let mut client = saying(request, settings);
        exchange(&mut host, START, address(number), &mut client, 10);
        assert_eq!(code(&client), Some(expected), "{number}: {:?}", client.lost);
        assert_eq!(host.guests.stats().breaches, u64::from(number) - 1);
    }
    assert_eq!((host.guests.stats().open, good.lost.is_none()), (1, true));
    assert_eq!(host.guests.quic.open_connections(), 1);
}

#[test]
fn there_is_one_control_stream_and_it_stays_open() {
    for is_second in [true, false] {
        let (mut host, mut client) = (host(), saying(request(), Vec::new()));
        exchange(&mut host, START, address(1), &mut client, 8);
        let control = client.open(Dir::Uni, &settings()).expect("it may");
        exchange(&mut host, START, address(1), &mut client, 4);
        assert_eq!(client.granted, Some(true));
        if is_second {
            client.open(Dir::Uni, &settings());
        } else {
            client.quic.send_stream(control).finish().expect("it is open");
        }
        exchange(&mut host, START, address(1), &mut client, 4);
        assert_eq!(code(&client), Some(if is_second { 0x103 } else { 0x104 }), "{:?}", client.lost);
        assert_eq!(host.guests.stats().open, 0);
    }
}

#[test]
fn other_streams_and_further_requests_are_refused_without_side_effects() {
    let (mut host, mut client) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    // Opens each kind of stream in turn, more often than the limit of concurrent streams.
    for _ in 0..20 {
        for (dir, bytes, code) in [
            (Dir::Bi, vec![0x40, 0x41, 0, 7], 0x3994_bd84),
            (Dir::Uni, vec![0x40, 0x54, 4], 0x3994_bd84),
            (Dir::Uni, vec![0x40, 0x54, 0, 7, 7], 0x33),
            (Dir::Uni, vec![0x40, 0x54, 0, 0x88, 1], 0x33),
            (Dir::Uni, vec![1, 0], 0x103),
            (Dir::Uni, vec![0x21], 0x103),
            (Dir::Bi, request(), 0x10b),
        ] {
            let before = client.stopped.len();
            let id = client.open(dir, &bytes).expect("streams that are refused make room");
            exchange(&mut host, START, address(1), &mut client, 4);
            assert_eq!(client.stopped[before..], [(id, code)]);
            // A browser answers a refusal in this way, as RFC 9000, section 3.5 requires.
            let _ = client.quic.send_stream(id).reset(VarInt::from_u32(0));
            exchange(&mut host, START, address(1), &mut client, 2);
        }
    }
    // Grease is refused and not counted.
    assert_eq!(host.guests.stats().refused, 20 * 6);
    assert!(client.lost.is_none() && !client.is_session_over);
    let guest = host.guests.guests.values().next().expect("it is there");
    assert!(guest.session.is_open() && guest.stage == Stage::Open);
}

#[test]
fn datagrams_of_unknown_sessions_are_dropped_and_counted() {
    let (mut host, mut client) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    for datagram in [&[][..], &[1, 0x81], &[0x40, 1, 0x81], &[0xFF; 9]] {
        let before = host.guests.stats().dropped;
        client.send_raw(datagram.to_vec());
        exchange(&mut host, START, address(1), &mut client, 2);
        assert_eq!(host.guests.stats().dropped, before + 1, "{datagram:?}");
    }
    let mut early = saying(Vec::new(), settings());
    exchange(&mut host, START, address(2), &mut early, 8);
    let before = host.guests.stats().dropped;
    early.send(b"before there is a session");
    exchange(&mut host, START, address(2), &mut early, 2);
    assert_eq!(host.guests.stats().dropped, before + 1);
    assert!(client.lost.is_none() && early.lost.is_none());
}

#[test]
fn a_client_without_quic_datagrams_gets_no_session() {
    let (mut host, mut transport) = (host(), TransportConfig::default());
    transport.datagram_receive_buffer_size(None);
    let mut client = Page::with(instant(START), SERVER, (request(), settings()), transport, b"h3");
    exchange(&mut host, START, address(1), &mut client, 8);
    assert_eq!((client.granted, host.guests.stats().sessions), (None, 0));
    assert_eq!(client.stopped.last().map(|(_, code)| *code), Some(0x10b));
}

#[test]
fn data_sent_right_before_the_end_of_a_session_or_connection_is_delivered() {
    for (is_on_stream, is_aborted) in [(false, false), (true, false), (false, true), (true, true)] {
        let (mut host, mut client) = (host(), page(START));
        exchange(&mut host, START, address(1), &mut client, 8);
        if is_on_stream {
            client.send_on_stream(&[7; 30]);
            exchange(&mut host, START, address(1), &mut client, 2);
        }
        let before = host.delivered;
        match is_on_stream {
            true => client.send_on_stream(&[7; 30]),
            false => client.send(&[7; 30]),
        }
        client.close(0, "");
        let mut left = client.datagrams(instant(START));
        if is_aborted {
            client.abort(instant(START));
            left.extend(client.datagrams(instant(START)));
        }
        left.iter_mut().for_each(|datagram| host.take(START, address(1), datagram));
        let seen = (host.delivered - before, host.guests.stats().dropped);
        assert_eq!(seen, (1, 0), "on a stream: {is_on_stream}, and aborted: {is_aborted}");
    }
}

#[test]
fn datagrams_are_accepted_on_at_most_eight_streams_of_a_session() {
    let (mut host, mut client) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    let (head, record) = ([0x40, 0x54, 0], [0x80, 8, 1, 2, 3, 4, 5, 6, 7, 8]);
    let mut streams = Vec::new();
    for _ in 0..8 {
        streams.push(client.open(Dir::Uni, &[&head[..], &record, &record[..3]].concat()).expect("it may"));
        exchange(&mut host, START, address(1), &mut client, 2);
    }
    assert_eq!(host.delivered, 8);
    // The rest of a datagram arrives after others.
    for id in &streams {
        client.quic.send_stream(*id).write(&record[3..]).expect("room");
        exchange(&mut host, START, address(1), &mut client, 2);
    }
    assert_eq!((host.delivered, host.guests.stats().refused), (16, 0));
    let ninth = client.open(Dir::Uni, &head).expect("it may");
    exchange(&mut host, START, address(1), &mut client, 4);
    assert_eq!(client.stopped, [(ninth, 0x3994_bd84)]);
    // A stream that has ended makes room.
    client.quic.send_stream(streams[0]).finish().expect("it is open");
    exchange(&mut host, START, address(1), &mut client, 4);
    client.open(Dir::Uni, &[&head[..], &record].concat()).expect("it may");
    exchange(&mut host, START, address(1), &mut client, 4);
    assert_eq!((host.delivered, host.guests.stats().refused, client.lost.is_none()), (17, 1, true));
}

#[test]
fn a_client_with_another_alpn_is_refused_by_tls() {
    let (mut host, transport) = (host(), TransportConfig::default());
    let mut client = Page::with(instant(START), SERVER, (request(), settings()), transport, b"skipstone/1");
    exchange(&mut host, START, address(1), &mut client, 8);
    assert!(matches!(&client.lost, Some(ConnectionError::ConnectionClosed(_))), "{:?}", client.lost);
    assert_eq!((host.guests.stats().open, host.guests.stats().breaches), (0, 1));
    assert_eq!(host.guests.quic.open_connections(), 0);
}

#[test]
fn the_memory_that_a_client_can_occupy_is_bounded() {
    let (mut host, mut client) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    let (mut written, mut most) = (0, 0);
    // A request that never ends, and no other request next to it.
    let id = client.open(Dir::Bi, &[1, 0x80, 0, 0x40, 0]).expect("it may");
    assert_eq!(client.open(Dir::Bi, &[1]), None, "a client has one request and another");
    for _ in 0..40 {
        written += client.quic.send_stream(id).write(&[0x20; 400]).unwrap_or(0);
        exchange(&mut host, START, address(1), &mut client, 2);
        most = most.max(host.guests.guests.values().map(|guest| guest.session.kept_bytes()).sum());
    }
    assert!(written > 8_000 && most > 7_500 && most <= KEPT_BYTES_MAX, "{written} written, {most} kept");
    assert!(client.lost.is_none() && !client.is_session_over, "the session is not concerned");
}

/// Bytes that the server holds of incomplete or early data.
fn kept_bytes(host: &Host) -> usize {
    host.guests.guests.values().map(|guest| guest.session.kept_bytes()).sum()
}

#[test]
fn datagrams_and_capsules_that_are_incomplete_share_the_limit_of_a_session_without_a_connection() {
    let (mut host, mut client) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    // A capsule that closes the session, but for its last byte.
    let (frame, capsule) = ([0, 0x44, 0x07], [0x68, 0x43, 0x44, 0x04]);
    let connect = client.connect.expect("it has a session");
    let close = [&frame[..], &capsule, &[b'x'; 1_027]].concat();
    assert_eq!(client.quic.send_stream(connect).write(&close), Ok(close.len()));
    exchange(&mut host, START, address(1), &mut client, 4);
    assert_eq!(kept_bytes(&host), 1_027);
    let streams: Vec<_> = (0..8).map(|_| client.open(Dir::Uni, &[0x40, 0x54, 0, 0x88, 0]).expect("it may")).collect();
    exchange(&mut host, START, address(1), &mut client, 4);
    let mut most = 0;
    for id in streams {
        assert_eq!(client.quic.send_stream(id).write(&[7; 2_047]), Ok(2_047));
        exchange(&mut host, START, address(1), &mut client, 4);
        most = most.max(kept_bytes(&host));
    }
    assert!((10_000..=KEPT_BYTES_MAX).contains(&most), "{most} bytes are kept");
    assert_eq!((host.guests.stats().refused, client.stopped.len()), (3, 3));
    assert!(client.lost.is_none() && !client.is_session_over, "the session is not concerned");
}

#[test]
fn nothing_incomplete_is_kept_once_a_session_is_over() {
    let (mut host, mut client) = (host(), page(START));
    exchange(&mut host, START, address(1), &mut client, 8);
    client.open(Dir::Uni, &[&[0x40, 0x54, 0, 0x88, 0][..], &[7; 2_000]].concat()).expect("it may");
    client.open(Dir::Uni, &[0x40]).expect("it may");
    exchange(&mut host, START, address(1), &mut client, 4);
    assert_eq!(kept_bytes(&host), 2_003);
    host.guests.guests.values_mut().for_each(|guest| guest.session.is_player = true);
    let number = *host.guests.guests.keys().next().expect("it is there");
    host.guests.close(START, number, &mut host.endpoint);
    assert_eq!((host.guests.stats().open, kept_bytes(&host)), (1, 0));
    // Early data of a session that has ended has the limit of an unauthenticated client's.
    let id = client.open(Dir::Uni, &[0x40]).expect("it may");
    drop(client.datagrams(instant(START)));
    for _ in 0..300 {
        client.quic.send_stream(id).write(&[7]).expect("room");
        client.datagrams(instant(START)).iter_mut().for_each(|datagram| host.take(START, address(1), datagram));
        assert!(kept_bytes(&host) <= KEPT_BYTES_MAX, "{}", kept_bytes(&host));
    }
}
