//! Plays one seed's plan and looks at what came of it.

use crate::plan::{BROADCAST_CHANNEL, End, How, Plan};
use crate::simulation::{Node, World, ms};
use crate::traffic::{Fate, Stream, content};
use bytes::Bytes;
use skipstone_proto::channel::MessageId;
use skipstone_proto::endpoint::{Close, ClosedBy, Event, Group, PeerId, SendError, code};
use skipstone_proto::rng::Rng;
use skipstone_proto::time::{Duration, Time};
use skipstone_proto::wire::settings::{Overflow, Settings, window_cost};
use std::collections::BTreeMap;

/// What a run, or many, did: to see that the swarm does what it is for.
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

struct Run {
    seed: u64,
    plan: Plan,
    world: World,
    rng: Rng,
    streams: BTreeMap<(From, u16), Stream>,
    /// Message ids are per node: who sent it, and which it was.
    ids: BTreeMap<(Option<usize>, MessageId), (From, u16, usize)>,
    /// Bytes that may still be sent.
    budgets: BTreeMap<From, u32>,
    /// Peers as each client's own endpoint and the server know them.
    peers: Vec<Option<(PeerId, PeerId)>>,
    /// Broadcasts that each client must get; `None` if it is not certain which.
    broadcasts: Vec<Option<Vec<u32>>>,
    broadcast_count: u32,
    /// How far each node's events have been looked at: the server's last.
    seen: Vec<usize>,
    got_broadcasts: Vec<Vec<u32>>,
    closes: BTreeMap<(Option<usize>, PeerId), Close>,
    ended: Vec<bool>,
    tally: Tally,
}

