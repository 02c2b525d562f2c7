//! Streams that never become connections: they end in time and have a share per network; clients that come in the
//! meantime get in, even if the server was out of descriptors for a while.

use skipstone::{Client, ClientConfig, Event, ListenerRules, NewcomerLimits, Security, Server, ServerConfig, Trust};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(40);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

fn server(newcomers: NewcomerLimits) -> Server {
    let listener_rules = ListenerRules { newcomers, ..ListenerRules::default() };
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let security = Some(Security::plain());
    Server::start(ServerConfig { listener_rules, security, ..ServerConfig::new(address) }).expect("it starts")
}

/// A stream that sends these bytes and no more.
fn idle(server: &Server, said: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.local_addr()).expect("it listens");
    stream.write_all(said).expect("it is open");
    stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    stream
}

/// Waits until the server has ended it.
fn read_to_end(stream: &mut TcpStream) {
    let mut buffer = [0; 1_024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return,
            Err(error) => panic!("it was not ended: {error}"),
        }
    }
}

/// A WebSocket client that is let in.
fn let_in(server: &mut Server) -> Client {
    let url = format!("ws://{}", server.local_addr());
    let config = ClientConfig { trust: Trust::System, ..ClientConfig::default() };
    let mut client = Client::connect(&url, b"", config).expect("a socket");
    let end = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < end, "it is not let in");
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it asked");
            }
        }
        match client.poll_event() {
            Some(Event::Connected { .. }) => return client,
            Some(Event::Closed { close, .. }) => panic!("{}", close.reason_text()),
            _ => client.wait(Duration::from_millis(5)),
        }
    }
}

#[test]
fn they_time_out_whether_they_sent_nothing_half_a_request_or_a_whole_one() {
    let timeout = Duration::from_millis(300);
    let server = server(NewcomerLimits { timeout, ..NewcomerLimits::default() });
    let began = Instant::now();
    for said in [&b""[..], b"GET / HT", REQUEST] {
        read_to_end(&mut idle(&server, said));
        assert!(began.elapsed() >= timeout);
    }
}

#[test]
fn an_established_connection_stays() {
    let mut server = server(NewcomerLimits { timeout: Duration::from_millis(300), ..NewcomerLimits::default() });
    let _client = let_in(&mut server);
    // The end of another stream shows that the time is over.
    read_to_end(&mut idle(&server, b""));
    read_to_end(&mut idle(&server, b""));
    assert!(server.poll_event().is_none_or(|event| !matches!(event, Event::Closed { .. })));
}

#[test]
fn the_oldest_idle_stream_makes_room_for_a_new_client() {
    let mut server = server(NewcomerLimits { network_max: 20, all_max: 20, ..NewcomerLimits::default() });
    let mut streams: Vec<TcpStream> = (0..60).map(|_| idle(&server, REQUEST)).collect();
    drop(let_in(&mut server));
    // Long before their time is over.
    streams[..30].iter_mut().for_each(read_to_end);
}

#[test]
fn contradictory_rules_are_refused() {
    let started = |listener_rules| {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Server::start(ServerConfig { listener_rules, ..ServerConfig::new(address) }).map(drop)
    };
    let with = |newcomers| ListenerRules { newcomers, ..ListenerRules::default() };
    let all = NewcomerLimits::default();
    for (rules, field) in [
        (ListenerRules { origins: vec!["game.example".into()], ..ListenerRules::default() }, "origins"),
        (with(NewcomerLimits { timeout: Duration::ZERO, ..all }), "timeout"),
        (with(NewcomerLimits { network_max: 0, ..all }), "network_max"),
        (with(NewcomerLimits { all_max: 1, ..all }), "network_max"),
    ] {
        let error = started(rules).expect_err("out of range").to_string();
        assert!(error.contains(field), "{error}");
    }
}
