//! A client against a small server of quinn-proto, without sockets: datagrams, the one stream, a stream for each
//! message, and servers that refuse, say nothing or send garbage.

use super::super::simulated;
use super::*;
use bytes::Bytes;
use bytes::BytesMut;
use core::time::Duration;
use quinn_proto::Dir;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, ServerConfig};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;
use web_transport_proto::{Capsule, ConnectResponse, Frame, Settings};

const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 5);

/// What the server does beside echoing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Good,
    /// Its settings do not allow sessions.
    NoSessions,
    /// It refuses the request.
    Refuses,
    /// Its control stream is garbage.
    Garbage,
    /// It never answers the request.
    Silent,
    /// It closes the session once it is open.
    Closes,
    /// Its first stream has no end.
    Floods,
}

struct TestServer {
    manner: Manner,
    endpoint: Endpoint,
    client: Option<(ConnectionHandle, Connection)>,
    session: Option<StreamId>,
    request: Vec<u8>,
    /// Bytes of streams so far.
    streams: BTreeMap<StreamId, Vec<u8>>,
    pin: String,
}

impl TestServer {
    fn new(manner: Manner) -> Self {
        let key = rcgen::KeyPair::generate().expect("a key");
        let parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = parameters.self_signed(&key).expect("signed");
        let (pem, key_pem) = (certificate.pem(), key.serialize_pem());
        let identity = ::skipstone::Identity::from_pem(pem.as_bytes(), key_pem.as_bytes()).expect("a pair");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider);
        let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("a version");
        let builder = builder.with_no_client_auth();
        let mut tls = builder.with_single_cert(vec![certificate.der().clone()], key).expect("a pair");
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).expect("a suite")));
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), Some(Arc::new(config)), true, Some([7; 32]));
        TestServer {
            manner,
            endpoint,
            client: None,
            session: None,
            request: Vec::new(),
            streams: BTreeMap::new(),
            pin: format!("#sha256={}", identity.fingerprint()),
        }
    }

    fn handle(&mut self, now: Instant, datagram: &[u8]) {
        let mut answer = Vec::new();
        match self.endpoint.handle(now, CLIENT, None, None, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.client = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.client {
                    connection.handle_event(event);
                }
            }
            _ => {}
        }
        while let Some(event) = self.client.as_mut().and_then(|(_, connection)| connection.poll()) {
            match event {
                QuicEvent::Connected => self.greet(),
                QuicEvent::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = self.connection().streams().accept(dir) {
                        self.read(id);
                    }
                }
                QuicEvent::Stream(StreamEvent::Readable { id }) => self.read(id),
                QuicEvent::DatagramReceived => {
                    while let Some(datagram) = self.connection().datagrams().recv() {
                        self.connection().datagrams().send(datagram, true).expect("there is room");
                    }
                }
                _ => {}
            }
        }
    }

    fn connection(&mut self) -> &mut Connection {
        &mut self.client.as_mut().expect("it is there").1
    }

    /// The control stream.
    fn greet(&mut self) {
        let mut bytes = Vec::new();
        let mut settings = Settings::default();
        if self.manner != Manner::NoSessions {
            settings.enable_webtransport(1);
        }
        settings.encode(&mut bytes);
        if self.manner == Manner::Garbage {
            bytes.truncate(1);
            bytes.extend([0x07, 0x01, 0xFF]);
        }
        let id = self.connection().streams().open(Dir::Uni).expect("it may");
        self.connection().send_stream(id).write(&bytes).expect("there is room");
    }

    fn read(&mut self, id: StreamId) {
        let mut bytes = Vec::new();
        let mut is_last = false;
        {
            let mut stream = self.connection().recv_stream(id);
            let Ok(mut chunks) = stream.read(true) else { return };
            loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => bytes.extend_from_slice(&chunk.bytes),
                    Ok(None) => {
                        is_last = true;
                        break;
                    }
                    Err(_) => break,
                }
            }
            let _ = chunks.finalize();
        }
        let all = self.streams.entry(id).or_default();
        all.extend(&bytes);
        let all = all.clone();
        match (id.dir(), self.session) {
            (Dir::Bi, None) => self.on_request(id, &bytes),
            (Dir::Bi, Some(session)) if id != session => {
                // Its head of three bytes comes whole with the first part.
                let is_first = all.len() == bytes.len();
                let content = if is_first { &bytes[3..] } else { &bytes[..] };
                self.connection().send_stream(id).write(content).expect("there is room");
            }
            (Dir::Uni, Some(_)) if is_last && all.starts_with(&[0x40, 0x54]) => {
                let own = self.connection().streams().open(Dir::Uni).expect("it may");
                self.connection().send_stream(own).write(&all).expect("there is room");
                self.connection().send_stream(own).finish().expect("it is open");
            }
            _ => {}
        }
    }

    fn on_request(&mut self, id: StreamId, bytes: &[u8]) {
        self.request.extend(bytes);
        let Ok(request) = ConnectRequest::decode(&mut &self.request[..]) else { return };
        assert_eq!((request.url.path(), request.url.query()), ("/game", Some("token=abc")));
        self.session = Some(id);
        let mut answer = Vec::new();
        let status = if self.manner == Manner::Refuses { 403 } else { 200 };
        let status = web_transport_proto::http::StatusCode::from_u16(status).expect("a status");
        ConnectResponse::new(status).encode(&mut answer).expect("it is short");
        if self.manner == Manner::Closes {
            let mut capsule = Vec::new();
            Capsule::CloseWebTransportSession { code: 7, reason: "full".into() }.encode(&mut capsule);
            Frame::DATA.encode(&mut answer);
            VarInt::from_u32(capsule.len() as u32).encode(&mut answer);
            answer.extend(capsule);
        }
        if self.manner != Manner::Silent {
            self.connection().send_stream(id).write(&answer).expect("there is room");
        }
        if self.manner == Manner::Floods {
            let own = self.connection().streams().open(Dir::Uni).expect("it may");
            let bytes = [&[0x40, 0x54, 0x00][..], &[9; 60_000]].concat();
            self.connection().send_stream(own).write(&bytes).expect("there is room");
        }
    }

    fn datagrams(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let Some((handle, connection)) = &mut self.client else { return Vec::new() };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut left = Vec::new();
        loop {
            let mut buffer = Vec::new();
            if connection.poll_transmit(now, 1, &mut buffer).is_none() {
                return left;
            }
            left.push(buffer);
        }
    }
}

