//! An app with a server, an app with a client, and what happened to their entities.

use aeronet_io::Session;
use aeronet_io::SessionEndpoint;
use aeronet_io::connection::{DisconnectReason, Disconnected};
use aeronet_io::server::{CloseReason, Closed, Server, ServerEndpoint};
use aeronet_skipstone::skipstone::{ClientConfig, ServerConfig};
use aeronet_skipstone::{Accept, SessionRequest, SkipstoneClient, SkipstoneClientPlugin};
use aeronet_skipstone::{SkipstoneServer, SkipstoneServerPlugin, settings};
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::system::EntityCommand;
use std::time::{Duration, Instant};

/// What happened to an entity, in order.
#[derive(Resource, Default)]
pub(crate) struct Log(pub(crate) Vec<(Entity, &'static str)>);

impl Log {
    /// What happened to this entity.
    pub(crate) fn of(&self, entity: Entity) -> Vec<&'static str> {
        self.0.iter().filter(|(of, _)| *of == entity).map(|(_, what)| *what).collect()
    }
}

/// The ends of sessions and servers: whose, by whom, and the text.
#[derive(Resource, Default)]
pub(crate) struct Ends(pub(crate) Vec<(Entity, &'static str, String)>);

/// An app with the layer and nothing else, which notes what happens.
pub(crate) fn app() -> App {
    let mut app = App::new();
    app.add_plugins((SkipstoneServerPlugin, SkipstoneClientPlugin)).init_resource::<Log>().init_resource::<Ends>();
    app.add_observer(|on: On<Add<ServerEndpoint>>, mut log: ResMut<Log>| log.0.push((on.event_target(), "opening")))
        .add_observer(|on: On<Add<Server>>, mut log: ResMut<Log>| log.0.push((on.event_target(), "opened")))
        .add_observer(|on: On<Add<SessionEndpoint>>, mut log: ResMut<Log>| {
            log.0.push((on.event_target(), "connecting"))
        })
        .add_observer(|on: On<Add<Session>>, mut log: ResMut<Log>| log.0.push((on.event_target(), "connected")))
        .add_observer(|on: On<Disconnected>, mut ends: ResMut<Ends>| {
            let (by, text) = match &on.reason {
                DisconnectReason::ByUser(reason) => ("user", reason.clone()),
                DisconnectReason::ByPeer(reason) => ("peer", reason.clone()),
                DisconnectReason::ByError(error) => ("error", error.to_string()),
            };
            ends.0.push((on.entity, by, text));
        })
        .add_observer(|on: On<Closed>, mut ends: ResMut<Ends>| {
            let (by, text) = match &on.reason {
                CloseReason::ByUser(reason) => ("user", reason.clone()),
                CloseReason::ByError(error) => ("error", error.to_string()),
            };
            ends.0.push((on.entity, by, text));
        });
    app
}

/// A server on a free port of this machine.
pub(crate) fn server_config() -> ServerConfig {
    let config = ServerConfig::new("127.0.0.1:0".parse().expect("an address"));
    ServerConfig { settings: settings(), websocket: false, ..config }
}

/// Accepts every client.
pub(crate) fn accept(request: On<SessionRequest>, mut commands: Commands) {
    commands.trigger(Accept { entity: request.entity });
}

/// Opens a server in the app.
pub(crate) fn open(app: &mut App, config: ServerConfig) -> Entity {
    let server = app.world_mut().spawn_empty().id();
    SkipstoneServer::open(config).apply(app.world_mut().entity_mut(server));
    server
}

/// The URL of an open server.
pub(crate) fn url(app: &App, server: Entity) -> String {
    let io = app.world().get::<SkipstoneServer>(server).expect("the server is open");
    io.get().expect("it is not being closed").url()
}

/// Begins to connect a client of the app.
pub(crate) fn connect(app: &mut App, url: &str, token: &[u8]) -> Entity {
    let client = app.world_mut().spawn_empty().id();
    SkipstoneClient::connect(url, token, ClientConfig::default()).apply(app.world_mut().entity_mut(client));
    client
}

/// A server that accepts every client, and a client, connected.
pub(crate) struct Pair {
    pub(crate) at_server: App,
    pub(crate) at_client: App,
    pub(crate) server: Entity,
    /// The session at the server.
    pub(crate) peer: Entity,
    /// The session at the client.
    pub(crate) client: Entity,
}

impl Pair {
    pub(crate) fn connected(config: ServerConfig) -> Pair {
        Pair::prepared(config, |_| {}, |_, _| {})
    }

    /// A pair whose apps and whose entities, the server's and the client's, got more before they began.
    pub(crate) fn prepared(
        config: ServerConfig,
        add: impl Fn(&mut App),
        insert: impl FnOnce(&mut EntityWorldMut<'_>, &mut EntityWorldMut<'_>),
    ) -> Pair {
        let (mut at_server, mut at_client) = (app(), app());
        add(&mut at_server);
        add(&mut at_client);
        at_server.add_observer(accept);
        let (server, client) = (at_server.world_mut().spawn_empty().id(), at_client.world_mut().spawn_empty().id());
        insert(&mut at_server.world_mut().entity_mut(server), &mut at_client.world_mut().entity_mut(client));
        SkipstoneServer::open(config).apply(at_server.world_mut().entity_mut(server));
        let url = url(&at_server, server);
        SkipstoneClient::connect(url, b"Zoe", ClientConfig::default()).apply(at_client.world_mut().entity_mut(client));
        let mut pair = Pair { at_server, at_client, server, peer: Entity::PLACEHOLDER, client };
        pair.until("both are connected", |pair| {
            pair.find_peer().is_some() && has_session(&pair.at_client, pair.client)
        });
        pair.peer = pair.find_peer().expect("the session exists");
        pair
    }

    fn find_peer(&mut self) -> Option<Entity> {
        let world = self.at_server.world_mut();
        world.query_filtered::<Entity, With<Session>>().iter(world).next()
    }

    /// Runs both apps until the condition holds.
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Pair) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !holds(self) {
            assert!(Instant::now() < end, "20 s have passed, and not yet: {what}");
            self.at_server.update();
            self.at_client.update();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn ends_at_client(&self) -> &[(Entity, &'static str, String)] {
        &self.at_client.world().resource::<Ends>().0
    }

    pub(crate) fn ends_at_server(&self) -> &[(Entity, &'static str, String)] {
        &self.at_server.world().resource::<Ends>().0
    }
}

/// Whether this session is connected.
pub(crate) fn has_session(app: &App, entity: Entity) -> bool {
    app.world().get::<Session>(entity).is_some()
}

/// Runs an app until the condition holds.
pub(crate) fn until(app: &mut App, what: &str, mut holds: impl FnMut(&mut App) -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds(app) {
        assert!(Instant::now() < end, "20 s have passed, and not yet: {what}");
        app.update();
        std::thread::sleep(Duration::from_millis(1));
    }
}
