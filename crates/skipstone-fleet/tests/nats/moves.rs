//! Players that move among real servers over a real bus.

use crate::common::{PATIENCE, bus, server};
use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, PeerId, Reconnect, Security, Server, ServerConfig, Settings,
};
use skipstone_fleet::bus::Bus;
use skipstone_fleet::directory::NodeName;
use skipstone_fleet::local::LocalNats;
use skipstone_fleet::moves::{MoveNotice, MoveRefusal, MoveSettings, MovesDriver, NodeEvent};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const NODES: usize = 3;
const TRADES: u16 = 0;
const MOVES: u16 = 1;

#[test]
fn players_move_among_three_nodes_without_losing_doubling_or_reordering_a_message() {
    let nats = server();
    let security = Security::self_signed().expect("a certificate");
    let mut fleet = Fleet::new(&nats, &security);
    let urls: Vec<String> = fleet.nodes.iter().map(|node| node.server.url()).collect();
    let mut players: Vec<Player> = (0..6).map(|index| Player::new(index, &urls[index % NODES])).collect();
    let began = Instant::now();
    while fleet.arrived < 60 || players.iter().any(|player| player.heard < 40) {
        assert!(began.elapsed() < PATIENCE, "{} arrived of {} begun", fleet.arrived, fleet.begun);
        players.iter_mut().for_each(Player::tick);
        fleet.tick();
    }
    assert_eq!(fleet.stayed, Vec::<String>::new());
}

