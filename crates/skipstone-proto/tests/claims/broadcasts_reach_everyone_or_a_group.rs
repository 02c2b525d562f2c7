//! One call sends one payload to every connected peer, or to a group.

use crate::simulation::{World, link, ms};
use bytes::Bytes;
use skipstone_proto::Carrier;
use skipstone_proto::MessageId;
use skipstone_proto::{Broadcast, BroadcastMessage, Config, Group, PeerId};

fn world() -> World {
    let mut world = World::new(1, Config::server(Default::default()), &[link(5), link(10), link(15), link(20)]);
    world.connect();
    world
}

fn broadcast(world: &mut World, group: Group, text: &'static str) -> u32 {
    let payload = Bytes::from_static(text.as_bytes());
    let queued = world.server.endpoint.broadcast(world.now, group, 0, &payload, MessageId(1));
    world.run_for(ms(100));
    queued
}

fn message(text: &'static str, id: u64) -> BroadcastMessage {
    BroadcastMessage::new(0, Bytes::from_static(text.as_bytes()), MessageId(id))
}

fn heard(world: &World) -> Vec<usize> {
    world.clients.iter().map(|client| client.messages(0).len()).collect()
}

#[test]
fn everyone_means_every_connected_peer() {
    let mut world = world();
    assert_eq!(broadcast(&mut world, Group::EVERYONE, "hello"), 4);
    assert_eq!(heard(&world), [1, 1, 1, 1]);
    let peer = world.clients[2].peer();
    world.clients[2].endpoint.close(world.now, peer, 0, "", ms(0));
    world.run_for(ms(100));
    assert_eq!(world.server.endpoint.peers().count(), 3, "whose end was announced is no longer listed");
    assert_eq!(broadcast(&mut world, Group::EVERYONE, "bye"), 3);
    assert_eq!(heard(&world), [2, 2, 1, 2]);
}

#[test]
fn a_peer_leaving_during_a_broadcast_affects_no_other() {
    let mut world = World::on(Carrier::WEBSOCKET, 1, Config::server(Default::default()), &vec![link(5); 6]);
    world.connect();
    let (now, server) = (world.now, &mut world.server.endpoint);
    let mut broadcast = Broadcast::default();
    broadcast.fill(&[message("one", 1), message("two", 2)]);
    let mut from = 0;
    assert_eq!(server.broadcast_some(now, Group::EVERYONE, &broadcast, &mut from, 2), 4);
    // A stream breaks: its connection ends at once.
    server.handle_carrier_lost(now, 0, "it broke");
    let mut queued = 4;
    while server.has_member_from(Group::EVERYONE, from) {
        queued += server.broadcast_some(now, Group::EVERYONE, &broadcast, &mut from, 2);
    }
    assert_eq!(queued, 12);
    world.run_for(ms(100));
    let mut heard = heard(&world);
    heard.sort();
    assert_eq!(heard[1..], [2; 5]);
}

#[test]
fn a_group_contains_exactly_its_current_members() {
    let mut world = world();
    let mut peers: Vec<_> = world.asked.iter().map(|(peer, client)| (*client, *peer)).collect();
    peers.sort();
    let group = Group(7);
    assert!(world.server.endpoint.join(peers[0].1, group));
    assert!(world.server.endpoint.join(peers[3].1, group));
    assert!(!world.server.endpoint.join(peers[3].1, group), "once");
    assert!(!world.server.endpoint.join(peers[3].1, Group::EVERYONE), "nobody need join everyone");
    assert_eq!(broadcast(&mut world, group, "hello"), 2);
    assert_eq!(heard(&world), [1, 0, 0, 1]);
    world.server.endpoint.leave(peers[0].1, group);
    world.server.endpoint.leave(peers[0].1, Group::EVERYONE);
    assert_eq!(broadcast(&mut world, group, "hello"), 1);
    assert_eq!(broadcast(&mut world, Group::EVERYONE, "all"), 4, "nobody can leave everyone");
    world.server.endpoint.close(world.now, peers[3].1, 0, "", ms(0));
    world.run_for(ms(5_000));
    assert_eq!(broadcast(&mut world, group, "nobody"), 0);
    assert_eq!(heard(&world), [2, 1, 1, 3]);
}

#[test]
fn excluded_members_get_the_other_messages() {
    let mut world = world();
    let peer_of = |client| world.asked.iter().find(|(_, asked)| *asked == client).expect("it asked").0;
    let peers = [0, 1, 2, 3].map(peer_of);
    let gone = PeerId { generation: peers[3].generation.wrapping_sub(1), ..peers[3] };
    let except = |text, id, who: &[PeerId]| BroadcastMessage { except: Some(who.into()), ..message(text, id) };
    let messages = [
        message("all", 1),
        // Two that follow each other, for the same members, are encoded together.
        except("not 0", 2, &peers[..1]),
        except("not 0 either", 3, &peers[..1]),
        except("not 1 and 2", 4, &peers[1..3]),
        except("who had the place of 3", 5, &[gone]),
        except("nobody", 6, &peers),
    ];
    let queued = world.server.endpoint.broadcast_all(world.now, Group::EVERYONE, &messages);
    assert_eq!(queued, 4 + 3 + 3 + 2 + 4);
    world.run_for(ms(200));
    let heard = |client: usize| world.clients[client].messages(0).concat();
    let [all, not_0, not_1_and_2, gone] = ["all", "not 0not 0 either", "not 1 and 2", "who had the place of 3"];
    assert_eq!(heard(0), [all, not_1_and_2, gone].concat().as_bytes());
    assert_eq!(heard(1), [all, not_0, gone].concat().as_bytes());
    assert_eq!(heard(2), [all, not_0, gone].concat().as_bytes());
    assert_eq!(heard(3), [all, not_0, not_1_and_2, gone].concat().as_bytes());
}

#[test]
fn the_payload_is_shared() {
    let mut world = world();
    let payload = Bytes::from(vec![7; 10_000]);
    world.server.endpoint.broadcast(world.now, Group::EVERYONE, 0, &payload, MessageId(1));
    assert!(!payload.is_unique());
    world.run_for(ms(500));
    assert!(payload.is_unique(), "everybody acknowledged it");
}
