//! The example game of rooms on three nodes.

use crate::common::server;
use std::time::Duration;

#[test]
fn the_game_of_rooms_goes_on_after_a_move_and_after_the_loss_of_a_node() {
    let nats = server();
    let story = skipstone_example_rooms::play(&nats.url(), Duration::from_secs(3)).unwrap();
    let [tavern, forest] = &story.homes;
    assert!(tavern != forest && story.new_home != *forest, "{story:?}");
    assert_eq!((story.heard.as_str(), story.watched.as_str()), ("zoe: anybody there?", "forest: bob 3"));
    // She moved to the other node without a connection of her own, and lost it once, with its node.
    assert_eq!((story.moved.as_str(), story.connections), ("forest: bob 3, zoe 5", 2));
}
