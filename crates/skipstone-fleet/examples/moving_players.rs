//! Players that move among three servers of one process while they play, over a `nats-server` that this program starts:
//! proves that nothing reliable is lost, doubled or reordered, and says how long each player heard nothing.
//!
//! ```text
//! cargo run --release -p skipstone-fleet --example moving_players -- 300 3000 0.01 50
//! ```
//! The numbers: players, moves, the share of datagrams that is lost in each direction, and moves in a second. With 0
//! moves the players stay for half a minute where they are: what the path and the machine alone cost.

use skipstone::netsim::{LinkConfig, Loss};
use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, Impairment, PeerId, Reconnect, Security, Server,
    ServerConfig, Settings, Threading,
};
use skipstone_fleet::bus::{Bus, BusSettings};
use skipstone_fleet::directory::NodeName;
use skipstone_fleet::local::{LocalNats, LocalSettings};
use skipstone_fleet::moves::{MoveNotice, MoveSettings, MovesDriver, NodeEvent};
use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const NODES: usize = 3;
const TRADES: u16 = 0;
const POSITIONS: u16 = 1;
const MOVES: u16 = 2;
/// 20 Hz.
const TICK: Duration = Duration::from_millis(50);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let players: usize = arguments.next().map_or(Ok(300), |text| text.parse())?;
    let moves: usize = arguments.next().map_or(Ok(3_000), |text| text.parse())?;
    let loss: f64 = arguments.next().map_or(Ok(0.01), |text| text.parse())?;
    let rate: f64 = arguments.next().map_or(Ok(50.0), |text| text.parse())?;
    let nats = LocalNats::start(LocalSettings::default())?;
    let security = Security::self_signed()?;
    let shared = Arc::new(Progress { wanted: moves, ..Progress::default() });
    let nodes = (0..NODES).map(|index| Node::new(&nats, &security, index)).collect::<Result<Vec<_>, _>>()?;
    let urls: Vec<String> = nodes.iter().map(|node| node.server.url()).collect();
    let threads: Vec<_> = nodes
        .into_iter()
        .map(|node| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || node.run(&shared))
        })
        .collect();
    let mut all =
        (0..players).map(|index| Player::new(&urls[index % NODES], loss, index)).collect::<Result<Vec<_>, _>>()?;
    let began = Instant::now();
    while !shared.is_over.load(Ordering::Relaxed) {
        all.iter_mut().try_for_each(Player::tick)?;
        shared.allowed.store((began.elapsed().as_secs_f64() * rate) as usize, Ordering::Relaxed);
        let arrived = shared.arrived.load(Ordering::Relaxed);
        let is_done = if moves == 0 { began.elapsed() > STAYING } else { arrived >= moves };
        shared.is_over.store(is_done || began.elapsed() > LATEST, Ordering::Relaxed);
        std::thread::sleep(LOOK);
    }
    let took = began.elapsed();
    for thread in threads {
        thread.join().expect("no node panics");
    }
    let arrived = shared.arrived.load(Ordering::Relaxed);
    let mut silences: Vec<Duration> = all.iter().map(|player| player.silence).collect();
    silences.sort();
    let at = |sorted: &[Duration], share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let (said, heard) = all.iter().fold((0, 0), |sum, player| (sum.0 + player.said, sum.1 + player.heard));
    println!(
        "{arrived} moves of {players} players in {:.1} s, {} stayed",
        took.as_secs_f64(),
        shared.stayed.load(Ordering::Relaxed)
    );
    println!("{said} reliable messages said and {heard} heard: each once, and in order");
    let all_gaps = || all.iter().flat_map(|player| &player.gaps);
    for (what, mut gaps) in [
        ("between two messages", all_gaps().map(|(gap, _)| *gap).collect::<Vec<_>>()),
        ("while it is moved", all_gaps().filter(|(_, is_moved)| *is_moved).map(|(gap, _)| *gap).collect()),
    ] {
        gaps.sort();
        if !gaps.is_empty() {
            println!(
                "{what} a player waits: p50 {:?}, p99 {:?}, p99.8 {:?}, longest {:?} ({} times)",
                at(&gaps, 0.5),
                at(&gaps, 0.99),
                at(&gaps, 0.998),
                at(&gaps, 1.0),
                gaps.len()
            );
        }
    }
    println!("longest silence of each player: p50 {:?}, p99.8 {:?}", at(&silences, 0.5), at(&silences, 0.998));
    if arrived < moves {
        return Err(format!("{moves} moves were wanted within {LATEST:?}").into());
    }
    Ok(())
}

