//! A console session over plain TCP, as in a script.

use super::PATIENCE;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// One session.
pub(crate) struct Session {
    stream: TcpStream,
    /// Received text that was not yet returned.
    unread: String,
}

impl Session {
    /// Opens a session and reads its banner.
    pub(crate) fn open(console: SocketAddr) -> Session {
        let stream = TcpStream::connect(console).expect("the console listens");
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("it is a socket");
        let mut session = Session { stream, unread: String::new() };
        session.until("`help` lists the commands");
        session
    }

    /// Types a line.
    pub(crate) fn say(&mut self, line: &str) {
        self.stream.write_all(format!("{line}\r\n").as_bytes()).expect("the session is open");
    }

    /// Reads until this has come; returns everything up to the end of its line.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let line_end = self.unread.find(text).and_then(|at| Some(at + self.unread[at..].find('\n')? + 1));
            if let Some(line_end) = line_end {
                let rest = self.unread.split_off(line_end);
                return std::mem::replace(&mut self.unread, rest);
            }
            assert!(Instant::now() < end, "no '{text}' in: {}", self.unread);
            assert!(self.read() != Some(0), "the session ended without '{text}': {}", self.unread);
        }
    }

    /// Types a line and reads until this has come.
    pub(crate) fn ask(&mut self, line: &str, until: &str) -> String {
        self.say(line);
        self.until(until)
    }

    /// The answer to `stats`. Its last line is about the driver.
    pub(crate) fn stats(&mut self) -> String {
        self.ask("stats", "kernel receive drops")
    }

    /// Asks for `stats` until they have this, such as a count that is on its way.
    pub(crate) fn stats_until(&mut self, wanted: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let stats = self.stats();
            if stats.contains(wanted) {
                return stats;
            }
            assert!(Instant::now() < end, "no '{wanted}' in: {stats}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks for `clients name` until all of these are listed: a connection's figures are published a moment after it.
    pub(crate) fn clients_until(&mut self, wanted: &[&str]) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let clients = self.ask("clients name\r\nlog maybe", "log takes on or off");
            if wanted.iter().all(|name| clients.contains(name)) {
                return clients;
            }
            assert!(Instant::now() < end, "not all of {wanted:?} in: {clients}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Reads until the server ends the session.
    pub(crate) fn rest(mut self) -> String {
        let end = Instant::now() + PATIENCE;
        while self.read() != Some(0) {
            assert!(Instant::now() < end, "the session does not end: {}", self.unread);
        }
        self.unread
    }

    /// Reads a little; 0 at the end, `None` if nothing came yet.
    fn read(&mut self) -> Option<usize> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(count) => {
                self.unread.push_str(&String::from_utf8_lossy(&buffer[..count]));
                Some(count)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
            Err(_) => Some(0),
        }
    }
}
