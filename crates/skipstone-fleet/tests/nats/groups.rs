//! Groups over real servers.

use crate::common::{PATIENCE, bus, server};
use skipstone_fleet::bus::{Bus, BusEvent};
use skipstone_fleet::directory::NodeName;
use skipstone_fleet::groups::{Delivery, GroupEvent, GroupName, GroupSettings, GroupsDriver};
use skipstone_fleet::local::LocalNats;
use std::time::{Duration, Instant};

#[test]
fn members_on_two_nodes_receive_in_order_and_a_node_without_members_receives_nothing() {
    let server = server();
    let mut nodes: Vec<Node> = (0..3).map(|index| Node::start(&server, index)).collect();
    let group = GroupName::new("all").unwrap();
    for node in &mut nodes[..2] {
        node.groups.join(&group, Delivery::Reliable).unwrap();
    }
    settle(&mut nodes);
    for number in 0..1_000 {
        nodes[0].groups.send(&group, number.to_string()).unwrap();
        if number % 50 == 0 {
            nodes[0].tick();
        }
    }
    until(&mut nodes, |nodes| nodes[..2].iter().all(|node| node.received.len() == 1_000));
    let numbers: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    assert!(nodes[..2].iter().all(|node| node.received == numbers));
    settle(&mut nodes);
    let at_bus = nodes[2].bus.stats().received;
    assert_eq!((at_bus, nodes[2].received.len()), (0, 0), "messages at a node without members");
}

#[test]
fn reliable_messages_survive_a_restart_of_the_server() {
    let mut server = server();
    let mut nodes: Vec<Node> = (0..2).map(|index| Node::start(&server, index)).collect();
    let group = GroupName::new("all").unwrap();
    for node in &mut nodes {
        node.groups.join(&group, Delivery::Reliable).unwrap();
    }
    settle(&mut nodes);
    for number in 0..300 {
        match number {
            100 => server.kill(),
            200 => server.restart().unwrap(),
            _ => {}
        }
        nodes[0].groups.send(&group, number.to_string()).unwrap();
        nodes.iter_mut().for_each(Node::tick);
        std::thread::sleep(Duration::from_millis(2));
    }
    until(&mut nodes, |nodes| nodes[1].received.len() >= 300);
    let numbers: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    assert_eq!(nodes[1].received, numbers);
}

struct Node {
    bus: Bus,
    groups: GroupsDriver,
    received: Vec<String>,
}

impl Node {
    fn start(server: &LocalNats, index: u64) -> Node {
        let bus = bus(server);
        let name = NodeName::new(&format!("node-{index}")).unwrap();
        let groups = GroupsDriver::start(&bus, GroupSettings::new(name, 1_000 + index));
        Node { bus, groups, received: Vec::new() }
    }

    fn tick(&mut self) {
        while let Some(event) = self.bus.poll() {
            if let Some(BusEvent::Lagged { dropped }) = self.groups.handle(event) {
                panic!("{dropped} events were dropped");
            }
        }
        self.groups.flush(&self.bus);
        while let Some(event) = self.groups.poll(&self.bus) {
            match event {
                GroupEvent::Message { payload, .. } => {
                    self.received.push(String::from_utf8(payload.to_vec()).unwrap());
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// All calls so far are with the server.
fn settle(nodes: &mut [Node]) {
    for node in nodes {
        node.tick();
        node.bus.flush(PATIENCE).unwrap();
    }
}

fn until(nodes: &mut [Node], is_so: impl Fn(&[Node]) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so(nodes) {
        let counts: Vec<usize> = nodes.iter().map(|node| node.received.len()).collect();
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {counts:?}");
        nodes.iter_mut().for_each(Node::tick);
        std::thread::sleep(Duration::from_millis(2));
    }
}
