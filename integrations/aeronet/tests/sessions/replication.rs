//! A game of bevy_replicon, over aeronet's transport, over Skipstone, on a path that loses 5% of its datagrams in each
//! direction.

use crate::apps::{Pair, server_config};
use aeronet_replicon::client::{AeronetRepliconClient, AeronetRepliconClientPlugin};
use aeronet_replicon::server::{AeronetRepliconServer, AeronetRepliconServerPlugin};
use aeronet_skipstone::skipstone::netsim::{LinkConfig, Loss};
use aeronet_skipstone::skipstone::{Impairment, ServerConfig};
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_replicon::prelude::*;
use bevy_state::app::StatesPlugin;
use bevy_time::TimePlugin;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A unit of the game, by its number.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Unit(u32);

#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Position(i32);

/// A move that the client orders.
#[derive(Message, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    unit: u32,
    by: i32,
}

const UNITS: u32 = 50;
const ROUNDS: i32 = 60;

fn obey(mut orders: MessageReader<FromClient<Order>>, mut units: Query<(&Unit, &mut Position)>) {
    for order in orders.read() {
        let ordered = units.iter_mut().filter(|(unit, _)| unit.0 == order.message.unit);
        ordered.for_each(|(_, mut position)| position.0 += order.message.by);
    }
}

fn add_game(app: &mut App) {
    app.add_plugins((TimePlugin, StatesPlugin, RepliconPlugins))
        .add_plugins((AeronetRepliconClientPlugin, AeronetRepliconServerPlugin))
        .replicate::<Unit>()
        .replicate::<Position>()
        .add_client_message::<Order>(Channel::Ordered)
        .add_systems(Update, obey);
    app.finish();
}

/// The units of a world: their numbers and positions.
fn units(app: &mut App) -> BTreeMap<u32, i32> {
    let world = app.world_mut();
    world.query::<(&Unit, &Position)>().iter(world).map(|(unit, position)| (unit.0, position.0)).collect()
}

#[test]
fn a_replicated_game_converges_at_5_percent_loss() {
    let lossy = LinkConfig { loss: Loss::Random(0.05), delay: Duration::from_millis(10), ..LinkConfig::default() };
    let impairment = Some(Impairment { up: lossy.clone(), down: lossy, seed: 33 });
    let mut pair = Pair::prepared(ServerConfig { impairment, ..server_config() }, add_game, |server, client| {
        server.insert(AeronetRepliconServer);
        client.insert(AeronetRepliconClient);
    });
    for unit in 0..UNITS {
        pair.at_server.world_mut().spawn((Replicated, Unit(unit), Position(0)));
    }
    pair.until("the client sees every unit", |pair| units(&mut pair.at_client).len() == UNITS as usize);

    // The client orders, and the server changes its world by itself: units move, and one is born in each round.
    for round in 0..ROUNDS {
        let unit = (round as u32 * 7) % UNITS;
        pair.at_client.world_mut().write_message(Order { unit, by: 1_000 });
        let world = pair.at_server.world_mut();
        let mut moving = world.query::<&mut Position>();
        moving.iter_mut(world).for_each(|mut position| position.0 += 1);
        world.spawn((Replicated, Unit(UNITS + round as u32), Position(0)));
        for _ in 0..5 {
            pair.at_server.update();
            pair.at_client.update();
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    let ordered = |units: &BTreeMap<u32, i32>| units.values().map(|position| position / 1_000).sum::<i32>();
    pair.until("every order was obeyed", |pair| ordered(&units(&mut pair.at_server)) == ROUNDS);
    pair.until("both see the same world", |pair| units(&mut pair.at_client) == units(&mut pair.at_server));
    assert_eq!(units(&mut pair.at_client).len(), (UNITS + ROUNDS as u32) as usize);
    let lost = {
        let io = pair.at_server.world().get::<aeronet_skipstone::SkipstoneServer>(pair.server).expect("it is open");
        let (up, down) = io.get().expect("it is open").link_stats();
        (up.lost(), down.lost())
    };
    assert!(lost.0 > 0 && lost.1 > 0, "the path loses datagrams: {lost:?}");
}
