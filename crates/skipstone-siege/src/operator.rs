//! An operator with the token, from the address 127.0.0.1: new console sessions, requests to the dashboard, and one
//! stream of the dashboard that is to last.

use crate::row::Operator;
use crate::server::Doors;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An operator at work, until [`Shift::end`].
pub(crate) struct Shift {
    is_over: Arc<AtomicBool>,
    sessions: JoinHandle<Operator>,
    stream: JoinHandle<Operator>,
}

impl Shift {
    /// `hesitates` before the console's token.
    pub(crate) fn begin(doors: Doors, hesitates: Duration) -> Shift {
        let is_over = Arc::new(AtomicBool::new(false));
        let (ends, ends_too) = (is_over.clone(), is_over.clone());
        let sessions = std::thread::spawn(move || sessions(doors, hesitates, &ends));
        let stream = std::thread::spawn(move || stream(doors, &ends_too));
        Shift { is_over, sessions, stream }
    }

    pub(crate) fn end(self) -> Operator {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = "the operator does not panic";
        let (sessions, stream) = (self.sessions.join().expect(ended), self.stream.join().expect(ended));
        Operator { stream_cuts: stream.stream_cuts, stream_gap_ms: stream.stream_gap_ms, ..sessions }
    }
}

/// A figure of the server's `/metrics`, as the operator reads it; `None` if there is none of this name.
pub(crate) fn metric(doors: Doors, name: &str) -> Option<f64> {
    let mut stream = TcpStream::connect_timeout(&doors.dashboard, PATIENCE).ok()?;
    say(&mut stream, &request(doors, "/metrics"))?;
    let (mut heard, began) = (Vec::new(), Instant::now());
    loop {
        let is_over = read(&mut stream, &mut heard).is_none() || began.elapsed() > PATIENCE;
        let text = String::from_utf8_lossy(&heard);
        if is_over || text.contains(METRICS_END) {
            return text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        }
    }
}

/// Connects to each door repeatedly.
fn sessions(doors: Doors, hesitates: Duration, ends: &AtomicBool) -> Operator {
    let mut operator = Operator::default();
    while !ends.load(Ordering::Relaxed) {
        let visits = [
            (doors.console, hesitates, format!("{}\r\n", doors.token.unwrap_or_default()), "lists the commands"),
            (doors.dashboard, Duration::ZERO, request(doors, "/api/clients"), "HTTP/1.1 200"),
        ];
        for (door, hesitates, says, hears) in visits {
            let visit = visit(door, hesitates, &says, hears);
            operator.visits += 1;
            operator.served += u64::from(visit.is_ok());
            let waited = visit.unwrap_or_else(|waited| waited);
            operator.slowest_ms = operator.slowest_ms.max(waited.as_secs_f64() * 1e3);
        }
        std::thread::sleep(BETWEEN);
    }
    operator
}

/// How long a door took to let him in, or until he was refused or gave up.
fn visit(door: SocketAddr, hesitates: Duration, says: &str, hears: &str) -> Result<Duration, Duration> {
    let began = Instant::now();
    let waited = || began.elapsed().saturating_sub(hesitates);
    let mut stream = TcpStream::connect_timeout(&door, PATIENCE).map_err(|_| waited())?;
    std::thread::sleep(hesitates);
    say(&mut stream, says).ok_or_else(waited)?;
    let mut heard = Vec::new();
    while waited() < PATIENCE {
        read(&mut stream, &mut heard).ok_or_else(waited)?;
        if String::from_utf8_lossy(&heard).contains(hears) {
            return Ok(waited());
        }
    }
    Err(waited())
}

/// Watches the dashboard's stream, which has an event a second.
fn stream(doors: Doors, ends: &AtomicBool) -> Operator {
    let (mut operator, mut last) = (Operator::default(), Instant::now());
    let mut open = watch(doors);
    while !ends.load(Ordering::Relaxed) {
        let came = open.as_mut().and_then(|stream| read(stream, &mut Vec::new()));
        let now = Instant::now();
        if came.is_some_and(|count| count > 0) {
            last = now;
        }
        operator.stream_gap_ms = operator.stream_gap_ms.max((now - last).as_secs_f64() * 1e3);
        if came.is_none() {
            operator.stream_cuts += 1;
            std::thread::sleep(BETWEEN);
            open = watch(doors);
        }
    }
    operator
}

fn watch(doors: Doors) -> Option<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&doors.dashboard, PATIENCE).ok()?;
    say(&mut stream, &request(doors, "/api/stream")).map(|()| stream)
}

fn say(stream: &mut TcpStream, text: &str) -> Option<()> {
    stream.set_read_timeout(Some(READ)).ok()?;
    stream.write_all(text.as_bytes()).ok()
}

/// The number of received bytes, 0 if there are none yet; `None` if the stream has ended.
fn read(stream: &mut TcpStream, heard: &mut Vec<u8>) -> Option<usize> {
    let mut buffer = [0; 4_096];
    match stream.read(&mut buffer) {
        Ok(0) => None,
        Ok(count) => {
            heard.extend_from_slice(&buffer[..count]);
            Some(count)
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Some(0),
        Err(_) => None,
    }
}

fn request(doors: Doors, path: &str) -> String {
    let token = doors.token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!("GET {path} HTTP/1.1\r\nHost: {}\r\nx-skipstone: 1\r\n{token}\r\n", doors.dashboard)
}

/// The last line of OpenMetrics' text.
const METRICS_END: &str = "# EOF";
const BETWEEN: Duration = Duration::from_millis(250);
const READ: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(5);