#[derive(Default)]
struct Progress {
    wanted: usize,
    /// Moves that may have begun by now.
    allowed: AtomicUsize,
    begun: AtomicUsize,
    arrived: AtomicUsize,
    stayed: AtomicUsize,
    is_over: AtomicBool,
}

struct Node {
    index: usize,
    bus: Bus,
    server: Server,
    moves: MovesDriver,
    players: BTreeMap<PeerId, State>,
    leaving: BTreeMap<PeerId, State>,
}

/// What was received of a player, and sent to it.
#[derive(Clone, Copy, Default)]
struct State {
    received: u32,
    sent: u32,
}

impl Node {
    fn new(nats: &LocalNats, security: &Security, index: usize) -> Result<Node, Box<dyn Error>> {
        let bus = Bus::connect(BusSettings::new(nats.url().parse()?))?;
        let channels = vec![
            ChannelRule::new(TRADES..=TRADES, DeliveryMode::ReliableOrdered),
            ChannelRule::new(POSITIONS..=POSITIONS, DeliveryMode::UnreliableSequenced),
            ChannelRule::new(MOVES..=MOVES, DeliveryMode::ReliableOrdered),
        ];
        let config = ServerConfig {
            security: Some(security.clone()),
            settings: Settings { channels, moves_channel: MOVES.into(), ..Settings::default() },
            ..ServerConfig::new("127.0.0.1:0".parse()?)
        };
        let server = Server::start(config)?;
        let moves = MovesDriver::start(&bus, "example", MoveSettings::new(name(index), index as u64 * 1_000_000))?;
        Ok(Node { index, bus, server, moves, players: BTreeMap::new(), leaving: BTreeMap::new() })
    }

    fn run(mut self, shared: &Progress) {
        let mut next = Instant::now();
        while !shared.is_over.load(Ordering::Relaxed) {
            while let Some(event) = self.bus.poll() {
                self.moves.handle(event);
            }
            while let Some(event) = self.moves.poll(&self.bus, &mut self.server) {
                match event {
                    NodeEvent::Server(event) => self.on_event(event),
                    NodeEvent::Move(notice) => self.on_notice(notice, shared),
                    _ => {}
                }
            }
            if Instant::now() >= next {
                next += TICK;
                self.play(shared);
            }
            self.server.wait(Duration::from_millis(1));
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Requested { peer, .. } => self.server.accept(peer).expect("it waits"),
            Event::Connected { peer, .. } => drop(self.players.insert(peer, State::default()).is_some()),
            Event::Message { peer, channel: TRADES, payload, .. } => {
                let state = self.players.get_mut(&peer).expect("only players' messages arrive");
                state.received += 1;
                assert_eq!(payload[..], state.received.to_be_bytes(), "lost, doubled or reordered");
            }
            _ => {}
        }
    }

