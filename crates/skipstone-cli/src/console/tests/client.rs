//! A console with a small handler, and a client to talk to it. Reads end in a panic after [`PATIENCE`].

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::console::limits::Limits;
use crate::console::{Console, ConsoleConfig, Handler, Reply, SessionId};
use crate::door::Secret;
use parking_lot::Mutex;

/// Knows `stats`, `who`, `big`, `slow`, `slowest`, `panic` and `leave`.
pub(super) struct Commands;

impl Handler for Commands {
    fn run(&self, session: SessionId, line: &str) -> Reply {
        match line {
            "stats" => Reply::Text("peers 1\nloss 0".to_owned()),
            "who" => Reply::Text(format!("session {session}")),
            "big" => Reply::Text("0123456789abcdef".repeat(BIG_BYTES / 16)),
            "slow" | "slowest" => {
                std::thread::sleep(if line == "slow" { Duration::from_millis(600) } else { Duration::from_secs(4) });
                Reply::Text("done".to_owned())
            }
            "panic" => panic!("this panic belongs to a test"),
            "leave" => Reply::Quit,
            other => Reply::Unknown(format!("unknown command {other}")),
        }
    }
}

/// Knows `who` and `drain`, and notes what ran.
#[derive(Default)]
pub(super) struct Notes(Mutex<Vec<String>>);

impl Handler for Notes {
    fn run(&self, _: SessionId, line: &str) -> Reply {
        if !line.starts_with("who") && !line.starts_with("drain") {
            return Reply::Unknown("unknown command".to_owned());
        }
        self.0.lock().push(line.to_owned());
        Reply::Text(String::new())
    }
}

impl Notes {
    pub(super) fn taken(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

/// The reply to `big`.
pub(super) const BIG_BYTES: usize = 512 * 1024;

/// A token as long as it must be.
pub(super) const TOKEN: &str = "open sesame, open";

pub(super) fn config() -> ConsoleConfig {
    ConsoleConfig { banner: "hello".to_owned(), ..ConsoleConfig::default() }
}

pub(super) fn with_token() -> ConsoleConfig {
    ConsoleConfig { secret: Secret::new(TOKEN).ok(), ..config() }
}

pub(super) fn limits() -> Limits {
    Limits {
        stall: Duration::from_millis(200),
        wrong_told_after: Duration::from_millis(200),
        handler_grace: Duration::from_millis(100),
        ..Limits::default()
    }
}

pub(super) fn console(config: ConsoleConfig) -> Console {
    Console::listen_within(limits(), config, Arc::new(Commands)).expect("loopback can be bound")
}

pub(super) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).expect("the console listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        Client { stream, received: Vec::new() }
    }

    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the console takes input");
    }

    /// Sends what may no longer be taken.
    pub(super) fn try_send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    pub(super) fn end_input(&mut self) {
        self.stream.shutdown(Shutdown::Write).expect("still connected");
    }

    /// Reads until `wanted` has arrived; returns everything up to its end.
    pub(super) fn read_until(&mut self, wanted: impl AsRef<[u8]>) -> Vec<u8> {
        let wanted = wanted.as_ref();
        loop {
            let found = self.received.windows(wanted.len()).position(|window| window == wanted);
            if let Some(at) = found {
                return self.received.drain(..at + wanted.len()).collect();
            }
            let received = self.receive().expect("no reset");
            let so_far = String::from_utf8_lossy(&self.received);
            assert!(received > 0, "closed, after {so_far:?}");
        }
    }

    /// Everything that still arrives until the console closes without a reset.
    pub(super) fn read_to_end(&mut self) -> String {
        while self.receive().expect("no reset") > 0 {}
        String::from_utf8_lossy(&std::mem::take(&mut self.received)).into_owned()
    }

    /// Everything that still arrives until the console closes or resets.
    pub(super) fn read_to_any_end(&mut self) -> Vec<u8> {
        while self.receive().is_ok_and(|count| count > 0) {}
        std::mem::take(&mut self.received)
    }

    /// The same, but stops when this is set.
    pub(super) fn read_to_any_end_or(&mut self, is_over: &AtomicBool) {
        self.stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout can be set");
        let mut buffer = [0; 1024];
        while !is_over.load(Ordering::Relaxed) {
            match self.stream.read(&mut buffer) {
                Ok(0) => return,
                Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return,
                _ => {}
            }
        }
    }

    fn receive(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(count) => {
                self.received.extend_from_slice(&buffer[..count]);
                Ok(count)
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Err(error),
            Err(error) => panic!("{error}, after {:?}", String::from_utf8_lossy(&self.received)),
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(20);
