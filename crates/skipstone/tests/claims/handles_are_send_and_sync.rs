//! An engine moves resources between threads and shares references to them: all handles are `Send`, and those with
//! statistics that systems read at the same time are `Sync`.

use skipstone::{Client, ClientConfig, Event, Pool, SendError, Server, ServerConfig, StatisticsReader};
use std::time::{Duration, Instant};

const fn is_send<T: Send + 'static>() {}
const fn is_sync<T: Sync>() {}

/// The compiler checks it; the test is that this file compiles.
#[test]
fn between_threads_and_concurrently() {
    is_send::<Server>();
    is_sync::<Server>();
    is_send::<Client>();
    is_sync::<Client>();
    is_send::<Pool>();
    is_send::<Event>();
    is_sync::<Event>();
    is_send::<SendError>();
    is_sync::<SendError>();
    is_send::<StatisticsReader>();
    is_sync::<StatisticsReader>();
}

#[test]
fn statistics_are_read_in_another_thread_during_the_game() {
    let mut server = Server::start(ServerConfig::offline()).expect("it needs nothing");
    let statistics = server.statistics();
    let reader = std::thread::spawn(move || {
        let end = Instant::now() + Duration::from_secs(20);
        while statistics.overviews().is_empty() || statistics.shards()[0].clients == 0 {
            assert!(Instant::now() < end, "nobody is seen");
            std::thread::sleep(Duration::from_millis(5));
        }
        let (peer, seen) = statistics.overviews().remove(0);
        assert!(statistics.overview(peer).is_some() && statistics.stats().received.datagrams > 0);
        assert_eq!((seen.path.carrier.name, statistics.shards()[0].clients), ("local", 1));
    });
    let _client = server.connect_local(b"token", ClientConfig::default()).expect("the server runs");
    while !reader.is_finished() {
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it asks");
            }
        }
        server.wait(Duration::from_millis(5));
    }
    reader.join().expect("the reader sees it all");
}
