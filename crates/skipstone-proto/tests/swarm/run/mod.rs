//! Plays one seed's plan and checks the outcome.

mod judge;

use crate::plan::{BROADCAST_CHANNEL, End, How, Plan};
use crate::simulation::{Node, Tap, World, ms};
use crate::traffic::{Stream, content};
use bytes::Bytes;
use skipstone_proto::MessageId;
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;
use skipstone_proto::{Close, ClosedBy, Event, Group, PeerId, SendError, code};
use skipstone_proto::{Overflow, Settings};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The work of one run or of many, which shows that the swarm covers its purpose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    messages: u64,
    arrived: u64,
    acknowledged: u64,
    given_up: u64,
    complete: u64,
    closed_early: u64,
    datagrams: u64,
    resent: u64,
    lost: u64,
    spurious: u64,
    overflows: u64,
    window_drops: u64,
    moved: u64,
    black_holes: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, one: &Tally) {
        self.messages += one.messages;
        self.arrived += one.arrived;
        self.acknowledged += one.acknowledged;
        self.given_up += one.given_up;
        self.complete += one.complete;
        self.closed_early += one.closed_early;
        self.datagrams += one.datagrams;
        self.resent += one.resent;
        self.lost += one.lost;
        self.spurious += one.spurious;
        self.overflows += one.overflows;
        self.window_drops += one.window_drops;
        self.moved += one.moved;
        self.black_holes += one.black_holes;
    }
}

/// One of the two directions of a client's connection, for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum From {
    Client(usize),
    Server(usize),
}

impl From {
    fn client(self) -> usize {
        match self {
            From::Client(at) | From::Server(at) => at,
        }
    }
}

struct MessageEncoder {
    seed: u64,
    plan: Plan,
    world: World,
    rng: Rng,
    streams: BTreeMap<(From, u16), Stream>,
    /// Message ids are per node: the sender and the message.
    ids: BTreeMap<(Option<usize>, MessageId), (From, u16, usize)>,
    /// Bytes that may still be sent.
    budgets: BTreeMap<From, u32>,
    /// Peers as each client's own endpoint and the server know them.
    peers: Vec<Option<(PeerId, PeerId)>>,
    /// Broadcasts that each client must get; `None` if that is uncertain.
    broadcasts: Vec<Option<Vec<u32>>>,
    broadcast_count: u32,
    /// How many of each node's events were looked at: the server's last.
    seen: Vec<usize>,
    got_broadcasts: Vec<Vec<u32>>,
    closes: BTreeMap<(Option<usize>, PeerId), Close>,
    ended: Vec<bool>,
    tally: Tally,
}

/// Plays a seed; panics if an invariant is violated.
pub(crate) fn run(seed: u64) -> Tally {
    play(seed, None)
}

/// A number that changes if anything does: FNV-1a over each datagram with its time and direction, and over the outcome
/// of the run.
pub(crate) fn digest(seed: u64) -> u64 {
    let sum = Rc::new(Cell::new(0xCBF2_9CE4_8422_2325));
    let into = Rc::clone(&sum);
    let add = move |bytes: &[u8]| {
        let fold = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        into.set(bytes.iter().fold(into.get(), fold));
    };
    let also = add.clone();
    let tap = move |now: Time, client: usize, is_up: bool, bytes: &mut Vec<u8>| {
        add(&now.as_micros().to_be_bytes());
        add(&[client as u8, u8::from(is_up)]);
        add(bytes);
    };
    let tally = play(seed, Some(Box::new(tap)));
    also(format!("{tally:?}").as_bytes());
    sum.get()
}

fn play(seed: u64, tap: Option<Tap>) -> Tally {
    let plan = Plan::new(seed);
    let mut world = World::on(plan.carrier, seed, plan.config.clone(), &plan.links);
    world.tap = tap;
    world.refuses = plan.refuses.clone();
    let clients = plan.links.len();
    let mut run = MessageEncoder {
        seed,
        world,
        rng: Rng::new(seed ^ 0x5eed),
        streams: BTreeMap::new(),
        ids: BTreeMap::new(),
        budgets: (0..clients)
            .flat_map(|at| [From::Client(at), From::Server(at)])
            .map(|from| (from, plan.budget))
            .collect(),
        peers: vec![None; clients],
        broadcasts: vec![Some(Vec::new()); clients],
        broadcast_count: 0,
        seen: vec![0; clients + 1],
        got_broadcasts: vec![Vec::new(); clients],
        closes: BTreeMap::new(),
        ended: vec![false; clients],
        tally: Tally::default(),
        plan,
    };
    run.connect();
    for step in 0..run.plan.steps {
        run.step(step);
    }
    run.quiesce();
    run.stay_idle();
    run.end();
    run.tally
}

