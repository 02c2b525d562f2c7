//! What a viewer of the dashboard costs a server with a thousand clients: the server's CPU time with and without one,
//! in turns, in one run. A figure, run by hand with an optimised server (a minute): `cargo test --release -p
//! skipstone-cli --test end_to_end a_viewer_costs -- --ignored --nocapture`.

use crate::common::{Running, Served};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const ROUNDS: usize = 4;
const SPAN: Duration = Duration::from_secs(5);
/// Percent of one core.
const COST_MAX: f64 = 2.0;
/// Linux reports processor time in hundredths of a second (`USER_HZ`).
const TICK_S: f64 = 0.01;

/// User and system time of the server so far, in seconds.
fn cpu_s(served: &Served) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", served.running.id())).expect("it runs");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("it has fields").split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) * TICK_S
}

/// A page that is open: it follows the live figures, and asks for the table of clients each second.
struct Viewer {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<usize>>,
}

impl Viewer {
    fn open(address: &str) -> Viewer {
        let over = Arc::new(AtomicBool::new(false));
        let (follows, asks) = (Arc::clone(&over), Arc::clone(&over));
        let (stream, table) = (address.to_owned(), address.to_owned());
        let follow = move || read(&stream, "/api/stream", &follows);
        let ask = move || {
            let mut bytes = 0;
            while !asks.load(Ordering::Relaxed) {
                bytes += read(&table, "/api/clients", &asks);
                std::thread::sleep(Duration::from_secs(1));
            }
            bytes
        };
        Viewer { over, threads: vec![std::thread::spawn(follow), std::thread::spawn(ask)] }
    }

    /// Closes the page; how many bytes it got.
    fn close(self) -> usize {
        self.over.store(true, Ordering::Relaxed);
        self.threads.into_iter().map(|thread| thread.join().expect("it reads")).sum()
    }
}

/// Reads an answer until it ends or is no longer wanted.
fn read(address: &str, path: &str, over: &AtomicBool) -> usize {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_millis(100))).expect("it is a socket");
    let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nx-skipstone: 1\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it is open");
    let (mut bytes, mut buffer) = (0, vec![0; 64 << 10]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return bytes,
            Ok(count) => bytes += count,
            Err(_) if over.load(Ordering::Relaxed) => return bytes,
            Err(_) => {}
        }
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[test]
#[ignore = "a minute, and a figure that needs a machine of its own"]
fn a_viewer_costs_a_server_with_a_thousand_clients_little() {
    let served = Served::start(&["--dashboard", "127.0.0.1:0"]);
    let text = served.running.out();
    let page = text.split("dashboard").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("it says where");
    let address = page.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut run = Running::tool(&["stress", &served.url, "-c", "1000", "-r", "0.05/s", "-d", "60s"]);
    run.until(" running");
    std::thread::sleep(Duration::from_secs(3));
    let measure = || {
        let (began, before) = (Instant::now(), cpu_s(&served));
        std::thread::sleep(SPAN);
        100.0 * (cpu_s(&served) - before) / began.elapsed().as_secs_f64()
    };
    let (mut without, mut with, mut bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        without.push(measure());
        let viewer = Viewer::open(&address);
        with.push(measure());
        bytes += viewer.close();
    }
    println!("percent of a core: without a viewer {without:.1?}, with one {with:.1?}, who got {bytes} bytes");
    let (without, with) = (median(&mut without), median(&mut with));
    println!("a viewer costs {:.2}% of a core", with - without);
    assert!(bytes > 100_000, "it saw something");
    assert!(with - without < COST_MAX);
    drop(run);
    served.stop();
}
