//! Real sockets: a client's port changes under load, and no message is lost; an attacker that repeats its packets from
//! another address, faster than the originals arrive, gets nothing but a challenge. Encrypted, and in clear.

use skipstone::{Client, ClientConfig, Event, Identity, PeerId, Security, Server, ServerConfig, Threading};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

const CHANNEL: u16 = 3;
const STEPPED: Threading = Threading::Stepped;

/// A server that sends everything back, and its events.
struct Echo {
    server: Server,
    peer: Option<PeerId>,
    moves: usize,
    closed: usize,
}

impl Echo {
    fn start() -> Echo {
        let security = Security::with(Identity::self_signed().expect("a key")).allowing_plain();
        let config = ServerConfig {
            threading: STEPPED,
            security: Some(security),
            ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
        };
        Echo { server: Server::start(config).expect("a port is free"), peer: None, moves: 0, closed: 0 }
    }

    fn step(&mut self) {
        self.server.drive(Duration::from_micros(200)).expect("it drives");
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, .. } => {
                    self.server.accept(peer).expect("it waits");
                }
                Event::Connected { peer, .. } => self.peer = Some(peer),
                Event::Message { peer, payload, .. } => drop(self.server.send(peer, CHANNEL, payload).expect("room")),
                Event::PathChanged { .. } => self.moves += 1,
                Event::Closed { .. } => self.closed += 1,
                _ => {}
            }
        }
        self.server.flush().expect("it runs");
    }
}

/// How packets are protected.
#[derive(Clone, Copy, Debug)]
enum Suite {
    Encrypted,
    Plain,
}

/// A client of this server that connects to `address`: the server's own address, or a relay's.
fn client_of(echo: &Echo, address: SocketAddr, suite: Suite) -> Client {
    let config = ClientConfig { threading: STEPPED, ..ClientConfig::default() };
    let own = echo.server.local_addr().to_string();
    let url = match suite {
        Suite::Encrypted => echo.server.url().replace(&own, &address.to_string()),
        Suite::Plain => format!("skip+plain://{address}"),
    };
    Client::connect(&url, b"", config).expect("it begins")
}

/// Sends `count` numbers, which must come back in order; `between` happens before each round.
fn talk(client: &mut Client, echo: &mut Echo, count: u32, mut between: impl FnMut(&mut Client, u32)) {
    let end = Instant::now() + Duration::from_secs(30);
    let (mut sent, mut returned, mut is_connected) = (0, 0, false);
    while returned < count {
        assert!(Instant::now() < end, "{returned} of {count} came back; {:?}", client.overview());
        if is_connected && sent < count && sent < returned + 20 {
            client.send(CHANNEL, sent.to_be_bytes().to_vec()).expect("room");
            sent += 1;
        }
        between(client, sent);
        client.drive(Duration::from_micros(200)).expect("it drives");
        echo.step();
        while let Some(event) = client.poll_event() {
            match event {
                Event::Connected { .. } => is_connected = true,
                Event::Message { payload, .. } => {
                    assert_eq!(payload, returned.to_be_bytes().to_vec(), "in order, each once");
                    returned += 1;
                }
                Event::Closed { close, .. } => panic!("{close:?}"),
                _ => {}
            }
        }
    }
    assert_eq!(echo.closed, 0);
}

#[test]
fn every_message_arrives_while_the_port_changes_repeatedly() {
    every_message_arrives(Suite::Encrypted);
    every_message_arrives(Suite::Plain);
}

fn every_message_arrives(suite: Suite) {
    let mut echo = Echo::start();
    let mut client = client_of(&echo, echo.server.local_addr(), suite);
    assert!(!client.rebind().expect("a socket"), "it is not connected yet");
    let mut moved_at = 0;
    talk(&mut client, &mut echo, 2_000, |client, sent| {
        if sent >= moved_at + 200 {
            moved_at = sent;
            assert!(client.rebind().expect("a socket"), "it stands");
        }
    });
    assert!((5..=10).contains(&echo.moves), "{} moves were followed", echo.moves);
    let peer = echo.peer.expect("it is connected");
    let (server, moves) = (&mut echo.server, echo.moves);
    let is_counted = || {
        server.drive(Duration::ZERO).expect("it drives");
        server.overview(peer).is_some_and(|overview| overview.stats.paths_changed as usize == moves)
    };
    assert!(crate::eventually(is_counted), "all {moves} moves are counted");
}

#[test]
fn an_attacker_replaying_packets_from_another_address_takes_nothing_over() {
    an_attacker_takes_nothing_over(Suite::Encrypted);
    an_attacker_takes_nothing_over(Suite::Plain);
}

fn an_attacker_takes_nothing_over(suite: Suite) {
    let mut echo = Echo::start();
    let server = echo.server.local_addr();
    let open = || {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        socket.set_nonblocking(true).expect("it can");
        socket
    };
    // The client talks through `inside`; the server sees `outside`, and occasionally `stranger`, which is faster.
    let (inside, outside, stranger) = (open(), open(), open());
    let mut client = client_of(&echo, inside.local_addr().expect("it is bound"), suite);
    let (mut home, mut brought, mut taken, mut packets) = (None, 0, 0, 0_u32);
    let mut buffer = vec![0; 65_536];
    talk(&mut client, &mut echo, 1_000, |_, _| {
        while let Ok((length, from)) = inside.recv_from(&mut buffer) {
            home = Some(from);
            if buffer[0] == 0x80 {
                packets += 1;
                if packets % 3 > 0 {
                    stranger.send_to(&buffer[..length], server).expect("it sends");
                    brought += length;
                }
            }
            outside.send_to(&buffer[..length], server).expect("it sends");
        }
        while let (Ok((length, _)), Some(home)) = (outside.recv_from(&mut buffer), home) {
            inside.send_to(&buffer[..length], home).expect("it sends");
        }
        while let Ok((length, _)) = stranger.recv_from(&mut buffer) {
            taken += length;
        }
    });
    let peer = echo.peer.expect("it is connected");
    assert!(
        crate::eventually(|| {
            echo.server.drive(Duration::ZERO).expect("it drives");
            echo.server.overview(peer).is_some_and(|overview| overview.stats.paths_refused > 0)
        }),
        "he was asked, and did not answer"
    );
    let overview = echo.server.overview(peer).expect("it stands");
    assert_eq!(overview.path.remote, outside.local_addr().expect("it is bound"), "the connection stays where it is");
    assert_eq!((echo.moves, overview.stats.paths_changed), (0, 0));
    assert!(taken <= brought, "he got {taken} bytes for {brought}");
}
