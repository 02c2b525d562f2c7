//! A client plays on while it is moved from server to server: nothing reliable is lost, doubled or reordered, in either
//! direction, and whatever fails leaves it where it is.

use skipstone::netsim::{LinkConfig, Loss};
use skipstone::{
    ChannelRule, Client, ClientConfig, Close, DeliveryMode, Event, Impairment, MessageId, MoveError, MoveId, MoveStage,
    PeerId, Pool, PoolConfig, Reconnect, Security, SendError, SendRefusal, Server, ServerConfig, Settings, Stayed,
    Target, Threading,
};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Shorter than the idle timeout.
const PATIENCE: Duration = Duration::from_secs(20);
const TRADES: u16 = 0;
const POSITIONS: u16 = 1;
const MOVES: u16 = 2;
const LINGER: Duration = Duration::from_secs(5);

/// A server with what its application knows.
struct Node {
    server: Server,
    /// The client, once it is a player of this node.
    player: Option<PeerId>,
    /// A client that came with a ticket, and is not a player yet.
    guest: Option<PeerId>,
    /// Whether that one is connected: it may know that before the node does.
    is_guest_here: bool,
    is_able: bool,
}

/// The client under test.
enum Mover {
    Single(Box<Client>),
    /// One of a pool, with the id that it keeps.
    Pooled(Box<Pool>, PeerId),
}

impl Mover {
    fn wait(&mut self) {
        match self {
            Mover::Single(client) => client.wait(Duration::from_millis(1)),
            Mover::Pooled(pool, _) => pool.drive(Duration::from_millis(1)).expect("it waits"),
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        match self {
            Mover::Single(client) => client.poll_event(),
            Mover::Pooled(pool, own) => {
                let event = pool.poll_event()?;
                assert_eq!(event.peer(), *own, "a client keeps its id over moves");
                Some(event)
            }
        }
    }

    fn send(&mut self, channel: u16, payload: impl Into<Vec<u8>>) -> Result<MessageId, SendError> {
        match self {
            Mover::Single(client) => client.send(channel, payload.into()),
            Mover::Pooled(pool, own) => pool.send(*own, channel, payload.into()),
        }
    }

    /// Whether its connection began.
    fn is_there(&self) -> bool {
        match self {
            Mover::Single(client) => client.overview().is_some(),
            Mover::Pooled(pool, own) => pool.overview(*own).is_some(),
        }
    }

    fn sent_messages(&self) -> u64 {
        let overview = match self {
            Mover::Single(client) => client.overview(),
            Mover::Pooled(pool, own) => pool.overview(*own),
        };
        overview.map_or(0, |overview| overview.stats.sent.messages)
    }
}

/// Two nodes and a client, and what each side has sent and received.
struct Stage {
    nodes: [Node; 2],
    client: Mover,
    moves: u64,
    stays: Vec<Stayed>,
    up: Sequence,
    down: Sequence,
    positions: usize,
    closed: Option<Close>,
    /// Ids of all messages on the channel with receipts, and whether they were acknowledged.
    receipts: BTreeMap<MessageId, bool>,
    /// What a node does with a client that is ready.
    welcomes: bool,
    /// The node to which a client is ready to go.
    ready: Option<(usize, MoveId)>,
}

#[derive(Default)]
struct Sequence {
    sent: u32,
    received: u32,
}

impl Sequence {
    fn next(&mut self) -> Vec<u8> {
        self.sent += 1;
        self.sent.to_be_bytes().to_vec()
    }

    /// Each number once, and in order.
    fn take(&mut self, payload: &[u8], by: &str) {
        let number = u32::from_be_bytes(payload.try_into().expect("a number"));
        assert_eq!(number, self.received + 1, "{by}");
        self.received = number;
    }
}

fn settings() -> Settings {
    let channels = vec![
        ChannelRule { receipts: true, ..ChannelRule::new(TRADES..=TRADES, DeliveryMode::ReliableOrdered) },
        ChannelRule::new(POSITIONS..=POSITIONS, DeliveryMode::UnreliableSequenced),
        ChannelRule { receipts: true, ..ChannelRule::new(MOVES..=MOVES, DeliveryMode::ReliableOrdered) },
    ];
    Settings { channels, moves_channel: MOVES.into(), ..Settings::default() }
}

fn node(security: &Security) -> Node {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let config = ServerConfig { security: Some(security.clone()), settings: settings(), ..ServerConfig::new(listen) };
    Node {
        server: Server::start(config).expect("a port"),
        player: None,
        guest: None,
        is_guest_here: false,
        is_able: false,
    }
}

impl Stage {
    fn new(carrier: &str, config: ClientConfig) -> Stage {
        let security = Security::self_signed().expect("a certificate");
        let nodes = [node(&security), node(&security)];
        let url = match carrier {
            "tcp" => format!("tcp://127.0.0.1:{}", nodes[0].server.local_addr().port()),
            carrier => nodes[0].server.url().replacen("skip://", carrier, 1),
        };
        let config = ClientConfig { reconnect: Some(Reconnect::default()), ..config };
        let client = Client::connect(&url, b"first", config).expect("a socket");
        Stage::with(nodes, Mover::Single(Box::new(client)))
    }

