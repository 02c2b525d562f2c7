//! One TCP port: HTTP is answered, streams in clear and within TLS play together, proxies are believed if they are
//! trusted, and any other stream is closed, counted by its reason, and disturbs no client.

use crate::enter::{PATIENCE, enter};
use crate::eventually;
use skipstone::{
    Client, ClientConfig, Event, Group, HttpAnswer, ListenerRules, NewcomerLimits, Security, Server, ServerConfig,
    StreamStats, Threading, code,
};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
    Sec-WebSocket-Version: 13\r\n\r\n";

fn server(listener_rules: ListenerRules, trusted_proxies: &[&str]) -> Server {
    let trusted_proxies = trusted_proxies.iter().map(|proxy| (*proxy).to_owned()).collect();
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::start(ServerConfig { listener_rules, trusted_proxies, ..ServerConfig::new(address) }).expect("it starts")
}

/// The server's bytes until it ends the stream.
fn ask(server: &Server, said: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.local_addr()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    // The server may have ended it already.
    let _ = stream.write_all(said);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "it was not ended: {error}"),
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn counts(server: &Server, is_so: impl Fn(&StreamStats) -> bool) {
    assert!(eventually(|| is_so(&server.driver_stats().streams)), "{:?}", server.driver_stats().streams);
}

#[test]
fn http_serves_health_registered_paths_and_a_hint() {
    let answer = HttpAnswer {
        path: "/hash".into(),
        content_type: "application/json".into(),
        body: b"[1]".to_vec(),
        is_public: true,
    };
    let rules = ListenerRules { http_answers: vec![answer], hosts: vec!["game.example".into()], ..Default::default() };
    let server = server(rules, &[]);
    for (request, status, word) in [
        ("GET /healthz HTTP/1.1\r\nHost: game.example:80\r\n\r\n", "200 OK", "ok"),
        ("HEAD /healthz HTTP/1.1\r\nHost: game.example\r\n\r\n", "200 OK", ""),
        ("GET /hash?now HTTP/1.1\r\nHost: game.example\r\n\r\n", "200 OK", "[1]"),
        ("POST /hash HTTP/1.1\r\nHost: game.example\r\n\r\n", "405 ", "GET"),
        ("GET / HTTP/1.1\r\nHost: game.example\r\n\r\n", "426 ", "WebSocket"),
        ("GET /x HTTP/1.1\r\nHost: game.example\r\n\r\n", "404 ", "/healthz"),
        ("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421 ", "host name"),
        (&format!("GET / HTTP/1.1\r\nHost: evil.example\r\n{UPGRADE}"), "421 ", "host name"),
    ] {
        let answer = ask(&server, request.as_bytes());
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request}{answer}");
        assert!(body.contains(word) && head.contains("close\r\n"), "{request}{answer}");
    }
    counts(&server, |streams| (streams.answered, streams.not_upgraded, streams.foreign) == (4, 2, 2));
}

#[test]
fn an_oversized_announced_handshake_ends_at_once() {
    let server = server(ListenerRules::default(), &[]);
    // Records of 16 KB that hold the beginning of a ClientHello of 65,000 bytes.
    let mut record = vec![22, 3, 1, 0x40, 0, 1, 0, 0xFD, 0xE8];
    record.resize(5 + (16 << 10), 0);
    let mut long = record.clone();
    record[5..9].fill(0);
    long.extend(record);
    let began = Instant::now();
    ask(&server, &long);
    assert!(began.elapsed() < Duration::from_secs(5), "before the time for newcomers is over");
    counts(&server, |streams| streams.tls_failures == 1);
}

