//! A client in the server's own process, without a socket: the same events, channels and statistics, in every mixture
//! of threading modes; both sides hear of the end, whichever side ends the connection and however.

use skipstone::{
    ChannelRule, Client, ClientConfig, ClosedBy, DeliveryMode, Event, Group, ImpairmentError, PeerId, Server,
    ServerConfig, Settings, StartError, Threading, code,
};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const MODES: [Threading; 2] = [Threading::Background, Threading::Stepped];

/// A server that accepts every client, one client, and the events of both.
struct Game {
    server: Option<Server>,
    client: Option<Client>,
    at_server: Vec<Event>,
    at_client: Vec<Event>,
}

fn config(threading: Threading) -> ClientConfig {
    ClientConfig { threading, ..ClientConfig::default() }
}

fn offline(threading: Threading) -> ServerConfig {
    ServerConfig { threading, ..ServerConfig::offline() }
}

impl Game {
    fn start(server: ServerConfig, client: Threading) -> Game {
        let server = Server::start(server).expect("it starts");
        let client = server.connect_local(b"a token", config(client)).expect("it starts");
        Game { server: Some(server), client: Some(client), at_server: Vec::new(), at_client: Vec::new() }
    }

    /// Both continue until the condition holds.
    fn until(&mut self, what: &str, mut holds: impl FnMut(&Game) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !holds(self) {
            assert!(Instant::now() < end, "{what}: server {:?}, client {:?}", self.at_server, self.at_client);
            self.turn();
        }
    }

    fn turn(&mut self) {
        if let Some(server) = &mut self.server {
            server.drive(Duration::ZERO).expect("it drives");
            server.wait(Duration::from_millis(1));
            while let Some(event) = server.poll_event() {
                if let Event::Requested { peer, .. } = event {
                    server.accept(peer).expect("it waits");
                }
                self.at_server.push(event);
            }
        }
        if let Some(client) = &mut self.client {
            client.drive(Duration::ZERO).expect("it drives");
            while let Some(event) = client.poll_event() {
                self.at_client.push(event);
            }
        }
    }

    fn connect(&mut self) -> PeerId {
        self.until("connected", |game| game.at_client.len() == 1 && game.at_server.len() == 2);
        assert!(matches!(self.at_client[0], Event::Connected { .. }));
        let Event::Requested { peer, token, remote } = &self.at_server[0] else { panic!("it asks first") };
        assert_eq!((&token[..], *remote), (&b"a token"[..], SocketAddr::from(([127, 0, 0, 1], 0))));
        assert!(matches!(self.at_server[1], Event::Connected { peer: connected, .. } if connected == *peer));
        *peer
    }

    fn server(&mut self) -> &mut Server {
        self.server.as_mut().expect("it runs")
    }

    fn client(&mut self) -> &mut Client {
        self.client.as_mut().expect("it runs")
    }
}

fn last_close(events: &[Event]) -> Option<(ClosedBy, u64, String)> {
    match events.last() {
        Some(Event::Closed { close, .. }) => Some((close.by, close.code, close.reason_text().into())),
        _ => None,
    }
}

#[test]
fn messages_of_any_length_go_both_ways_in_all_combinations_of_threading_modes() {
    for (mode, client_mode) in MODES.into_iter().flat_map(|mode| MODES.map(|client_mode| (mode, client_mode))) {
        let mut game = Game::start(offline(mode), client_mode);
        let peer = game.connect();
        for length in [0, 1, 5_000, 1 << 20] {
            game.client().send(3, vec![7; length]).expect("room");
            let heard = game.at_server.len();
            game.until("heard", |game| game.at_server.len() > heard);
            let Some(Event::Message { channel: 3, payload, .. }) = game.at_server.pop() else { panic!("a message") };
            game.server().send(peer, 4, payload).expect("room");
            game.server().flush().expect("it runs");
            game.until("answered", |game| game.at_client.len() == 2);
            let Some(Event::Message { channel: 4, payload, .. }) = game.at_client.pop() else { panic!("a message") };
            assert_eq!(payload, vec![7; length]);
        }
        game.until("counted", |game| {
            let server = game.server.as_ref().expect("it runs");
            server.stats().received.datagrams > 60 && server.driver_stats().sockets.locals == 1
        });
        let received = game.server().stats().received;
        assert_eq!(received.datagram_bytes, received.ip_bytes, "memory adds no headers");
        let overview = game.server().overview(peer).expect("it stands");
        assert_eq!((overview.path.carrier.name, overview.stats.packets_lost), ("local", 0));
    }
}

