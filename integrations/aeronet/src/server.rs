//! A server, and its sessions: children of the server's entity.

use crate::client::RTT_SPAN;
use crate::peer::{self, PacketsRefused};
use crate::reason::{BY_USER, disconnect_reason};
use crate::settings::{MTU, NoPacketChannel, PACKETS};
use aeronet_io::connection::{DROP_DISCONNECT_REASON, Disconnect, Disconnected, LocalAddr, PeerAddr};
use aeronet_io::packet::PacketRtt;
use aeronet_io::server::{CloseReason, Closed, Server, ServerEndpoint};
use aeronet_io::{AeronetIoPlugin, IoSystems, Session, SessionEndpoint};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::system::EntityCommand;
use bevy_platform::collections::HashMap;
use bevy_platform::time::Instant;
use skipstone::{Bytes, Event, PeerError, PeerId, ServerConfig, code};
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

/// Allows using [`SkipstoneServer`].
pub struct SkipstoneServerPlugin;

/// A server of Skipstone. Begun by [`SkipstoneServer::open`]. Each client that asks to connect is a [`SessionRequest`].
#[derive(Component)]
#[require(ServerEndpoint)]
pub struct SkipstoneServer {
    /// `None` once it is being closed.
    server: Option<skipstone::Server>,
    /// The entities of the connections, from their request to their end.
    entities: HashMap<PeerId, Entity>,
    rtt_at: Option<Instant>,
}

/// A connection of a server, beside its session.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[require(SessionEndpoint, PacketsRefused)]
pub struct SkipstonePeer {
    /// The entity of the server.
    pub server: Entity,
    /// The server's id of the connection.
    pub peer: PeerId,
}

/// A client asks to connect. Answer by triggering [`Accept`] or [`Refuse`], now or later: without an answer, the
/// request ends after [`ServerConfig::handshake_timeout`].
#[derive(EntityEvent, Clone, Debug)]
pub struct SessionRequest {
    /// The entity of the future session, a child of the server's.
    pub entity: Entity,
    /// The client's token: up to 1,024 bytes of the application's own.
    pub token: Bytes,
    /// The client's address, which is validated.
    pub remote: SocketAddr,
}

/// Accepts a [`SessionRequest`].
#[derive(EntityEvent, Clone, Copy, Debug)]
pub struct Accept {
    /// The entity of the request.
    pub entity: Entity,
}

/// Refuses a [`SessionRequest`]: the client is disconnected by its peer, with this reason.
#[derive(EntityEvent, Clone, Debug)]
pub struct Refuse {
    /// The entity of the request.
    pub entity: Entity,
    /// Up to 512 bytes; the rest is cut off.
    pub reason: String,
}

impl Plugin for SkipstoneServerPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<AeronetIoPlugin>() {
            app.add_plugins(AeronetIoPlugin);
        }
        app.add_systems(PreUpdate, (poll, measure_rtt).chain().in_set(IoSystems::Poll))
            .add_systems(PostUpdate, flush.in_set(IoSystems::Flush))
            .add_observer(on_accept)
            .add_observer(on_refuse)
            .add_observer(on_disconnect)
            .add_observer(on_peer_removed)
            .add_observer(on_removed);
    }
}

impl SkipstoneServer {
    /// Opens a server. Its settings need the channel of [`settings`](crate::settings()). A configuration that cannot be
    /// used closes the entity by a [`NoPacketChannel`] or a [`StartError`](skipstone::StartError).
    #[must_use]
    pub fn open(config: ServerConfig) -> impl EntityCommand {
        move |mut entity: EntityWorldMut| {
            let id = entity.id();
            let checked = NoPacketChannel::check(&config.settings).map_err(CloseReason::by_error);
            match checked.and_then(|()| skipstone::Server::start(config).map_err(CloseReason::by_error)) {
                Ok(server) => {
                    let address = LocalAddr(server.local_addr());
                    let io = SkipstoneServer { server: Some(server), entities: HashMap::default(), rtt_at: None };
                    // In two steps: aeronet's servers are opening before they are open.
                    entity.insert((io, address)).insert(Server::new(Instant::now()));
                }
                Err(reason) => entity.world_scope(|world| world.trigger(Closed { entity: id, reason })),
            }
        }
    }

    /// The server, for its URL, statistics and channels of the game's own. `None` once it is being closed.
    pub fn get(&self) -> Option<&skipstone::Server> {
        self.server.as_ref()
    }

    /// The same, mutable. Who polls its events here takes them from the sessions.
    pub fn get_mut(&mut self) -> Option<&mut skipstone::Server> {
        self.server.as_mut()
    }

    /// Ends a connection, unless it has ended.
    fn close(&mut self, peer: PeerId, code: u64, reason: &str) {
        if self.entities.remove(&peer).is_some()
            && let Some(server) = &mut self.server
        {
            // Fails only for a client who has left in the meantime.
            let _ = server.close(peer, code, reason, Duration::ZERO);
        }
    }
}