#[test]
fn where_tls_is_required_pages_are_redirected_and_the_rest_is_refused() {
    let mut server = server(ListenerRules { requires_tls: true, ..Default::default() }, &[]);
    let page = ask(&server, b"GET /play?x=1 HTTP/1.1\r\nHost: game.example:7777\r\n\r\n");
    assert!(
        page.starts_with("HTTP/1.1 308 ") && page.contains("Location: https://game.example:7777/play?x=1\r\n"),
        "{page}"
    );
    for target in ["/", "/healthz"] {
        let socket = ask(&server, format!("GET {target} HTTP/1.1\r\nHost: x\r\n{UPGRADE}").as_bytes());
        assert!(socket.starts_with("HTTP/1.1 426 ") && socket.contains("wss://"), "{socket}");
    }
    assert!(ask(&server, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 200 "));
    assert_eq!(ask(&server, &[0x80, 1, 0]), "");
    counts(&server, |streams| (streams.not_taken, streams.answered) == (4, 1));
    let url = server.url().replacen("skip://", "wss://", 1);
    enter(&mut server, &url).expect("it is encrypted");
    let refused = ListenerRules { requires_tls: true, ..Default::default() };
    let config = ServerConfig {
        listener_rules: refused,
        security: Some(Security::plain()),
        ..ServerConfig::new(([127, 0, 0, 1], 0).into())
    };
    let error = Server::start(config).expect_err("it has no certificate").to_string();
    assert!(error.contains("requires_tls") && error.contains("give the server one"), "{error}");
}

#[test]
fn a_server_with_another_certificate_is_not_trusted() {
    let mut server = server(ListenerRules::default(), &[]);
    let port = server.local_addr().port();
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("wss://{host}:{port}#sha256={}", "5a".repeat(32));
        let error = enter(&mut server, &url).expect_err("another fingerprint");
        assert!(error.starts_with(&code::SECURITY.to_string()) && error.contains("fingerprint"), "{error}");
        let error = enter(&mut server, &format!("wss://{host}:{port}")).expect_err("nobody has signed it");
        assert!(error.starts_with(&code::SECURITY.to_string()) && error.contains("nobody trusted"), "{error}");
    }
    counts(&server, |streams| streams.tls_failures == 4);
}

#[test]
fn tls_over_tcp_shares_the_handshake_budget() {
    let mut server = server(ListenerRules::default(), &["127.0.0.1"]);
    let address = server.local_addr();
    // Bytes that begin like a handshake and are none, of a host that a trusted proxy names.
    let fail = |host: u8| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        let header = format!("PROXY TCP4 203.0.113.{host} 127.0.0.1 1 2\r\n");
        let said = [header.as_bytes(), &[0x16, 3, 1, 0, 4, 9, 9, 9, 9]].concat();
        // The server may have ended it already.
        let _ = stream.write_all(&said);
        let _ = stream.read_to_end(&mut Vec::new());
    };
    (0..200).for_each(|_| fail(1));
    counts(&server, |streams| streams.tls_failures + streams.over_budget == 200);
    let before = server.driver_stats().streams;
    assert!(before.tls_failures >= 16 && before.over_budget >= 50, "{before:?}");
    // Its neighbours and hosts of other networks are let in.
    fail(2);
    counts(&server, |streams| streams.tls_failures == before.tls_failures + 1);
    let pin = server.url().split_once('#').expect("it is encrypted").1.to_owned();
    for _ in 0..20 {
        let url = format!("wss://{address}#{pin}");
        enter(&mut server, &url).expect("this host has failed at nothing");
    }
}

/// A proxy that sends this first, or within the request, and then passes all bytes on.
fn proxy(server: SocketAddr, first: &'static str, header: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has one");
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("it comes");
        let mut upstream = TcpStream::connect(server).expect("it listens");
        let mut request = vec![0; 4_096];
        let length = client.read(&mut request).expect("it speaks");
        let line = request.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = if header.is_empty() { 0 } else { line };
        let parts = [first.as_bytes(), &request[..line], header.as_bytes(), &request[line..length]];
        upstream.write_all(&parts.concat()).expect("it reads");
        let (mut up_from, mut up_to) = (client.try_clone().expect("a handle"), upstream.try_clone().expect("a handle"));
        std::thread::spawn(move || std::io::copy(&mut up_from, &mut up_to));
        let _ = std::io::copy(&mut upstream, &mut client);
    });
    address
}

