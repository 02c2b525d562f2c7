//! Streams of unknown clients that send much meaningless data, as fast as the server reads: the server's rounds end in
//! time, clients that come meanwhile get in, and each such stream is closed when it has cost as much as an unknown
//! client may cost.

use super::enter::{PATIENCE, enter};
use skipstone::{Event, Security, Server, ServerConfig};
use skipstone_proto::{Carrier, Config, Endpoint, Path, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
const STREAMS: usize = 24;
/// The counted time of a round, at most: its own 2 ms, one turn more, and the streams that it accepts.
const ROUND_MAX: Duration = Duration::from_micros(2_900);

/// Bytes that are sent once, and bytes that are repeated.
type Flood = (&'static str, &'static [u8], &'static [u8]);

const FLOODS: [Flood; 5] = [
    ("pings without payload", b"", &[0x89, 0x80, 1, 2, 3, 4]),
    ("pongs without payload", b"", &[0x8A, 0x80, 1, 2, 3, 4]),
    ("text", b"", &[0x81, 0x81, 1, 2, 3, 4, b'a' ^ 1]),
    ("empty continuations", &[0x02, 0x80, 1, 2, 3, 4], &[0x00, 0x80, 1, 2, 3, 4]),
    ("messages of a byte", b"", &[0x82, 0x81, 1, 2, 3, 4, 9]),
];

/// Sends the flood on one stream after the other until `is_over`.
fn flood(server: SocketAddr, first: &[u8], again: &[u8], is_over: &AtomicBool) {
    let again = again.repeat(4_096);
    while !is_over.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(server) else { continue };
        stream.set_read_timeout(Some(Duration::from_millis(1))).expect("it is a socket");
        stream.set_write_timeout(Some(Duration::from_millis(100))).expect("it is a socket");
        if stream.write_all(first).is_err() {
            continue;
        }
        // Answers must be read, or the server would stop for writing them.
        let mut answers = [0; 1 << 16];
        let is_timeout = |kind| matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut);
        while !is_over.load(Ordering::Relaxed) {
            let is_written = stream.write_all(&again).map_or_else(|error| is_timeout(error.kind()), |()| true);
            if !is_written || stream.read(&mut answers).is_ok_and(|count| count == 0) {
                break;
            }
        }
    }
}

fn stands(name: &str, first: &[u8], again: &[u8]) {
    let security = Some(Security::plain());
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut server = Server::start(ServerConfig { security, ..ServerConfig::new(listen) }).expect("it starts");
    let (address, is_over) = (server.local_addr(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..STREAMS {
            scope.spawn(|| flood(address, first, again, &is_over));
        }
        let end = Instant::now() + PATIENCE;
        let mut clients = Vec::new();
        while clients.len() < 6 || server.driver_stats().streams.too_dear < 10 {
            let scheme = ["ws", "skip+plain"][clients.len() % 2];
            let client = enter(&mut server, &format!("{scheme}://{address}"));
            clients.push(client.unwrap_or_else(|why| panic!("beside {name}: {why}")));
            assert!(Instant::now() < end, "{name}: {:?}", server.driver_stats().streams);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let stats = server.driver_stats();
    assert!(stats.round_cost_max <= ROUND_MAX, "{name}: a round of {:?}", stats.round_cost_max);
}

#[test]
fn with_any_kind_of_frames() {
    for (name, first, again) in FLOODS {
        stands(name, &[REQUEST, first].concat(), again);
    }
}

#[test]
fn with_messages_but_no_websocket() {
    stands("messages of a byte", b"", &[0x80, 0x01, 9]);
}

/// A stream on which a client of the protocol and a silent host take turns.
struct Mixed {
    stream: TcpStream,
    client: Endpoint,
    path: Path,
}

impl Mixed {
    /// Its server has challenged it, and its OPEN is next.
    fn challenged(server: SocketAddr) -> Mixed {
        let stream = TcpStream::connect(server).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        let path = Path { socket: 0, local: None, remote: server, carrier: Carrier::TCP };
        let mut client = Endpoint::new(Config::client(), [7; 32]).expect("a good configuration");
        client.connect(Time::from_micros(1_000_000), path, b"").expect("there is room");
        let mut mixed = Mixed { stream, client, path };
        let hello = mixed.next();
        mixed.stream.write_all(&hello).expect("it is open");
        let mut length = [0; 2];
        mixed.stream.read_exact(&mut length).expect("an answer");
        let mut challenge = vec![0; usize::from(u16::from_be_bytes(length) & 0x7FFF)];
        mixed.stream.read_exact(&mut challenge).expect("all of it");
        mixed.client.handle_datagram(Time::from_micros(1_001_000), path, &mut challenge);
        mixed
    }

    /// The client's next bytes, behind their length.
    fn next(&mut self) -> Vec<u8> {
        let mut buffer = vec![0; 2_000];
        let transmit = self.client.poll_transmit(Time::from_micros(1_002_000), &mut buffer).expect("it has something");
        assert_eq!(transmit.path, self.path);
        [&(0x8000 | transmit.bytes as u16).to_be_bytes()[..], &buffer[..transmit.bytes]].concat()
    }

    fn is_open(&self) -> bool {
        self.stream.set_nonblocking(true).expect("it is a socket");
        let open = |error: std::io::Error| error.kind() == ErrorKind::WouldBlock;
        self.stream.peek(&mut [0]).map_or_else(open, |count| count > 0)
    }
}

/// A stream may reach its limit in the very turn in which its OPEN comes. Then it carries a connection, and must not be
/// dropped as if it carried none: its number would be reused for another client's stream.
#[test]
fn a_connected_stream_is_not_unauthenticated() {
    let security = Some(Security::plain());
    let mut server = Server::start(ServerConfig { security, ..ServerConfig::new(([127, 0, 0, 1], 0).into()) });
    let server = server.as_mut().expect("it starts");
    const NOTHING: [u8; 3] = [0x80, 1, 9];
    let mut streams = Vec::new();
    for noise in (900..1_300).step_by(4) {
        let mut mixed = Mixed::challenged(server.local_addr());
        let open = mixed.next();
        // The stream may be over before all of it is written.
        let _ = mixed.stream.write_all(&[NOTHING.repeat(noise), open, NOTHING.repeat(600)].concat());
        streams.push(mixed);
    }
    let (mut connected, end) = (BTreeMap::new(), Instant::now() + PATIENCE);
    loop {
        server.wait(Duration::from_millis(50));
        while let Some(event) = server.poll_event() {
            match event {
                Event::Requested { peer, remote, .. } => drop(connected.insert(peer, remote)),
                Event::Closed { peer, .. } => drop(connected.remove(&peer)),
                _ => {}
            }
        }
        let open = streams.iter().filter(|stream| stream.is_open());
        let open: BTreeSet<SocketAddr> = open.map(|it| it.stream.local_addr().expect("it has one")).collect();
        let connected: BTreeSet<SocketAddr> = connected.values().copied().collect();
        let too_dear = server.driver_stats().streams.too_dear as usize;
        if !open.is_empty() && too_dear > 0 && open == connected && too_dear + open.len() == streams.len() {
            return;
        }
        assert!(Instant::now() < end, "{too_dear} too dear; open {open:?}; connected {connected:?}");
    }
}
