//! A player whose connection ends comes back as the same player: after a growing pause with a random part, and without
//! an order that is lost or counted twice.
//!
//! A connection does not resume; a new one begins. So the game remembers who the player is (by a session token), and
//! which of the player's orders have arrived (by their numbers).
//!
//! `cargo run -p skipstone-examples --example reconnect`

use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, MessageId, PeerId, Server, ServerConfig, Settings, code,
};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::time::{Duration, Instant};

/// The number of orders of the player in this example.
pub const ORDERS: u32 = 30;
/// After these orders the server ends every connection.
const INTERRUPTIONS: [usize; 2] = [7, 19];
/// The game's own close code for an interruption.
const CODE_INTERRUPTED: u64 = 1;

/// Plays a game that is interrupted twice.
pub fn main() -> Result<(), Box<dyn Error>> {
    let (orders, connections) = play()?;
    println!("{} orders, each once and in order, over {connections} connections", orders.len());
    Ok(())
}

/// Returns the orders that arrived, and the number of connections that they needed.
pub fn play() -> Result<(Vec<u32>, u32), Box<dyn Error>> {
    let mut game = Game::start()?;
    let mut player = Player::new(&game.server.url());
    let (mut interruptions, deadline) =
        (INTERRUPTIONS.into_iter().peekable(), Instant::now() + Duration::from_secs(30));
    while game.orders().len() < ORDERS as usize {
        if Instant::now() > deadline {
            return Err("the game takes too long".into());
        }
        if player.last_order < ORDERS {
            player.order();
        }
        player.frame()?;
        game.frame()?;
        if interruptions.next_if(|after| game.orders().len() >= *after).is_some() {
            game.interrupt()?;
        }
    }
    Ok((game.orders().to_vec(), player.connections))
}

/// Pause before the next attempt: twice as long each time, and half of it random, so that a thousand players who lost
/// the same server do not come back at the same moment.
#[derive(Clone, Copy, Debug)]
pub struct BackOff {
    next: Duration,
}

impl BackOff {
    /// The maximum of the first pause.
    pub const FIRST: Duration = Duration::from_millis(100);
    /// Longest pause.
    pub const MAX: Duration = Duration::from_secs(10);

    /// The state after an established connection.
    pub fn new() -> Self {
        BackOff { next: Self::FIRST }
    }

    /// The next pause; `chance` is any random number.
    pub fn pause(&mut self, chance: u32) -> Duration {
        let half = self.next / 2;
        self.next = (self.next * 2).min(Self::MAX);
        half + half.mul_f64(f64::from(chance) / f64::from(u32::MAX))
    }
}

impl Default for BackOff {
    fn default() -> Self {
        Self::new()
    }
}

/// An order that the server has not acknowledged.
#[derive(Debug)]
struct Order {
    number: u32,
    /// Id of the order's message on the present connection, if it was sent there.
    sent_as: Option<MessageId>,
}

/// The player's side, which continues while there is no connection.
pub struct Player {
    url: String,
    /// Session token from the server, by which the game recognises the player.
    session: String,
    client: Option<Client>,
    is_connected: bool,
    retry_at: Instant,
    back_off: BackOff,
    orders: VecDeque<Order>,
    last_order: u32,
    /// Number of connections that were established.
    pub connections: u32,
}

impl Player {
    /// A player who has never been in the game.
    pub fn new(url: &str) -> Self {
        Player {
            url: url.into(),
            session: String::new(),
            client: None,
            is_connected: false,
            retry_at: Instant::now(),
            back_off: BackOff::new(),
            orders: VecDeque::new(),
            last_order: 0,
            connections: 0,
        }
    }

    /// Gives an order, connected or not. The player keeps the order until the server has acknowledged it.
    pub fn order(&mut self) {
        self.last_order += 1;
        self.orders.push_back(Order { number: self.last_order, sent_as: None });
    }

    /// Runs one frame of the player.
    pub fn frame(&mut self) -> Result<(), Box<dyn Error>> {
        if self.client.is_none() && Instant::now() >= self.retry_at {
            let config = ClientConfig { handshake_timeout: Duration::from_secs(3), ..ClientConfig::default() };
            self.client = Some(Client::connect(&self.url, self.session.as_bytes(), config)?);
        }
        while let Some(event) = self.client.as_mut().and_then(Client::poll_event) {
            self.hear(event)?;
        }
        self.send_next_order();
        Ok(())
    }

