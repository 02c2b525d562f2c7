//! Spoofed, truncated, damaged and replayed datagrams at a running server: its clients lose nothing, its memory stays
//! what it was, and no source gets more bytes than it sent.
//!
//! Here it is a short flood; `cargo xtask flood --count 1000000` plays a long one and prints its figures.

use crate::common::console::Session;
use crate::common::relay::{Datagram, Relay};
use crate::common::result::{assert_all_delivered, number, read};
use crate::common::{Running, Served, fresh_file};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// How many datagrams [`a_long_flood`] sends.
const COUNT_VARIABLE: &str = "SKIPSTONE_FLOOD_COUNT";
/// Clients whose datagrams pass by the attacker.
const TAPPED: usize = 8;
/// Datagrams a second, if the machine can: about as many as one core takes.
const PER_SECOND: u64 = 50_000;
const BURST: u64 = 100;
/// Bytes of IP and UDP headers.
const HEADERS: u64 = 28;

/// One of the attacker's own addresses, and what it paid and got.
struct Source {
    socket: UdpSocket,
    sent: u64,
    got: u64,
}

impl Source {
    /// The loopback network has many hosts.
    fn open(number: u8) -> Source {
        let host = if cfg!(target_os = "linux") { [127, 0, 1, number + 1] } else { [127, 0, 0, 1] };
        let socket = UdpSocket::bind(SocketAddr::from((host, 0))).expect("loopback has this host");
        socket.set_nonblocking(true).expect("it can");
        Source { socket, sent: 0, got: 0 }
    }

    fn send(&mut self, to: SocketAddr, bytes: &[u8]) {
        self.take_answers();
        if self.socket.send_to(bytes, to).is_ok() {
            self.sent += bytes.len() as u64 + HEADERS;
        }
    }

    fn take_answers(&mut self) {
        let mut buffer = [0; 2_048];
        while let Ok((length, _)) = self.socket.recv_from(&mut buffer) {
            self.got += length as u64 + HEADERS;
        }
    }
}

/// A sequence of numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn garbage(&mut self, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|_| self.next() as u8).collect()
    }

    /// One that was seen on its way to the server.
    fn seen<'a>(&mut self, seen: &'a [Datagram]) -> &'a Datagram {
        &seen[self.below(seen.len())]
    }
}

/// The next datagram: one of the kinds of a flood, by its number.
fn shot(kind: u64, dice: &mut Dice, seen: &[Datagram]) -> Vec<u8> {
    let real = dice.seen(seen).bytes.clone();
    match kind {
        // Noise.
        0 => {
            let length = 1 + dice.below(1_400);
            dice.garbage(length)
        }
        // Noise that begins as one of our datagrams does, for a connection that exists.
        1 => {
            let length = dice.below(200);
            [&real[..4.min(real.len())], &dice.garbage(length)].concat()
        }
        // Cut short.
        2 => real[..dice.below(real.len())].to_vec(),
        // Unchanged.
        3 => real,
        // Damaged.
        4 => {
            let (mut bytes, at) = (real, dice.next() as usize);
            let at = at % bytes.len();
            bytes[at] ^= 1 << dice.below(8);
            if dice.below(2) == 0 { bytes } else { checked_again(bytes) }
        }
        // Another implementation's beginning.
        5 => client_hello(dice),
        // A new client that never completes.
        6 => hello(dice),
        // An answer to a challenge that was never put.
        _ => {
            let mut bytes = vec![0x83, 0, 0, 0];
            bytes.extend(dice.garbage(3 + 8));
            bytes.extend([0, 1, 4]);
            bytes.extend(dice.garbage(20));
            bytes.extend([4, 0b110, 1, 0, 1]);
            bytes.extend(dice.garbage(400));
            checked_again(bytes)
        }
    }
}

const KINDS: u64 = 8;

/// WIRE.md, section 2.1.
fn hello(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = b"\x81\0\0\0SKIP".to_vec();
    bytes.extend(dice.garbage(3 + 8));
    bytes.extend([4, 0b110, 1, 0, 1]);
    bytes.resize(64 + dice.below(200), 0);
    checked_again(bytes)
}

/// The same bytes with the correct check (WIRE.md, section 2).
fn checked_again(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len().saturating_sub(4));
    let check = crc32fast::hash(&bytes).to_be_bytes();
    bytes.extend(check);
    bytes
}

/// A ClientHello of DTLS 1.2 as OpenSSL sends it, without a cookie (RFC 6347, section 4.2).
fn client_hello(dice: &mut Dice) -> Vec<u8> {
    let mut body = vec![0xFE, 0xFD];
    body.extend(dice.garbage(32));
    // No session, no cookie; two suites; no compression.
    body.extend([0, 0, 0, 4, 0xCC, 0xA9, 0xC0, 0x2B, 1, 0]);
    // Curves, point formats, signatures, extended master secret.
    let extensions = [
        &[0, 10, 0, 6, 0, 4, 0, 29, 0, 23][..],
        &[0, 11, 0, 2, 1, 0],
        &[0, 13, 0, 6, 0, 4, 4, 3, 5, 3],
        &[0, 23, 0, 0],
    ]
    .concat();
    body.extend((extensions.len() as u16).to_be_bytes());
    body.extend(extensions);
    let length = (body.len() as u32).to_be_bytes();
    let handshake = [&[1][..], &length[1..], &[0, 0, 0, 0, 0], &length[1..], &body].concat();
    let record = [&[22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0][..], &(handshake.len() as u16).to_be_bytes()];
    [&record.concat()[..], &handshake].concat()
}

