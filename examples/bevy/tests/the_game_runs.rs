//! Server and client play as resources of two Bevy apps.

use skipstone_example_bevy::{NetClient, NetServer, play};

#[test]
fn a_player_moves_at_the_server_and_is_seen_at_the_client() {
    let position = play().expect("the game ends");
    assert!(position > 0.0, "{position}");
}

#[test]
fn both_handles_are_resources() {
    const fn is_resource<T: bevy_ecs::prelude::Resource + Send + Sync>() {}
    is_resource::<NetServer>();
    is_resource::<NetClient>();
}
