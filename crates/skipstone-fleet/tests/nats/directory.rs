//! The directory over a real store.

use crate::common::{PATIENCE, bus, server};
use skipstone_fleet::bus::Bus;
use skipstone_fleet::directory::{
    DirectoryDriver, DirectoryEvent, DirectorySettings, Epoch, EpochGate, GateVerdict, NodeName, NodeStatus, Placement,
    RoomName, RoomPolicy,
};
use skipstone_fleet::local::LocalNats;
use std::time::{Duration, Instant};

#[test]
fn of_twenty_nodes_that_claim_one_room_at_once_one_owns_it() {
    let server = server();
    let mut nodes: Vec<Node> = (0..20).map(|index| Node::start(&server, index, Duration::from_secs(15))).collect();
    until(&mut nodes, |nodes| nodes.iter().all(|node| node.has_joined));
    let room = RoomName::new("lobby").unwrap();
    for node in &mut nodes {
        node.driver.claim(&room, RoomPolicy::Unique).unwrap();
    }
    until(&mut nodes, |nodes| nodes.iter().all(|node| node.failed == 1 || node.driver.epoch(&room).is_some()));
    let owners: Vec<(usize, Epoch)> =
        nodes.iter().enumerate().filter_map(|(i, node)| Some((i, node.driver.epoch(&room)?))).collect();
    let [(owner, epoch)] = owners[..] else { panic!("{owners:?}") };
    until(&mut nodes, |nodes| nodes.iter_mut().all(|node| node.driver.place(&room) == place(owner, epoch)));
}

#[test]
fn the_room_of_a_node_that_vanishes_is_taken_over_with_a_later_epoch_and_that_of_one_that_leaves_at_once() {
    let server = server();
    let lease = Duration::from_secs(3);
    let mut nodes: Vec<Node> = (0..3).map(|index| Node::start(&server, index, lease)).collect();
    until(&mut nodes, |nodes| nodes.iter().all(|node| node.has_joined));
    let room = RoomName::new("lobby").unwrap();
    nodes[2].driver.claim(&room, RoomPolicy::Unique).unwrap();
    until(&mut nodes, |nodes| nodes[2].driver.epoch(&room).is_some());
    let first = nodes[2].driver.epoch(&room).unwrap();
    nodes.pop();
    let vanished = Instant::now();
    let second = until_owned(&mut nodes, &room);
    let passed = vanished.elapsed();
    assert!(second.1 > first && passed > lease / 2 && passed < lease * 3, "{second:?} after {first:?}, {passed:?}");
    nodes[second.0].driver.leave();
    assert_eq!(nodes[second.0].driver.epoch(&room), None);
    let left = Instant::now();
    let third = until_owned(&mut nodes, &room);
    assert!(third.1 > second.1 && third.0 != second.0 && left.elapsed() < lease, "{third:?} after {second:?}");
}

#[test]
fn an_owner_that_stood_still_sends_nothing_that_is_taken_after_the_takeover() {
    let server = server();
    let lease = Duration::from_secs(3);
    let mut nodes: Vec<Node> = (0..2).map(|index| Node::start(&server, index, lease)).collect();
    until(&mut nodes, |nodes| nodes.iter().all(|node| node.has_joined));
    let (room, mut gate) = (RoomName::new("lobby").unwrap(), EpochGate::new(1));
    nodes[0].driver.claim(&room, RoomPolicy::Unique).unwrap();
    until(&mut nodes, |nodes| nodes[0].driver.epoch(&room).is_some());
    let old = nodes[0].driver.epoch(&room).unwrap();
    assert_eq!(gate.see(&room, old), GateVerdict::Take);
    // The first node's loop stands still, between its question for the epoch and its message.
    let stood = Instant::now();
    until(&mut nodes[1..], |others| others[0].driver.epoch(&room).is_some());
    let took = stood.elapsed();
    let new = nodes[1].driver.epoch(&room).unwrap();
    assert!(new > old && took < lease * 4 / 3 + Duration::from_secs(2), "{new:?} after {old:?}, {took:?}");
    assert_eq!(gate.see(&room, new), GateVerdict::Take);
    assert_eq!((gate.see(&room, old), gate.stale()), (GateVerdict::Stale, 1));
    assert_eq!(nodes[0].driver.epoch(&room), None, "it knows by its own clock, before it reads an event");
    until(&mut nodes, |nodes| nodes[0].driver.place(&room) == place(1, new));
}

struct Node {
    bus: Bus,
    driver: DirectoryDriver,
    has_joined: bool,
    failed: usize,
}

impl Node {
    fn start(server: &LocalNats, index: usize, lease: Duration) -> Node {
        let bus = bus(server);
        let mut settings = DirectorySettings::new(name(index), 1_000 + index as u64);
        settings.address = format!("skip://{index}");
        (settings.lease, settings.renew_every, settings.stop_before) = (lease, lease / 5, lease / 15);
        let mut driver = DirectoryDriver::start(&bus, "fleet", settings).unwrap();
        driver.set_status(NodeStatus { load: 0, capacity: 10, is_draining: false });
        Node { bus, driver, has_joined: false, failed: 0 }
    }

    fn tick(&mut self) {
        while let Some(event) = self.bus.poll() {
            self.driver.handle(event);
        }
        while let Some(event) = self.driver.poll(&self.bus) {
            match event {
                DirectoryEvent::Joined => self.has_joined = true,
                DirectoryEvent::ClaimFailed { .. } => self.failed += 1,
                _ => {}
            }
        }
    }
}

fn until(nodes: &mut [Node], mut is_so: impl FnMut(&mut [Node]) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so(nodes) {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}");
        nodes.iter_mut().for_each(Node::tick);
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn until_owned(nodes: &mut [Node], room: &RoomName) -> (usize, Epoch) {
    let mut owner = None;
    until(nodes, |nodes| {
        owner = nodes.iter().enumerate().find_map(|(index, node)| Some((index, node.driver.epoch(room)?)));
        owner.is_some()
    });
    owner.unwrap()
}

fn place(owner: usize, epoch: Epoch) -> Placement {
    Placement::Room { node: name(owner), address: format!("skip://{owner}"), epoch }
}

fn name(index: usize) -> NodeName {
    NodeName::new(&format!("node-{index}")).unwrap()
}
