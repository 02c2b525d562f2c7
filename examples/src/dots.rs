//! Moving dots: native players and web pages in one game, with the packets of `proto/game.proto`.
//!
//! `cargo run -p skipstone-examples --example dots -- 127.0.0.1:7777` serves, and runs three native players that walk
//! in circles. The page `clients/web/examples/dots.html` joins it (`npm run examples` in `clients/web`), and shows loss
//! and latency. A second argument is a file for a recording of the traffic, which `skipstone compare` plays.

use prost::Message;
use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, Group, PeerId, Server, ServerConfig, Settings,
    TrafficRecorder, code,
};
use skipstone_examples::Failure;
use skipstone_examples::typed::game::{ChatLine, Player, PlayerInput, Snapshot, Welcome};
use skipstone_examples::typed::{self, Packet};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// 30 ticks a second.
const TICK: Duration = Duration::from_micros(33_333);
/// How far a player moves in a tick; the world reaches from -1 to 1 in both directions.
const SPEED: f32 = 0.02;
const LINGER: Duration = Duration::from_millis(500);
const NATIVE_PLAYERS: u32 = 3;
/// A recording stops at this size: a day of the native players.
const RECORDING_BYTES_MAX: u64 = 64 << 20;
/// The channel of `Welcome`, which is sent once; the channels of the other packets are declared with them.
const WELCOME: u16 = 3;

/// Serves until the process ends.
pub fn main() -> Result<(), Failure> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7777".into());
    let mut server = start(&address)?;
    if let Some(file) = std::env::args().nth(2) {
        server.record_traffic(TrafficRecorder::create(file, RECORDING_BYTES_MAX)?);
    }
    println!("native  {}", server.url());
    println!("pages   ws://{}", server.local_addr());
    let (url, stop) = (server.url(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for number in 0..NATIVE_PLAYERS {
            let (url, stop) = (&url, &stop);
            scope.spawn(move || walk(url, number, stop));
        }
        let served = serve(server, &stop);
        stop.store(true, Ordering::Relaxed);
        served
    })
}

/// A server with the channels of the packets. Pages of any origin are allowed, because this is an example.
pub fn start(address: &str) -> Result<Server, Failure> {
    let mut config = ServerConfig::new(address.parse()?);
    // A closed tab that sends no close is removed after this time.
    let mut settings = Settings { idle_timeout: Duration::from_secs(5), ..typed::settings() };
    settings.keepalive = Duration::from_secs(2);
    settings.channels.push(ChannelRule::new(WELCOME..=WELCOME, DeliveryMode::ReliableOrdered));
    config.settings = settings;
    Ok(Server::start(config)?)
}

/// Runs the game until it is stopped.
pub fn serve(server: Server, stop: &AtomicBool) -> Result<(), Failure> {
    let mut game = Game { server, tick: 0, players: BTreeMap::new() };
    while !stop.load(Ordering::Relaxed) {
        // Inputs do not shorten the tick.
        game.server.wait_tick(TICK);
        game.receive()?;
        game.tick()?;
    }
    game.server.shutdown(code::SHUTDOWN, "the game is over", LINGER);
    Ok(())
}

struct Game {
    server: Server,
    tick: u32,
    players: BTreeMap<PeerId, (Player, PlayerInput)>,
}

impl Game {
    fn receive(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, .. } => self.server.accept(peer)?,
                Event::Connected { peer, .. } => {
                    let player = Player { id: peer.index, ..Player::default() };
                    self.server.send(peer, WELCOME, Welcome { id: peer.index }.encode_to_vec())?;
                    self.players.insert(peer, (player, PlayerInput::default()));
                }
                Event::Message { peer, channel, payload, .. } => self.on_message(peer, channel, &payload)?,
                Event::Closed { peer, .. } => drop(self.players.remove(&peer)),
                _ => {}
            }
        }
        Ok(())
    }

    fn on_message(&mut self, peer: PeerId, channel: u16, payload: &[u8]) -> Result<(), Failure> {
        match channel {
            PlayerInput::CHANNEL => {
                if let (Ok(input), Some((_, newest))) = (PlayerInput::decode(payload), self.players.get_mut(&peer)) {
                    *newest = input;
                }
            }
            ChatLine::CHANNEL if ChatLine::decode(payload).is_ok() => {
                self.server.broadcast(Group::EVERYONE, ChatLine::CHANNEL, payload.to_vec())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Failure> {
        self.tick += 1;
        for (player, input) in self.players.values_mut() {
            // A client may send any value; one that is not a number does not move the player.
            let step = |to: f32| if to.is_nan() { 0.0 } else { SPEED * to.clamp(-1.0, 1.0) };
            player.x = (player.x + step(input.move_x)).clamp(-1.0, 1.0);
            player.y = (player.y + step(input.move_y)).clamp(-1.0, 1.0);
            player.frame = input.frame;
        }
        if !self.players.is_empty() {
            let players = self.players.values().map(|(player, _)| *player).collect();
            let snapshot = Snapshot { tick: self.tick, players };
            self.server.broadcast(Group::EVERYONE, Snapshot::CHANNEL, snapshot.encode_to_vec())?;
        }
        self.server.flush()?;
        Ok(())
    }
}

/// A native player that walks in a circle until it is stopped. Returns the number of snapshots that it received.
pub fn walk(url: &str, number: u32, stop: &AtomicBool) -> Result<u32, Failure> {
    let mut client = Client::connect(url, b"", ClientConfig::default())?;
    let (mut is_connected, mut frame, mut seen) = (false, 0_u32, 0);
    while !stop.load(Ordering::Relaxed) {
        client.wait_tick(TICK);
        while let Some(event) = client.poll_event() {
            match event {
                Event::Connected { .. } => is_connected = true,
                Event::Message { channel: Snapshot::CHANNEL, .. } => seen += 1,
                Event::Closed { .. } => return Ok(seen),
                _ => {}
            }
        }
        frame += 1;
        if is_connected {
            let (move_y, move_x) = (frame as f32 / 20.0 + number as f32 * 2.0).sin_cos();
            let input = PlayerInput { frame, move_x, move_y };
            client.send(PlayerInput::CHANNEL, input.encode_to_vec())?;
        }
    }
    client.close(code::NONE, "goodbye", LINGER);
    Ok(seen)
}
