//! An idle connection costs two datagrams per keepalive interval, the first of 36 bytes with IPv4 and UDP.

use crate::simulation::{World, link, ms};
use skipstone_proto::Carrier;
use skipstone_proto::Settings;
use skipstone_proto::{ClosedBy, Config, code};
use std::cell::RefCell;
use std::rc::Rc;

#[test]
fn on_every_carrier() {
    for carrier in [Carrier::UDP, Carrier::WEBSOCKET] {
        let mut world = World::on(carrier, 1, Config::server(Default::default()), &[link(20)]);
        world.connect();
        world.clients[0].send(world.now, 0, b"the last for long".to_vec());
        world.run_for(ms(5_000));
        let heard = Rc::new(RefCell::new(Vec::new()));
        let ear = heard.clone();
        world.tap = Some(Box::new(move |_, _, is_up, bytes| ear.borrow_mut().push((is_up, bytes.len()))));
        world.run_for(ms(125_500));
        let heard = heard.borrow();
        let ups: Vec<usize> = heard.iter().filter(|(is_up, _)| *is_up).map(|(_, length)| *length).collect();
        let downs: Vec<usize> = heard.iter().filter(|(is_up, _)| !*is_up).map(|(_, length)| *length).collect();
        assert_eq!((ups.len(), downs.len()), (5, 5), "{carrier:?}");
        assert!(ups.iter().all(|length| *length <= 14), "{ups:?}");
        assert!(downs.iter().all(|length| *length <= 23), "{downs:?}");
    }
}

#[test]
fn a_lost_ping_is_repeated_and_no_peer_is_dropped() {
    let mut world = World::pair(1, link(20));
    world.connect();
    let mut count = 0;
    world.lose(move |_, _| {
        count += 1;
        count % 3 == 1
    });
    world.run_for(ms(300_000));
    assert_eq!((world.clients[0].closes().len(), world.server.closes().len()), (0, 0));
}

#[test]
fn the_idle_timeout_ends_a_connection_to_a_vanished_peer() {
    let settings = Settings { idle_timeout: ms(4_000), keepalive: ms(1_000), ..Settings::default() };
    let mut world = World::new(1, Config::server(settings), &[link(20), link(20)]);
    world.connect();
    world.killed.push(1);
    let since = world.now;
    world.run_for(ms(3_500));
    assert_eq!(world.server.closes().len(), 0, "not too early");
    world.run_for(ms(20_000));
    let closes = world.server.closes();
    assert_eq!(closes.len(), 1, "only the dead one goes");
    assert_eq!((closes[0].by, closes[0].code), (ClosedBy::Nobody, code::IDLE_TIMEOUT));
    let at = world.server.events.last().expect("an event").0.since(since);
    assert!(at <= ms(4_001), "{at:?}");
}

#[test]
fn a_server_pings_a_silent_client_before_closing_it() {
    let mut world = World::pair(1, link(20));
    world.connect();
    world.run_for(ms(1_000));
    world.killed.push(0);
    let asked = Rc::new(RefCell::new(Vec::new()));
    let ear = asked.clone();
    world.tap = Some(Box::new(move |now, _, is_up, _| {
        if !is_up {
            ear.borrow_mut().push(now);
        }
    }));
    let since = world.now;
    world.run_for(ms(40_000));
    let first = asked.borrow().first().expect("it asks").since(since);
    assert!(first >= ms(25_000) && first < ms(28_000), "after the client's own time to ask: {first:?}");
    let (at, _) = world.server.events.last().expect("an event");
    assert!(at.since(since) >= ms(28_000), "and it has time to answer");
    assert_eq!(world.server.closes()[0].code, code::IDLE_TIMEOUT);
}

#[test]
fn a_short_idle_timeout_shortens_the_keepalive_interval() {
    for idle_timeout in [2_000, 12_000, 24_000] {
        let settings = Settings { idle_timeout: ms(idle_timeout), ..Settings::default() };
        let mut world = World::new(1, Config::server(settings), &[link(20)]);
        world.connect();
        world.run_for(ms(10 * idle_timeout));
        assert_eq!((world.clients[0].closes().len(), world.server.closes().len()), (0, 0), "{idle_timeout} ms");
    }
}