    /// The client is one of a pool.
    fn pooled() -> Stage {
        let security = Security::self_signed().expect("a certificate");
        let nodes = [node(&security), node(&security)];
        let mut pool = Pool::new(PoolConfig { follows_moves: true, ..PoolConfig::default() }).expect("a poll");
        let target: Target = nodes[0].server.url().parse().expect("a URL");
        // Its place is not the first: ids of connections and of clients differ.
        let away = pool.add(&target, "127.0.0.1:9".parse().expect("an address"), b"", None).expect("a socket");
        pool.close(away, 0, "", Duration::ZERO).expect("it is there");
        while !matches!(pool.poll_event(), Some(Event::Closed { .. })) {
            pool.drive(Duration::from_millis(1)).expect("it waits");
        }
        let own = pool.add(&target, nodes[0].server.local_addr(), b"first", None).expect("a socket");
        Stage::with(nodes, Mover::Pooled(Box::new(pool), own))
    }

    fn with(nodes: [Node; 2], client: Mover) -> Stage {
        let (up, down) = (Sequence::default(), Sequence::default());
        let mut stage = Stage {
            nodes,
            client,
            moves: 0,
            stays: Vec::new(),
            up,
            down,
            positions: 0,
            closed: None,
            receipts: BTreeMap::new(),
            welcomes: true,
            ready: None,
        };
        stage.play_until(|stage| stage.nodes[0].is_able);
        stage
    }

    fn play_until(&mut self, is_done: impl Fn(&Stage) -> bool) {
        let began = Instant::now();
        while !is_done(self) {
            assert!(began.elapsed() < PATIENCE, "{} moves, stays: {:?}", self.moves, self.stays);
            self.step();
        }
    }

    fn step(&mut self) {
        self.client.wait();
        let mut is_connected = self.client.is_there() && self.closed.is_none();
        while let Some(event) = self.client.poll_event() {
            match event {
                Event::Message { channel: TRADES, payload, .. } => self.down.take(&payload, "the client"),
                Event::Message { channel: POSITIONS, .. } => self.positions += 1,
                Event::Closed { close, .. } => {
                    is_connected = false;
                    self.closed = Some(close);
                }
                Event::Acknowledged { id, channel, .. } => {
                    let was = self.receipts.insert(id, true);
                    assert_eq!((channel, was), (TRADES, Some(false)), "one receipt for each message, and no other");
                }
                Event::GivenUp { .. } | Event::Message { .. } => panic!("{event:?}"),
                _ => {}
            }
        }
        if is_connected {
            let payload = self.up.next();
            match self.client.send(TRADES, payload) {
                Ok(id) => assert_eq!(self.receipts.insert(id, false), None, "ids are unique over moves"),
                Err(_) => self.up.sent -= 1,
            }
            let _ = self.client.send(POSITIONS, "here");
        }
        for at in 0..2 {
            self.step_node(at);
        }
    }