    fn on_notice(&mut self, notice: MoveNotice, shared: &Progress) {
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
            MoveNotice::Left { peer } => drop(self.leaving.remove(&peer).is_some()),
            MoveNotice::Stayed { peer, .. } => {
                shared.stayed.fetch_add(1, Ordering::Relaxed);
                if let Some(state) = self.leaving.remove(&peer) {
                    self.players.insert(peer, state);
                }
            }
            MoveNotice::Arrived { peer, state, .. } => {
                let number = |at: usize| u32::from_be_bytes(state[at..at + 4].try_into().expect("a number"));
                self.players.insert(peer, State { received: number(0), sent: number(4) });
                // At once: the next tick may be a whole tick away, as the other node's last one was.
                let _ = self.server.send(peer, POSITIONS, vec![0; 40]);
                let _ = self.server.flush();
                shared.arrived.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn play(&mut self, shared: &Progress) {
        for (peer, state) in &mut self.players {
            let next = state.sent + 1;
            if self.server.send(*peer, TRADES, next.to_be_bytes().to_vec()).is_ok() {
                state.sent = next;
            }
            let _ = self.server.send(*peer, POSITIONS, vec![0; 40]);
        }
        // Until the client has decided, it hears of the world from here.
        for peer in self.leaving.keys() {
            let _ = self.server.send(*peer, POSITIONS, vec![0; 40]);
        }
        let _ = self.server.flush();
        // A fifth of the players at once, at most.
        let to = name((self.index + 1) % NODES);
        for peer in self.players.keys().copied().collect::<Vec<_>>() {
            let most = shared.allowed.load(Ordering::Relaxed).min(shared.wanted);
            let is_enough = self.moves.under_way().0 >= AT_ONCE
                || shared.begun.load(Ordering::Relaxed) >= most + shared.stayed.load(Ordering::Relaxed);
            if is_enough {
                return;
            }
            if self.moves.begin(peer, to.clone(), "player").is_ok() {
                shared.begun.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

struct Player {
    client: Client,
    said: u32,
    heard: u32,
    is_connected: bool,
    next: Instant,
    heard_at: Option<Instant>,
    silence: Duration,
    /// Each, and whether the player had moved since the one before.
    gaps: Vec<(Duration, bool)>,
    server: Option<SocketAddr>,
}

impl Player {
    fn new(url: &str, loss: f64, index: usize) -> Result<Player, Box<dyn Error>> {
        let link = LinkConfig { loss: Loss::Random(loss), delay: Duration::from_millis(5), ..LinkConfig::default() };
        let impairment = Impairment { up: link.clone(), down: link, seed: index as u64 };
        let config = ClientConfig {
            reconnect: Some(Reconnect::default()),
            threading: Threading::Stepped,
            impairment: (loss > 0.0).then_some(impairment),
            ..ClientConfig::default()
        };
        Ok(Player {
            client: Client::connect(url, b"player", config)?,
            said: 0,
            heard: 0,
            is_connected: false,
            next: Instant::now() + TICK.mul_f64(index as f64 / 300.0),
            heard_at: None,
            silence: Duration::ZERO,
            gaps: Vec::new(),
            server: None,
        })
    }

    fn tick(&mut self) -> Result<(), Box<dyn Error>> {
        self.client.drive(Duration::ZERO)?;
        while let Some(event) = self.client.poll_event() {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Message { channel, payload, .. } => {
                    if channel == TRADES {
                        self.heard += 1;
                        assert_eq!(payload[..], self.heard.to_be_bytes(), "lost, doubled or reordered");
                    }
                    let now = Instant::now();
                    if let Some(last) = self.heard_at.replace(now) {
                        let gap = now - last;
                        self.silence = self.silence.max(gap);
                        // The two messages of a tick arrive together.
                        if gap > Duration::from_millis(2) {
                            let server = self.client.remote_addr();
                            self.gaps.push((gap, self.server.is_some() && self.server != server));
                            self.server = server;
                        }
                    }
                }
                Event::Closed { close, .. } => return Err(format!("a player was closed: {close:?}").into()),
                _ => {}
            }
        }
        if self.is_connected && Instant::now() >= self.next {
            self.next += TICK;
            self.said += 1;
            self.client.send(TRADES, self.said.to_be_bytes().to_vec())?;
            let _ = self.client.send(POSITIONS, vec![0; 20]);
        }
        Ok(())
    }
}

fn name(index: usize) -> NodeName {
    NodeName::new(&format!("n{index}")).expect("a name")
}

/// How often the players look at their sockets: three hundred looks take a millisecond.
const LOOK: Duration = Duration::from_millis(3);
/// Moves at once from each node.
const AT_ONCE: usize = 20;
const LATEST: Duration = Duration::from_secs(300);
/// How long players play who are not moved.
const STAYING: Duration = Duration::from_secs(30);
