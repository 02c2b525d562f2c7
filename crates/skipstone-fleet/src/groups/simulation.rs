//! Groups over seeds: packets are lost, doubled and delayed, nodes are partitioned without notice, lose their bus, stand
//! still and are restarted. The judge knows what was sent, and excuses nothing that somebody alive could know.

use super::event::{GroupCall, GroupEvent};
use super::machine::Groups;
use super::name::GroupName;
use super::packet::{Body, Packet};
use super::settings::{Delivery, GroupSettings};
use crate::directory::NodeName;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

#[test]
fn reliable_messages_arrive_in_order_exactly_once_whatever_the_bus_does() {
    let (mut delivered, mut gaps) = (0, 0);
    for seed in 0..200 {
        let mut world = World::new(seed, |_| {});
        world.run();
        delivered += world.delivered;
        gaps += world.gaps;
    }
    assert!(delivered > 100_000 && gaps > 0, "{delivered} messages, {gaps} gaps of nodes that ended");
}

#[test]
fn batches_that_are_no_longer_kept_are_a_gap_and_never_silence() {
    let limits: [fn(&mut GroupSettings); 2] =
        [|settings| settings.kept_batches_max = 4, |settings| settings.kept_bytes_max = 600];
    for limit in limits {
        let gaps = (0..60).map(|seed| {
            let mut world = World::new(seed, limit);
            world.run();
            world.gaps
        });
        assert!(gaps.sum::<u64>() > 100, "the batches that were kept sufficed");
    }
}

struct World {
    random: u64,
    seed: u64,
    now: Duration,
    nodes: Vec<Node>,
    packets: BTreeMap<(Duration, u64), (usize, String, Bytes)>,
    /// Pairs of nodes that do not hear each other, until then; neither notices.
    cuts: BTreeMap<(usize, usize), Duration>,
    /// When each process sent its messages.
    sent: BTreeMap<u64, Vec<Duration>>,
    limit: fn(&mut GroupSettings),
    delivered: u64,
    gaps: u64,
}

struct Node {
    groups: Groups,
    process: u64,
    born: Duration,
    subjects: BTreeSet<String>,
    /// It has no bus until then, and knows it.
    away_until: Duration,
    /// What it publishes meanwhile.
    outbox: VecDeque<(String, Bytes)>,
    /// Its game loop does not run until then.
    stands_until: Duration,
    inbox: VecDeque<Bytes>,
    has_lagged: bool,
    is_busy: bool,
    heard: BTreeMap<u64, Heard>,
}

/// What a node heard of one process.
#[derive(Debug, Default)]
struct Heard {
    next: Option<u64>,
    /// Messages that are missing by gaps since the last message.
    missed: u64,
    /// Messages that the packets that arrived told of.
    known: u64,
}

impl World {
    fn new(seed: u64, limit: fn(&mut GroupSettings)) -> World {
        let mut world = World {
            random: seed,
            seed,
            now: Duration::ZERO,
            nodes: Vec::new(),
            packets: BTreeMap::new(),
            cuts: BTreeMap::new(),
            sent: BTreeMap::new(),
            limit,
            delivered: 0,
            gaps: 0,
        };
        world.nodes = (0..3).map(|_| world.node()).collect();
        world
    }

    fn node(&mut self) -> Node {
        let process = self.draw();
        let mut settings = GroupSettings::new(name(process), process);
        settings.heartbeat_every_max = Duration::from_secs(4);
        settings.give_up_after = Duration::from_secs(25);
        (self.limit)(&mut settings);
        let mut groups = Groups::new(settings);
        groups.join(&group(), Delivery::Reliable, self.now).unwrap();
        self.sent.insert(process, Vec::new());
        Node {
            groups,
            process,
            born: self.now,
            subjects: BTreeSet::new(),
            away_until: Duration::ZERO,
            outbox: VecDeque::new(),
            stands_until: Duration::ZERO,
            inbox: VecDeque::new(),
            has_lagged: false,
            is_busy: true,
            heard: BTreeMap::new(),
        }
    }

