//! A DTLS session that fails ends only its own connection, not those that share its driver and its simulated network.

use skipstone::netsim::LinkConfig;
use skipstone::{Close, Event, Fingerprint, Impairment, Pool, PoolConfig, Scheme, Server, ServerConfig, Target, code};
use std::time::{Duration, Instant};

/// Drives both sides until this many clients have ended or connected.
fn outcomes(server: &mut Server, pool: &mut Pool, count: usize) -> (Vec<Close>, usize) {
    let (mut closes, mut connected) = (Vec::new(), 0);
    let end = Instant::now() + Duration::from_secs(20);
    while closes.len() + connected < count {
        assert!(Instant::now() < end, "{closes:?}, {connected} connected");
        pool.drive(Duration::from_millis(2)).expect("the driver goes on");
        while let Some(event) = pool.poll_event() {
            match event {
                Event::Closed { close, .. } => closes.push(close),
                Event::Connected { .. } => connected += 1,
                _ => {}
            }
        }
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it waits");
            }
        }
    }
    (closes, connected)
}

#[test]
fn simultaneous_failures_on_simulated_networks_end_one_by_one() {
    let mut server = Server::start(ServerConfig::new("127.0.0.1:0".parse().expect("an address"))).expect("it serves");
    let address = server.local_addr();
    let target = Target::new(Scheme::Dtls, "127.0.0.1", address.port());
    let own = target.clone().pinned(server.dtls_fingerprint().expect("it has one"));
    let wrong = target.pinned(Fingerprint([7; 32]));
    let link = LinkConfig { delay: Duration::from_millis(3), ..LinkConfig::default() };
    let impairment = Impairment { up: link.clone(), down: link, seed: 1 };
    let mut pool = Pool::new(PoolConfig::default()).expect("it is made");
    // Clients that fail are placed before, between and behind those that do not.
    for target in [&wrong, &own, &wrong, &wrong, &own, &wrong] {
        pool.add(target, address, b"", Some(&impairment)).expect("it begins");
    }
    let (closes, connected) = outcomes(&mut server, &mut pool, 6);
    assert_eq!((closes.len(), connected), (4, 2));
    assert!(closes.iter().all(|close| close.code == code::SECURITY), "{closes:?}");
    assert_eq!(pool.open_count(), 2);
}
