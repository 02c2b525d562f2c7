//! In an encrypted run, no datagram contains a token, a message or a reason, and none is sent before there are keys.

use crate::simulation::{World, encrypted, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Duration;
use skipstone_proto::{Config, DropReason};
use std::cell::RefCell;
use std::rc::Rc;

const WORD: &[u8] = b"sentence that nobody else may read";

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

/// All datagrams that were sent while messages went both ways and the connection was closed.
fn datagrams(server: Config, seed: u64, link: LinkConfig) -> (World, Vec<Vec<u8>>) {
    let mut world = World::new(seed, server, &[link]);
    let all = Rc::new(RefCell::new(Vec::new()));
    let seen = all.clone();
    world.tap = Some(Box::new(move |_, _, _, bytes| seen.borrow_mut().push(bytes.clone())));
    world.connect();
    for number in 0..50 {
        let (now, message) = (world.now, [WORD, &[number]].concat().repeat(1 + usize::from(number) * 3));
        world.clients[0].send(now, 3, message.clone());
        world.server.send(now, 3, message);
        world.run_for(ms(20));
    }
    world.run_for(ms(3_000));
    let (now, peer) = (world.now, world.server.peer());
    world.server.endpoint.close(now, peer, 7, "a reason for the peer alone", Duration::ZERO);
    world.run_for(ms(3_000));
    assert_eq!(world.server.messages(3).len(), 50);
    assert_eq!(world.clients[0].messages(3).len(), 50);
    assert_eq!(world.clients[0].closes()[0].reason_text(), "a reason for the peer alone");
    drop(world.tap.take());
    (world, Rc::into_inner(all).expect("the tap is gone").into_inner())
}

#[test]
fn no_datagram_contains_a_token_a_message_or_a_reason() {
    for seed in 0..20 {
        let lossy = LinkConfig { loss: Loss::Random(0.1), duplicate: 0.05, reorder: 0.05, ..link(15) };
        let (_, all) = datagrams(encrypted(Config::server(Default::default()), seed), seed, lossy);
        assert!(all.len() > 100);
        for word in [&b"token"[..], &WORD[..12], b"a reason"] {
            assert!(!all.iter().any(|bytes| holds(bytes, word)), "seed {seed}: {word:?}");
        }
    }
}

#[test]
fn the_same_search_finds_them_all_without_encryption() {
    let (_, all) = datagrams(Config::server(Default::default()), 1, link(15));
    for word in [&b"token"[..], &WORD[..12], b"a reason"] {
        assert!(all.iter().any(|bytes| holds(bytes, word)));
    }
}

#[test]
fn replayed_datagrams_are_dropped_counted_and_not_answered() {
    let mut world = World::new(4, encrypted(Config::server(Default::default()), 4), &[link(15)]);
    let all = Rc::new(RefCell::new(Vec::new()));
    let seen = all.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if is_up && bytes[0] == 0x80 {
            seen.borrow_mut().push(bytes.clone());
        }
    }));
    world.connect();
    for number in 0..50 {
        let now = world.now;
        world.clients[0].send(now, 3, vec![number; 100]);
        world.run_for(ms(20));
    }
    world.run_for(ms(500));
    world.tap = None;
    let (path, events, sent) = (world.path_to_client(0), world.server.events.len(), world.sent[0].1);
    for bytes in all.borrow().iter() {
        world.server.endpoint.handle_datagram(world.now, path, &mut bytes.clone());
    }
    world.run_for(ms(100));
    assert_eq!((world.server.events.len(), world.sent[0].1), (events, sent));
    assert_eq!(world.server.drops(DropReason::Replay), all.borrow().len() as u64);
}

#[test]
fn packets_before_the_keys_are_dropped_and_counted() {
    let mut world = World::new(2, encrypted(Config::server(Default::default()), 2), &[link(40)]);
    let ids = Rc::new(RefCell::new(None));
    let seen = ids.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        if !is_up && bytes[0] == 0x84 {
            seen.borrow_mut().get_or_insert([bytes[4], bytes[5], bytes[6]]);
        }
    }));
    world.run_until_true(ms(1_000), |_| ids.borrow().is_some());
    let [a, b, c] = ids.borrow().expect("the server has answered");
    let path = world.path_to_client(0);
    world.server.endpoint.handle_datagram(world.now, path, &mut [0x80, a, b, c, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(world.server.drops(DropReason::TooEarly), 1);
    world.connect();
}
