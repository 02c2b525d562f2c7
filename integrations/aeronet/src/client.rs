//! A client: one session, with a connection of its own.

use crate::peer::{self, PacketsRefused};
use crate::reason::{BY_USER, disconnect_reason};
use crate::settings::{MTU, NoPacketChannel, PACKETS};
use aeronet_io::connection::{DROP_DISCONNECT_REASON, Disconnect, DisconnectReason, Disconnected, PeerAddr};
use aeronet_io::packet::PacketRtt;
use aeronet_io::{AeronetIoPlugin, IoSystems, Session, SessionEndpoint};
use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::system::EntityCommand;
use bevy_platform::time::Instant;
use skipstone::{Client, ClientConfig, Event};
use std::thread;
use std::time::Duration;

/// Allows using [`SkipstoneClient`].
pub struct SkipstoneClientPlugin;

/// A client of Skipstone, whose entity becomes a session. Begun by [`SkipstoneClient::connect`].
#[derive(Component)]
#[require(SessionEndpoint, PacketsRefused)]
pub struct SkipstoneClient {
    /// `None` once it is being closed.
    client: Option<Client>,
    rtt_at: Option<Instant>,
}

impl Plugin for SkipstoneClientPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<AeronetIoPlugin>() {
            app.add_plugins(AeronetIoPlugin);
        }
        app.add_systems(PreUpdate, poll.in_set(IoSystems::Poll))
            .add_systems(PostUpdate, flush.in_set(IoSystems::Flush))
            .add_observer(on_disconnect)
            .add_observer(on_removed);
    }
}

impl SkipstoneClient {
    /// Begins to connect to a URL (`skip://host:port`, with `#` and a fingerprint if no authority has signed the
    /// server's certificate), with a token for the server's application. A session is one connection, so
    /// [`ClientConfig::reconnect`] has no effect. A configuration that cannot be used disconnects
    /// the session by a [`StartError`](skipstone::StartError).
    #[must_use]
    pub fn connect(url: impl Into<String>, token: impl Into<Vec<u8>>, config: ClientConfig) -> impl EntityCommand {
        let (url, token) = (url.into(), token.into());
        move |mut entity: EntityWorldMut| {
            let id = entity.id();
            match Client::connect(&url, &token, config) {
                Ok(client) => _ = entity.insert(SkipstoneClient { client: Some(client), rtt_at: None }),
                Err(error) => {
                    let reason = DisconnectReason::by_error(error);
                    entity.world_scope(|world| world.trigger(Disconnected { entity: id, reason }));
                }
            }
        }
    }

    /// The client, for statistics and for channels of the game's own. `None` once it is being closed.
    pub fn get(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// The same, mutable. Who polls its events here takes them from the session.
    pub fn get_mut(&mut self) -> Option<&mut Client> {
        self.client.as_mut()
    }

    /// Ends the connection without keeping the frame waiting for the server's answer.
    fn close(&mut self, reason: &str) {
        let (Some(client), reason) = (self.client.take(), reason.to_owned()) else { return };
        // Without a thread, the connection is dropped without a word.
        let _ = thread::Builder::new().spawn(move || client.close(BY_USER, &reason, Duration::ZERO));
    }
}

type Clients<'w, 's> = Query<'w, 's, (Entity, &'static mut SkipstoneClient, Option<&'static mut Session>)>;

fn poll(mut commands: Commands, mut clients: Clients<'_, '_>) {
    let now = Instant::now();
    for (entity, mut io, mut session) in &mut clients {
        let io = &mut *io;
        let Some(client) = &mut io.client else { continue };
        // In stepped mode only. What fails is in `failure`.
        let _ = client.drive(Duration::ZERO);
        let mut fresh = None;
        let mut end = None;
        while let Some(event) = client.poll_event() {
            match event {
                Event::Connected { settings, .. } => match NoPacketChannel::check(&settings) {
                    Ok(()) => fresh = Some(Session::new(now, MTU)),
                    Err(error) => end = Some(DisconnectReason::by_error(error)),
                },
                Event::Message { channel: PACKETS, payload, .. } => {
                    if let Some(session) = fresh.as_mut().or(session.as_deref_mut()) {
                        peer::receive(session, now, payload);
                    }
                }
                Event::Closed { close, .. } => end = Some(disconnect_reason(&close)),
                _ => {}
            }
        }
        if let Some(session) = fresh {
            client.remote_addr().into_iter().for_each(|remote| _ = commands.entity(entity).insert(PeerAddr(remote)));
            commands.entity(entity).insert(session);
        }
        if io.rtt_at.is_none_or(|at| now.duration_since(at) >= RTT_SPAN) {
            io.rtt_at = Some(now);
            let rtt = client.overview().map(|overview| PacketRtt(overview.rtt.smoothed()));
            rtt.into_iter().for_each(|rtt| _ = commands.entity(entity).insert(rtt));
        }
        let failure = client.failure().map(DisconnectReason::by_error);
        if let Some(reason) = end.or(failure) {
            io.close("the session has ended");
            commands.trigger(Disconnected { entity, reason });
        }
    }
}

/// How old the round-trip time of a session may be.
pub(crate) const RTT_SPAN: Duration = Duration::from_secs(1);

fn flush(mut clients: Query<(&mut SkipstoneClient, &mut Session, &mut PacketsRefused)>) {
    for (mut io, mut session, mut refused) in &mut clients {
        let Some(client) = &mut io.client else { continue };
        peer::send(&mut session, &mut refused, |packet| client.send(PACKETS, packet));
        // An error means that the driver is gone, which `poll` reports.
        let _ = client.flush();
        let _ = client.drive(Duration::ZERO);
    }
}

fn on_disconnect(disconnect: On<Disconnect>, mut clients: Query<&mut SkipstoneClient>) {
    if let Ok(mut io) = clients.get_mut(disconnect.entity) {
        io.close(&disconnect.reason);
    }
}

fn on_removed(removed: On<Remove<SkipstoneClient>>, mut clients: Query<&mut SkipstoneClient>) {
    if let Ok(mut io) = clients.get_mut(removed.event_target()) {
        io.close(DROP_DISCONNECT_REASON);
    }
}
