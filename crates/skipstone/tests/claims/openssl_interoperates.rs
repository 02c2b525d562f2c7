//! OpenSSL's own client, `s_client`, joins a server by DTLS, talks with a player of ours, and leaves.
//!
//! It knows nothing of the protocol: it turns what it reads into records, and records into what it writes. Its standard
//! input and output are a Unix socket of datagrams, so that each read is one datagram of the protocol and one record;
//! an endpoint in this program creates and reads them. `SKIPSTONE_DTLS_PLAYER` names another program that does the
//! same, which gets the address as its last argument.
#![cfg(unix)]

use skipstone::{Client, ClientConfig, ClosedBy, Event, Group, PeerId, Security, Server, ServerConfig, Threading};
use skipstone_proto::{Carrier, Config, Endpoint, Limits, MessageId, Path, Time};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `s_client` writes the content of longer records in several pieces.
const PIECE_BYTES: u16 = 1_024;
/// Bytes that a record adds, by which the limit is lower.
const RECORD_BYTES: u16 = 37;

/// A player whose datagrams another program puts into records.
struct Player {
    program: Child,
    pipe: UnixDatagram,
    endpoint: Endpoint,
    peer: PeerId,
    began: Instant,
    path: Path,
    events: Vec<Event>,
}

impl Player {
    fn start(mut program: Command, server: SocketAddr) -> Player {
        let (pipe, theirs) = UnixDatagram::pair().expect("a pair of sockets");
        pipe.set_nonblocking(true).expect("it may");
        let both: [OwnedFd; 2] = [theirs.try_clone().expect("a second handle").into(), theirs.into()];
        let [input, output] = both.map(Stdio::from);
        let program = program.stdin(input).stdout(output).stderr(Stdio::null()).spawn().expect("it runs");
        let limits = Limits { datagram_bytes_max: PIECE_BYTES + RECORD_BYTES, ..Config::client().limits };
        let mut endpoint = Endpoint::new(Config { limits, ..Config::client() }, [7; 32]).expect("it is good");
        let path = Path { socket: 0, local: None, remote: server, carrier: Carrier::DTLS };
        let peer = endpoint.connect(Time::from_micros(1), path, b"by DTLS").expect("it may");
        Player { program, pipe, endpoint, peer, began: Instant::now(), path, events: Vec::new() }
    }

    fn now(&self) -> Time {
        Time::from_micros(1 + self.began.elapsed().as_micros() as u64)
    }

    fn step(&mut self) {
        let (now, mut buffer) = (self.now(), vec![0; 1 << 16]);
        while let Ok(length) = self.pipe.recv(&mut buffer) {
            self.endpoint.handle_datagram(now, self.path, &mut buffer[..length]);
        }
        self.endpoint.handle_timeout(now);
        while let Some(event) = self.endpoint.poll_event(now) {
            self.events.push(event);
        }
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) {
            for datagram in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                // Datagrams that do not fit are lost, as on a full path.
                let _ = self.pipe.send(datagram);
            }
        }
    }

    fn say(&mut self, channel: u16, message: &str) {
        let message = message.as_bytes().to_vec().into();
        self.endpoint.send(self.now(), self.peer, channel, message, MessageId(0)).expect("room");
    }

    fn leave(&mut self) {
        self.endpoint.close(self.now(), self.peer, 7, "bye", Duration::ZERO);
    }

    /// The received messages.
    fn heard(&self) -> Vec<&[u8]> {
        let payload = |event: &'_ Event| matches!(event, Event::Message { .. });
        let messages = self.events.iter().filter(|event| payload(event));
        messages
            .filter_map(|event| if let Event::Message { payload, .. } = event { Some(&payload[..]) } else { None })
            .collect()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// `s_client`, which sends each read as a record.
fn openssl(server: SocketAddr, flags: &[&str]) -> Command {
    let mut program = Command::new("openssl");
    program.args(["s_client", "-dtls1_2", "-quiet", "-nocommands", "-timeout", "-connect", &server.to_string()]);
    program.args(flags);
    program
}

/// A server on which every client hears what any client says.
struct Table {
    server: Server,
    tokens: Vec<String>,
    closed: Vec<(ClosedBy, u64)>,
}

impl Table {
    fn new() -> Table {
        let config = ServerConfig::new("127.0.0.1:0".parse().expect("an address"));
        let security = Security::self_signed().expect("it is made");
        let config = ServerConfig { threading: Threading::Stepped, security: Some(security), ..config };
        Table { server: Server::start(config).expect("a port is free"), tokens: Vec::new(), closed: Vec::new() }
    }

    fn step(&mut self) {
        self.server.drive(Duration::from_millis(1)).expect("it drives");
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, token, .. } => {
                    self.tokens.push(String::from_utf8_lossy(&token).into_owned());
                    self.server.accept(peer).expect("it waits");
                }
                Event::Message { channel, payload, .. } => {
                    self.server.broadcast(Group::EVERYONE, channel, payload).expect("room");
                }
                Event::Closed { close, .. } => self.closed.push((close.by, close.code)),
                _ => {}
            }
        }
        self.server.flush().expect("it runs");
    }
}