fn poll(
    mut commands: Commands,
    mut servers: Query<(Entity, &mut SkipstoneServer)>,
    mut sessions: Query<&mut Session, With<SkipstonePeer>>,
) {
    let now = Instant::now();
    for (entity, mut io) in &mut servers {
        let SkipstoneServer { server: Some(server), entities, .. } = &mut *io else { continue };
        // In stepped mode only. What fails is in `failure`.
        let _ = server.drive(Duration::ZERO);
        // Sessions of this frame, which the world does not have yet.
        let mut fresh: HashMap<Entity, Session> = HashMap::default();
        while let Some(event) = server.poll_event() {
            match event {
                Event::Requested { peer, token, remote } => {
                    let io = SkipstonePeer { server: entity, peer };
                    let client = commands.spawn((ChildOf(entity), io, PeerAddr(remote))).id();
                    entities.insert(peer, client);
                    commands.trigger(SessionRequest { entity: client, token, remote });
                }
                Event::Connected { peer, .. } => {
                    if let Some(&client) = entities.get(&peer) {
                        fresh.insert(client, Session::new(now, MTU));
                    }
                }
                Event::Message { peer, channel: PACKETS, payload, .. } => {
                    let Some(client) = entities.get(&peer) else { continue };
                    if let Ok(mut session) = sessions.get_mut(*client) {
                        peer::receive(&mut session, now, payload);
                    } else if let Some(session) = fresh.get_mut(client) {
                        peer::receive(session, now, payload);
                    }
                }
                Event::PathChanged { peer, path } => {
                    if let Some(&client) = entities.get(&peer) {
                        commands.entity(client).insert(PeerAddr(path.remote));
                    }
                }
                Event::Closed { peer, close } => {
                    let Some(client) = entities.remove(&peer) else { continue };
                    if let Some(session) = fresh.remove(&client) {
                        commands.entity(client).insert(session);
                    }
                    commands.trigger(Disconnected { entity: client, reason: disconnect_reason(&close) });
                }
                _ => {}
            }
        }
        fresh.into_iter().for_each(|(client, session)| _ = commands.entity(client).insert(session));
        if let Some(failure) = server.failure() {
            io.server = None;
            commands.trigger(Closed { entity, reason: CloseReason::by_error(failure) });
        }
    }
}

/// All sessions at once: a server's statistics cost less together than one by one.
fn measure_rtt(mut commands: Commands, mut servers: Query<&mut SkipstoneServer>) {
    let now = Instant::now();
    for mut io in &mut servers {
        if io.rtt_at.is_some_and(|at| now.duration_since(at) < RTT_SPAN) {
            continue;
        }
        io.rtt_at = Some(now);
        for (peer, overview) in io.server.iter().flat_map(|server| server.overviews()) {
            if let Some(&client) = io.entities.get(&peer) {
                commands.entity(client).try_insert(PacketRtt(overview.rtt.smoothed()));
            }
        }
    }
}

fn flush(
    mut servers: Query<&mut SkipstoneServer>,
    mut sessions: Query<(&SkipstonePeer, &mut Session, &mut PacketsRefused)>,
) {
    for (io, mut session, mut refused) in &mut sessions {
        if session.send.is_empty() {
            continue;
        }
        if let Ok(mut owner) = servers.get_mut(io.server)
            && let Some(server) = &mut owner.server
        {
            peer::send(&mut session, &mut refused, |packet| server.send(io.peer, PACKETS, packet));
        }
    }
    for server in servers.iter_mut().filter_map(|io| io.into_inner().server.as_mut()) {
        // An error means that the driver is gone, which `poll` reports.
        let _ = server.flush();
        let _ = server.drive(Duration::ZERO);
    }
}

fn on_accept(accept: On<Accept>, peers: Query<&SkipstonePeer>, servers: Query<&mut SkipstoneServer>) -> Result {
    answer(accept.entity, peers, servers, |server, peer| server.accept(peer))
}

fn on_refuse(refuse: On<Refuse>, peers: Query<&SkipstonePeer>, servers: Query<&mut SkipstoneServer>) -> Result {
    answer(refuse.entity, peers, servers, |server, peer| server.refuse(peer, code::REFUSED, &refuse.reason))
}

/// Answers a request. A client that has left in the meantime, which any client may do, is no error.
fn answer(
    client: Entity,
    peers: Query<&SkipstonePeer>,
    mut servers: Query<&mut SkipstoneServer>,
    answer: impl FnOnce(&mut skipstone::Server, PeerId) -> Result<(), PeerError>,
) -> Result {
    let Ok(io) = peers.get(client) else { return Ok(()) };
    let Ok(mut owner) = servers.get_mut(io.server) else { return Ok(()) };
    match owner.server.as_mut().map_or(Ok(()), |server| answer(server, io.peer)) {
        Ok(()) | Err(PeerError::Over | PeerError::UnknownPeer) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn on_disconnect(disconnect: On<Disconnect>, peers: Query<&SkipstonePeer>, mut servers: Query<&mut SkipstoneServer>) {
    if let Ok(io) = peers.get(disconnect.entity)
        && let Ok(mut owner) = servers.get_mut(io.server)
    {
        owner.close(io.peer, BY_USER, &disconnect.reason);
    }
}

/// A session that was despawned without a word.
fn on_peer_removed(
    removed: On<Remove<SkipstonePeer>>,
    peers: Query<&SkipstonePeer>,
    mut servers: Query<&mut SkipstoneServer>,
) {
    if let Ok(io) = peers.get(removed.event_target())
        && let Ok(mut owner) = servers.get_mut(io.server)
    {
        owner.close(io.peer, BY_USER, DROP_DISCONNECT_REASON);
    }
}

/// Its clients' connections are closed by now, or are told so.
fn on_removed(removed: On<Remove<SkipstoneServer>>, mut servers: Query<&mut SkipstoneServer>) {
    let Ok(mut io) = servers.get_mut(removed.event_target()) else { return };
    let Some(server) = io.server.take() else { return };
    // In a thread, so that the frame does not wait for answers.
    let shutdown = move || server.shutdown(BY_USER, DROP_DISCONNECT_REASON, Duration::ZERO);
    // Without a thread, the connections are dropped without a word.
    let _ = thread::Builder::new().spawn(shutdown);
}