    fn hear(&mut self, event: Event) -> Result<(), Box<dyn Error>> {
        match event {
            Event::Connected { .. } => {
                (self.is_connected, self.back_off) = (true, BackOff::new());
                self.connections += 1;
            }
            Event::Message { payload, .. } => self.session = String::from_utf8_lossy(&payload).into_owned(),
            // The channel has receipts: this order has arrived.
            Event::Acknowledged { id, .. } => self.orders.retain(|order| order.sent_as != Some(id)),
            Event::Closed { close, .. } => {
                // A player that the server refuses, or that is at the wrong server, does not reconnect.
                if matches!(close.code, code::REFUSED | code::KICKED | code::SECURITY | code::NO_COMMON_VERSION) {
                    return Err(close.reason_text().into());
                }
                // Orders without a receipt may have arrived or not: all of them are sent again, and the server
                // recognises duplicates by their numbers. (With receipts each of them has also ended in `GivenUp`, just
                // before.)
                self.orders.iter_mut().for_each(|order| order.sent_as = None);
                (self.client, self.is_connected) = (None, false);
                self.retry_at = Instant::now() + self.back_off.pause(chance()?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends the oldest order that was not sent on this connection: one in each frame.
    fn send_next_order(&mut self) {
        let Some(client) = self.client.as_mut().filter(|_| self.is_connected) else { return };
        if let Some(order) = self.orders.iter_mut().find(|order| order.sent_as.is_none()) {
            // A full queue, or a connection that just ended: the next frame tries again.
            order.sent_as = client.send(0, order.number.to_string()).ok();
        }
    }
}

/// A random number.
fn chance() -> Result<u32, Box<dyn Error>> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes)?;
    Ok(u32::from_ne_bytes(bytes))
}

/// The game's record of a player, connected or not. A real game forgets a session after some minutes.
#[derive(Debug, Default)]
struct Session {
    /// The session's present connection.
    peer: Option<PeerId>,
    orders: Vec<u32>,
}

/// The server's side.
pub struct Game {
    server: Server,
    /// Sessions by the token that the game gave to the player.
    sessions: BTreeMap<String, Session>,
    /// The session token of each connection.
    here: BTreeMap<PeerId, String>,
}

impl Game {
    /// A game without players.
    pub fn start() -> Result<Self, Box<dyn Error>> {
        let orders = ChannelRule { receipts: true, ..ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered) };
        let settings = Settings { channels: vec![orders], ..Settings::default() };
        let server = Server::start(ServerConfig { settings, ..ServerConfig::new("127.0.0.1:0".parse()?) })?;
        Ok(Game { server, sessions: BTreeMap::new(), here: BTreeMap::new() })
    }

    /// The orders received from the only player.
    pub fn orders(&self) -> &[u32] {
        self.sessions.values().next().map_or(&[], |session| &session.orders)
    }

    /// Runs one tick of the server.
    pub fn frame(&mut self) -> Result<(), Box<dyn Error>> {
        self.server.wait(Duration::from_millis(2));
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, token, .. } => self.let_in(peer, &token)?,
                Event::Connected { peer, .. } => {
                    let Some(session) = self.here.get(&peer) else { continue };
                    // May fail if the player has left again; then `Closed` follows.
                    let _ = self.server.send(peer, 0, session.clone());
                }
                Event::Message { peer, payload, .. } => {
                    let session = self.here.get(&peer).and_then(|session| self.sessions.get_mut(session));
                    let (Some(session), Ok(text)) = (session, std::str::from_utf8(&payload)) else { continue };
                    let number: u32 = text.parse()?;
                    // An order that came over the previous connection, but whose receipt was lost, is not counted
                    // twice.
                    if session.orders.last().is_none_or(|last| number > *last) {
                        session.orders.push(number);
                    }
                }
                Event::Closed { peer, .. } => drop(self.here.remove(&peer)),
                _ => {}
            }
        }
        self.server.flush()?;
        Ok(())
    }

    /// A new player, or one who returns.
    fn let_in(&mut self, peer: PeerId, token: &[u8]) -> Result<(), Box<dyn Error>> {
        let known = std::str::from_utf8(token).ok().filter(|token| self.sessions.contains_key(*token));
        let token = match known {
            Some(token) => token.to_owned(),
            None => {
                // The token cannot be guessed, and it travels encrypted: a client that has it is this player.
                let mut bytes = [0; 16];
                getrandom::fill(&mut bytes)?;
                bytes.iter().map(|byte| format!("{byte:02x}")).collect()
            }
        };
        let session = self.sessions.entry(token.clone()).or_default();
        // The player may have lost a connection that the server still considers established.
        if let Some(before) = session.peer.replace(peer)
            && self.here.remove(&before).is_some()
        {
            let _ = self.server.close(before, CODE_INTERRUPTED, "the player has come back", Duration::ZERO);
        }
        self.here.insert(peer, token);
        // May fail if the player has already left; then `Closed` follows.
        let _ = self.server.accept(peer);
        Ok(())
    }

    /// Ends every connection, as a server does before its replacement starts.
    pub fn interrupt(&mut self) -> Result<(), Box<dyn Error>> {
        for peer in self.here.keys().copied().collect::<Vec<_>>() {
            self.server.close(peer, CODE_INTERRUPTED, "interrupted", Duration::ZERO)?;
        }
        Ok(())
    }
}