    /// Twenty seconds of faults, then calm until all is repaired or given up.
    fn run(&mut self) {
        for tick in 0..CALM_TICKS {
            self.now = TICK * tick;
            let has_faults = tick < FAULTY_TICKS;
            for index in 0..self.nodes.len() {
                if has_faults {
                    self.add_faults(index);
                }
                if self.now >= self.nodes[index].stands_until {
                    self.tick(index, has_faults);
                }
            }
            self.deliver_packets(has_faults);
        }
        self.check_end();
    }

    fn add_faults(&mut self, index: usize) {
        let (now, choice) = (self.now, self.draw() % 3_000);
        let mut until = |longest_ms: u64| now + Duration::from_millis(self.draw() % longest_ms);
        match choice {
            0..10 => {
                let (end, other) = (until(8_000), (index + 1) % self.nodes.len());
                self.cuts.insert((index, other), end);
                self.cuts.insert((other, index), end);
            }
            10..15 => {
                self.nodes[index].away_until = until(3_000);
                // What it sent last did not leave.
                self.packets.retain(|(_, number), (from, _, _)| *from != index || number.is_multiple_of(2));
            }
            15..20 => self.nodes[index].stands_until = until(2_000),
            20..24 => self.nodes[index] = self.node(),
            24..60 => self.nodes[index].is_busy ^= true,
            _ => {}
        }
    }

    fn tick(&mut self, index: usize, has_faults: bool) {
        let sends = has_faults && self.nodes[index].is_busy && self.draw().is_multiple_of(3);
        let (now, node) = (self.now, &mut self.nodes[index]);
        let is_back = now >= node.away_until && node.away_until > Duration::ZERO;
        if is_back {
            node.away_until = Duration::ZERO;
        }
        for packet in std::mem::take(&mut node.inbox) {
            node.note(&packet);
            node.groups.handle_packet(packet, now);
        }
        match () {
            () if now < node.away_until => node.groups.handle_disconnected(),
            () if is_back => node.groups.handle_reconnected(now),
            () if std::mem::take(&mut node.has_lagged) => node.groups.handle_lagged(now),
            () => {}
        }
        if sends {
            let sent = self.sent.get_mut(&node.process).unwrap();
            node.groups.send(&group(), sent.len().to_string(), now).unwrap();
            sent.push(now);
        }
        node.groups.flush(now);
        self.take_calls(index, has_faults);
        self.read_events(index);
    }

    fn take_calls(&mut self, index: usize, has_faults: bool) {
        let node = &mut self.nodes[index];
        while let Some(call) = node.groups.poll_call() {
            match call {
                GroupCall::Subscribe { subject } => drop(node.subjects.insert(subject)),
                GroupCall::Unsubscribe { subject } => drop(node.subjects.remove(&subject)),
                // The bus refuses what exceeds its bound.
                GroupCall::Publish { subject, packet } if node.outbox.len() < 40 => {
                    node.outbox.push_back((subject, packet));
                }
                GroupCall::Publish { .. } => {}
            }
        }
        if self.now < node.away_until {
            return;
        }
        for (subject, packet) in std::mem::take(&mut node.outbox) {
            let copies = if has_faults && self.draw().is_multiple_of(10) { 2 } else { 1 };
            for _ in 0..copies {
                let key = (self.now + Duration::from_millis(self.draw() % 60), self.draw());
                self.packets.insert(key, (index, subject.clone(), packet.clone()));
            }
        }
    }