/// The result of a flood.
struct Flood {
    sent: u64,
    took: Duration,
    bytes_sent: u64,
    bytes_answered: u64,
    /// Memory of the server: before, after a tenth, at the end.
    rss: [Option<u64>; 3],
}

fn flood(served: &Served, relay: &Relay, count: u64) -> Flood {
    let mut sources: Vec<Source> = (0..32).map(Source::open).collect();
    let (mut dice, mut seen) = (Dice(0x5EED_F100D), Vec::new());
    let before = served.rss_bytes();
    let (began, mut warm) = (Instant::now(), None);
    for at in 0..count {
        if at % (count / 20).max(1) == 0 {
            // The newest datagram harms most: its copy may arrive before the original.
            seen = relay.datagrams().into_iter().filter(|one| one.to_server && !one.bytes.is_empty()).collect();
        }
        if at == count / 10 {
            warm = served.rss_bytes();
        }
        let bytes = shot(at % KINDS, &mut dice, &seen);
        // Every fifth in the name of a client, the others from addresses of the attacker's own.
        if dice.below(5) == 0 {
            relay.send_as(dice.below(TAPPED), &bytes);
        } else {
            let source = dice.below(sources.len());
            sources[source].send(served.address, &bytes);
        }
        if at % BURST == BURST - 1 {
            let due = Duration::from_micros((at + 1) * 1_000_000 / PER_SECOND);
            std::thread::sleep(due.saturating_sub(began.elapsed()));
        }
    }
    let took = began.elapsed();
    // Half-open handshakes live two seconds, and may repeat themselves meanwhile.
    let end = Instant::now() + Duration::from_millis(2_500);
    while Instant::now() < end {
        sources.iter_mut().for_each(Source::take_answers);
        std::thread::sleep(Duration::from_millis(10));
    }
    for source in &sources {
        assert!(source.got <= source.sent, "{} bytes were answered with {}", source.sent, source.got);
    }
    Flood {
        sent: count,
        took,
        bytes_sent: sources.iter().map(|source| source.sent).sum(),
        bytes_answered: sources.iter().map(|source| source.got).sum(),
        rss: [before, warm, served.rss_bytes()],
    }
}

/// A flood of `count` datagrams while clients send, which have sent for `settled` seconds before: until then
/// their own queues still grow.
fn play(count: u64, clients: usize, settled: u64) {
    let served = Served::start(&[]);
    let relay = Relay::to(served.address);
    let tapped_url = served.url.replace(&served.address.to_string(), &relay.address.to_string());
    // Long enough for the flood on a machine that does half of what is asked.
    let seconds = 6 + settled + 2 * count / PER_SECOND;
    let start = |url: &str, clients: usize| {
        let file = fresh_file("flooded.json");
        let (count, lasting) = (clients.to_string(), format!("{seconds}s"));
        let json = file.to_str().expect("text");
        let mut run = Running::tool(&["stress", url, "-c", &count, "-d", &lasting, "--json", json]);
        run.until(" running");
        (run, file, clients as u64)
    };
    let runs = [start(&served.url, clients - TAPPED), start(&tapped_url, TAPPED)];
    std::thread::sleep(Duration::from_secs(settled));
    let flood = flood(&served, &relay, count);
    let mut runs = runs;
    let outlived = runs.iter_mut().all(|(run, ..)| run.is_alive());
    let [kib_before, kib_warm, kib_after] = flood.rss.map(|rss| rss.unwrap_or(0) / 1024);
    println!(
        "{} datagrams in {:.1} s ({:.0} a second){}; {} bytes sent by 32 sources, {} answered; server's memory \
         {kib_before} KiB before, {kib_warm} KiB after a tenth, {kib_after} KiB at the end",
        flood.sent,
        flood.took.as_secs_f64(),
        flood.sent as f64 / flood.took.as_secs_f64(),
        if outlived { "" } else { ", longer than the clients talked" },
        flood.bytes_sent,
        flood.bytes_answered,
    );
    println!("{}", Session::open(served.console).stats());
    for (run, file, clients) in runs {
        let ended = run.wait_for(Duration::from_secs(60 + 2 * seconds));
        let result = read(&file);
        println!("{clients} clients: {:#} {:#}", result["messages"], result["latency_ms"]);
        assert_all_delivered(&ended, &result, clients, seconds);
        assert_eq!(number(&result, "clients.dropped"), 0);
    }
    let counted = Session::open(served.console).stats();
    // A repeated record is not authentic: DTLS opens each once.
    for reason in ["malformed", "unknown_connection", "not_authentic", "bad_cookie"] {
        assert!(counted.contains(&format!("{reason} ")), "no {reason}: {counted}");
    }
    if let [_, Some(warm), Some(after)] = flood.rss {
        assert!(after < warm + (4 << 20), "from {warm} to {after} bytes");
    }
    served.stop();
}

#[test]
fn a_short_flood() {
    play(20_000, 24, 0);
}

#[test]
#[ignore = "takes a minute: cargo xtask flood"]
fn a_long_flood() {
    let count = std::env::var(COUNT_VARIABLE).map_or(100_000, |count| count.parse().expect("a number"));
    play(count, 200, 10);
}
