//! Server and client play as resources of two Bevy apps, through the plugins of `skipstone_bevy`.

use skipstone_bevy::skipstone::{ClosedBy, Threading};
use skipstone_bevy::{NetClient, NetServer};
use skipstone_example_bevy::{Shown, play, run_until, start};
use std::time::Duration;

#[test]
fn a_player_moves_at_the_server_and_is_seen_at_the_client() {
    for threading in [Threading::Background, Threading::Stepped] {
        let position = play(threading).expect("the game ends");
        assert!(position > 0.0, "{threading:?}: {position}");
    }
}

#[test]
fn a_player_who_is_removed_learns_the_code_and_the_reason() {
    let mut apps = start(Threading::Background).expect("the game begins");
    run_until(&mut apps, |shown| shown.snapshots > 0).expect("the player has joined");
    let mut server = apps.0.world_mut().resource_mut::<NetServer>();
    let peer = server.peers().next().expect("the player is there");
    server.close(peer, 7, "you were asleep", Duration::ZERO).expect("the player can be removed");
    run_until(&mut apps, |shown| shown.end.is_some()).expect("the player learns it");
    let end = apps.1.world().resource::<Shown>().end.clone().expect("the connection ended");
    assert_eq!((end.by, end.code, &*end.reason_text()), (ClosedBy::Peer, 7, "you were asleep"));
}

#[test]
fn a_second_server_replaces_the_first() {
    let mut apps = start(Threading::Background).expect("the game begins");
    run_until(&mut apps, |shown| shown.snapshots > 0).expect("the player has joined");
    let (mut next_server, mut next_client) = start(Threading::Background).expect("the next map can begin");
    let next = next_server.world_mut().remove_resource::<NetServer>().expect("it serves");
    let last = std::mem::replace(&mut *apps.0.world_mut().resource_mut::<NetServer>(), next);
    last.0.shutdown(8, "next map", Duration::ZERO);
    run_until(&mut apps, |shown| shown.end.is_some()).expect("the player learns it");
    let next = next_client.world_mut().remove_resource::<NetClient>().expect("it connects");
    apps.1.insert_resource(next).insert_resource(Shown::default());
    run_until(&mut apps, |shown| shown.snapshots > 0).expect("the player has joined again");
}

#[test]
fn both_handles_are_resources() {
    const fn is_resource<T: bevy_ecs::prelude::Resource + Send + Sync>() {}
    is_resource::<NetServer>();
    is_resource::<NetClient>();
}
