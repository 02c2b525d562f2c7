//! Groups over seeds: packets are lost, doubled and delayed, nodes are cut off and restarted.

use super::event::{GroupCall, GroupEvent};
use super::machine::{Groups, SendError};
use super::name::GroupName;
use super::settings::{Delivery, GroupSettings};
use crate::directory::NodeName;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[test]
fn reliable_messages_arrive_in_order_exactly_once_or_a_gap_is_told() {
    let (mut delivered, mut gaps) = (0, 0);
    for seed in 0..200 {
        let mut world = World::new(seed, 1_024);
        world.run();
        delivered += world.delivered;
        gaps += world.gaps;
        assert!(world.restarts > 0 || world.gaps == 0, "seed {seed}: a gap although all batches were kept");
    }
    assert!(delivered > 10_000, "{delivered} messages, {gaps} gaps");
}

#[test]
fn batches_that_are_no_longer_kept_are_a_gap_and_never_silence() {
    let mut gaps = 0;
    for seed in 0..100 {
        let mut world = World::new(seed, 4);
        world.run();
        gaps += world.gaps;
    }
    assert!(gaps > 0, "the ring of four batches always sufficed");
}

struct World {
    random: u64,
    now: Duration,
    nodes: Vec<Node>,
    packets: BTreeMap<(Duration, u64), (String, Bytes)>,
    kept: usize,
    sent: u64,
    delivered: u64,
    gaps: u64,
    restarts: u64,
}

struct Node {
    groups: Groups,
    process: u64,
    subjects: BTreeSet<String>,
    cut_until: Duration,
    number: u64,
    /// For each publishing process: its number expected next.
    expected: BTreeMap<u64, u64>,
    /// Nodes of which a gap was told since their last message.
    gap_of: BTreeSet<String>,
    /// When it was started.
    born: Duration,
}

impl World {
    fn new(seed: u64, kept: usize) -> World {
        let mut world = World {
            random: seed,
            now: Duration::ZERO,
            nodes: Vec::new(),
            packets: BTreeMap::new(),
            kept,
            sent: 0,
            delivered: 0,
            gaps: 0,
            restarts: 0,
        };
        for index in 0..3 {
            let node = world.node(index);
            world.nodes.push(node);
        }
        world
    }

    fn node(&mut self, index: usize) -> Node {
        let process = self.draw();
        let mut settings = GroupSettings::new(NodeName::new(&format!("n{index}")).unwrap(), process);
        settings.kept_batches_max = self.kept;
        let mut groups = Groups::new(settings);
        groups.join(&group(), Delivery::Reliable, self.now).unwrap();
        Node {
            groups,
            process,
            subjects: BTreeSet::new(),
            cut_until: Duration::ZERO,
            number: 0,
            expected: BTreeMap::new(),
            gap_of: BTreeSet::new(),
            born: self.now,
        }
    }

    /// Ten seconds of faults, then calm until all is repaired.
    fn run(&mut self) {
        for tick in 0..800_u64 {
            self.now = Duration::from_millis(20 * tick);
            let has_faults = tick < 500;
            for index in 0..self.nodes.len() {
                if has_faults && self.draw().is_multiple_of(400) {
                    self.nodes[index].cut_until = self.now + Duration::from_millis(self.draw() % 2_000);
                }
                if has_faults && tick > 50 && self.draw().is_multiple_of(1_500) {
                    self.nodes[index] = self.node(index);
                    self.restarts += 1;
                }
                if has_faults && self.draw().is_multiple_of(3) {
                    let node = &mut self.nodes[index];
                    let text = format!("{} {}", node.process, node.number);
                    node.groups.send(&group(), text, self.now).unwrap();
                    (node.number, self.sent) = (node.number + 1, self.sent + 1);
                }
                self.nodes[index].groups.flush(self.now);
                self.take_calls(index, has_faults);
            }
            self.deliver_packets(has_faults);
            (0..self.nodes.len()).for_each(|index| self.read_events(index));
        }
        self.check_end();
    }

