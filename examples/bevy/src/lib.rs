//! A headless game in Bevy: a server and a client, each an app of its own, as they would be on two machines.
//! `cargo run -p skipstone-example-bevy` plays it.
//!
//! [`Server`] and [`Client`] are `Send + Sync`, so a resource can hold one: systems that take it as `Res` read
//! statistics in parallel, those that take it as `ResMut` send and poll. Each tick receives, simulates and sends, in
//! this order.

use bevy_app::{App, Plugin, PostUpdate, PreUpdate, Update};
use bevy_ecs::prelude::*;
use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event as NetEvent, Group, PeerId, Server, ServerConfig, Settings,
};
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

/// The server, as a resource.
#[derive(Resource)]
pub struct NetServer(pub Server);

/// The client, as a resource.
#[derive(Resource)]
pub struct NetClient(pub Client);

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

/// State that the client shows: the newest snapshot, and the number of snapshots received.
#[derive(Resource, Default)]
pub struct Shown {
    position: f32,
    snapshots: u32,
}

/// Systems of a server.
pub struct ServerPlugin;

impl Plugin for ServerPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(PreUpdate, receive_at_server)
            .add_systems(Update, simulate)
            .add_systems(PostUpdate, send_snapshot);
    }
}

/// Systems of a client.
pub struct ClientPlugin;

impl Plugin for ClientPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Shown>();
        app.add_systems(PreUpdate, receive_at_client).add_systems(PostUpdate, send_input);
    }
}

/// Accepts players, receives their inputs, and removes players who have gone.
fn receive_at_server(mut commands: Commands, mut net: ResMut<NetServer>, mut players: Query<(Entity, &mut Player)>) {
    while let Some(event) = net.0.poll_event() {
        match event {
            // Fails only for a player who has left in the meantime.
            NetEvent::Requested { peer, .. } => drop(net.0.accept(peer)),
            NetEvent::Connected { peer, .. } => {
                commands.spawn((Player { peer, direction: 0.0 }, Position::default()));
            }
            NetEvent::Message { peer, payload, .. } => {
                let Ok(bytes) = <[u8; 4]>::try_from(&payload[..]) else { continue };
                let found = players.iter_mut().find(|(_, player)| player.peer == peer);
                if let Some((_, mut player)) = found {
                    player.direction = f32::from_le_bytes(bytes).clamp(-1.0, 1.0);
                }
            }
            NetEvent::Closed { peer, .. } => {
                let gone = players.iter().find(|(_, player)| player.peer == peer);
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
fn send_snapshot(mut net: ResMut<NetServer>, players: Query<&Position, With<Player>>) {
    for position in &players {
        // An error here means that the driver is gone, which the app notices when it ends.
        let _ = net.0.broadcast(Group::EVERYONE, WORLD, position.0.to_le_bytes().to_vec());
    }
    let _ = net.0.flush();
}

fn receive_at_client(mut net: ResMut<NetClient>, mut shown: ResMut<Shown>) {
    while let Some(event) = net.0.poll_event() {
        if let NetEvent::Message { payload, .. } = event
            && let Ok(bytes) = <[u8; 4]>::try_from(&payload[..])
        {
            shown.position = f32::from_le_bytes(bytes);
            shown.snapshots += 1;
        }
    }
}

/// Sends an input to the right. Before the connection is established, `send` returns the input as an error, and the
/// loss does not matter.
fn send_input(mut net: ResMut<NetClient>) {
    let _ = net.0.send(INPUTS, 1.0_f32.to_le_bytes().to_vec());
}

/// Plays until the client has received ten ticks; returns the player's position then.
pub fn play() -> Result<f32, Box<dyn Error>> {
    let newest = |channel| ChannelRule::new(channel..=channel, DeliveryMode::UnreliableSequenced);
    let settings = Settings { channels: vec![newest(INPUTS), newest(WORLD)], ..Settings::default() };
    let server = Server::start(ServerConfig { settings, ..ServerConfig::new("127.0.0.1:0".parse()?) })?;
    let client = Client::connect(&server.url(), b"Zoe", ClientConfig::default())?;

    let (mut at_server, mut at_client) = (App::new(), App::new());
    at_server.add_plugins(ServerPlugin).insert_resource(NetServer(server));
    at_client.add_plugins(ClientPlugin).insert_resource(NetClient(client));
    let end = Instant::now() + Duration::from_secs(20);
    while at_client.world().resource::<Shown>().snapshots < TICKS {
        if let Some(failure) = at_server.world().resource::<NetServer>().0.failure() {
            return Err(failure.into());
        }
        if Instant::now() > end {
            return Err("the game takes too long".into());
        }
        at_client.update();
        at_server.update();
        std::thread::sleep(TICK);
    }
    Ok(at_client.world().resource::<Shown>().position)
}
