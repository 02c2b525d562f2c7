//! A server names the peers that are connected and their addresses, and leaves some of them out of a broadcast.

use skipstone::{Client, ClientConfig, Event, Group, PeerId, Security, Server, ServerConfig};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const SPAN_MAX: Duration = Duration::from_secs(20);

fn server(shards: u32) -> Server {
    let config = ServerConfig {
        security: Some(Security::plain()),
        shards,
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    Server::start(config).expect("a port is free")
}

/// Polls the server until `done` returns a value, and accepts every client.
fn until<T>(server: &mut Server, mut done: impl FnMut(&mut Server, &Event) -> Option<T>) -> T {
    let end = Instant::now() + SPAN_MAX;
    loop {
        assert!(Instant::now() < end, "it happens in time");
        server.wait(Duration::from_millis(10));
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it waits");
            }
            if let Some(result) = done(server, &event) {
                return result;
            }
        }
    }
}

/// `count` clients, in the order of their peers at the server.
fn connected(server: &mut Server, count: usize) -> (Vec<PeerId>, Vec<Client>) {
    let join = |_| {
        let client = Client::connect(&server.url(), b"", ClientConfig::default()).expect("it begins");
        let peer = until(server, |_, event| matches!(event, Event::Connected { .. }).then(|| event.peer()));
        (peer, client)
    };
    (0..count).map(join).unzip()
}

/// The messages that a client receives on channel 0 up to the word "end".
fn heard(client: &mut Client) -> Vec<String> {
    let (mut heard, end) = (Vec::new(), Instant::now() + SPAN_MAX);
    loop {
        assert!(Instant::now() < end, "it happens in time: {heard:?}");
        client.wait(Duration::from_millis(10));
        while let Some(event) = client.poll_event() {
            let Event::Message { payload, .. } = event else { continue };
            match std::str::from_utf8(&payload).expect("text") {
                "end" => return heard,
                text => heard.push(text.to_owned()),
            }
        }
    }
}

#[test]
fn a_broadcast_skips_the_excluded_peers() {
    for shards in if cfg!(target_os = "linux") { 1..=2 } else { 1..=1 } {
        let mut server = server(shards);
        let (peers, mut clients) = connected(&mut server, 4);
        let nobody = PeerId { index: 70, generation: 3 };
        let group = Group(5);
        server.join(peers[1], group).expect("it is connected");
        server.join(peers[2], group).expect("it is connected");
        let mut except = |group, except: &[PeerId], text| {
            server.broadcast_except(group, except, 0, text).expect("it is accepted").peers
        };
        assert_eq!(except(Group::EVERYONE, &[], "all"), 4);
        assert_eq!(except(Group::EVERYONE, &[peers[0]], "not 0"), 3);
        assert_eq!(except(Group::EVERYONE, &[peers[3], peers[1], peers[3], nobody], "not 1 and 3"), 2);
        assert_eq!(except(group, &[peers[1], peers[0]], "2 alone"), 1);
        assert_eq!(except(Group::EVERYONE, &peers, "nobody"), 0);
        server.broadcast(Group::EVERYONE, 0, "end").expect("it is accepted");
        server.flush().expect("it runs");
        let all: Vec<Vec<String>> = clients.iter_mut().map(heard).collect();
        let expected: [&[&str]; 4] = [
            &["all", "not 1 and 3"],
            &["all", "not 0"],
            &["all", "not 0", "not 1 and 3", "2 alone"],
            &["all", "not 0"],
        ];
        assert_eq!(all, expected, "{shards} shards");
    }
}

#[test]
fn the_listed_peers_are_the_connected_ones() {
    let mut server = server(1);
    let (mut peers, _clients) = connected(&mut server, 3);
    let sorted = |server: &Server| {
        let mut all: Vec<PeerId> = server.peers().collect();
        all.sort();
        all
    };
    peers.sort();
    assert_eq!(sorted(&server), peers);
    server.close(peers[1], 0, "", Duration::ZERO).expect("it is connected");
    assert_eq!(sorted(&server), [peers[0], peers[2]], "it is closing");
}

#[test]
fn an_address_is_known_from_the_request_to_the_end() {
    let mut server = server(1);
    let mut client = server.connect_local(b"", ClientConfig::default()).expect("it begins");
    let (local, known) = until(&mut server, |server, event| match event {
        Event::Requested { peer, .. } => Some((*peer, server.remote_addr(*peer))),
        _ => None,
    });
    assert_eq!(known, Some("127.0.0.1:0".parse::<SocketAddr>().expect("an address")));
    let remote = Client::connect(&server.url(), b"", ClientConfig::default()).expect("it begins");
    let (peer, told, known) = until(&mut server, |server, event| match event {
        Event::Requested { peer, remote, .. } => Some((*peer, *remote, server.remote_addr(*peer))),
        _ => None,
    });
    assert_eq!(known, Some(told));
    until(&mut server, |_, event| (matches!(event, Event::Connected { .. }) && event.peer() == peer).then_some(()));
    remote.close(0, "", Duration::ZERO);
    let end = Instant::now() + SPAN_MAX;
    while server.remote_addr(peer).is_some() {
        assert!(Instant::now() < end, "its end is polled");
        drop(client.poll_event());
        let before = server.remote_addr(peer);
        match server.poll_event() {
            Some(Event::Closed { peer: closed, .. }) if closed == peer => assert_eq!(before, Some(told)),
            _ => assert_eq!(server.remote_addr(peer), Some(told)),
        }
    }
    assert!(server.remote_addr(local).is_some() && server.remote_addr(PeerId { index: 9, generation: 0 }).is_none());
}
