//! How servers open and close, and how sessions connect and disconnect, with whose reasons.

use crate::apps::{Ends, Log, Pair, accept, app, connect, has_session, open, server_config, until, url};
use aeronet_io::connection::{DROP_DISCONNECT_REASON, Disconnect, LocalAddr, PeerAddr};
use aeronet_io::packet::PacketRtt;
use aeronet_io::server::Close;
use aeronet_skipstone::skipstone::{ChannelRule, DeliveryMode, ServerConfig, Settings};
use aeronet_skipstone::{Refuse, SessionRequest, SkipstonePeer};
use bevy_ecs::prelude::*;

#[test]
fn endpoints_come_before_servers_and_sessions() {
    let pair = Pair::connected(server_config());
    let at_server = pair.at_server.world().resource::<Log>();
    assert_eq!(at_server.of(pair.server), ["opening", "opened"]);
    assert_eq!(at_server.of(pair.peer), ["connecting", "connected"]);
    assert_eq!(pair.at_client.world().resource::<Log>().of(pair.client), ["connecting", "connected"]);
    assert_eq!(pair.at_server.world().get::<ChildOf>(pair.peer).map(ChildOf::parent), Some(pair.server));
}

#[test]
fn addresses_and_round_trip_times_are_components() {
    let mut pair = Pair::connected(server_config());
    let at_server = pair.at_server.world().get::<LocalAddr>(pair.server).expect("a server has an address").0;
    assert_eq!(pair.at_client.world().get::<PeerAddr>(pair.client).expect("so has a client's peer").0, at_server);
    assert_ne!(pair.at_server.world().get::<PeerAddr>(pair.peer).expect("and a server's").0.port(), 0);
    pair.until("both have a round-trip time", |pair| {
        pair.at_server.world().get::<PacketRtt>(pair.peer).is_some()
            && pair.at_client.world().get::<PacketRtt>(pair.client).is_some()
    });
}

#[test]
fn a_disconnected_client_tells_its_server_the_reason() {
    let mut pair = Pair::connected(server_config());
    pair.at_client.world_mut().trigger(Disconnect::new(pair.client, "good night"));
    pair.at_client.world_mut().flush();
    assert_eq!(pair.ends_at_client(), [(pair.client, "user", "good night".to_owned())]);
    assert!(pair.at_client.world().get_entity(pair.client).is_err(), "the session is despawned at once");
    pair.until("the server knows", |pair| !pair.ends_at_server().is_empty());
    assert_eq!(pair.ends_at_server(), [(pair.peer, "peer", "good night".to_owned())]);
    assert!(pair.at_server.world().get_entity(pair.peer).is_err(), "the session is despawned");
}

#[test]
fn a_disconnected_peer_learns_the_reason() {
    let mut pair = Pair::connected(server_config());
    pair.at_server.world_mut().trigger(Disconnect::new(pair.peer, "you were asleep"));
    pair.at_server.world_mut().flush();
    assert_eq!(pair.ends_at_server(), [(pair.peer, "user", "you were asleep".to_owned())]);
    pair.until("the client knows", |pair| !pair.ends_at_client().is_empty());
    assert_eq!(pair.ends_at_client(), [(pair.client, "peer", "you were asleep".to_owned())]);
}

#[test]
fn despawned_sessions_are_dropped_at_the_other_side() {
    let mut pair = Pair::connected(server_config());
    pair.at_server.world_mut().despawn(pair.peer);
    pair.until("the client knows", |pair| !pair.ends_at_client().is_empty());
    assert_eq!(pair.ends_at_client(), [(pair.client, "peer", DROP_DISCONNECT_REASON.to_owned())]);
    let mut pair = Pair::connected(server_config());
    pair.at_client.world_mut().despawn(pair.client);
    pair.until("the server knows", |pair| !pair.ends_at_server().is_empty());
    assert_eq!(pair.ends_at_server(), [(pair.peer, "peer", DROP_DISCONNECT_REASON.to_owned())]);
}

#[test]
fn a_closed_server_disconnects_its_clients_with_its_reason() {
    let mut pair = Pair::connected(server_config());
    pair.at_server.world_mut().trigger(Close::new(pair.server, "the show is over"));
    pair.at_server.world_mut().flush();
    let reason = "the show is over".to_owned();
    assert_eq!(pair.ends_at_server(), [(pair.server, "user", reason.clone()), (pair.peer, "user", reason.clone())]);
    assert!(pair.at_server.world().get_entity(pair.server).is_err(), "the server is despawned");
    pair.until("the client knows", |pair| !pair.ends_at_client().is_empty());
    assert_eq!(pair.ends_at_client(), [(pair.client, "peer", reason)]);
}

