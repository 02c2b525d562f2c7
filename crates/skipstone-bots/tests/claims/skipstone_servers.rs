//! Bots of Skipstone's own protocol, on several carriers at once.

use crate::runs::{echo_script, example, number, result_of};
use skipstone::{ChannelRule, ClosedBy, DeliveryMode, Event, Server, ServerConfig, Settings};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn bots_play_over_the_carriers_of_a_skipstone_server() {
    let mut config = ServerConfig::new("127.0.0.1:0".parse().expect("an address"));
    let channel = ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered);
    config.settings = Settings { channels: vec![channel], ..Settings::default() };
    let mut server = Server::start(config).expect("started");
    let url = server.url();
    let stop = Arc::new(AtomicBool::new(false));
    let goodbyes = Arc::new(AtomicUsize::new(0));
    let (own, said) = (Arc::clone(&stop), Arc::clone(&goodbyes));
    let thread = std::thread::spawn(move || {
        while !own.load(Ordering::Relaxed) {
            server.wait(Duration::from_millis(5));
            while let Some(event) = server.poll_event() {
                match event {
                    Event::Requested { peer, .. } => drop(server.accept(peer)),
                    Event::Message { peer, channel, payload, .. } => {
                        server.send(peer, channel, payload).expect("accepted");
                    }
                    Event::Closed { close, .. } if close.by == ClosedBy::Peer => {
                        said.fetch_add(1, Ordering::Relaxed);
                    }
                    _ => {}
                }
            }
            server.flush().expect("the driver is there");
        }
    });
    let (_folder, path) = echo_script(20, 5.0, "");
    let address = url.strip_prefix("skip://").and_then(|rest| rest.split('#').next()).expect("an address");
    for target in [url.clone(), format!("skip+ws://{address}"), format!("skip+tcp://{address}")] {
        let result = result_of(&[&path, &target, "-c", "3", "-d", "800ms", "--ramp", "50ms", "--seed", "3"]);
        assert_eq!(number(&result, "/bots/connected"), 3.0, "{target}: {result:#}");
        assert_eq!(number(&result, "/bots/dropped"), 0.0, "{target}: {result:#}");
        assert!(number(&result, "/metrics/echo_ms/count") > 3.0, "{target}: {result:#}");
        assert!(number(&result, "/wire/bytes_sent") > 0.0, "{target}: {result:#}");
    }
    // As pages connect, by the example.
    let page = [&example("page.luau"), &format!("skip+ws://{address}"), "-c", "3", "-d", "800ms", "--ramp", "50ms"];
    let result = result_of(&page.map(|word| word as &str));
    assert_eq!(number(&result, "/bots/connected"), 3.0, "{result:#}");
    assert!(number(&result, "/metrics/move_ms/count") > 3.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/is_a_move/failed"), 0.0, "{result:#}");
    let began = Instant::now();
    while goodbyes.load(Ordering::Relaxed) < 12 && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(goodbyes.load(Ordering::Relaxed), 12, "bots say goodbye as the run ends");
    stop.store(true, Ordering::Relaxed);
    thread.join().expect("the server did not panic");
}
