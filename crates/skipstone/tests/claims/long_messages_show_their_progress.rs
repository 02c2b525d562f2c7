//! `transfers` of both handles: how far a download has got, for a progress bar; nothing unless it is asked for.

use skipstone::netsim::LinkConfig;
use skipstone::{Client, ClientConfig, Event, Impairment, PeerId, Security, Server, ServerConfig};
use std::time::{Duration, Instant};

const MAP_BYTES: usize = 900_000;

/// Downloads a map over 10 Mbit/s; returns the progress that the client and the server saw, in bytes.
fn download(transfer_bytes_min: Option<u32>) -> (Vec<u32>, Vec<u32>) {
    let config = ServerConfig {
        security: Some(Security::plain()),
        transfer_bytes_min,
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    let mut server = Server::start(config).expect("a port is free");
    let down = LinkConfig { rate_bits_per_second: Some(10_000_000), ..LinkConfig::default() };
    let impairment = Impairment { up: LinkConfig::default(), down, seed: 1 };
    let config = ClientConfig { impairment: Some(impairment), transfer_bytes_min, ..ClientConfig::default() };
    let mut client = Client::connect(&server.url(), b"", config).expect("a socket");
    let (mut map, mut arrived, end) = (None::<(PeerId, _)>, false, Instant::now() + Duration::from_secs(30));
    let (mut received, mut acknowledged) = (Vec::new(), Vec::new());
    while !arrived {
        assert!(Instant::now() < end, "received {received:?}, acknowledged {acknowledged:?}");
        server.wait(Duration::from_millis(5));
        while let Some(event) = server.poll_event() {
            match event {
                Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
                Event::Connected { peer, .. } => {
                    server.send(peer, 0, "a short message").expect("room");
                    map = Some((peer, server.send(peer, 0, vec![7; MAP_BYTES]).expect("room")));
                }
                _ => {}
            }
        }
        server.flush().expect("it runs");
        while let Some(event) = client.poll_event() {
            arrived |= matches!(event, Event::Message { payload, .. } if payload.len() == MAP_BYTES);
        }
        if let [transfer] = client.transfers().incoming[..] {
            assert_eq!((transfer.channel, transfer.total_bytes), (0, MAP_BYTES as u32));
            received.push(transfer.received_bytes);
        }
        if let Some((peer, id)) = map
            && let Some(transfers) = server.transfers(peer)
            && let Some(transfer) = transfers.find(id)
        {
            assert_eq!((transfer.channel, transfer.total_bytes), (0, MAP_BYTES as u32));
            acknowledged.push(transfer.acknowledged_bytes);
        }
    }
    (received, acknowledged)
}

#[test]
fn a_download_progresses_at_both_ends() {
    for mut seen in <[Vec<u32>; 2]>::from(download(Some(100_000))) {
        assert!(seen.is_sorted(), "{seen:?}");
        seen.dedup();
        assert!(seen.len() >= 4 && seen.iter().any(|bytes| *bytes > MAP_BYTES as u32 / 4), "{seen:?}");
    }
}

#[test]
fn progress_is_empty_unless_enabled() {
    assert_eq!(download(None), (vec![], vec![]));
    assert_eq!(download(Some(MAP_BYTES as u32 + 1)), (vec![], vec![]), "the map is shorter");
}