#[test]
fn both_sides_get_the_end_with_its_code_and_reason() {
    for (mode, client_mode) in MODES.into_iter().flat_map(|mode| MODES.map(|client_mode| (mode, client_mode))) {
        let mut game = Game::start(offline(mode), client_mode);
        let peer = game.connect();
        game.server().close(peer, code::KICKED, "enough", Duration::ZERO).expect("it stands");
        game.until("kicked", |game| last_close(&game.at_client).is_some() && last_close(&game.at_server).is_some());
        assert_eq!(last_close(&game.at_client), Some((ClosedBy::Peer, code::KICKED, "enough".into())));
        assert_eq!(last_close(&game.at_server), Some((ClosedBy::Local, code::KICKED, "enough".into())));
        game.client = None;
        let is_released = |server: &mut Server| server.driver_stats().sockets.locals == 0;
        let mut end = Some(Instant::now() + Duration::from_secs(20));
        while end.take_if(|_| is_released(game.server.as_mut().expect("it runs"))).is_none() {
            assert!(end.is_some_and(|end| Instant::now() < end), "the stream is released");
            game.turn();
        }
    }
}

#[test]
fn a_client_that_closes_or_is_dropped_ends_at_the_server() {
    for client_mode in MODES {
        let mut game = Game::start(offline(Threading::Background), client_mode);
        game.connect();
        game.client.take().expect("it runs").close(9, "dinner", Duration::from_secs(1));
        game.until("closed", |game| last_close(&game.at_server).is_some());
        assert_eq!(last_close(&game.at_server), Some((ClosedBy::Peer, 9, "dinner".into())));

        let mut game = Game::start(offline(Threading::Background), client_mode);
        game.connect();
        game.client = None;
        game.until("dropped", |game| last_close(&game.at_server).is_some());
        let (by, code, reason) = last_close(&game.at_server).expect("it was just seen");
        assert_eq!((by, code), (ClosedBy::Nobody, code::CARRIER_LOST));
        assert!(reason.contains("local connection"), "{reason}");
    }
}

#[test]
fn a_dropped_server_ends_its_clients_even_unaccepted_ones() {
    for mode in MODES {
        let mut game = Game::start(offline(mode), Threading::Stepped);
        game.connect();
        let mut late = game.server().connect_local(b"", config(Threading::Background)).expect("it starts");
        game.server = None;
        game.until("ended", |game| last_close(&game.at_client).is_some());
        assert_eq!(
            last_close(&game.at_client).map(|(by, code, _)| (by, code)),
            Some((ClosedBy::Nobody, code::CARRIER_LOST))
        );
        late.wait(Duration::from_secs(20));
        assert!(matches!(late.poll_event(), Some(Event::Closed { close, .. }) if close.code == code::CARRIER_LOST));
    }
}

#[test]
fn refused_and_excess_clients_are_told_why() {
    let mut game = Game::start(ServerConfig { connections_max: 1, ..offline(Threading::Stepped) }, Threading::Stepped);
    game.connect();
    let mut second = game.server().connect_local(b"", config(Threading::Background)).expect("it starts");
    let mut heard = Vec::new();
    game.until("refused", |_| {
        heard.extend(second.poll_event());
        !heard.is_empty()
    });
    assert_eq!(last_close(&heard).map(|(by, code, _)| (by, code)), Some((ClosedBy::Peer, code::FULL)));

    let mut server = Server::start(offline(Threading::Background)).expect("it starts");
    let mut client = server.connect_local(b"", config(Threading::Background)).expect("it starts");
    server.wait(Duration::from_secs(20));
    let Some(Event::Requested { peer, .. }) = server.poll_event() else { panic!("it asks") };
    server.refuse(peer, 77, "not you").expect("it waits");
    client.wait(Duration::from_secs(20));
    let heard: Vec<Event> = std::iter::from_fn(|| client.poll_event()).collect();
    assert_eq!(last_close(&heard), Some((ClosedBy::Peer, 77, "not you".into())));
}

