//! A call with any span, code or rate of merging works or refuses with the reason. Nothing panics, and no driver ends.

use skipstone::{Client, ClientConfig, Event, Merging, PeerError, PeerId, Pool, PoolConfig, QueryBatch, QueryConfig};
use skipstone::{Server, ServerConfig, Threading};
use std::time::{Duration, Instant};

const CODE_MAX: u64 = (1 << 62) - 1;
const SPANS: [Duration; 3] = [Duration::MAX, Duration::from_secs(1 << 58), Duration::from_secs(u64::MAX / 1_000_000)];

/// A server and its one client, connected.
fn pair(threading: Threading) -> (Server, Client, PeerId) {
    let mut server = Server::start(ServerConfig { threading, ..ServerConfig::offline() }).expect("it starts");
    let config = ClientConfig { threading, ..ClientConfig::default() };
    let mut client = server.connect_local(b"", config).expect("it starts");
    let end = Instant::now() + Duration::from_secs(20);
    let (mut theirs, mut is_connected) = (None, false);
    while theirs.is_none() || !is_connected {
        assert!(Instant::now() < end, "they connect");
        turn(&mut server, &mut client);
        while let Some(event) = server.poll_event() {
            match event {
                Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
                Event::Connected { peer, .. } => theirs = Some(peer),
                _ => {}
            }
        }
        while let Some(event) = client.poll_event() {
            is_connected |= matches!(event, Event::Connected { .. });
        }
    }
    (server, client, theirs.expect("it has connected"))
}

fn turn(server: &mut Server, client: &mut Client) {
    server.drive(Duration::ZERO).expect("it drives");
    client.drive(Duration::ZERO).expect("it drives");
    server.wait(Duration::from_millis(1));
}

#[test]
fn servers_and_clients() {
    for threading in [Threading::Background, Threading::Stepped] {
        for span in SPANS {
            let (mut server, client, peer) = pair(threading);
            for code in [CODE_MAX + 1, u64::MAX] {
                assert_eq!(server.close(peer, code, "", span), Err(PeerError::CodeTooLarge));
                assert_eq!(server.refuse(peer, code, ""), Err(PeerError::CodeTooLarge));
            }
            assert_eq!(server.set_merging(peer, Merging::After(span)), Err(PeerError::MergingTooLong));
            let closing = std::thread::spawn(move || client.close(u64::MAX, "", span));
            let code = loop {
                server.wait(Duration::from_millis(1));
                server.drive(Duration::ZERO).expect("it drives");
                if let Some(Event::Closed { close, .. }) = server.poll_event() {
                    break close.code;
                }
            };
            assert_eq!(code, CODE_MAX, "{threading:?} {span:?}");
            server.wait(Duration::ZERO);
            while !closing.is_finished() {
                server.drive(Duration::from_millis(1)).expect("it drives");
            }
            closing.join().expect("it does not panic");
            assert_eq!(server.failure(), None);
            server.shutdown(u64::MAX, "", span);
        }
    }
}

#[test]
fn an_endless_wait_is_still_woken_by_events() {
    for threading in [Threading::Background, Threading::Stepped] {
        let (mut server, client, peer) = pair(threading);
        server.close(peer, CODE_MAX, "", Duration::MAX).expect("it is open");
        drop(client);
        // The connection ends when its CLOSE is not answered.
        server.wait(Duration::MAX);
        assert!(matches!(server.poll_event(), Some(Event::Closed { .. })));
    }
}

#[test]
fn pools_and_queries() {
    for span in SPANS {
        let mut pool = Pool::new(PoolConfig::default()).expect("it may");
        let stranger = PeerId { index: 7, generation: 0 };
        assert_eq!(pool.close(stranger, 0, "", span), Err(PeerError::UnknownPeer));
        assert_eq!(pool.close(stranger, u64::MAX, "", span), Err(PeerError::CodeTooLarge));
        pool.close_all(u64::MAX, "", span);
        assert_eq!(pool.failure(), None);
        let mut batch = QueryBatch::new(QueryConfig { timeout: span, ..QueryConfig::default() }).expect("it may");
        batch.ask("127.0.0.1:9".parse().expect("an address"));
        assert!(batch.poll().is_none_or(|(_, outcome)| outcome.is_err()));
        QueryBatch::new(QueryConfig::default()).expect("it may").wait(span);
    }
}
