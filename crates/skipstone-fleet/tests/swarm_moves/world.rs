//! Nodes, clients and what lies between them, event by event.

use crate::client::Client;
use crate::node::Node;
use bytes::Bytes;
use skipstone::{Close, ClosedBy, Event, MoveId, PeerId, Settings};
use skipstone_fleet::moves::MoveOrder;
use skipstone_proto::{ClientMoves, MoveAction, MoveMessage, Time};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct World {
    now: Duration,
    random: Random,
    due: BTreeMap<(Duration, u64), What>,
    count: u64,
    nodes: Vec<Node>,
    clients: Vec<Client>,
    links: BTreeMap<PeerId, Link>,
}

/// A connection between a client and a node.
pub(crate) struct Link {
    client: usize,
    node: usize,
    life: u64,
    pub(crate) is_open_at_node: bool,
    is_open_at_client: bool,
    /// The client lost its server by it, which that may not know yet.
    is_lost: bool,
    /// What arrives keeps its order.
    up_at: Duration,
    down_at: Duration,
}

#[derive(Debug)]
enum What {
    Letter { to: usize, life: u64, letter: Bytes },
    ToNode(PeerId, Said),
    ToClient(PeerId, Said),
    Settled(usize, PeerId),
    Tick,
    Kill(usize),
    Start(usize),
    Cut(usize),
    Begin,
}