#[test]
fn local_and_remote_clients_share_one_queue_and_one_broadcast() {
    let listen = "127.0.0.1:0".parse().expect("an address");
    for shards in if cfg!(target_os = "linux") { &[1, 3][..] } else { &[1] } {
        let mut server = Server::start(ServerConfig { shards: *shards, ..ServerConfig::new(listen) }).expect("a port");
        let mut clients = [
            server.connect_local(b"", ClientConfig::default()).expect("it starts"),
            Client::connect(&server.url(), b"", ClientConfig::default()).expect("a socket"),
            server.connect_local(b"", ClientConfig::default()).expect("it starts"),
        ];
        let (mut heard, mut connected, mut answers) = (vec![0; clients.len()], 0, 0);
        let end = Instant::now() + Duration::from_secs(20);
        while answers < clients.len() {
            assert!(Instant::now() < end, "{connected} connected, {heard:?}, {answers} answers");
            server.wait(Duration::from_millis(1));
            while let Some(event) = server.poll_event() {
                match event {
                    Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
                    Event::Connected { .. } => connected += 1,
                    Event::Message { .. } => answers += 1,
                    _ => {}
                }
                if connected == clients.len() {
                    server.broadcast(Group::EVERYONE, 1, "all together").expect("room");
                    connected = 0;
                }
            }
            server.flush().expect("it runs");
            for (client, heard) in clients.iter_mut().zip(&mut heard) {
                while let Some(event) = client.poll_event() {
                    if let Event::Message { payload, .. } = event {
                        assert_eq!(payload, "all together");
                        *heard += 1;
                        client.send(1, "here").expect("room");
                    }
                }
            }
        }
        assert_eq!(heard, [1; 3]);
    }
}

#[test]
fn an_undriven_client_blocks_its_stream_and_loses_nothing() {
    let inputs = ChannelRule { queue_bytes_max: 32 << 20, ..ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered) };
    let settings = Settings { channels: vec![inputs], window_bytes: 64 << 20, ..Settings::default() };
    let mut game = Game::start(ServerConfig { settings, ..offline(Threading::Stepped) }, Threading::Stepped);
    let peer = game.connect();
    let count = 8_000_u32;
    for number in 0..count {
        game.server().send(peer, 0, number.to_be_bytes().repeat(256)).expect("room");
    }
    // Longer than the maximum age of a statistics snapshot.
    let end = Instant::now() + Duration::from_millis(200);
    while Instant::now() < end {
        game.server().flush().expect("it runs");
        game.server().drive(Duration::from_millis(1)).expect("it drives");
    }
    let sent = game.server().overview(peer).expect("it stands").stats.sent.datagram_bytes;
    assert!((250_000..600_000).contains(&sent), "{sent} bytes are in the queue, and the rest waits in its channel");
    game.until("all arrive", |game| game.at_client.len() > count as usize);
    for (number, event) in (0..count).zip(&game.at_client[1..]) {
        let Event::Message { payload, .. } = event else { panic!("{event:?}") };
        assert_eq!(payload[..4], number.to_be_bytes());
    }
    assert_eq!(game.server().driver_stats().send_errors, 0);
}

#[test]
fn a_server_without_sockets_says_so_in_its_address_and_url() {
    let server = Server::start(ServerConfig::offline()).expect("it starts");
    assert_eq!((server.url().as_str(), server.local_addr().port()), ("local:", 0));
    assert_eq!((server.buffer_grants(), server.fingerprint()), (None, None));
    let error = Client::connect(&server.url(), b"", ClientConfig::default()).expect_err("there is no such place");
    assert!(error.to_string().contains("a local client"), "{error}");
}

#[test]
fn an_impairment_or_an_oversized_token_of_a_local_client_is_an_error() {
    let server = Server::start(ServerConfig::offline()).expect("it starts");
    let impaired = ClientConfig { impairment: Some(Default::default()), ..ClientConfig::default() };
    let error = server.connect_local(b"", impaired).expect_err("memory loses nothing");
    assert!(matches!(&error, StartError::Impairment(ImpairmentError::Local)), "{error}");
    assert!(error.to_string().contains("leave the impairment out"), "{error}");
    let error = server.connect_local(&[0; 1_025], ClientConfig::default()).expect_err("1,024 at most").to_string();
    assert!(error.contains("1025 bytes, of at most 1024"), "{error}");
}