#[test]
fn only_a_trusted_proxy_may_name_the_client_address() {
    const V1: &str = "PROXY TCP4 203.0.113.7 127.0.0.1 40000 7777\r\n";
    const FORWARDED: &str = "X-Forwarded-For: 1.2.3.4, 203.0.113.8\r\n";
    let told: IpAddr = [203, 0, 113, 7].into();
    let mut trusting = server(ListenerRules::default(), &["127.0.0.0/8"]);
    let address = trusting.local_addr();
    for (scheme, first, header, expected) in [
        ("ws", V1, "", told),
        ("tcp", V1, "", told),
        ("wss", V1, "", told),
        ("ws", "", FORWARDED, [203, 0, 113, 8].into()),
        ("ws", "", "Forwarded: for=203.0.113.9;proto=https\r\n", [203, 0, 113, 9].into()),
        // One of the two is the client's own.
        ("ws", "", "Forwarded: for=203.0.113.9\r\nX-Forwarded-For: 1.1.1.1\r\n", [127, 0, 0, 1].into()),
        // Behind its header the client's bytes follow; the client is not a proxy.
        ("ws", V1, FORWARDED, told),
        ("ws", "", "", [127, 0, 0, 1].into()),
    ] {
        let pin = trusting.url().split_once('#').map(|(_, pin)| format!("#{pin}")).filter(|_| scheme == "wss");
        let url = format!("{scheme}://{}{}", proxy(address, first, header), pin.unwrap_or_default());
        let (_client, from) = enter(&mut trusting, &url).expect(&url);
        assert_eq!(from.ip(), expected, "{scheme} {first}{header}");
    }
    assert_eq!(ask(&trusting, b"PROXY TCP4 1.2.3.4\r\n"), "");
    counts(&trusting, |streams| streams.bad_proxy_headers == 1);

    let mut wary = server(ListenerRules::default(), &["10.0.0.0/8"]);
    let url = format!("ws://{}", proxy(wary.local_addr(), "", FORWARDED));
    let (_client, from) = enter(&mut wary, &url).expect("the header counts for nothing");
    assert!(from.ip().is_loopback());
    assert!(ask(&wary, V1.as_bytes()).contains("none of the server's trusted proxies"));
    counts(&wary, |streams| streams.bad_proxy_headers == 1);
}

#[test]
fn streams_through_a_trusted_proxy_count_for_their_clients_networks() {
    let newcomers = NewcomerLimits { network_max: 4, all_max: 1_000, ..NewcomerLimits::default() };
    let server = server(ListenerRules { newcomers, ..Default::default() }, &["127.0.0.1"]);
    let come = |host: u8, network: u8| {
        let mut stream = TcpStream::connect(server.local_addr()).expect("it listens");
        // In one piece, unless the server has closed it before: it has, where too many wait.
        let _ = stream.write_all(format!("PROXY TCP4 10.0.{network}.{host} 127.0.0.1 1 2\r\n").as_bytes());
        stream
    };
    let first = come(1, 1);
    counts(&server, |streams| streams.accepted == 1);
    let hostile: Vec<_> = (0..20).map(|host| come(host, 2)).collect();
    counts(&server, |streams| streams.accepted == 21 && streams.displaced >= 16);
    drop(hostile);
    first.set_nonblocking(true).expect("it is a socket");
    let still = (&first).read(&mut [0; 1]).expect_err("nothing was said");
    assert_eq!(still.kind(), std::io::ErrorKind::WouldBlock, "it was not displaced");
}

/// A ClientHello of TLS 1.2, as far as needed here: a record's head, and a part of the announced length.
const HALF_A_HELLO: &[u8] = &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];

