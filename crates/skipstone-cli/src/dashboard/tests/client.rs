//! A dashboard of a server without sockets, and requests to it, written by hand so that they can be wrong.

use crate::console::{Handler, Reply, SessionId};
use crate::dashboard::{Dashboard, DashboardConfig, Feed, ServerFacts, feed};
use crate::door::Secret;
use skipstone::{Server, ServerConfig};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Whatever takes longer hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A token as long as it must be.
pub(super) const TOKEN: &str = "correct horse battery staple";

/// A dashboard, and what is behind it.
pub(super) struct Stage {
    dashboard: Option<Dashboard>,
    pub(super) feed: Feed,
    pub(super) address: SocketAddr,
    pub(super) orders: Arc<Orders>,
    _server: Server,
}

/// Records commands.
#[derive(Default)]
pub(super) struct Orders(Mutex<Vec<String>>);

impl Handler for Orders {
    fn run(&self, session: SessionId, line: &str) -> Reply {
        assert_eq!(session, SessionId::DASHBOARD);
        self.0.lock().expect("the lock is not poisoned").push(line.into());
        if line.contains("nobody") { Reply::Error("no client".into()) } else { Reply::Text("done".into()) }
    }
}

impl Orders {
    pub(super) fn taken(&self) -> Vec<String> {
        self.0.lock().expect("the lock is not poisoned").clone()
    }
}

impl Stage {
    pub(super) fn new() -> Stage {
        Stage::with_token(None)
    }

    pub(super) fn with_token(token: Option<&str>) -> Stage {
        let server = Server::start(ServerConfig::offline()).expect("it needs nothing");
        let (feed, intake) = feed();
        let orders = Arc::new(Orders::default());
        let facts = ServerFacts {
            version: "1.2.3",
            url: "local:".into(),
            listen: "127.0.0.1:0".into(),
            workload: "broadcast",
            ticks_per_second: 60,
            websocket: false,
            shards: 1,
            cores: 2,
            queue_bytes_max: 4 << 20,
            stress_fleet: None,
            node: Some("n1".into()),
        };
        let config = DashboardConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            handed: None,
            secret: token.map(|token| Secret::new(token).expect("it is long enough")),
            names: vec!["play.example".into()],
            server: facts,
            statistics: server.statistics(),
            commands: Arc::clone(&orders) as Arc<dyn Handler>,
            agents: None,
        };
        let dashboard = Dashboard::listen(config, intake).expect("the port is free");
        let address = dashboard.url().trim_start_matches("http://").trim_end_matches('/').parse().expect("an address");
        Stage { dashboard: Some(dashboard), feed, address, orders, _server: server }
    }

    pub(super) fn close(&mut self, reason: &str) {
        self.dashboard.take().expect("it is open").close(reason);
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        stream
    }

    /// Sends these bytes, and reads all that comes.
    pub(super) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The request may be refused before it is sent completely.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A request with these header lines in addition to the correct host; returns the status and the whole answer.
    pub(super) fn ask(&self, line: &str, headers: &[&str], body: &str) -> (u16, String) {
        let host = format!("host: {}", self.address);
        self.ask_host(line, &[&[&*host], headers].concat(), body)
    }

    /// A request with exactly these header lines.
    pub(super) fn ask_host(&self, line: &str, headers: &[&str], body: &str) -> (u16, String) {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let answer = self.raw(
            format!("{line} HTTP/1.1\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
                .as_bytes(),
        );
        (answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0), answer)
    }

    /// A request as the page sends it.
    pub(super) fn get(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path}"), &["x-skipstone: dashboard"], "")
    }

    /// An order as the page sends it.
    pub(super) fn post(&self, path: &str, body: &str) -> (u16, String) {
        let origin = format!("origin: http://{}", self.address);
        let own = ["x-skipstone: dashboard", "sec-fetch-site: same-origin", "content-type: application/json", &origin];
        self.ask(&format!("POST {path}"), &own, body)
    }
}

/// The text behind the headers.
pub(super) fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

/// Reads until this has come, and gives all of it.
pub(super) fn until(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    while !text.contains(wanted) {
        let count = stream.read(&mut buffer).expect("something comes");
        assert!(count > 0, "the stream ended without {wanted}: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    text
}