/// Plays a seed; panics if a promise is broken.
pub(crate) fn run(seed: u64) -> Tally {
    let plan = Plan::new(seed);
    let mut world = World::on(plan.carrier, seed, plan.config.clone(), &plan.links);
    world.refuses = plan.refuses.clone();
    let clients = plan.links.len();
    let mut run = Run {
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

impl Run {
    fn connect(&mut self) {
        if std::env::var("DBG").is_ok() {
            self.world.tap = Some(Box::new(|now, at, up, bytes| {
                if now < Time::from_micros(60_000_000) {
                    eprintln!("{now:?} {at} {} {:02x?}", if up { "up" } else { "down" }, &bytes[..bytes.len().min(48)])
                }
            }));
        }
        let is_decided = |node: &Node| {
            node.events.iter().any(|(_, event)| matches!(event, Event::Connected { .. } | Event::Closed { .. }))
        };
        self.world.run_until_true(ms(31_000), |world| world.clients.iter().all(is_decided));
        for at in 0..self.world.clients.len() {
            let connected = self.world.clients[at].events.iter().find_map(|(_, event)| match event {
                Event::Connected { peer } => Some(*peer),
                _ => None,
            });
            // The last, if the server took an earlier one for dead before the client heard of it.
            let theirs = self.world.asked.iter().rfind(|(_, client)| *client == at).map(|(peer, _)| *peer);
            if let (Some(ours), Some(theirs)) = (connected, theirs) {
                assert!(!self.plan.refuses.contains(&at), "client {at} was refused");
                self.peers[at] = Some((ours, theirs));
                let mut settings = self.world.clients[at].endpoint.settings(ours);
                let settings = settings.take().expect("it is connected");
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

    fn flush(&mut self) {
        let now = self.world.now;
        self.world.server.endpoint.flush(now);
        self.world.clients.iter_mut().for_each(|client| client.endpoint.flush(now));
    }

    /// A channel that a rule holds, seldom one that none does; mostly one of few, so that some fall idle and wake.
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

    /// Joining again says whether it was a member; asked in a way that leaves everything as it was.
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

    fn overview(&mut self, from: From) -> Option<skipstone_proto::endpoint::Overview> {
        let (ours, theirs) = self.peers[from.client()]?;
        match from {
            From::Client(at) => self.world.clients[at].endpoint.overview(ours),
            From::Server(_) => self.world.server.endpoint.overview(theirs),
        }
    }

    fn directions(&self) -> Vec<From> {
        (0..self.peers.len()).flat_map(|at| [From::Client(at), From::Server(at)]).collect()
    }

    /// Nothing grows beyond what the settings allow.
    fn check_memory(&mut self) {
        let window = u64::from(self.settings().window_bytes);
        let queues: u64 = self.settings().channels.iter().map(|rule| u64::from(rule.queue_messages_max) * 6).sum();
        // One packet beyond the limit, and each of its messages costs 64 bytes besides its own.
        let packet = 64 * u64::from(self.settings().datagram_bytes_max)
            + window_cost(self.settings().message_bytes_max as usize);
        for from in self.directions() {
            let Some(overview) = self.overview(from) else { continue };
            let depth = overview.depth;
            assert!(depth.held_bytes <= 3 * window + packet, "{from:?} holds {depth:?} of {window}");
            assert!(depth.messages <= queues, "{from:?} queues {depth:?}");
            assert!(depth.channels <= 8 * 6 * 2 + 1, "{from:?} has {depth:?}");
        }
        let work = self.world.server.endpoint.event_count();
        assert!(work < 1 << 20, "{work} events wait");
    }

    fn is_standing(&self, at: usize) -> bool {
        let Some((ours, theirs)) = self.peers[at] else { return false };
        !self.ended[at] && !self.closes.contains_key(&(Some(at), ours)) && !self.closes.contains_key(&(None, theirs))
    }

    /// The links heal and everyone polls: everything reliable arrives, and every state is freed.
    fn quiesce(&mut self) {
        self.world.relink(&self.plan.healed.clone());
        self.world.server.polls = true;
        self.world.clients.iter_mut().for_each(|client| client.polls = true);
        (0..self.peers.len()).for_each(|at| self.world.server.endpoint.set_writable(at as u32, true));
        let end = self.world.now + QUIET_WITHIN;
        loop {
            self.flush();
            self.world.run_for(ms(50));
            self.look();
            let busy: Vec<_> = self.directions().into_iter().filter(|from| !self.is_quiet(*from)).collect();
            if busy.is_empty() {
                break;
            }
            if self.world.now >= end {
                let views: Vec<_> = busy.iter().map(|from| self.overview(*from)).collect();
                if std::env::var("DBG").is_ok() {
                    eprintln!("{:?}", self.plan);
                }
                panic!("not quiet {QUIET_WITHIN:?} after the links healed: {busy:?} {views:#?}");
            }
        }
        if std::env::var("DBG").is_ok() {
            eprintln!("{:#?} {:?}", self.plan, self.peers);
            for f in self.directions() {
                eprintln!("{f:?} {:?}", self.overview(f).map(|o| o.stats.drops));
            }
        }
        for at in 0..self.peers.len() {
            if !self.is_standing(at) {
                continue;
            }
            self.tally.complete += 1;
            for ((from, channel), stream) in self.streams.iter().filter(|((from, _), _)| from.client() == at) {
                stream.check_complete(&format!("{from:?} channel {channel} {:?}", stream.rule));
                stream.check_fates(&format!("{from:?} channel {channel} {:?}", stream.rule));
            }
            if let Some(expected) = &self.broadcasts[at] {
                assert_eq!(&self.got_broadcasts[at], expected, "broadcasts to client {at}");
            }
        }
    }

    fn is_quiet(&mut self, from: From) -> bool {
        if !self.is_standing(from.client()) {
            return true;
        }
        let Some(overview) = self.overview(from) else { return true };
        let depth = overview.depth;
        overview.bytes_in_flight == 0 && (depth.messages, depth.bytes, depth.channels, depth.held_bytes) == (0, 0, 0, 0)
    }

    /// After that, only keepalives are sent.
    fn stay_idle(&mut self) {
        // Stragglers, and the answers to them.
        self.world.run_for(ms(5_000));
        let before = self.world.sent.clone();
        let span = self.settings().keepalive * 4;
        self.world.run_for(span);
        self.look();
        for at in (0..self.peers.len()).filter(|at| self.is_standing(*at)) {
            let (up, down) = (self.world.sent[at].0 - before[at].0, self.world.sent[at].1 - before[at].1);
            assert!((2..=5).contains(&up) && (2..=5).contains(&down), "client {at}: {up} up, {down} down in {span:?}");
        }
    }

    fn end(&mut self) {
        for at in 0..self.peers.len() {
            let standing = self.is_standing(at);
            self.tally.closed_early += u64::from(!standing);
            if standing {
                self.close(at, self.plan.ends[at]);
            }
        }
        self.world.run_for(ms(20_000));
        self.look();
        if std::env::var("DBG").is_ok() {
            for (k, c) in &self.closes {
                eprintln!("{k:?} {c:?}");
            }
            eprintln!("{:?} {:?}", self.plan.ends, self.world.asked);
            for at in 0..self.world.clients.len() {
                for e in self.world.clients[at].events.iter().rev().take(3) {
                    eprintln!("{at} {e:?}");
                }
            }
            for e in self.world.server.events.iter().rev().take(10) {
                eprintln!("S {e:?}");
            }
        }
        for (from, channel) in self.streams.keys().copied().collect::<Vec<_>>() {
            let stream = &self.streams[&(from, channel)];
            let what = format!("{from:?} channel {channel} {:?}", stream.rule);
            // The dead do not tell what they got.
            if from == From::Client(from.client()) || !self.world.killed.contains(&from.client()) {
                stream.check(&what);
            }
            if from != From::Client(from.client()) || !self.world.killed.contains(&from.client()) {
                stream.check_fates(&what);
            }
        }
        (0..self.peers.len()).for_each(|at| self.check_closes(at));
        assert_eq!(self.world.server.endpoint.connection_count(), 0, "every connection is over");
        self.check_stats();
    }

    fn check_closes(&mut self, at: usize) {
        let is_killed = self.world.killed.contains(&at);
        let asked: Vec<PeerId> =
            self.world.asked.iter().filter(|(_, client)| *client == at).map(|(peer, _)| *peer).collect();
        let theirs: Vec<Option<&Close>> = asked.iter().map(|peer| self.closes.get(&(None, *peer))).collect();
        assert!(theirs.iter().all(Option::is_some), "client {at}: the server heard of no end: {theirs:?}");
        if is_killed {
            return;
        }
        assert_eq!(self.world.clients[at].endpoint.connection_count(), 0, "client {at} is over");
        let ours: Vec<&Close> =
            self.closes.iter().filter(|((node, _), _)| *node == Some(at)).map(|(_, close)| close).collect();
        assert_eq!(ours.len(), 1, "client {at}: {ours:?}");
        let Some(theirs) = theirs.last().copied().flatten() else { return };
        let ours = ours[0];
        // On a link that loses, the last word of each may have got lost; on a healed one it may not.
        let is_told = [ours, theirs].into_iter().any(|close| close.by == ClosedBy::Peer);
        let on_healed = self.plan.ends[at].at_step.is_none() && self.peers[at].is_some();
        let is_by_overflow = [ours, theirs].into_iter().any(|close| close.code == code::QUEUE_OVERFLOW);
        if is_told || on_healed && !is_by_overflow {
            assert_eq!((ours.code, &ours.reason), (theirs.code, &theirs.reason), "client {at}: {ours:?} {theirs:?}");
        }
        if self.plan.refuses.contains(&at) && ours.by == ClosedBy::Peer {
            assert_eq!(ours.code, 77);
        }
    }

    fn check_stats(&mut self) {
        let server = self.world.server.endpoint.totals();
        let (mut up, mut down) = (0, 0);
        for (to_server, from_server) in &self.world.sent {
            (up, down) = (up + to_server, down + from_server);
        }
        assert_eq!(server.sent.datagrams, down, "the server counts its datagrams");
        let mut sent_up = 0;
        let mut both = server;
        for client in &mut self.world.clients {
            let totals = client.endpoint.totals();
            sent_up += totals.sent.datagrams;
            both.add(&totals);
        }
        assert_eq!(sent_up, up, "the clients count their datagrams");
        assert!(both.received.messages <= both.sent.messages, "{both:?}");
        assert!(both.received.payload_bytes <= both.sent.payload_bytes, "{both:?}");
        // The dead have messages that they never looked at.
        assert!(both.received.messages >= self.tally.arrived, "{both:?}");
        if self.world.killed.is_empty() {
            assert_eq!(both.received.messages, self.tally.arrived, "{both:?}");
        }
        self.tally.datagrams += up + down;
        self.tally.resent += both.resent;
        self.tally.lost += both.packets_lost;
        self.tally.spurious += both.packets_spurious;
        self.tally.window_drops += both.drops.of(skipstone_proto::endpoint::Drop::WindowExceeded);
    }

    /// Looks at the events that came since the last time.
    fn look(&mut self) {
        for at in 0..=self.world.clients.len() {
            let node = (at < self.world.clients.len()).then_some(at);
            let events = match node {
                Some(at) => &self.world.clients[at].events,
                None => &self.world.server.events,
            };
            let fresh: Vec<(Time, Event)> = events[self.seen[at]..].to_vec();
            self.seen[at] = events.len();
            fresh.into_iter().for_each(|(_, event)| self.look_at(node, event));
        }
    }

    fn look_at(&mut self, node: Option<usize>, event: Event) {
        let peer = event.peer();
        assert!(!self.closes.contains_key(&(node, peer)), "{node:?}: {event:?} after the end");
        match event {
            Event::Message { channel, payload, .. } => {
                self.tally.arrived += 1;
                let from = match node {
                    Some(at) => From::Server(at),
                    None => From::Client(self.client_of(peer)),
                };
                if channel == BROADCAST_CHANNEL {
                    let number = u32::from_le_bytes(payload[..4].try_into().expect("4 bytes"));
                    self.got_broadcasts[from.client()].push(number);
                    return;
                }
                let stream = self.streams.get_mut(&(from, channel));
                let stream = stream.unwrap_or_else(|| panic!("{from:?} sent nothing on channel {channel}"));
                stream.on_message(&payload, &format!("{from:?} channel {channel}"));
            }
            Event::Acknowledged { id, .. } => self.on_fate(node, id, Fate::Acknowledged),
            Event::GivenUp { id, .. } => self.on_fate(node, id, Fate::GivenUp),
            Event::Closed { close, .. } => {
                self.closes.insert((node, peer), close);
            }
            Event::Requested { .. } | Event::Connected { .. } => {}
        }
    }

    fn client_of(&self, peer: PeerId) -> usize {
        self.world.asked.iter().find(|(asked, _)| *asked == peer).expect("it asked").1
    }

    fn on_fate(&mut self, node: Option<usize>, id: MessageId, fate: Fate) {
        match fate {
            Fate::Acknowledged => self.tally.acknowledged += 1,
            Fate::GivenUp => self.tally.given_up += 1,
        }
        let (from, channel, number) = self.ids[&(node, id)];
        let stream = self.streams.get_mut(&(from, channel)).expect("it was sent there");
        stream.on_fate(number, fate, &format!("{from:?} channel {channel} {:?}", stream.rule));
    }
}

/// In virtual time, from healed links and polling applications to silence.
const QUIET_WITHIN: Duration = Duration::from_secs(120);
