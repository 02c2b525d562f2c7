//! A game with packet types: each is defined in `proto/game.proto`, and travels on a channel of its own with a suitable
//! delivery rule. The server simulates ticks; a player moves, and says hello.
//!
//! `cargo run -p skipstone-examples --example typed`

use game::{ChatLine, Player, PlayerInput, Snapshot};
use prost::Message;
use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, Group, PeerId, Server, ServerConfig, Settings, StartError,
    code,
};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Each call of the library has an error of its own, with cause and remedy.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The packet types, made by `build.rs`.
pub mod game {
    include!(concat!(env!("OUT_DIR"), "/game.rs"));
}

/// A packet type: its channel, and the channel's delivery mode.
pub trait Packet: Message + Default {
    /// The type's channel. No other type uses it, so that the channel identifies the type.
    const CHANNEL: u16;
    /// The channel's delivery mode.
    const MODE: DeliveryMode;
    /// 0 is the most urgent.
    const PRIORITY: u8;

    /// The channel's rule in the settings.
    fn rule() -> ChannelRule {
        ChannelRule { priority: Self::PRIORITY, ..ChannelRule::new(Self::CHANNEL..=Self::CHANNEL, Self::MODE) }
    }
}

/// A lost input is not retransmitted: the next input replaces it. An input that arrives late is dropped.
impl Packet for PlayerInput {
    const CHANNEL: u16 = 0;
    const MODE: DeliveryMode = DeliveryMode::UnreliableSequenced;
    const PRIORITY: u8 = 0;
}

/// Snapshots are for interpolation: a late one may still be useful, a lost one is not worth waiting for.
impl Packet for Snapshot {
    const CHANNEL: u16 = 1;
    const MODE: DeliveryMode = DeliveryMode::Unreliable;
    const PRIORITY: u8 = 0;
}

/// Chat lines arrive reliably and in order; they can wait while the game needs the network.
impl Packet for ChatLine {
    const CHANNEL: u16 = 2;
    const MODE: DeliveryMode = DeliveryMode::ReliableOrdered;
    const PRIORITY: u8 = 1;
}

/// The server's settings; clients learn them when they connect.
pub fn settings() -> Settings {
    Settings { channels: vec![PlayerInput::rule(), Snapshot::rule(), ChatLine::rule()], ..Settings::default() }
}

const TICK: Duration = Duration::from_millis(50);
/// How far a player moves in a tick.
const SPEED: f32 = 0.25;
/// An application's own close codes are below 1,000.
const CODE_BAD_PACKET: u64 = 1;
const LINGER: Duration = Duration::from_millis(500);

/// Plays for two ticks.
pub fn main() -> Result<(), Failure> {
    let (snapshot, line) = play()?;
    println!("{snapshot:?}");
    println!("{line:?}");
    Ok(())
}

/// A server and a player, until the player has seen itself move in two ticks and has heard what it said.
pub fn play() -> Result<(Snapshot, ChatLine), Failure> {
    let config = ServerConfig { settings: settings(), ..ServerConfig::new("127.0.0.1:0".parse()?) };
    let mut world = World { server: Server::start(config)?, tick: 0, players: BTreeMap::new() };
    let url = world.server.url();
    let mut visitor = Visitor::connect(&url)?;
    let mut next_tick = Instant::now();
    // A real game has the two halves of this loop in two programs.
    let seen_and_heard = loop {
        if next_tick <= Instant::now() {
            next_tick += TICK;
            world.tick()?;
        }
        visitor.frame()?;
        if let (Some(snapshot), Some(line)) = (&visitor.seen, &visitor.heard)
            && snapshot.players.iter().any(|player| player.x >= 2.0 * SPEED)
        {
            break (snapshot.clone(), line.clone());
        }
    };
    world.server.shutdown(code::SHUTDOWN, "the example is over", LINGER);
    Ok(seen_and_heard)
}

/// The game on the server.
struct World {
    server: Server,
    tick: u32,
    /// Position and newest input of each player.
    players: BTreeMap<PeerId, (Player, PlayerInput)>,
}