    fn step_node(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        while let Some(event) = node.server.poll_event() {
            match event {
                Event::Requested { peer, token, .. } => {
                    if &token[..] == b"ticket" {
                        (node.guest, node.is_guest_here) = (Some(peer), false);
                    } else {
                        node.player = Some(peer);
                    }
                    node.server.accept(peer).expect("it waits");
                }
                Event::Connected { peer, .. } => node.is_guest_here |= node.guest == Some(peer),
                Event::Message { channel: TRADES, payload, peer, .. } => {
                    assert_eq!(Some(peer), node.player, "only a player's messages arrive");
                    self.up.take(&payload, "a server");
                }
                Event::Move { peer, stage } => match stage {
                    MoveStage::Able => node.is_able = true,
                    MoveStage::Ready(id) => {
                        self.ready = Some((1 - at, id));
                        // The player is handed over: nothing reliable follows.
                        node.is_able = false;
                    }
                    MoveStage::Stayed(_, why) => {
                        self.ready = None;
                        self.stays.push(why);
                        // A player again, to whom the node may write.
                        node.is_able = true;
                    }
                    MoveStage::Arrived(_) => {
                        node.player = node.guest.take();
                        node.is_able = true;
                        self.moves += 1;
                    }
                    MoveStage::Left(_) => {
                        node.is_able = false;
                        node.server.close(peer, 1, "moved", LINGER).expect("it is open");
                    }
                    stage => panic!("{stage:?}"),
                },
                Event::Acknowledged { channel, .. } => assert_eq!(channel, TRADES, "the others are the library's"),
                Event::Closed { peer, .. } => {
                    if node.player == Some(peer) {
                        node.player = None;
                    }
                    if node.guest == Some(peer) {
                        node.guest = None;
                    }
                }
                _ => {}
            }
        }
        if let Some(player) = node.player.filter(|_| node.is_able) {
            let payload = self.down.next();
            if node.server.send(player, TRADES, payload).is_err() {
                self.down.sent -= 1;
            }
            let _ = node.server.send(player, POSITIONS, "there");
        }
        node.server.flush().expect("the driver runs");
        if let Some((to, id)) = self.ready
            && let Some(guest) = self.nodes[to].guest.filter(|_| self.welcomes && self.nodes[to].is_guest_here)
        {
            self.nodes[to].server.welcome(guest, id).expect("it is connected");
            self.ready = None;
        }
    }

    fn home(&self) -> usize {
        usize::from(self.nodes[1].player.is_some())
    }

    fn begin_move(&mut self, destination: &str) {
        let from = self.home();
        let player = self.nodes[from].player.expect("a player");
        let id = MoveId(self.moves + 1);
        self.nodes[from].server.move_client(player, id, destination, b"ticket").expect("it is able");
    }

    fn move_over(&mut self) {
        let (from, done) = (self.home(), self.moves + 1);
        let there = self.nodes[1 - from].server.local_addr().to_string();
        while self.moves < done {
            self.begin_move(&there);
            self.play_until(|stage| stage.moves == done || stage.stays.last() == Some(&Stayed::Busy));
            // The client may hear out the former server still, which has heard the last of it.
            self.stays.retain(|why| *why != Stayed::Busy);
        }
        self.play_until(|stage| stage.nodes[from].player.is_none());
    }

