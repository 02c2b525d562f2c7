//! Real sockets: pages by WebTransport are players next to native ones, on one port, wherever they move; and garbage
//! sent to the port disturbs no player.

use super::eventually;
use crate::web_player::{WebPlayer, socket};
use skipstone::{Client, ClientConfig, Event, Group, PeerId, Security, Server, ServerConfig};
use std::collections::BTreeSet;
use std::time::Duration;

fn serve(config: ServerConfig) -> Server {
    let security = Security::self_signed().expect("it is made");
    Server::start(ServerConfig { security: Some(security), ..config }).expect("a port is free")
}

fn config() -> ServerConfig {
    ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
}

/// Accepts every client, and forwards each message to all.
fn step(server: &mut Server, peers: &mut BTreeSet<PeerId>) {
    while let Some(event) = server.poll_event() {
        match event {
            Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
            Event::Connected { peer, .. } => drop(peers.insert(peer)),
            Event::Message { payload, .. } => drop(server.broadcast(Group::EVERYONE, 0, payload).expect("room")),
            Event::Closed { peer, .. } => drop(peers.remove(&peer)),
            _ => {}
        }
    }
    server.flush().expect("it runs");
}

#[test]
fn a_page_and_a_native_player_communicate_through_one_port() {
    let mut server = serve(config());
    assert_eq!(server.webtransport_url(), Some(format!("https://{}/", server.local_addr())));
    let (mut page, mut peers) = (WebPlayer::new(server.local_addr()), BTreeSet::new());
    let mut native = Client::connect(&server.url(), b"", ClientConfig::default()).expect("it may");
    let (mut native_heard, mut has_spoken) = (Vec::new(), false);
    let is_so = eventually(|| {
        step(&mut server, &mut peers);
        page.step();
        while let Some(event) = native.poll_event() {
            if let Event::Message { payload, .. } = event {
                native_heard.push(payload.to_vec());
            }
        }
        if peers.len() == 2 && page.is_connected && !has_spoken {
            has_spoken = true;
            page.say("from the page");
            native.send(0, "from the native one").expect("room");
        }
        page.heard.len() == 2 && native_heard.len() == 2
    });
    assert!(is_so, "{:?} {:?} {native_heard:?}", page.page.lost, page.heard);
    assert!(eventually(|| server.overviews().iter().any(|(_, overview)| overview.path.carrier.name == "wt")));
    assert!(eventually(|| server.driver_stats().webtransport.sessions == 1));
    let (peer, _) = server.overviews().into_iter().find(|(_, it)| it.path.carrier.name == "wt").expect("it is there");
    server.close(peer, 7, "enough", Duration::ZERO).expect("it stands");
    assert!(eventually(|| {
        step(&mut server, &mut peers);
        page.step();
        page.page.is_session_over && page.closed.is_some()
    }));
    assert_eq!(page.closed.as_deref(), Some("enough"));
    assert!(eventually(|| server.driver_stats().webtransport.open == 0));
}

#[test]
fn without_webtransport_there_is_no_answer() {
    let mut server = serve(ServerConfig { webtransport: false, ..config() });
    assert_eq!(server.webtransport_url(), None);
    let mut page = WebPlayer::new(server.local_addr());
    for _ in 0..100 {
        step(&mut server, &mut BTreeSet::new());
        page.step();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(page.page.quic.is_handshaking());
}

#[test]
fn garbage_with_any_first_byte_disturbs_no_client() {
    let mut server = serve(config());
    let (mut page, mut peers) = (WebPlayer::new(server.local_addr()), BTreeSet::new());
    assert!(eventually(|| {
        step(&mut server, &mut peers);
        page.step();
        page.is_connected
    }));
    let hostile = socket();
    for first in 0..=255_u8 {
        for length in [1, 9, 30, 1_200, 1_472] {
            // The version of QUIC, and an id of 8 bytes, where there is room for them.
            let mut datagram = vec![first; length];
            datagram.iter_mut().skip(1).zip([0, 0, 0, 1, 8]).for_each(|(byte, is)| *byte = is);
            hostile.send_to(&datagram, server.local_addr()).expect("it sends");
        }
        page.say(&first.to_string());
        step(&mut server, &mut peers);
        page.step();
    }
    assert!(eventually(|| {
        step(&mut server, &mut peers);
        page.step();
        page.heard.len() == 256
    }));
    assert!(page.closed.is_none() && server.failure().is_none());
    assert_eq!(peers.len(), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn pages_that_move_between_shards_keep_their_identity() {
    let mut server = serve(ServerConfig { shards: 4, ..config() });
    let mut peers = BTreeSet::new();
    let mut pages: Vec<WebPlayer> = (0..16).map(|_| WebPlayer::new(server.local_addr())).collect();
    let everywhere = |server: &mut Server, peers: &mut BTreeSet<PeerId>, pages: &mut Vec<WebPlayer>| {
        step(server, peers);
        pages.iter_mut().for_each(WebPlayer::step);
    };
    assert!(eventually(|| {
        everywhere(&mut server, &mut peers, &mut pages);
        pages.iter().all(|page| page.is_connected)
    }));
    for round in 1..=3_usize {
        for page in &mut pages {
            page.socket = socket();
            page.say("moved");
        }
        let is_so = eventually(|| {
            everywhere(&mut server, &mut peers, &mut pages);
            pages.iter().all(|page| page.heard.len() == round * 16)
        });
        let heard: Vec<usize> = pages.iter().map(|page| page.heard.len()).collect();
        assert!(is_so, "{heard:?} in round {round}");
    }
    assert_eq!(peers.len(), 16);
    assert!(pages.iter().all(|page| page.closed.is_none()));
    assert!(eventually(|| server.driver_stats().misrouted.handed_on > 0), "three of four arrive elsewhere");
}
