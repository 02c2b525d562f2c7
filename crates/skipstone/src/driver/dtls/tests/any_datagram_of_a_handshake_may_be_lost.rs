//! Whichever datagrams of a handshake are lost, the player is accepted, while the server sends to it as to all players.

use super::*;
use crate::driver::chosen_losses::{Datagram, pairs_of_first};
use skipstone_proto::Settings;

/// How long it takes a player to connect through these losses, if it does within 10 s.
fn connect(version: DtlsVersion, delay: Duration, lost: Vec<Datagram>) -> Option<Duration> {
    let mut world = World::new(version, 1, Config::server(Settings::default()), LinkConfig { delay, ..link() });
    world.losses.lost = lost;
    while world.now < START + Duration::from_secs(10) && !world.player.is_connected {
        world.run_for(Duration::from_millis(5));
        if let Some(peer) = world.host.peer {
            let line = Bytes::from_static(b"a line");
            world.host.endpoint.send(world.now, peer, 0, line, MessageId(0)).expect("room");
        }
    }
    world.player.is_connected.then(|| world.now.since(START))
}

/// A handshake takes four round trips in 1.3 and five in 1.2. A flight is sent again after 1 s, then after 2 s, each a
/// quarter more or less by chance; 1.2 has no acknowledgements, by which a side would know earlier what is missing.
#[test]
fn any_two_of_the_first_handshake_datagrams() {
    for version in VERSIONS {
        let timeouts_ms = if version == DtlsVersion::V1_2 { 1_250 + 2_500 } else { 1_500 };
        for (delay_ms, lost) in [1, 10, 50].into_iter().flat_map(|ms| pairs_of_first(12).map(move |pair| (ms, pair))) {
            let took = connect(version, Duration::from_millis(delay_ms), lost.into());
            let bound = Duration::from_millis(6 * delay_ms + timeouts_ms);
            assert!(took.is_some_and(|took| took <= bound), "{version:?}, {delay_ms} ms, {lost:?}: {took:?}");
        }
    }
}

/// Until the client gives up, by its own clock: a server that had forgotten the client's cookie would never accept it.
#[test]
fn the_clients_answer_to_the_cookie_for_several_seconds() {
    for version in VERSIONS {
        for last in 2..5 {
            let took = connect(version, Duration::from_millis(10), (1..=last).map(|at| (true, at)).collect());
            assert!(took.is_some(), "{version:?}, {last} datagrams");
        }
    }
}