impl World {
    /// Receives messages, moves all players, and sends the snapshot to everybody.
    fn tick(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, .. } => self.server.accept(peer)?,
                Event::Connected { peer, .. } => {
                    let player = Player { id: peer.index, ..Player::default() };
                    self.players.insert(peer, (player, PlayerInput::default()));
                }
                Event::Message { peer, channel, payload, .. } => self.handle_message(peer, channel, &payload)?,
                Event::Closed { peer, .. } => drop(self.players.remove(&peer)),
                _ => {}
            }
        }
        if !self.players.is_empty() {
            self.simulate()?;
        }
        self.server.flush()?;
        Ok(())
    }

    fn simulate(&mut self) -> Result<(), Failure> {
        self.tick += 1;
        for (player, input) in self.players.values_mut() {
            // A client may send any value: the server limits the length of a step.
            player.x += SPEED * input.move_x.clamp(-1.0, 1.0);
            player.y += SPEED * input.move_y.clamp(-1.0, 1.0);
        }
        let players = self.players.values().map(|(player, _)| *player).collect();
        self.broadcast(&Snapshot { tick: self.tick, players })
    }

    fn handle_message(&mut self, peer: PeerId, channel: u16, payload: &[u8]) -> Result<(), Failure> {
        match channel {
            PlayerInput::CHANNEL => {
                if let (Ok(input), Some((_, newest))) = (PlayerInput::decode(payload), self.players.get_mut(&peer)) {
                    *newest = input;
                }
            }
            ChatLine::CHANNEL => match ChatLine::decode(payload) {
                Ok(line) => self.broadcast(&line)?,
                Err(_) => drop(self.server.close(peer, CODE_BAD_PACKET, "that is no chat line", LINGER)),
            },
            // Snapshots come from the server only.
            _ => drop(self.server.close(peer, CODE_BAD_PACKET, "clients do not send this", LINGER)),
        }
        Ok(())
    }

    fn broadcast<P: Packet>(&mut self, packet: &P) -> Result<(), Failure> {
        self.server.broadcast(Group::EVERYONE, P::CHANNEL, packet.encode_to_vec())?;
        Ok(())
    }
}

/// The game on a player's machine.
struct Visitor {
    client: Client,
    is_connected: bool,
    frame: u32,
    /// The newest snapshot received.
    seen: Option<Snapshot>,
    /// The newest line received.
    heard: Option<ChatLine>,
}

impl Visitor {
    fn connect(url: &str) -> Result<Visitor, StartError> {
        let client = Client::connect(url, b"", ClientConfig::default())?;
        Ok(Visitor { client, is_connected: false, frame: 0, seen: None, heard: None })
    }

    /// Receives messages, and sends an input to the right.
    fn frame(&mut self) -> Result<(), Failure> {
        // A game draws its frame here.
        self.client.wait(Duration::from_millis(10));
        self.handle_events()?;
        if self.is_connected {
            self.frame += 1;
            self.send(&PlayerInput { frame: self.frame, move_x: 1.0, move_y: 0.0 })?;
        }
        Ok(())
    }

    fn handle_events(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.client.poll_event() {
            match event {
                Event::Connected { .. } => {
                    self.is_connected = true;
                    self.send(&ChatLine { text: "hello".into() })?;
                }
                Event::Message { channel: Snapshot::CHANNEL, payload, .. } => {
                    let snapshot = Snapshot::decode(payload)?;
                    // The channel does not keep the order, so the client looks for the newest.
                    if self.seen.as_ref().is_none_or(|seen| seen.tick < snapshot.tick) {
                        self.seen = Some(snapshot);
                    }
                }
                Event::Message { channel: ChatLine::CHANNEL, payload, .. } => {
                    self.heard = Some(ChatLine::decode(payload)?);
                }
                Event::Closed { close, .. } => return Err(close.reason_text().into()),
                _ => {}
            }
        }
        Ok(())
    }

    fn send<P: Packet>(&mut self, packet: &P) -> Result<(), Failure> {
        self.client.send(P::CHANNEL, packet.encode_to_vec())?;
        Ok(())
    }
}