    fn take_calls(&mut self, index: usize, has_faults: bool) {
        while let Some(call) = self.nodes[index].groups.poll_call() {
            match call {
                GroupCall::Subscribe { subject } => drop(self.nodes[index].subjects.insert(subject)),
                GroupCall::Unsubscribe { subject } => drop(self.nodes[index].subjects.remove(&subject)),
                GroupCall::Publish { subject, packet } if self.now >= self.nodes[index].cut_until => {
                    let copies = if has_faults && self.draw().is_multiple_of(10) { 2 } else { 1 };
                    for _ in 0..copies {
                        let key = (self.now + Duration::from_millis(self.draw() % 60), self.draw());
                        self.packets.insert(key, (subject.clone(), packet.clone()));
                    }
                }
                GroupCall::Publish { .. } => {}
            }
        }
    }

    fn deliver_packets(&mut self, has_faults: bool) {
        while let Some(entry) = self.packets.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (subject, packet) = entry.remove();
            for index in 0..self.nodes.len() {
                let is_lost = has_faults && self.draw() % 100 < 5;
                let node = &mut self.nodes[index];
                if !is_lost && self.now >= node.cut_until && node.subjects.contains(&subject) {
                    node.groups.handle_packet(packet.clone(), self.now);
                }
            }
        }
    }

    fn read_events(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        let own = format!("n{index}");
        while let Some(event) = node.groups.poll_event() {
            match event {
                GroupEvent::Message { node: from, payload, .. } if from.as_str() != own => {
                    let text = std::str::from_utf8(&payload).unwrap();
                    let (process, number) = text.split_once(' ').unwrap();
                    let (process, number): (u64, u64) = (process.parse().unwrap(), number.parse().unwrap());
                    let may_jump = node.gap_of.remove(from.as_str()) || !node.expected.contains_key(&process);
                    let expected = node.expected.entry(process).or_insert(number);
                    assert!(number == *expected || (may_jump && number > *expected), "{number}, not {expected}");
                    *expected = number + 1;
                    self.delivered += 1;
                }
                GroupEvent::Message { .. } => {}
                GroupEvent::Gap { node: from, .. } => {
                    node.gap_of.insert(from.to_string());
                    self.gaps += 1;
                }
            }
        }
        let stats = node.groups.stats();
        assert!(stats.early_bytes < 1 << 20 && stats.kept_bytes < 1 << 20, "{stats:?}");
    }

    /// Each node has the last message of each process that runs, or was told of a gap at the end.
    fn check_end(&self) {
        for (index, node) in self.nodes.iter().enumerate() {
            for (other, from) in self.nodes.iter().enumerate().filter(|(other, _)| *other != index) {
                let expected = node.expected.get(&from.process).copied().unwrap_or(0);
                let is_told = node.gap_of.contains(&format!("n{other}"));
                let is_later = node.born > Duration::from_secs(9);
                assert!(expected == from.number || is_told || is_later, "{expected} of {}", from.number);
            }
        }
    }

    /// splitmix64 (Steele, Lea and Flood 2014).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[test]
fn a_send_that_cannot_be_taken_is_an_error() {
    let settings = GroupSettings { pending_bytes_max: 100, message_bytes_max: 50, ..settings() };
    let mut groups = Groups::new(settings);
    assert_eq!(groups.send(&group(), "a", Duration::ZERO), Err(SendError::NotJoined(group())));
    groups.join(&group(), Delivery::Unreliable, Duration::ZERO).unwrap();
    let too_large = SendError::TooLarge { bytes: 51, bytes_max: 50 };
    assert_eq!(groups.send(&group(), vec![0; 51], Duration::ZERO), Err(too_large));
    groups.send(&group(), vec![0; 50], Duration::ZERO).unwrap();
    assert_eq!(groups.send(&group(), vec![0; 50], Duration::ZERO), Err(SendError::QueueFull));
    groups.flush(Duration::ZERO);
    groups.send(&group(), vec![0; 50], Duration::ZERO).unwrap();
}

fn settings() -> GroupSettings {
    GroupSettings::new(NodeName::new("n").unwrap(), 1)
}

fn group() -> GroupName {
    GroupName::new("all").unwrap()
}
