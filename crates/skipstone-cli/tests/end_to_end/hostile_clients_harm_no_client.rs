//! Garbage, strangers, clients that stall and clients that come and go: the server continues, the others lose nothing,
//! its memory returns.

use crate::common::console::Session;
use crate::common::guest::Guest;
use crate::common::result::{assert_all_delivered, read};
use crate::common::{PATIENCE, Running, Served, fresh_file};
use skipstone::{Event, Pool, PoolConfig, Target};
use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// A run during a test's attack on the server, and the file of its result.
fn run_beside(url: &str, flags: &[&str]) -> (Running, std::path::PathBuf) {
    let file = fresh_file("stress.json");
    let json = file.to_str().expect("text").to_owned();
    let mut run = Running::tool(&[&["stress", url, "--json", &json], flags].concat());
    run.until(" running");
    (run, file)
}

/// The next of a sequence of numbers (xorshift).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn garbage(state: &mut u64, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| next(state) as u8).collect()
}

#[test]
fn garbage_on_both_ports_is_counted_and_forgotten() {
    let served = Served::start(&[]);
    let (run, file) = run_beside(&served.url, &["-c", "8", "-r", "5/s", "-d", "4s", "--mix", "udp=4,ws=4"]);
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let mut state = 0x5EED;
    for burst in 0..200 {
        for _ in 0..20 {
            let bytes = 1 + next(&mut state) as usize % 1_400;
            udp.send_to(&garbage(&mut state, bytes), served.address).expect("loopback takes it");
        }
        if burst % 4 == 0 {
            let mut stream = TcpStream::connect(served.address).expect("it listens");
            // The server may close the connection while this still writes.
            let _ = stream.write_all(&garbage(&mut state, 500));
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_all_delivered(&run.wait(), &read(&file), 8, 20);
    let stats = Session::open(served.console).stats();
    let drops = stats.lines().find(|line| line.starts_with("drops ")).unwrap_or_default();
    assert!(drops != "drops none", "{stats}");
    served.stop();
}

#[test]
fn silent_streams_do_not_block_new_clients() {
    let served = Served::start(&[]);
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(served.address).expect("it listens")).collect();
    let slow: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address).expect("it listens");
            stream.write_all(b"GET / HT").expect("a few bytes");
            stream
        })
        .collect();
    let (run, file) = run_beside(&served.ws, &["-c", "5", "-d", "2s"]);
    assert_all_delivered(&run.wait(), &read(&file), 5, 2);
    drop((silent, slow));
    served.stop();
}

#[test]
fn a_client_that_stops_reading_is_disconnected_and_the_others_lose_nothing() {
    let served = Served::start(&["--queue", "256KiB"]);
    let mut watcher = Session::open(served.console);
    watcher.ask("log", "log is on");
    let mut stalled = Guest::connect(&served.ws, "stalled");
    let (run, file) = run_beside(&served.url, &["-c", "20", "-r", "20/s", "--size", "1KiB", "-d", "8s"]);
    let log = watcher.until("stalled closed: ");
    let why = log.lines().last().expect("a line").to_owned();
    assert!(why.contains("the queue of channel 0 is full (code 1003)"), "{why}");
    // If it reads again now, it gets what the system held for it, and then the reason.
    stalled.listen_until("it hears of its end", |guest| guest.close.is_some());
    let close = stalled.close.as_ref().expect("it came");
    assert_eq!((close.code, close.reason_text().as_ref()), (1003, "the queue of channel 0 is full"));
    assert_all_delivered(&run.wait(), &read(&file), 20, 160);
    Session::open(served.console).stats_until("clients 0,");
    if let Some(rss) = served.rss_bytes() {
        assert!(rss < 80 << 20, "{rss} bytes are left");
    }
    served.stop();
}

#[test]
fn two_thousand_clients_come_and_go() {
    let served = Served::start(&[]);
    let before = served.rss_bytes();
    let targets: [Target; 2] = [&served.url, &served.ws].map(|url| url.parse().expect("a URL"));
    let mut pool = Pool::new(PoolConfig::default()).expect("it starts");
    let (mut begun, mut connected, mut over) = (0, 0, 0);
    let mut others = Vec::new();
    let end = Instant::now() + PATIENCE;
    while over < 2_000 {
        assert!(Instant::now() < end, "{begun} begun, {connected} connected, {over} over");
        while begun < 2_000 && begun - over < 64 {
            let target = &targets[usize::from(begun % 10 == 0)];
            pool.add(target, served.address, b"chat hasty", None).expect("a socket");
            begun += 1;
        }
        pool.drive(Duration::from_millis(5)).expect("it drives");
        while let Some(event) = pool.poll_event() {
            match event {
                Event::Connected { peer, .. } => {
                    connected += 1;
                    let _ = pool.close(peer, 0, "in a hurry", Duration::ZERO);
                }
                Event::Closed { close, .. } => {
                    over += 1;
                    if close.reason_text() != "in a hurry" {
                        others.push(format!("{:?} {} {}", close.by, close.code, close.reason_text()));
                    }
                }
                _ => {}
            }
        }
    }
    assert_eq!((connected, &*others), (2_000, &[][..] as &[String]));
    Session::open(served.console).stats_until("clients 0,");
    if let (Some(before), Some(after)) = (before, served.rss_bytes()) {
        assert!(after < before + (48 << 20), "from {before} to {after} bytes");
    }
    served.stop();
}