#[test]
fn a_stream_that_never_connects_times_out_and_is_counted() {
    let timeout = Duration::from_millis(400);
    let newcomers = NewcomerLimits { timeout, ..NewcomerLimits::default() };
    let mut server = server(ListenerRules { newcomers, ..Default::default() }, &["127.0.0.1"]);
    let url = format!("ws://{}", server.local_addr());
    let stays = enter(&mut server, &url).expect("it is let in");
    for said in [HALF_A_HELLO, &[0x16], &[0x80], &[0x80, 200, 1, 2, 3], b"PROXY TC", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0"]
    {
        let began = Instant::now();
        assert_eq!(ask(&server, said), "");
        assert!(began.elapsed() >= timeout, "{said:?}");
    }
    counts(&server, |streams| streams.timed_out == 6);
    // A single byte from time to time does not help.
    let mut slow = TcpStream::connect(server.local_addr()).expect("it listens");
    slow.set_read_timeout(Some(Duration::from_millis(20))).expect("it is a socket");
    let is_over = HALF_A_HELLO.iter().cycle().take(500).any(|byte| {
        let _ = slow.write_all(&[*byte]);
        slow.read(&mut [0; 64])
            .map_or_else(|error| error.kind() == std::io::ErrorKind::ConnectionReset, |count| count == 0)
    });
    assert!(is_over, "it was ended");
    assert!(server.poll_event().is_none_or(|event| !matches!(event, Event::Closed { .. })), "the other one stays");
    drop(stays);
}

#[test]
fn garbage_is_counted_by_kind_without_disturbing_players() {
    let mut server = server(ListenerRules::default(), &["127.0.0.1"]);
    let url = server.url().replacen("skip://", "wss://", 1);
    let (mut client, _) = enter(&mut server, &url).expect("it is let in");
    let bad_tls = [&[0x16, 3, 1, 0x50, 0][..], b"hello"].concat();
    // An alert comes back.
    assert!(ask(&server, &bad_tls).starts_with('\u{15}'));
    assert!(ask(&server, b"\x16\xff\xff\xff\xff").len() < 100);
    assert!(ask(&server, b"\x00\x01\x02").starts_with("HTTP/1.1 400 "));
    assert_eq!(ask(&server, &[0x80, 0]), "");
    assert_eq!(ask(&server, &[0xC0, 1]), "");
    assert_eq!(ask(&server, b"\r\n\r\n\0\r\nQUIT\n\x11\x11\0\0"), "");
    assert!(
        ask(&server, format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(9_000)).as_bytes())
            .starts_with("HTTP/1.1 431 ")
    );
    let upgrade = format!("GET / HTTP/1.1\r\nHost: x\r\n{UPGRADE}");
    let too_long = [upgrade.as_bytes(), &[0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4]].concat();
    let answer = ask(&server, &too_long);
    assert!(answer.contains("message too large"), "closed with 1009: {answer}");
    let unmasked = [upgrade.as_bytes(), &[0x82, 1, 7]].concat();
    assert!(ask(&server, &unmasked).contains("broken frame"));
    counts(&server, |streams| {
        (streams.tls_failures, streams.malformed_requests, streams.broken_frames) == (2, 1, 3)
            && (streams.bad_proxy_headers, streams.oversized_requests, streams.oversized_messages) == (1, 1, 1)
    });
    client.send(7, "still here").expect("it stands");
    let end = Instant::now() + PATIENCE;
    while !matches!(server.poll_event(), Some(Event::Message { payload, .. }) if payload == "still here") {
        assert!(Instant::now() < end, "the message does not come");
        server.wait(Duration::from_millis(5));
    }
}

/// A client that joins and never reads again is closed with its reason when its queue is full; its waiting data is
/// bounded, and the client next to it gets everything.
#[test]
fn a_stopped_reader_is_closed_and_its_neighbour_is_not() {
    for scheme in ["ws", "wss", "tcp"] {
        let mut server = server(ListenerRules::default(), &[]);
        let url = match scheme {
            "wss" => server.url().replacen("skip://", "wss://", 1),
            scheme => format!("{scheme}://{}", server.local_addr()),
        };
        // Stepped by hand, it reads only while it is driven.
        let config = ClientConfig { threading: Threading::Stepped, ..ClientConfig::default() };
        let mut deaf = Client::connect(&url, b"deaf", config).expect("a socket");
        let end = Instant::now() + PATIENCE;
        while !matches!(deaf.poll_event(), Some(Event::Connected { .. })) {
            assert!(Instant::now() < end, "it is not let in");
            deaf.drive(Duration::from_millis(2)).expect("it drives");
            while let Some(event) = server.poll_event() {
                if let Event::Requested { peer, .. } = event {
                    server.accept(peer).expect("it asked");
                }
            }
        }
        let (mut good, _) = enter(&mut server, &url).expect("it is let in");
        let (mut sent, mut heard, mut closed) = (0, 0, None);
        while closed.is_none() || heard < sent {
            assert!(Instant::now() < end, "{scheme}: {sent} sent, {heard} heard, closed: {closed:?}");
            // Never ahead of the good client by more than its own queue holds.
            if closed.is_none() && sent < heard + 100 {
                let receipt = server.broadcast(Group::EVERYONE, 7, vec![9; 10_000]).expect("room");
                server.flush().expect("it runs");
                // The first messages may be sent before the server's application knows that the good one has joined.
                sent += usize::from(receipt.peers == 2);
            }
            while let Some(event) = server.poll_event() {
                if let Event::Closed { close, .. } = event {
                    closed = Some((close.code, close.reason_text().into_owned()));
                }
            }
            while let Some(event) = good.poll_event() {
                heard += usize::from(matches!(event, Event::Message { .. }));
                assert!(!matches!(event, Event::Closed { .. }), "{scheme}: the good one stays");
            }
            good.wait(Duration::from_micros(200));
        }
        let (code, reason) = closed.expect("it was");
        assert_eq!(code, code::QUEUE_OVERFLOW, "{scheme}: {reason}");
        // The queues of its channel and its stream, and the bytes that the kernel took.
        assert!((8 << 20..48 << 20).contains(&(sent * 10_000)), "{scheme}: after {sent} messages");
    }
}