#[test]
fn a_node_that_does_not_exist_gets_nobody() {
    let nats = server();
    let security = Security::self_signed().expect("a certificate");
    let mut fleet = Fleet::new(&nats, &security);
    fleet.begins = false;
    let mut player = Player::new(0, &fleet.nodes[0].server.url());
    let began = Instant::now();
    let nowhere = || NodeName::new("nowhere").unwrap();
    while fleet.stayed.is_empty() {
        assert!(began.elapsed() < PATIENCE, "the move does not end");
        player.tick();
        fleet.tick();
        let node = &mut fleet.nodes[0];
        if let Some(peer) = node.players.keys().next().copied() {
            match node.moves.begin(peer, nowhere(), "0") {
                Ok(()) | Err(MoveRefusal::Busy | MoveRefusal::NotAble) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(fleet.stayed[0].contains("did not answer"), "{:?}", fleet.stayed);
    let heard = player.heard;
    while player.heard < heard + 5 {
        assert!(began.elapsed() < PATIENCE, "it does not play on");
        player.tick();
        fleet.tick();
    }
}

struct Fleet {
    nodes: Vec<Node>,
    begins: bool,
    begun: usize,
    arrived: usize,
    stayed: Vec<String>,
}

struct Node {
    bus: Bus,
    server: Server,
    moves: MovesDriver,
    /// What each player's application knows, which moves with it.
    players: BTreeMap<PeerId, State>,
    leaving: BTreeMap<PeerId, State>,
}

/// What was received of a player, and sent to it.
#[derive(Clone, Copy, Default)]
struct State {
    received: u32,
    sent: u32,
}

impl Fleet {
    fn new(nats: &LocalNats, security: &Security) -> Fleet {
        let nodes = (0..NODES).map(|index| Node::new(nats, security, index)).collect();
        Fleet { nodes, begins: true, begun: 0, arrived: 0, stayed: Vec::new() }
    }

    fn tick(&mut self) {
        for index in 0..NODES {
            let node = &mut self.nodes[index];
            while let Some(event) = node.bus.poll() {
                node.moves.handle(event);
            }
            while let Some(event) = node.moves.poll(&node.bus, &mut node.server) {
                match event {
                    NodeEvent::Server(event) => node.on_event(event),
                    NodeEvent::Move(MoveNotice::Stayed { peer, why, .. }) => {
                        self.stayed.push(why);
                        if let Some(state) = node.leaving.remove(&peer) {
                            node.players.insert(peer, state);
                        }
                    }
                    NodeEvent::Move(notice) => self.arrived += usize::from(node.on_notice(notice)),
                    event => panic!("{event:?}"),
                }
            }
            node.play();
            if self.begins {
                let to = NodeName::new(&format!("n{}", (index + 1) % NODES)).unwrap();
                for peer in node.players.keys().copied().collect::<Vec<_>>() {
                    self.begun += usize::from(node.moves.begin(peer, to.clone(), "who").is_ok());
                }
            }
        }
    }
}

impl Node {
    fn new(nats: &LocalNats, security: &Security, index: usize) -> Node {
        let bus = bus(nats);
        let channels = vec![ChannelRule::new(0..=MOVES, DeliveryMode::ReliableOrdered)];
        let config = ServerConfig {
            security: Some(security.clone()),
            settings: Settings { channels, moves_channel: MOVES.into(), ..Settings::default() },
            ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
        };
        let server = Server::start(config).expect("a port");
        let name = NodeName::new(&format!("n{index}")).unwrap();
        let moves = MovesDriver::start(&bus, "test", MoveSettings::new(name, 1_000 * index as u64)).unwrap();
        Node { bus, server, moves, players: BTreeMap::new(), leaving: BTreeMap::new() }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Requested { peer, .. } => self.server.accept(peer).expect("it waits"),
            Event::Connected { peer, .. } => {
                self.players.insert(peer, State::default());
            }
            Event::Message { peer, payload, .. } => {
                let state = self.players.get_mut(&peer).expect("only players' messages arrive");
                state.received += 1;
                assert_eq!(payload[..], state.received.to_be_bytes(), "none is lost, doubled or reordered");
            }
            _ => {}
        }
    }

    /// True if a player has arrived.
    fn on_notice(&mut self, notice: MoveNotice) -> bool {
        match notice {
            MoveNotice::Asked { origin, .. } => {
                let address = self.server.local_addr().to_string();
                self.moves.admit(&origin, &address).expect("it was asked");
            }
            MoveNotice::Ready { peer } => {
                let state = self.players.remove(&peer).expect("a player");
                let bytes = [state.received.to_be_bytes(), state.sent.to_be_bytes()].concat();
                self.leaving.insert(peer, state);
                self.moves.hand_over(peer, bytes).expect("it is ready");
            }
            MoveNotice::Left { peer } => {
                self.leaving.remove(&peer);
            }
            MoveNotice::Arrived { peer, state, .. } => {
                let number = |at: usize| u32::from_be_bytes(state[at..at + 4].try_into().expect("a number"));
                self.players.insert(peer, State { received: number(0), sent: number(4) });
                return true;
            }
            notice => panic!("{notice:?}"),
        }
        false
    }

    fn play(&mut self) {
        for (peer, state) in &mut self.players {
            let next = state.sent + 1;
            if self.server.send(*peer, TRADES, next.to_be_bytes().to_vec()).is_ok() {
                state.sent = next;
            }
        }
        self.server.flush().expect("the driver runs");
    }
}

struct Player {
    client: Client,
    is_connected: bool,
    said: u32,
    heard: u32,
}

impl Player {
    fn new(index: usize, url: &str) -> Player {
        let config = ClientConfig { reconnect: Some(Reconnect::default()), ..ClientConfig::default() };
        let client = Client::connect(url, index.to_string().as_bytes(), config).expect("a socket");
        Player { client, is_connected: false, said: 0, heard: 0 }
    }

    fn tick(&mut self) {
        self.client.wait(Duration::from_millis(1));
        while let Some(event) = self.client.poll_event() {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Message { payload, .. } => {
                    self.heard += 1;
                    assert_eq!(payload[..], self.heard.to_be_bytes(), "none is lost, doubled or reordered");
                }
                event => panic!("{event:?}"),
            }
        }
        if self.is_connected {
            self.said += 1;
            self.client.send(TRADES, self.said.to_be_bytes().to_vec()).expect("there is room");
        }
    }
}
