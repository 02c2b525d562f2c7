//! A headless game in Bevy: a server and a client, each an app of its own, as they would be on two machines.
//! `cargo run -p skipstone-example-bevy` plays it.
//!
//! The plugins of `skipstone_bevy` receive before the systems here run, and send after them. Each tick receives,
//! simulates and sends, in this order.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use skipstone_bevy::skipstone::{
    ChannelRule, Client, ClientConfig, Close, DeliveryMode, Event as NetEvent, Group, PeerId, Server, ServerConfig,
    Settings, Threading,
};
use skipstone_bevy::{ClientPlugin, DriverFailed, FromClients, FromServer, NetClient, NetServer, ServerPlugin};
use std::error::Error;
use std::time::{Duration, Instant};

/// Ticks that the player runs.
pub const TICKS: u32 = 10;
/// Inputs; only the newest counts.
const INPUTS: u16 = 0;
/// Snapshots of the world; only the newest counts.
const WORLD: u16 = 1;
const TICK: Duration = Duration::from_millis(16);
const SPEED: f32 = 0.5;

/// A player in the server's world.
#[derive(Component)]
pub struct Player {
    peer: PeerId,
    /// Direction of the newest input.
    direction: f32,
}

/// Position of a player on one axis.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
pub struct Position(pub f32);

/// State that the client shows: the newest snapshot, the number of snapshots received, and why the game is over.
#[derive(Resource, Default)]
pub struct Shown {
    position: f32,
    /// Snapshots received.
    pub snapshots: u32,
    /// How the connection ended.
    pub end: Option<Close>,
}

/// Accepts players, receives their inputs, and removes players who have gone.
fn receive_at_server(
    mut commands: Commands,
    mut net: ResMut<NetServer>,
    mut events: MessageReader<FromClients>,
    mut players: Query<(Entity, &mut Player)>,
) {
    for FromClients(event) in events.read() {
        match event {
            // Fails only for a player who has left in the meantime.
            NetEvent::Requested { peer, .. } => drop(net.accept(*peer)),
            NetEvent::Connected { peer, .. } => {
                commands.spawn((Player { peer: *peer, direction: 0.0 }, Position::default()));
            }
            NetEvent::Message { peer, payload, .. } => {
                let Ok(bytes) = <[u8; 4]>::try_from(&payload[..]) else { continue };
                let found = players.iter_mut().find(|(_, player)| player.peer == *peer);
                if let Some((_, mut player)) = found {
                    player.direction = f32::from_le_bytes(bytes).clamp(-1.0, 1.0);
                }
            }
            NetEvent::Closed { peer, .. } => {
                let gone = players.iter().find(|(_, player)| player.peer == *peer);
                gone.into_iter().for_each(|(entity, _)| commands.entity(entity).despawn());
            }
            _ => {}
        }
    }
}

fn simulate(mut players: Query<(&Player, &mut Position)>) {
    for (player, mut position) in &mut players {
        position.0 += player.direction * SPEED;
    }
}

/// Sends the player's position to all players.
fn send_snapshot(mut net: ResMut<NetServer>, players: Query<&Position, With<Player>>) -> Result {
    for position in &players {
        net.broadcast(Group::EVERYONE, WORLD, position.0.to_le_bytes().to_vec())?;
    }
    Ok(())
}

/// The game's systems at the server.
pub fn server_app(server: Server) -> App {
    let mut app = App::new();
    app.add_plugins(ServerPlugin)
        .insert_resource(NetServer(server))
        .add_systems(Update, (receive_at_server, simulate, send_snapshot).chain());
    app
}

fn receive_at_client(mut events: MessageReader<FromServer>, mut shown: ResMut<Shown>) {
    for FromServer(event) in events.read() {
        match event {
            NetEvent::Message { payload, .. } => {
                let Ok(bytes) = <[u8; 4]>::try_from(&payload[..]) else { continue };
                shown.position = f32::from_le_bytes(bytes);
                shown.snapshots += 1;
            }
            NetEvent::Closed { close, .. } => shown.end = Some(close.clone()),
            _ => {}
        }
    }
}

/// Sends an input to the right. Before the connection is established, `send` returns the input as an error, and the
/// loss does not matter.
fn send_input(mut net: ResMut<NetClient>) {
    let _ = net.send(INPUTS, 1.0_f32.to_le_bytes().to_vec());
}

/// The game's systems at the client.
pub fn client_app(client: Client) -> App {
    let mut app = App::new();
    app.add_plugins(ClientPlugin)
        .insert_resource(NetClient(client))
        .init_resource::<Shown>()
        .add_systems(Update, (receive_at_client, send_input).chain());
    app
}

/// A server and a client that connects to it, as apps.
///
/// # Errors
/// The system refuses a socket or a thread.
pub fn start(threading: Threading) -> Result<(App, App), Box<dyn Error>> {
    let newest = |channel| ChannelRule::new(channel..=channel, DeliveryMode::UnreliableSequenced);
    let settings = Settings { channels: vec![newest(INPUTS), newest(WORLD)], ..Settings::default() };
    let server = Server::start(ServerConfig { settings, threading, ..ServerConfig::new("127.0.0.1:0".parse()?) })?;
    let client = Client::connect(&server.url(), b"Zoe", ClientConfig { threading, ..ClientConfig::default() })?;
    Ok((server_app(server), client_app(client)))
}

/// Runs both apps until `is_over` holds for the state that the client shows.
///
/// # Errors
/// A driver has failed, or the game takes longer than 20 s.
pub fn run_until(apps: &mut (App, App), is_over: impl Fn(&Shown) -> bool) -> Result<(), Box<dyn Error>> {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_over(apps.1.world().resource::<Shown>()) {
        if Instant::now() > end {
            return Err("the game takes too long".into());
        }
        for app in [&mut apps.1, &mut apps.0] {
            app.update();
            if let Some(failure) = app.world_mut().resource_mut::<Messages<DriverFailed>>().drain().next() {
                return Err(failure.into());
            }
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

/// Plays until the client has received ten ticks; returns the player's position then.
///
/// # Errors
/// As [`start`] and [`run_until`].
pub fn play(threading: Threading) -> Result<f32, Box<dyn Error>> {
    let mut apps = start(threading)?;
    run_until(&mut apps, |shown| shown.snapshots >= TICKS)?;
    Ok(apps.1.world().resource::<Shown>().position)
}