    fn deliver_packets(&mut self, has_faults: bool) {
        while let Some(entry) = self.packets.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (from, subject, packet) = entry.remove();
            for index in 0..self.nodes.len() {
                let is_lost = has_faults && self.draw() % 100 < 5;
                let is_cut = self.cuts.get(&(from, index)).is_some_and(|until| self.now < *until);
                let node = &mut self.nodes[index];
                if is_lost || is_cut || self.now < node.away_until || !node.subjects.contains(&subject) {
                    continue;
                }
                match node.inbox.len() < 60 {
                    true => node.inbox.push_back(packet.clone()),
                    false => node.has_lagged = true,
                }
            }
        }
    }

    fn read_events(&mut self, index: usize) {
        let (seed, node) = (self.seed, &mut self.nodes[index]);
        while let Some(event) = node.groups.poll_event() {
            match event {
                GroupEvent::Message { node: from, payload, .. } if from != name(node.process) => {
                    let process = process(&from);
                    let number: u64 = std::str::from_utf8(&payload).unwrap().parse().unwrap();
                    let heard = node.heard.entry(process).or_default();
                    let is_right = match heard.next {
                        Some(next) => number == next + heard.missed,
                        None => heard.missed > 0 || number <= first_since(&self.sent[&process], node.born),
                    };
                    assert!(is_right, "seed {seed}: {number} at {index}, {heard:?}");
                    (heard.next, heard.missed) = (Some(number + 1), 0);
                    self.delivered += 1;
                }
                GroupEvent::Message { .. } => {}
                GroupEvent::Gap { node: from, missed, .. } => {
                    node.heard.entry(process(&from)).or_default().missed += missed;
                    self.gaps += 1;
                }
            }
        }
        let (stats, bytes_max) = (node.groups.stats(), (1 << 20).min(settings_of(self.limit).kept_bytes_max));
        assert!(stats.early_bytes < 1 << 20 && stats.kept_bytes <= bytes_max, "{stats:?}");
    }

    /// Each node has all messages of each process that were sent since it joined, or was told of a gap. Of a process that
    /// has ended, those that it was told of.
    fn check_end(&self) {
        let alive: BTreeSet<u64> = self.nodes.iter().map(|node| node.process).collect();
        for node in &self.nodes {
            for (process, sent) in self.sent.iter().filter(|(process, _)| **process != node.process) {
                let heard = node.heard.get(process).unwrap_or(&NOTHING);
                let (all, begin) = (sent.len() as u64, first_since(sent, node.born));
                let owed = if alive.contains(process) { all } else { heard.known };
                let has = match heard.next {
                    Some(next) => next + heard.missed,
                    None if heard.missed > 0 => all,
                    None => begin,
                };
                assert!(owed <= has && has <= all, "seed {}: {heard:?} of {all}, begun at {begin}", self.seed);
            }
        }
        let had_full_rings =
            settings_of(self.limit).kept_batches_max > 1_000 && settings_of(self.limit).kept_bytes_max > 1 << 20;
        let of_living = |node: &Node| node.heard.iter().any(|(of, heard)| alive.contains(of) && heard.missed > 0);
        assert!(!had_full_rings || !self.nodes.iter().any(of_living), "seed {}: a gap of a living node", self.seed);
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

impl Node {
    /// Notes of which messages a packet tells.
    fn note(&mut self, packet: &Bytes) {
        let Some(Packet { sender, body, .. }) = Packet::decode(packet.clone()) else { panic!("it is one of ours") };
        if let Body::Batch { sequence: last, .. } | Body::Heartbeat { last } = body {
            let heard = self.heard.entry(sender.process).or_default();
            heard.known = heard.known.max(last);
        }
    }
}

/// The number of the first message that was sent at this moment or later.
fn first_since(sent: &[Duration], since: Duration) -> u64 {
    sent.partition_point(|at| *at < since) as u64
}

fn settings_of(limit: fn(&mut GroupSettings)) -> GroupSettings {
    let mut settings = GroupSettings::new(name(1), 1);
    limit(&mut settings);
    settings
}

/// A name for each process, so that each gap is told of one process.
fn name(process: u64) -> NodeName {
    NodeName::new(&format!("n{process}")).unwrap()
}

fn process(name: &NodeName) -> u64 {
    name.as_str()[1..].parse().unwrap()
}

fn group() -> GroupName {
    GroupName::new("all").unwrap()
}

const NOTHING: Heard = Heard { next: None, missed: 0, known: 0 };
const TICK: Duration = Duration::from_millis(20);
const FAULTY_TICKS: u32 = 1_000;
const CALM_TICKS: u32 = 3_000;