impl MessageEncoder {
    fn connect(&mut self) {
        let is_decided = |node: &Node| {
            node.events.iter().any(|(_, event)| matches!(event, Event::Connected { .. } | Event::Closed { .. }))
        };
        self.world.run_until_true(ms(31_000), |world| world.clients.iter().all(is_decided));
        for at in 0..self.world.clients.len() {
            let connected = self.world.clients[at].events.iter().find_map(|(_, event)| match event {
                Event::Connected { peer, .. } => Some(*peer),
                _ => None,
            });
            // The last one, if the server gave an earlier one up before the client knew.
            let theirs = self.world.asked.iter().rfind(|(_, client)| *client == at).map(|(peer, _)| *peer);
            if let (Some(ours), Some(theirs)) = (connected, theirs) {
                assert!(!self.plan.refuses.contains(&at), "client {at} was refused");
                // A client that waited for the others may have lost all of its few packets until it gave up.
                let Some(settings) = self.world.clients[at].endpoint.settings(ours) else {
                    let codes: Vec<u64> = self.world.clients[at].closes().iter().map(|close| close.code).collect();
                    // Or the server gave up first, and notified the client when the client's packets arrived again.
                    let has_server_left = self.world.server.events.iter().any(|(_, event)| {
                        let Event::Closed { peer, close } = event else { return false };
                        *peer == theirs && close.by == ClosedBy::Nobody
                    });
                    let is_reset = codes == [code::CARRIER_LOST] && has_server_left;
                    assert!(is_reset || codes == [code::IDLE_TIMEOUT], "client {at} left without a word: {codes:?}");
                    continue;
                };
                self.peers[at] = Some((ours, theirs));
                assert_eq!(*settings, self.plan.config.settings, "settings come from the server");
                if self.rng.chance(0.3) {
                    self.world.server.endpoint.join(theirs, Group(1 + at as u32 % 2));
                }
            }
        }
    }

    fn settings(&self) -> &Settings {
        &self.plan.config.settings
    }

    fn step(&mut self, step: u32) {
        for at in 0..self.peers.len() {
            if self.peers[at].is_none() {
                continue;
            }
            for from in [From::Client(at), From::Server(at)] {
                if self.rng.chance(0.6) {
                    for _ in 0..1 + self.rng.below(self.plan.per_step) {
                        self.send(from);
                    }
                }
            }
            let end = self.plan.ends[at];
            if end.at_step == Some(step) {
                self.close(at, end);
            }
        }
        if self.plan.moves {
            self.move_somebody();
        }
        if Some(step) == self.plan.shrinks_at {
            self.world.limit_datagrams(self.plan.healed.datagram_bytes_max);
        }
        if self.rng.chance(0.1) {
            self.broadcast();
        }
        if self.rng.chance(0.5) {
            self.flush();
        }
        if self.rng.chance(0.02) {
            self.world.server.polls = !self.world.server.polls;
        }
        for client in &mut self.world.clients {
            if self.rng.chance(0.02) {
                client.polls = !client.polls;
            }
        }
        if self.plan.carrier.is_reliable && self.rng.chance(0.1) {
            let (socket, is_writable) = (self.rng.below(self.peers.len() as u32), self.rng.chance(0.7));
            self.world.server.endpoint.set_writable(socket, is_writable);
        }
        self.world.run_for(self.plan.step);
        self.check_memory();
    }

    /// From time to time a client's address changes: its NAT forgets it, or the client moves, with or without noticing.
    fn move_somebody(&mut self) {
        let at = self.rng.below(self.peers.len() as u32) as usize;
        match self.rng.below(40) {
            0 => self.world.rebind(at),
            1 => self.world.wander(at),
            2 => drop(self.world.roam(at)),
            _ => {}
        }
    }

    fn flush(&mut self) {
        let now = self.world.now;
        self.world.server.endpoint.flush(now);
        self.world.clients.iter_mut().for_each(|client| client.endpoint.flush(now));
    }

    /// A channel that a rule covers, seldom one that no rule does; mostly one of few, so that some fall idle and wake.
    fn channel(&mut self) -> u16 {
        let settings = self.plan.config.settings.clone();
        let rule = &settings.channels[1 + self.rng.below(settings.channels.len() as u32 - 1) as usize];
        rule.first + self.rng.below(u32::from(rule.last - rule.first).min(5) + 1) as u16
    }

