//! The same server three times: it accepts every client, and in each tick counts the messages that arrived and sends
//! one to each client, with content of its own.

use crate::load::MESSAGE_BYTES;
use aeronet_io::Session;
use aeronet_skipstone::{Accept, SessionRequest, SkipstoneServer, SkipstoneServerPlugin, settings};
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::system::EntityCommand;
use skipstone::{Bytes, Event, PeerId, Server, ServerConfig};
use skipstone_bevy::{FromClients, NetServer, ServerPlugin};
use std::error::Error;

/// A server of the comparison.
pub(crate) trait Game {
    /// Receives and sends.
    fn tick(&mut self);
    /// Clients that are connected.
    fn connected(&mut self) -> usize;
    /// Messages received and sent so far.
    fn messages(&mut self) -> u64;
}

/// Starts the server of a variant; returns its URL too.
pub(crate) fn start(variant: &str) -> Result<(Box<dyn Game>, String), Box<dyn Error>> {
    let config = ServerConfig { settings: settings(), websocket: false, ..ServerConfig::new("127.0.0.1:0".parse()?) };
    if variant == "aeronet_skipstone" {
        let mut app = App::new();
        app.add_plugins(SkipstoneServerPlugin)
            .init_resource::<Messages>()
            .add_observer(accept)
            .add_systems(Update, talk);
        let server = app.world_mut().spawn_empty().id();
        SkipstoneServer::open(config).apply(app.world_mut().entity_mut(server));
        let io = app.world().get::<SkipstoneServer>(server).ok_or("the server did not open")?;
        let url = io.get().ok_or("the server did not open")?.url();
        return Ok((Box::new(Aeronet(app)), url));
    }
    let server = Server::start(config)?;
    let url = server.url();
    if variant == "library" {
        return Ok((Box::new(Bare { server, peers: Vec::new(), messages: 0 }), url));
    }
    let mut app = App::new();
    app.add_plugins(ServerPlugin)
        .insert_resource(NetServer(server))
        .init_resource::<Messages>()
        .init_resource::<Players>()
        .add_systems(Update, (receive, send).chain());
    Ok((Box::new(Plugin(app)), url))
}

/// Messages received and accepted to be sent; by aeronet, only those received.
#[derive(Resource, Default)]
struct Messages(u64);

fn message() -> Bytes {
    Bytes::from(vec![2; MESSAGE_BYTES])
}

struct Bare {
    server: Server,
    peers: Vec<PeerId>,
    messages: u64,
}

impl Game for Bare {
    fn tick(&mut self) {
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Requested { peer, .. } => self.server.accept(peer).expect("the client waits"),
                Event::Connected { peer, .. } => self.peers.push(peer),
                Event::Message { .. } => self.messages += 1,
                Event::Closed { peer, .. } => self.peers.retain(|other| *other != peer),
                _ => {}
            }
        }
        for peer in &self.peers {
            self.messages += u64::from(self.server.send(*peer, 0, message()).is_ok());
        }
        self.server.flush().expect("the driver runs");
    }

    fn connected(&mut self) -> usize {
        self.peers.len()
    }

    fn messages(&mut self) -> u64 {
        self.messages
    }
}

#[derive(Resource, Default)]
struct Players(Vec<PeerId>);

fn receive(
    mut server: ResMut<NetServer>,
    mut events: MessageReader<FromClients>,
    mut players: ResMut<Players>,
    mut messages: ResMut<Messages>,
) {
    for FromClients(event) in events.read() {
        match event {
            Event::Requested { peer, .. } => server.accept(*peer).expect("the client waits"),
            Event::Connected { peer, .. } => players.0.push(*peer),
            Event::Message { .. } => messages.0 += 1,
            Event::Closed { peer, .. } => players.0.retain(|other| other != peer),
            _ => {}
        }
    }
}

fn send(mut server: ResMut<NetServer>, players: Res<Players>, mut messages: ResMut<Messages>) {
    for peer in &players.0 {
        messages.0 += u64::from(server.send(*peer, 0, message()).is_ok());
    }
}

struct Plugin(App);

impl Game for Plugin {
    fn tick(&mut self) {
        self.0.update();
    }

    fn connected(&mut self) -> usize {
        self.0.world().resource::<Players>().0.len()
    }

    fn messages(&mut self) -> u64 {
        self.0.world().resource::<Messages>().0
    }
}

fn accept(request: On<SessionRequest>, mut commands: Commands) {
    commands.trigger(Accept { entity: request.entity });
}

fn talk(mut sessions: Query<&mut Session>, mut messages: ResMut<Messages>) {
    for mut session in &mut sessions {
        messages.0 += session.recv.drain(..).count() as u64;
        session.send.push(message());
    }
}

struct Aeronet(App);

impl Game for Aeronet {
    fn tick(&mut self) {
        self.0.update();
    }

    fn connected(&mut self) -> usize {
        let world = self.0.world_mut();
        world.query::<&Session>().iter(world).count()
    }

    fn messages(&mut self) -> u64 {
        let world = self.0.world_mut();
        // The adapter counts here what the library has accepted.
        let sent: usize = world.query::<&Session>().iter(world).map(|session| session.stats.packets_sent.0).sum();
        world.resource::<Messages>().0 + sent as u64
    }
}