    /// Everything that was sent arrives.
    fn settle(&mut self) {
        let (up, down) = (self.up.sent, self.down.sent);
        self.play_until(|stage| stage.up.received >= up && stage.down.received >= down);
        assert_eq!(self.closed, None, "the application sees no end");
        let sent = self.receipts.len();
        self.play_until(|stage| stage.receipts.values().take(sent).all(|is_acknowledged| *is_acknowledged));
    }
}

fn lossy(loss: f64) -> ClientConfig {
    let link = LinkConfig {
        loss: Loss::Random(loss),
        delay: Duration::from_millis(5),
        jitter: Duration::from_millis(3),
        ..LinkConfig::default()
    };
    let impairment = Impairment { up: link.clone(), down: link, seed: 7 };
    ClientConfig { impairment: Some(impairment), ..ClientConfig::default() }
}

#[test]
fn nothing_reliable_is_lost_doubled_or_reordered_over_moves() {
    let stepped = ClientConfig { threading: Threading::Stepped, ..ClientConfig::default() };
    for (carrier, config, moves) in [
        ("skip://", ClientConfig::default(), 30),
        ("skip://", stepped, 10),
        ("wss://", ClientConfig::default(), 5),
        ("tcp", ClientConfig::default(), 5),
    ] {
        let mut stage = Stage::new(carrier, config);
        for _ in 0..moves {
            stage.move_over();
        }
        stage.settle();
        assert!(stage.positions > 0 && stage.stays.is_empty(), "{carrier}");
    }
}

#[test]
fn a_client_of_a_pool_moves_as_any_other_and_keeps_its_id_and_counters() {
    let mut stage = Stage::pooled();
    for _ in 0..10 {
        stage.move_over();
    }
    stage.settle();
    assert!(stage.positions > 0 && stage.stays.is_empty());
    let sent = u64::from(stage.up.received);
    // Figures are published now and then. Those of former connections are among them.
    stage.play_until(|stage| stage.client.sent_messages() >= sent);
}

#[test]
fn loss_delays_a_move_and_breaks_none() {
    let mut stage = Stage::new("skip://", lossy(0.05));
    for _ in 0..15 {
        stage.move_over();
    }
    stage.settle();
}

#[test]
fn a_client_that_cannot_get_there_plays_on_here() {
    let mut stage = Stage::new("skip://", ClientConfig::default());
    // Nobody listens there: the handshake ends at once, by ICMP, or with its timeout.
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("it is bound");
    stage.begin_move(&closed.to_string());
    stage.play_until(|stage| !stage.stays.is_empty());
    assert!(matches!(stage.stays[..], [Stayed::Refused | Stayed::Late]), "{:?}", stage.stays);
    stage.move_over();
    stage.settle();
}

#[test]
fn a_cancelled_move_returns_what_was_held_back() {
    for mut stage in [Stage::new("skip://", ClientConfig::default()), Stage::pooled()] {
        cancel_a_move(&mut stage);
    }
}

fn cancel_a_move(stage: &mut Stage) {
    stage.welcomes = false;
    let there = stage.nodes[1].server.local_addr().to_string();
    stage.begin_move(&there);
    stage.play_until(|stage| stage.nodes[1].guest.is_some() && !stage.nodes[0].is_able);
    for _ in 0..20 {
        stage.step();
    }
    let player = stage.nodes[0].player.expect("still here");
    stage.nodes[0].server.cancel_move(player, MoveId(1)).expect("it is connected");
    stage.play_until(|stage| stage.stays == [Stayed::Cancelled]);
    // The server that was not chosen hears of it, long before its idle timeout.
    stage.play_until(|stage| stage.nodes[1].guest.is_none());
    stage.welcomes = true;
    stage.settle();
    stage.move_over();
    stage.settle();
}

#[test]
fn a_client_that_is_closed_while_it_moves_sends_what_it_held_back() {
    let mut stage = Stage::new("skip://", ClientConfig::default());
    stage.welcomes = false;
    let there = stage.nodes[1].server.local_addr().to_string();
    stage.begin_move(&there);
    stage.play_until(|stage| stage.nodes[1].guest.is_some() && !stage.nodes[0].is_able);
    let Stage { mut nodes, client, mut up, .. } = stage;
    let Mover::Single(mut client) = client else { panic!("it is one of a pool") };
    for _ in 0..20 {
        client.send(TRADES, up.next()).expect("it is held back");
    }
    client.close(5, "enough", LINGER);
    let began = Instant::now();
    let mut ends = 0;
    while ends < 2 {
        assert!(began.elapsed() < PATIENCE, "{} of {} came, {ends} ends", up.received, up.sent);
        for node in &mut nodes {
            node.server.wait(Duration::from_millis(1));
            while let Some(event) = node.server.poll_event() {
                match event {
                    Event::Message { channel: TRADES, payload, .. } => up.take(&payload, "the server"),
                    Event::Closed { .. } => ends += 1,
                    _ => {}
                }
            }
        }
    }
    assert_eq!(up.received, up.sent, "all before the close");
}

#[test]
fn the_channel_of_moves_is_not_the_applications() {
    let mut stage = Stage::new("skip://", ClientConfig::default());
    let refusal = SendRefusal::NoSuchChannel { channel: MOVES };
    assert_eq!(stage.client.send(MOVES, "mine").expect_err("it is refused").reason, refusal);
    let player = stage.nodes[0].player.expect("a player");
    let server = &mut stage.nodes[0].server;
    assert_eq!(server.send(player, MOVES, "mine").expect_err("it is refused").reason, refusal);
    for destination in ["", "nowhere", "a b:1", "host:0", &format!("{}:1", "a".repeat(300))] {
        let error = server.move_client(player, MoveId(1), destination, b"").expect_err("it is refused");
        assert_eq!(error, MoveError::Destination, "{destination}");
    }
    let error = server.move_client(player, MoveId(1), "a:1", &[0; 1_025]).expect_err("it is refused");
    assert_eq!(error, MoveError::Token(1_025));
    let config = ServerConfig {
        settings: Settings { moves_channel: POSITIONS.into(), ..settings() },
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    let error = Server::start(config).expect_err("positions are unreliable").to_string();
    assert!(error.contains("moves_channel") && error.contains("reliable-ordered"), "{error}");
}