#[derive(Debug)]
enum Said {
    Open(Vec<u8>),
    Connected,
    Move(Vec<u8>),
    Closed,
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let mut random = Random(seed);
        let nodes: Vec<Node> = (0..NODES).map(Node::new).collect();
        let clients = (0..CLIENTS).map(|_| Client::default()).collect();
        let mut world = World {
            now: Duration::ZERO,
            due: BTreeMap::new(),
            count: 0,
            nodes,
            clients,
            links: BTreeMap::new(),
            random: Random(random.next()),
        };
        (0..NODES).for_each(|node| world.nodes[node].start(&mut world.random));
        let mut at = Duration::ZERO;
        while at < CALM_FROM {
            at += Duration::from_millis(TICK);
            world.at(at, What::Tick);
            match world.random.below(400) {
                0 => {
                    let node = world.random.below(NODES as u64) as usize;
                    let back = at + Duration::from_millis(world.random.below(3_000));
                    world.at(at, What::Kill(node));
                    world.at(back, What::Start(node));
                }
                1 => {
                    let client = world.random.below(CLIENTS as u64) as usize;
                    world.at(at, What::Cut(client));
                }
                2..60 => world.at(at, What::Begin),
                _ => {}
            }
        }
        while at < END {
            at += Duration::from_millis(TICK);
            world.at(at, What::Tick);
        }
        world
    }

    /// Moves that ended there and here.
    pub(crate) fn run(mut self) -> (u64, u64) {
        while let Some(((now, _), what)) = self.due.pop_first() {
            self.now = now;
            self.happen(what);
            self.follow();
            self.judge();
        }
        for (index, client) in self.clients.iter().enumerate() {
            let here = client.here.unwrap_or_else(|| panic!("client {index} has no server"));
            let link = &self.links[&here];
            assert!(self.nodes[link.node].players.contains(&here), "client {index} is no player of its node");
            assert!(client.there.is_none() && !client.moves.is_moving(), "client {index} is on its way");
        }
        let under_way = self.nodes.iter().filter_map(|node| node.moves.as_ref()).map(|moves| moves.under_way());
        assert_eq!(under_way.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)), (0, 0), "moves have no end");
        self.nodes.iter().fold((0, 0), |sum, node| (sum.0 + node.left, sum.1 + node.stayed))
    }

    fn judge(&self) {
        let mut acting = vec![Vec::new(); CLIENTS];
        for (index, node) in self.nodes.iter().enumerate() {
            for peer in &node.players {
                acting[self.links[peer].client].push(index);
            }
        }
        // One that lost its server and came again may be a player of the former one until that notices.
        for (client, nodes) in acting.iter().enumerate() {
            let stale = self.nodes.iter().flat_map(|node| &node.players).filter(|peer| {
                let link = &self.links[peer];
                link.client == client && link.is_lost
            });
            let stale = stale.count();
            assert!(nodes.len() - stale <= 1, "client {client} is a player of {nodes:?} at {:?}", self.now);
        }
    }

    fn at(&mut self, at: Duration, what: What) {
        self.count += 1;
        self.due.insert((at, self.count), what);
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Letter { to, life, letter } => {
                let node = &mut self.nodes[to];
                if node.life == life
                    && let Some(moves) = &mut node.moves
                {
                    moves.handle_letter(&letter, self.now);
                }
            }
            What::ToNode(peer, said) => self.hear_at_node(peer, said),
            What::ToClient(peer, said) => self.hear_at_client(peer, said),
            What::Settled(client, peer) => {
                if self.clients[client].here == Some(peer) {
                    self.clients[client].moves.on_settled_here();
                }
            }
            What::Tick => self.tick(),
            What::Kill(node) => self.kill(node),
            What::Start(node) if self.nodes[node].moves.is_none() => self.nodes[node].start(&mut self.random),
            What::Start(_) => {}
            What::Cut(client) => self.cut(client),
            What::Begin => self.begin(),
        }
    }

    fn tick(&mut self) {
        for node in &mut self.nodes {
            if let Some(moves) = &mut node.moves {
                moves.handle_timeout(self.now);
            }
        }
        for client in 0..CLIENTS {
            self.clients[client].moves.on_time(Time::ZERO + self.now);
            if self.clients[client].here.is_none() {
                let node = self.random.below(NODES as u64) as usize;
                self.clients[client].moves = ClientMoves::default();
                self.clients[client].here = Some(self.open(client, node, Vec::new()));
            }
        }
    }

    fn begin(&mut self) {
        let (from, to) = (self.random.below(NODES as u64) as usize, self.random.below(NODES as u64) as usize);
        let to = self.nodes[to].name.clone();
        let node = &mut self.nodes[from];
        let Some(peer) = node.players.iter().nth(self.random.below(8) as usize).copied() else { return };
        if let Some(moves) = node.moves.as_mut().filter(|_| node.name != to) {
            // One that is being moved, or is not able yet, is refused.
            let _ = moves.begin(peer, to, Bytes::from_static(b"who"), self.now);
        }
    }

    /// Everything that machines want done.
    fn follow(&mut self) {
        for index in 0..NODES {
            let mut node = std::mem::replace(&mut self.nodes[index], Node::new(index));
            loop {
                node.settle(&self.links, &mut self.random, self.now);
                let Some(order) = node.moves.as_mut().and_then(|moves| moves.poll_order()) else { break };
                self.obey(&mut node, order);
            }
            while let Some((to, letter)) = node.moves.as_mut().and_then(|moves| moves.poll_letter()) {
                let to: usize = to.as_str()[1..].parse().expect("a node's number");
                let life = if to == index { node.life } else { self.nodes[to].life };
                // Lost, or doubled, or late.
                for _ in 0..[0, 1, 1, 1, 1, 1, 1, 2][self.random.below(8) as usize] {
                    let late = if self.random.chance(20) { 3_000 } else { 5 };
                    let at = self.now + Duration::from_micros(200 + 1_000 * self.random.below(late));
                    self.at(at, What::Letter { to, life, letter: letter.clone() });
                }
            }
            self.nodes[index] = node;
        }
        for client in 0..CLIENTS {
            while let Some(action) = self.clients[client].moves.poll_action() {
                self.act(client, action);
            }
        }
    }

    fn obey(&mut self, node: &mut Node, order: MoveOrder) {
        let tell = |id: MoveId, message: fn(MoveId) -> MoveMessage<'static>| Said::Move(message(id).encode());
        match order {
            MoveOrder::Accept(peer) => {
                self.down(peer, Said::Connected);
                node.on_event(connected(peer), self.now);
            }
            MoveOrder::Move { peer, id, destination, token } => {
                let message = MoveMessage::Move { id, destination: &destination, token: &token }.encode();
                self.down(peer, Said::Move(message));
            }
            MoveOrder::Cancel(peer, id) => self.down(peer, tell(id, MoveMessage::Cancel)),
            MoveOrder::Welcome(peer, id) => self.down(peer, tell(id, MoveMessage::Welcome)),
            MoveOrder::Part(peer) | MoveOrder::Dismiss(peer) => self.down(peer, Said::Closed),
        }
    }

    fn act(&mut self, client: usize, action: MoveAction) {
        let Client { here, there, .. } = self.clients[client];
        match action {
            MoveAction::Connect { destination, token } => {
                let node: usize = destination[1..].parse().expect("a node's number");
                self.clients[client].there = Some(self.open(client, node, token));
            }
            MoveAction::Settle => {
                let at = self.now + Duration::from_millis(20 + self.random.below(200));
                self.at(at, What::Settled(client, here.expect("it is connected")));
            }
            MoveAction::SendHere(message) => self.up(here, Said::Move(message)),
            MoveAction::SendThere(message) => self.up(there, Said::Move(message)),
            MoveAction::Switch => {}
            MoveAction::Finish => {
                self.hang_up(here);
                (self.clients[client].here, self.clients[client].there) = (there, None);
                // What the other server said about its end, if it ended meanwhile.
                if there.is_none_or(|there| !self.links[&there].is_open_at_client) {
                    self.clients[client].here = None;
                }
            }
            MoveAction::Stay => {
                self.hang_up(there);
                self.clients[client].there = None;
            }
        }
    }

    fn hear_at_node(&mut self, peer: PeerId, said: Said) {
        let link = self.links.get_mut(&peer).expect("it was opened");
        let (node, is_same) = (link.node, link.life == self.nodes[link.node].life);
        if !is_same || self.nodes[node].moves.is_none() {
            // That process never heard of the client.
            return self.down(peer, Said::Closed);
        }
        match said {
            Said::Open(token) => {
                link.is_open_at_node = true;
                let remote = ([127, 0, 0, 1], 1).into();
                let event = Event::Requested { peer, token: token.clone().into(), remote };
                let is_own = self.nodes[node].on_event(event, self.now).is_some();
                if is_own && token.is_empty() {
                    self.down(peer, Said::Connected);
                    self.nodes[node].on_event(connected(peer), self.now);
                } else if is_own {
                    self.down(peer, Said::Closed);
                }
            }
            Said::Move(message) => {
                let stage = MoveMessage::decode(&message).ok().flatten().and_then(|message| message.stage());
                if let Some(stage) = stage.filter(|_| link.is_open_at_node) {
                    self.nodes[node].on_event(Event::Move { peer, stage }, self.now);
                }
            }
            Said::Closed => {
                if std::mem::take(&mut link.is_open_at_node) {
                    self.nodes[node].on_event(closed(peer), self.now);
                }
            }
            Said::Connected => {}
        }
    }

    fn hear_at_client(&mut self, peer: PeerId, said: Said) {
        let link = self.links.get_mut(&peer).expect("it was opened");
        let (client, now) = (link.client, Time::ZERO + self.now);
        if !link.is_open_at_client {
            return;
        }
        let is_here = self.clients[client].here == Some(peer);
        match said {
            Said::Connected if is_here => self.up(Some(peer), Said::Move(MoveMessage::Able.encode())),
            Said::Connected => self.clients[client].moves.on_connected_there(),
            Said::Move(message) if is_here => self.clients[client].moves.on_message_here(&message, now),
            Said::Move(message) => self.clients[client].moves.on_message_there(&message, now),
            Said::Closed => self.end_at_client(peer),
            Said::Open(_) => {}
        }
    }

    /// The client sees the end of a connection.
    fn end_at_client(&mut self, peer: PeerId) {
        let client = self.links[&peer].client;
        self.hang_up(Some(peer));
        if self.clients[client].here == Some(peer) {
            if !self.clients[client].moves.on_closed_here(Time::ZERO + self.now) {
                self.links.get_mut(&peer).expect("it was opened").is_lost = true;
                while let Some(action) = self.clients[client].moves.poll_action() {
                    self.act(client, action);
                }
                self.clients[client].here = None;
            }
        } else if self.clients[client].there == Some(peer) {
            // It may have chosen that one.
            self.links.get_mut(&peer).expect("it was opened").is_lost = self.clients[client].moves.is_leaving();
            self.clients[client].moves.on_closed_there();
        }
    }

    fn open(&mut self, client: usize, node: usize, token: Vec<u8>) -> PeerId {
        let peer = PeerId { index: u32::try_from(self.links.len()).expect("few links"), generation: 0 };
        let link = Link {
            client,
            node,
            life: self.nodes[node].life,
            is_open_at_node: false,
            is_open_at_client: true,
            is_lost: false,
            up_at: self.now,
            down_at: self.now,
        };
        self.links.insert(peer, link);
        self.up(Some(peer), Said::Open(token));
        peer
    }

    /// The client's end of a connection is closed, and its server hears of it.
    fn hang_up(&mut self, peer: Option<PeerId>) {
        let Some(peer) = peer else { return };
        self.up(Some(peer), Said::Closed);
        self.links.get_mut(&peer).expect("it was opened").is_open_at_client = false;
    }

    fn up(&mut self, peer: Option<PeerId>, said: Said) {
        let Some(peer) = peer else { return };
        let delay = self.delay();
        let link = self.links.get_mut(&peer).expect("it was opened");
        if link.is_open_at_client {
            link.up_at = link.up_at.max(self.now + delay);
            let at = link.up_at;
            self.at(at, What::ToNode(peer, said));
        }
    }

    fn down(&mut self, peer: PeerId, said: Said) {
        let delay = self.delay();
        let link = self.links.get_mut(&peer).expect("it was opened");
        link.down_at = link.down_at.max(self.now + delay);
        let at = link.down_at;
        self.at(at, What::ToClient(peer, said));
    }

    /// Sometimes as long as several losses take, and rarely longer than any deadline of a move.
    fn delay(&mut self) -> Duration {
        let most = match self.random.below(300) {
            0 => 12_000,
            1..15 => 1_500,
            _ => 60,
        };
        Duration::from_millis(1 + self.random.below(most))
    }

    fn kill(&mut self, node: usize) {
        self.nodes[node].kill();
        self.nodes[node].life += 1;
        let lost: Vec<PeerId> = self
            .links
            .iter()
            .filter(|(_, link)| link.node == node && link.is_open_at_client)
            .map(|(peer, _)| *peer)
            .collect();
        for peer in lost {
            self.links.get_mut(&peer).expect("it was opened").is_open_at_node = false;
            // The client notices when nothing comes for a while.
            self.down(peer, Said::Closed);
        }
    }

    /// A client loses all its connections. The servers notice later.
    fn cut(&mut self, client: usize) {
        let ends: VecDeque<PeerId> =
            [self.clients[client].there, self.clients[client].here].into_iter().flatten().collect();
        for peer in ends {
            self.end_at_client(peer);
        }
    }
}

fn connected(peer: PeerId) -> Event {
    Event::Connected { peer, settings: Arc::new(Settings::default()) }
}

fn closed(peer: PeerId) -> Event {
    Event::Closed { peer, close: Close { by: ClosedBy::Peer, code: 0, reason: Bytes::new() } }
}

/// splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One in so many.
    pub(crate) fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

const NODES: usize = 3;
const CLIENTS: usize = 8;
const TICK: u64 = 20;
const CALM_FROM: Duration = Duration::from_secs(40);
/// Longer than a place is kept, and than a client takes to decide.
const END: Duration = Duration::from_secs(110);