fn until(what: &str, mut step: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !step() {
        assert!(Instant::now() < end, "{what}");
    }
}

/// Joins, talks in both directions, leaves.
fn plays(program: impl FnOnce(SocketAddr) -> Command) {
    let mut table = Table::new();
    let mut ours = Client::connect(
        &table.server.url(),
        b"by TLS",
        ClientConfig { threading: Threading::Stepped, ..Default::default() },
    )
    .expect("a good URL");
    let mut heard = Vec::new();
    let mut step_ours = |table: &mut Table, said: Option<&str>| {
        ours.drive(Duration::ZERO).expect("it drives");
        said.map(|said| ours.send(3, said.as_bytes().to_vec()).expect("room"));
        while let Some(event) = ours.poll_event() {
            if let Event::Message { payload, .. } = event {
                heard.push(payload);
            }
        }
        table.step();
        heard.clone()
    };
    until("a client of ours comes in", || {
        step_ours(&mut table, None);
        table.tokens.len() == 1
    });
    let mut player = Player::start(program(table.server.local_addr()), table.server.local_addr());
    until("it joins", || {
        player.step();
        step_ours(&mut table, None);
        player.events.iter().any(|event| matches!(event, Event::Connected { .. }))
    });
    assert_eq!(table.tokens, ["by TLS", "by DTLS"]);
    let long = "what takes many records ".repeat(1_000);
    player.say(3, "hello from another DTLS");
    player.say(3, &long);
    until("its words arrive at the other player", || {
        player.step();
        step_ours(&mut table, None) == ["hello from another DTLS", &long]
    });
    step_ours(&mut table, Some("hello yourself"));
    until("the answer arrives", || {
        player.step();
        step_ours(&mut table, None);
        player.heard().last() == Some(&&b"hello yourself"[..])
    });
    assert_eq!(player.heard().len(), 3, "its own words, and the answer");
    player.leave();
    until("it leaves, and its session ends", || {
        player.step();
        step_ours(&mut table, None);
        let has_ended = player.program.try_wait().expect("it was started").is_some();
        has_ended && table.closed == [(ClosedBy::Peer, 7)] && table.server.driver_stats().dtls.open == 0
    });
    assert_eq!(table.server.driver_stats().dtls.established, 1);
}

fn is_there(program: &str) -> bool {
    let is_there = Command::new(program).arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !is_there {
        eprintln!("there is no {program} here: nothing was tested");
    }
    is_there
}

#[test]
fn with_its_own_choice_of_ciphers() {
    if is_there("openssl") {
        plays(|server| openssl(server, &[]));
    }
}

#[test]
fn with_each_cipher_and_group() {
    if is_there("openssl") {
        for cipher in
            ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"]
        {
            for group in ["P-256", "X25519:P-256"] {
                plays(|server| openssl(server, &["-cipher", cipher, "-groups", group]));
            }
        }
    }
}

#[test]
fn with_the_program_named_by_the_environment() {
    if let Ok(words) = std::env::var("SKIPSTONE_DTLS_PLAYER") {
        plays(|server| {
            let mut words = words.split_whitespace();
            let mut program = Command::new(words.next().expect("a program"));
            program.args(words).arg(server.to_string());
            program
        });
    }
}