/// A client and a server, a millisecond apart.
struct Pair {
    client: Box<dyn Protocol>,
    server: TestServer,
    base: Instant,
    now: Time,
}

impl Pair {
    fn new(manner: Manner, options: &str) -> Self {
        let server = TestServer::new(manner);
        let url = format!("https://127.0.0.1:443/game?query=token%3Dabc{options}{}", server.pin);
        Self::to(server, &url)
    }

    fn to(server: TestServer, url: &str) -> Self {
        let mut client = simulated::client(&ROW, url, 1);
        client.handle_open(Time::ZERO);
        Pair { client, server, base: Instant::now(), now: Time::ZERO }
    }

    /// The next event of the client, if there is one in so many milliseconds.
    fn next(&mut self, milliseconds: u32) -> Option<Event> {
        for _ in 0..milliseconds {
            if let Some(event) = self.client.poll_event() {
                return Some(event);
            }
            let mut out = Vec::new();
            let server_now = self.base + Duration::from_micros(self.now.as_micros());
            while self.client.poll_transmit(self.now, &mut out) {
                self.server.handle(server_now, &std::mem::take(&mut out));
            }
            self.now += Duration::from_millis(1);
            for datagram in self.server.datagrams(server_now) {
                self.client.handle_receive(self.now, &datagram);
            }
            if let Some((_, connection)) = &mut self.server.client
                && connection.poll_timeout().is_some_and(|due| due <= server_now)
            {
                connection.handle_timeout(server_now);
            }
            if self.client.deadline().is_some_and(|due| due <= self.now) {
                self.client.handle_deadline(self.now);
            }
        }
        self.client.poll_event()
    }

    fn message(&mut self) -> (u16, Bytes) {
        match self.next(2000) {
            Some(Event::Message { channel, data }) => (channel, data),
            other => panic!("no message but {other:?}"),
        }
    }

    fn send(&mut self, channel: u16, data: &[u8]) -> Result<(), SendRefused> {
        self.client.send(self.now, Outgoing { channel, delivery: None, data })
    }

    fn ending(&mut self) -> Ending {
        match self.next(30_000) {
            Some(Event::Closed(ending)) => ending,
            other => panic!("no end but {other:?}"),
        }
    }
}