    fn send(&mut self, from: From) {
        let channel = self.channel();
        let rule = self.settings().rule(channel).expect("it has a rule").clone();
        let most = self.settings().message_bytes_max;
        let length = match self.rng.below(20) {
            0 => self.rng.below(most + 1),
            1..3 => self.rng.below(most.min(3_000) + 1),
            3 => 0,
            _ => self.rng.below(most.min(100) + 1),
        };
        let budget = self.budgets.get_mut(&from).expect("every direction has one");
        if *budget < length + 20 {
            return;
        }
        *budget -= length + 20;
        let at = from.client();
        let key =
            self.seed << 32 | u64::from(channel) << 8 | (at as u64) << 1 | u64::from(matches!(from, From::Server(_)));
        let stream = self.streams.entry((from, channel)).or_insert_with(|| Stream::new(rule, key));
        let payload = stream.next(length as usize);
        let length = payload.len();
        let (ours, theirs) = self.peers[at].expect("it is connected");
        let (node, peer, sender) = match from {
            From::Client(at) => (&mut self.world.clients[at], ours, Some(at)),
            From::Server(_) => (&mut self.world.server, theirs, None),
        };
        match node.send_to(self.world.now, peer, channel, payload) {
            Ok(id) => {
                self.ids.insert((sender, id), (from, channel, stream.sent.len()));
                stream.on_sent(length);
                self.tally.messages += 1;
            }
            Err(SendError::NotConnected | SendError::QueueFull) => {
                self.tally.overflows += 1;
                self.ended[at] |= stream.rule.overflow == Overflow::Disconnect;
            }
            // Its queue is shorter than the message: nothing happens to the connection.
            Err(SendError::TooLong { bytes_max }) if bytes_max < length => self.tally.overflows += 1,
            Err(error) => panic!("client {at} channel {channel}: {error:?}"),
        }
    }

    fn broadcast(&mut self) {
        let group = Group(self.rng.below(3));
        let number = self.broadcast_count;
        self.broadcast_count += 1;
        let payload = Bytes::from(content(u64::from(group.0), number, 16));
        let mut members = Vec::new();
        for at in 0..self.peers.len() {
            let Some((_, theirs)) = self.peers[at] else { continue };
            let is_member = match group {
                Group::EVERYONE => self.world.server.endpoint.peers().any(|peer| peer == theirs),
                _ => self.is_member(theirs, group),
            };
            if is_member {
                members.push(at);
            }
        }
        let queued =
            self.world.server.endpoint.broadcast(self.world.now, group, BROADCAST_CHANNEL, &payload, MessageId(0));
        for at in members.iter().copied() {
            if queued as usize == members.len() {
                if let Some(expected) = &mut self.broadcasts[at] {
                    expected.push(number);
                }
            } else {
                self.broadcasts[at] = None;
            }
        }
    }

    /// Returns whether the peer was a member, by joining again in a way that changes nothing.
    fn is_member(&mut self, peer: PeerId, group: Group) -> bool {
        let is_new = self.world.server.endpoint.join(peer, group);
        if is_new {
            self.world.server.endpoint.leave(peer, group);
        }
        !is_new
    }

    fn close(&mut self, at: usize, end: End) {
        let Some((ours, theirs)) = self.peers[at] else { return };
        self.ended[at] = true;
        let now = self.world.now;
        if matches!(end.how, How::Client | How::Both) {
            self.world.clients[at].endpoint.close(now, ours, 5, "the client's", end.linger);
        }
        if matches!(end.how, How::Server | How::Both) {
            self.world.server.endpoint.close(now, theirs, 6, "the server's", end.linger);
        }
        match end.how {
            How::Killed => self.world.killed.push(at),
            How::CarrierLost => {
                self.world.clients[at].endpoint.handle_carrier_lost(now, 0, "gone");
                self.world.server.endpoint.handle_carrier_lost(now, at as u32, "gone");
            }
            _ => {}
        }
    }

    fn overview(&mut self, from: From) -> Option<skipstone_proto::Overview> {
        let (ours, theirs) = self.peers[from.client()]?;
        match from {
            From::Client(at) => self.world.clients[at].endpoint.overview(ours),
            From::Server(_) => self.world.server.endpoint.overview(theirs),
        }
    }

    fn directions(&self) -> Vec<From> {
        (0..self.peers.len()).flat_map(|at| [From::Client(at), From::Server(at)]).collect()
    }
}
