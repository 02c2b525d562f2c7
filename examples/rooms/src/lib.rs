//! A game of rooms on three servers that are one fleet.
//!
//! * [`node`]: a server of the game. One loop polls the bus, the directory, groups and moves, as it polls its players.
//! * [`entrance`]: where players ask for a room by name, and get an address and a ticket.
//! * [`player`]: a client.
//!
//! A room is created when a player asks for it, at the node with the most places. Chat is a reliable group of all nodes.
//! Positions of a room are an unreliable group that those nodes join on which somebody watches the room. A player that
//! changes to a room of another node moves there while it plays. If a node is lost, others take over its rooms.
//!
//! `cargo run -p skipstone-example-rooms`

pub mod entrance;
mod failure;
pub mod node;
pub mod player;
mod question;

pub use failure::Failure;

use entrance::Entrance;
use node::{Fleet, Node};
use player::Player;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What happened in a game.
#[derive(Clone, Debug)]
pub struct Story {
    /// Where the tavern was, and the forest.
    pub homes: [String; 2],
    /// What Bob heard Zoe say from the room at the other node.
    pub heard: String,
    /// What Zoe saw of the forest before she went there.
    pub watched: String,
    /// Where Zoe stood after she had moved to the forest's node.
    pub moved: String,
    /// Connections that Zoe opened herself, of which the last came after the node was lost.
    pub connections: u32,
    /// Where the forest was after its node was lost.
    pub new_home: String,
    /// How long the players were without it.
    pub away: Duration,
}

/// Zoe and Bob meet in rooms of three nodes, until one of them is lost.
pub fn play(nats: &str, lease: Duration) -> Result<Story, Failure> {
    let fleet = Fleet::new(nats, lease)?;
    let stops = NODES.map(|_| AtomicBool::new(false));
    let nodes = NODES.iter().map(|name| Node::start(&fleet, name)).collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        let serving: Vec<_> =
            nodes.into_iter().zip(&stops).map(|(node, stop)| scope.spawn(move || node.serve(stop))).collect();
        let told = tell(&fleet, &stops);
        stops.iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
        for node in serving {
            node.join().map_err(|_| "a node panicked")??;
        }
        told
    })
}

fn tell(fleet: &Fleet, stops: &[AtomicBool]) -> Result<Story, Failure> {
    let mut entrance = Entrance::open(fleet)?;
    let mut zoe = Player::enter("zoe", "tavern", &mut entrance)?;
    let mut bob = Player::enter("bob", "forest", &mut entrance)?;
    let homes = [&zoe, &bob].map(|player| player.home().to_owned());

    zoe.say("say anybody there?")?;
    let heard = bob.hear("zoe: anybody there?")?;
    zoe.say("watch forest")?;
    zoe.say("step 5")?;
    bob.say("step 3")?;
    let watched = zoe.see("forest: bob 3")?;

    // Zoe's place, 5, comes with her. Her client moves while it is polled.
    zoe.say("enter forest")?;
    let moved = zoe.see("forest: bob 3, zoe 5")?;
    bob.see(&moved)?;

    // Bob's node is lost: no close, no farewell to the directory.
    let lost = Instant::now();
    stops[home_index(&homes[1])].store(true, Ordering::Relaxed);
    for player in [&mut zoe, &mut bob] {
        player.until_lost()?;
        player.enter_again(&mut entrance)?;
    }
    let new_home = zoe.home().to_owned();
    bob.say("step 1")?;
    zoe.see("forest: bob 1, zoe 0")?;
    Ok(Story { homes, heard, watched, moved, connections: zoe.connections, new_home, away: lost.elapsed() })
}

fn home_index(node: &str) -> usize {
    NODES.iter().position(|name| *name == node).expect("the nodes have these names")
}

const NODES: [&str; 3] = ["n1", "n2", "n3"];