#[test]
fn datagrams_one_stream_and_a_stream_for_each_message_go_both_ways() {
    let mut pair = Pair::new(Manner::Good, "&frame=length&bytes=2");
    assert_eq!(pair.send(0, b"early"), Err(SendRefused::NotConnected));
    assert_eq!(pair.next(2000), Some(Event::Connected));
    pair.send(0, b"datagram").expect("accepted");
    assert_eq!(pair.message(), (0, Bytes::from_static(b"datagram")));
    pair.send(1, b"one").expect("accepted");
    pair.send(1, &[5; 60_000]).expect("accepted");
    assert_eq!(pair.message(), (1, Bytes::from_static(b"one")));
    assert_eq!(pair.message(), (1, Bytes::from(vec![5; 60_000])));
    for number in 0..5 {
        pair.send(2, &[number; 3000]).expect("accepted");
    }
    let mut got: Vec<u8> = (0..5).map(|_| pair.message()).map(|(channel, data)| data[0] + 10 * channel as u8).collect();
    got.sort_unstable();
    assert_eq!(got, [20, 21, 22, 23, 24]);
    assert!(matches!(pair.send(0, &[0; 5000]), Err(SendRefused::TooLong { size: 5000, .. })));
    assert_eq!(pair.send(3, b"x"), Err(SendRefused::NoChannel { channel: 3, max: 2 }));
    assert!(pair.client.figures().rtt.is_some());
    pair.client.close(pair.now);
    assert_eq!(pair.ending().cause, Cause::Closed);
    assert_eq!(pair.next(20_000), None, "the end is the last event");
}

#[test]
fn a_bot_that_sends_faster_than_the_path_is_refused() {
    let mut pair = Pair::new(Manner::Good, "");
    assert_eq!(pair.next(2000), Some(Event::Connected));
    for (channel, size) in [(0, 1000), (1, 60_000), (2, 60_000)] {
        let refused = (0..5000).find_map(|_| pair.send(channel, &vec![1; size]).err());
        assert!(matches!(refused, Some(SendRefused::QueueFull { .. })), "channel {channel}: {refused:?}");
    }
}

#[test]
fn servers_that_refuse_close_or_send_garbage_end_the_bot_with_the_reason() {
    for (manner, cause, part) in [
        (Manner::NoSessions, Cause::Refused, "without WebTransport"),
        (Manner::Refuses, Cause::Refused, "HTTP 403"),
        (Manner::Garbage, Cause::Malformed, "no WebTransport"),
    ] {
        let ending = Pair::new(manner, "").ending();
        assert_eq!(ending.cause, cause, "{manner:?}: {}", ending.text);
        assert!(ending.text.contains(part), "{manner:?}: {}", ending.text);
    }
    let mut closes = Pair::new(Manner::Closes, "");
    assert_eq!(closes.next(2000), Some(Event::Connected));
    assert_eq!(closes.ending(), Ending::new(Cause::ByServer, "the server closed the session: code 7: full"));
    let mut floods = Pair::new(Manner::Floods, "&max=50000");
    assert_eq!(floods.next(2000), Some(Event::Connected));
    assert_eq!(floods.ending().cause, Cause::Malformed);
}

#[test]
fn a_server_that_is_away_or_silent_times_out() {
    let url = "https://127.0.0.1:443/?trust=anyone";
    let mut client = simulated::client(&ROW, url, 1);
    client.handle_open(Time::ZERO);
    let mut now = Time::ZERO;
    for _ in 0..20_000 {
        let mut out = Vec::new();
        while client.poll_transmit(now, &mut out) {
            out.clear();
        }
        if let Some(Event::Closed(ending)) = client.poll_event() {
            assert_eq!(ending.cause, Cause::TimedOut, "{}", ending.text);
            break;
        }
        now = now.max(client.deadline().expect("a time-out")) + Duration::from_micros(1);
        client.handle_receive(now, &[0xFF; 50]);
        client.handle_deadline(now);
    }
    assert!(now < Time::ZERO + Duration::from_secs(20), "{now:?}");
    let mut silent = Pair::new(Manner::Silent, "");
    let ending = silent.ending();
    assert_eq!(ending.cause, Cause::TimedOut, "{}", ending.text);
}

#[test]
fn a_server_with_another_certificate_is_refused() {
    let url = format!("https://127.0.0.1:443/game?query=token%3Dabc#sha256={}", "ab".repeat(32));
    let ending = Pair::to(TestServer::new(Manner::Good), &url).ending();
    assert_eq!(ending.cause, Cause::Refused, "{}", ending.text);
    assert!(ending.text.starts_with("the server's certificate has the fingerprint"), "{}", ending.text);
}
