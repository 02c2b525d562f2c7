//! Whichever datagrams of an encrypted handshake are lost, it leads to a connection; a server forgets a handshake that
//! stops.

use crate::simulation::{self, World, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Config;
use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::wire::datagram::KIND_CRYPTO;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

fn of() -> Config {
    Config::server(Default::default()).encrypted(Arc::new(SimulatedSuites::new(3)))
}

#[test]
fn with_any_one_datagram_lost() {
    for lost in 0..16 {
        let mut world = World::new(1, of(), &[link(10)]);
        let count = Rc::new(Cell::new(0));
        world.lose(move |_, _| count.replace(count.get() + 1) == lost);
        world.connect();
        let connected = world.clients[0].events[0].0.since(simulation::BEGINNING);
        assert!(connected < ms(600), "datagram {lost}: {connected:?}");
        assert!(world.clients[0].closes().is_empty() && world.server.closes().is_empty());
    }
}

#[test]
fn with_15_percent_loss_and_many_duplicates() {
    for seed in 0..200 {
        let bad = LinkConfig { loss: Loss::Random(0.15), duplicate: 0.3, reorder: 0.2, ..link(10) };
        let config = Config { handshake_timeout: ms(60_000), ..of() };
        let mut world = World::new(seed, config, &[bad]);
        world.run_until_true(ms(59_000), |world| world.clients[0].events.len() + world.server.events.len() > 2);
    }
}

#[test]
fn an_abandoned_handshake_is_forgotten_without_an_event() {
    let mut world = World::new(1, of(), &[link(10)]);
    world.lose(|is_up, bytes| is_up && bytes[0] == KIND_CRYPTO);
    world.run_for(ms(2_500));
    assert_eq!(world.server.endpoint.connection_count(), 1);
    world.killed = vec![0];
    world.run_for(ms(600));
    assert_eq!(world.server.endpoint.connection_count(), 0);
    assert!(world.server.events.is_empty());
}

#[test]
fn a_server_that_closes_meanwhile_sends_no_plaintext() {
    let mut world = World::new(1, of(), &[link(10)]);
    world.lose(|is_up, bytes| is_up && bytes[0] == KIND_CRYPTO);
    world.run_for(ms(100));
    let (now, sent) = (world.now, world.sent[0].1);
    world.server.endpoint.close_all(now, 1_000, "the end", ms(0));
    world.run_for(ms(20));
    assert_eq!((world.server.endpoint.connection_count(), world.sent[0].1), (0, sent));
}
