//! A server hands its sockets to the one that follows, and tells its clients when to reconnect; clients configured to
//! reconnect do.

use skipstone::{
    Client, ClientConfig, Close, Event, ListenSockets, PeerId, Reconnect, RestartNotice, Security, Server,
    ServerConfig, StartError, code,
};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

fn server(security: &Security, sockets: Option<ListenSockets>, shards: u32) -> Result<Server, StartError> {
    let listen = "127.0.0.1:0".parse().expect("an address");
    Server::start(ServerConfig { security: Some(security.clone()), sockets, shards, ..ServerConfig::new(listen) })
}

/// Accepts every client that comes, and returns the tokens.
fn let_in(server: &mut Server, tokens: &mut Vec<String>) {
    while let Some(event) = server.poll_event() {
        if let Event::Requested { peer, token, .. } = event {
            tokens.push(String::from_utf8_lossy(&token).into_owned());
            server.accept(peer).expect("it waits");
        }
    }
}

/// Polls until every client has had another connection; returns the ends of those before.
fn play(server: &mut Server, clients: &mut [Client], tokens: &mut Vec<String>) -> Vec<Close> {
    let (mut connected, mut ends) = (vec![false; clients.len()], Vec::new());
    let began = Instant::now();
    while !connected.iter().all(|is| *is) {
        assert!(began.elapsed() < PATIENCE, "connected: {connected:?}, ends: {ends:?}");
        server.wait(Duration::from_millis(1));
        let_in(server, tokens);
        for (client, is_connected) in clients.iter_mut().zip(&mut connected) {
            client.wait(Duration::from_millis(1));
            while let Some(event) = client.poll_event() {
                match event {
                    Event::Connected { .. } => *is_connected = true,
                    Event::Closed { close, .. } => ends.push(close),
                    _ => {}
                }
            }
        }
    }
    ends
}

fn comes_back() -> ClientConfig {
    ClientConfig { reconnect: Some(Reconnect::default()), ..ClientConfig::default() }
}

#[test]
fn clients_of_every_carrier_follow_to_the_new_process() {
    let security = Security::self_signed().expect("a certificate");
    let mut first = server(&security, None, 1).expect("a port");
    let (native, port) = (first.url(), first.local_addr().port());
    let urls = [native.clone(), native.replacen("skip://", "wss://", 1), format!("tcp://127.0.0.1:{port}")];
    let mut clients: Vec<Client> =
        urls.iter().map(|url| Client::connect(url, url.as_bytes(), comes_back()).expect("a socket")).collect();
    let mut tokens = Vec::new();
    assert!(play(&mut first, &mut clients, &mut tokens).is_empty());
    let peers: Vec<PeerId> = clients.iter().map(Client::peer).collect();
    first.stop_inviting().expect("the driver runs");
    // The driver answers in order: from now on it begins no handshake.
    let sockets = first.listen_sockets().expect("files are to be had").expect("it has sockets");
    let mut late = vec![Client::connect(&native, b"late", comes_back()).expect("a socket")];
    let notice = RestartNotice::after(Duration::from_millis(20)).spread(Duration::from_millis(50));
    first.shutdown(code::RESTART, &notice.to_string(), Duration::from_secs(1));
    let mut second = server(&security, Some(sockets), 1).expect("the sockets are open");
    assert_eq!(second.local_addr().port(), port);
    tokens.clear();
    let ends = play(&mut second, &mut clients, &mut tokens);
    assert_eq!(ends.iter().map(|close| close.code).collect::<Vec<_>>(), [code::RESTART; 3]);
    // The client that came in between had no answer from the first server, and has one from the second.
    assert!(play(&mut second, &mut late, &mut tokens).is_empty());
    tokens.sort();
    let mut expected: Vec<String> = urls.into_iter().chain(["late".into()]).collect();
    expected.sort();
    assert_eq!(tokens, expected, "with the tokens that they had");
    assert_eq!(clients.iter().map(Client::peer).collect::<Vec<_>>(), peers, "with the names that they had");
}

#[test]
fn a_client_without_reconnect_stays_closed() {
    let security = Security::self_signed().expect("a certificate");
    let mut first = server(&security, None, 1).expect("a port");
    let mut clients = vec![Client::connect(&first.url(), b"", ClientConfig::default()).expect("a socket")];
    play(&mut first, &mut clients, &mut Vec::new());
    let notice = RestartNotice::after(Duration::ZERO);
    first.shutdown(code::RESTART, &notice.to_string(), Duration::ZERO);
    let end = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < end);
        clients[0].wait(Duration::from_millis(5));
        if let Some(Event::Closed { close, .. }) = clients[0].poll_event() {
            assert_eq!(RestartNotice::of(&close), Some(notice));
            return assert_eq!(clients[0].returns_in(), None);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn sockets_of_shards_are_handed_to_the_same_number_of_shards() {
    let security = Security::self_signed().expect("a certificate");
    let mut first = server(&security, None, 2).expect("a port");
    let address = first.local_addr();
    let sockets = first.listen_sockets().expect("files are to be had").expect("it has sockets");
    assert_eq!((sockets.udp().count(), sockets.tcp().count()), (2, 2));
    first.shutdown(code::RESTART, "", Duration::ZERO);
    let error = server(&security, Some(sockets.clone()), 3).expect_err("one shard has no socket").to_string();
    assert!(error.contains("2 shards were handed over") && error.contains("start it with 2"), "{error}");
    let mut second = server(&security, Some(sockets), 2).expect("the sockets are open");
    assert_eq!(second.local_addr(), address);
    let mut clients: Vec<Client> =
        (0..8).map(|_| Client::connect(&second.url(), b"", comes_back()).expect("a socket")).collect();
    play(&mut second, &mut clients, &mut Vec::new());
}

#[test]
fn a_pending_handshake_is_counted_until_it_ends() {
    let security = Security::self_signed().expect("a certificate");
    let mut server = server(&security, None, 1).expect("a port");
    let address = server.local_addr();
    let mut until = |expected: usize| {
        let end = Instant::now() + PATIENCE;
        loop {
            let count: usize = server.shards().iter().map(|shard| shard.handshakes).sum();
            if count == expected {
                return;
            }
            assert!(Instant::now() < end, "{count} handshakes, not {expected}");
            server.wait(Duration::from_millis(5));
        }
    };
    // A stream that has not sent anything yet.
    let slow = std::net::TcpStream::connect(address).expect("it listens");
    until(1);
    drop(slow);
    until(0);
}
