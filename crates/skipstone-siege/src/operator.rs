//! An operator with the token, from the address 127.0.0.1: new console sessions, requests to the dashboard, and one stream of the
//! dashboard that is to last.

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
    pub(crate) fn begin(doors: Doors) -> Shift {
        let is_over = Arc::new(AtomicBool::new(false));
        let (ends, ends_too) = (is_over.clone(), is_over.clone());
        let sessions = std::thread::spawn(move || sessions(doors, &ends));
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

/// Comes to each door again and again.
fn sessions(doors: Doors, ends: &AtomicBool) -> Operator {
    let mut operator = Operator::default();
    while !ends.load(Ordering::Relaxed) {
        let visits = [
            // Whoever sends the token at once is known before anything else of him is weighed.
            (doors.console, format!("{}\r\n", doors.token.unwrap_or_default()), "lists the commands"),
            (doors.dashboard, request(doors, "/api/clients"), "HTTP/1.1 200"),
        ];
        for (door, says, hears) in visits {
            let began = Instant::now();
            let is_in = visit(door, &says, hears);
            operator.visits += 1;
            operator.served += u64::from(is_in);
            operator.slowest_ms = operator.slowest_ms.max(began.elapsed().as_secs_f64() * 1e3);
        }
        std::thread::sleep(BETWEEN);
    }
    operator
}

fn visit(door: SocketAddr, says: &str, hears: &str) -> bool {
    let until = Instant::now() + PATIENCE;
    let Some(mut stream) = connect(door, says) else { return false };
    let mut heard = Vec::new();
    while Instant::now() < until {
        match read(&mut stream, &mut heard) {
            Some(_) if String::from_utf8_lossy(&heard).contains(hears) => return true,
            Some(_) => {}
            None => return false,
        }
    }
    false
}

/// Watches the dashboard's stream, which has an event a second.
fn stream(doors: Doors, ends: &AtomicBool) -> Operator {
    let (mut operator, mut last) = (Operator::default(), Instant::now());
    let mut open = connect(doors.dashboard, &request(doors, "/api/stream"));
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
            open = connect(doors.dashboard, &request(doors, "/api/stream"));
        }
    }
    operator
}

fn connect(door: SocketAddr, says: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&door, PATIENCE).ok()?;
    stream.set_read_timeout(Some(READ)).ok()?;
    stream.write_all(says.as_bytes()).ok()?;
    Some(stream)
}

/// Bytes that came, 0 if none did yet; nothing if it is over.
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

const BETWEEN: Duration = Duration::from_millis(250);
const READ: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(5);
