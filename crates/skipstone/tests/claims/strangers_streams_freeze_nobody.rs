//! Streams of strangers who say much that means nothing, as fast as the server reads: its rounds end in time, whoever comes
//! meanwhile gets in, and each such stream is closed when it has cost what a stranger may cost.

use super::enter::{PATIENCE, enter};
use skipstone::{Security, Server, ServerConfig};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
const STREAMS: usize = 24;
/// What a round may be counted as: its own 2 ms, one turn more, and the streams that it accepts.
const ROUND_MAX: Duration = Duration::from_micros(2_900);

/// What is said once, and what again and again.
type Flood = (&'static str, &'static [u8], &'static [u8]);

const FLOODS: [Flood; 5] = [
    ("pings without payload", b"", &[0x89, 0x80, 1, 2, 3, 4]),
    ("pongs without payload", b"", &[0x8A, 0x80, 1, 2, 3, 4]),
    ("text", b"", &[0x81, 0x81, 1, 2, 3, 4, b'a' ^ 1]),
    ("empty continuations", &[0x02, 0x80, 1, 2, 3, 4], &[0x00, 0x80, 1, 2, 3, 4]),
    ("messages of a byte", b"", &[0x82, 0x81, 1, 2, 3, 4, 9]),
];

/// Says it on one stream after the other until it is told to stop.
fn flood(server: SocketAddr, first: &[u8], again: &[u8], is_over: &AtomicBool) {
    let again = again.repeat(4_096);
    while !is_over.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(server) else { continue };
        stream.set_read_timeout(Some(Duration::from_millis(1))).expect("it is a socket");
        stream.set_write_timeout(Some(Duration::from_millis(100))).expect("it is a socket");
        if stream.write_all(first).is_err() {
            continue;
        }
        // Answers are read, or the server would stop to write them.
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
fn whatever_their_frames_are() {
    for (name, first, again) in FLOODS {
        stands(name, &[REQUEST, first].concat(), again);
    }
}

#[test]
fn nor_messages_without_websocket() {
    stands("messages of a byte", b"", &[0x80, 0x01, 9]);
}