#[test]
fn a_port_is_free_again_after_its_server_was_despawned() {
    let mut pair = Pair::connected(server_config());
    let address = pair.at_server.world().get::<LocalAddr>(pair.server).expect("a server has an address").0;
    pair.at_server.world_mut().despawn(pair.server);
    pair.until("the client knows", |pair| !pair.ends_at_client().is_empty());
    until(&mut pair.at_server, "the port is free", |app| {
        let config = ServerConfig { listen: Some(address), ..server_config() };
        let server = open(app, config);
        app.world().get_entity(server).is_ok()
    });
}

#[test]
fn a_refused_client_learns_the_reason_and_its_token_was_seen() {
    #[derive(Resource, Default)]
    struct Tokens(Vec<Vec<u8>>);
    let (mut at_server, mut at_client) = (app(), app());
    at_server.init_resource::<Tokens>().add_observer(
        |request: On<SessionRequest>, mut tokens: ResMut<Tokens>, mut commands: Commands| {
            tokens.0.push(request.token.to_vec());
            commands.trigger(Refuse { entity: request.entity, reason: "wrong password".into() });
        },
    );
    let server = open(&mut at_server, server_config());
    let client = connect(&mut at_client, &url(&at_server, server), b"secret");
    until(&mut at_client, "the client is refused", |app| {
        at_server.update();
        !app.world().resource::<Ends>().0.is_empty()
    });
    assert_eq!(at_client.world().resource::<Ends>().0, [(client, "peer", "wrong password".to_owned())]);
    assert_eq!(at_server.world().resource::<Tokens>().0, [b"secret".to_vec()]);
    until(&mut at_server, "the request is despawned", |app| {
        let world = app.world_mut();
        world.query::<&SkipstonePeer>().iter(world).next().is_none()
    });
}

#[test]
fn an_answer_may_come_later() {
    let (mut at_server, mut at_client) = (app(), app());
    let server = open(&mut at_server, server_config());
    let client = connect(&mut at_client, &url(&at_server, server), b"");
    let mut request = None;
    until(&mut at_server, "the request is there", |app| {
        let world = app.world_mut();
        request = world.query_filtered::<Entity, With<SkipstonePeer>>().iter(world).next();
        request.is_some()
    });
    at_server.world_mut().trigger(aeronet_skipstone::Accept { entity: request.expect("it is there") });
    until(&mut at_client, "the client is connected", |app| {
        at_server.update();
        has_session(app, client)
    });
}

#[test]
fn what_cannot_be_used_is_an_error_of_the_entity() {
    let mut app = app();
    app.add_observer(accept);
    let reliable =
        Settings { channels: vec![ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered)], ..Settings::default() };
    let server = open(&mut app, ServerConfig { settings: reliable, ..server_config() });
    let client = connect(&mut app, "not a URL", b"");
    let ends = &app.world().resource::<Ends>().0;
    assert_eq!(ends.len(), 2, "{ends:?}");
    assert!(
        ends[0].0 == server && ends[0].1 == "error" && ends[0].2.contains("aeronet_skipstone::settings()"),
        "{ends:?}"
    );
    assert!(ends[1].0 == client && ends[1].1 == "error", "{ends:?}");
}

#[test]
fn a_server_without_the_channel_is_an_error_of_the_client() {
    let mut at_client = app();
    let reliable =
        Settings { channels: vec![ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered)], ..Settings::default() };
    let config = ServerConfig { settings: reliable, ..server_config() };
    let mut server = aeronet_skipstone::skipstone::Server::start(config).expect("it starts");
    let client = connect(&mut at_client, &server.url(), b"");
    until(&mut at_client, "the client ends", |app| {
        if let Some(aeronet_skipstone::skipstone::Event::Requested { peer, .. }) = server.poll_event() {
            server.accept(peer).expect("it waits");
        }
        !app.world().resource::<Ends>().0.is_empty()
    });
    let ends = &at_client.world().resource::<Ends>().0;
    assert!(ends[0].0 == client && ends[0].1 == "error" && ends[0].2.contains("not unreliable"), "{ends:?}");
}
