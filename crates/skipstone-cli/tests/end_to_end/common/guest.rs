//! A client of the tool's server that is none of the tool's: the library's, stepped by hand, so that a test can let it
//! listen, stall or leave.

use super::PATIENCE;
use skipstone::{Client, ClientConfig, Close, Event, Reconnect, Threading};
use std::time::{Duration, Instant};

/// A person, as the server sees it.
pub(crate) struct Guest {
    client: Client,
    /// Lines that came, oldest first.
    pub(crate) lines: Vec<Vec<u8>>,
    /// Words of control that came.
    pub(crate) words: Vec<String>,
    pub(crate) close: Option<Close>,
    is_connected: bool,
}

impl Guest {
    /// Connects under this name, and waits until that is done.
    pub(crate) fn connect(url: &str, name: &str) -> Guest {
        Guest::with(url, name, ClientConfig::default())
    }

    /// The same for one that reconnects by itself, and follows moves.
    pub(crate) fn following(url: &str, name: &str) -> Guest {
        Guest::with(url, name, ClientConfig { reconnect: Some(Reconnect::default()), ..ClientConfig::default() })
    }

    fn with(url: &str, name: &str, config: ClientConfig) -> Guest {
        let config = ClientConfig { threading: Threading::Stepped, ..config };
        let client = Client::connect(url, format!("chat {name}").as_bytes(), config).expect(url);
        let mut guest = Guest { client, lines: Vec::new(), words: Vec::new(), close: None, is_connected: false };
        guest.listen_until("it connects", |guest| guest.is_connected);
        guest
    }

    /// Drives the client until this holds.
    pub(crate) fn listen_until(&mut self, what: &str, holds: impl Fn(&Guest) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < end, "it takes too long that {what}");
            self.drive();
        }
    }

    fn drive(&mut self) {
        self.client.drive(Duration::from_millis(5)).expect("it drives");
        while let Some(event) = self.client.poll_event() {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Message { channel: 0, payload, .. } => self.lines.push(payload.to_vec()),
                Event::Message { payload, .. } => self.words.push(String::from_utf8_lossy(&payload).into_owned()),
                Event::Closed { close, .. } => self.close = Some(close),
                _ => {}
            }
        }
    }

    /// Leaves for a reason.
    pub(crate) fn leave(self, reason: &str) {
        self.client.close(0, reason, Duration::from_secs(2));
    }

    /// Asks who is here.
    pub(crate) fn ask_who(&mut self) {
        self.client.send(1, "who").expect("there is room");
    }

    /// Sends a line to all clients.
    pub(crate) fn say(&mut self, line: &str) {
        self.client.send(0, line.to_owned()).expect("there is room");
    }
}
