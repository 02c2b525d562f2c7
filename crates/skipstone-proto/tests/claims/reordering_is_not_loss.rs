//! A packet that others overtake is late, not lost: on a path that reorders and loses nothing, redundancy decreases,
//! although repairs recover most packets before they arrive.

use crate::simulation::{World, link, ms};
use skipstone_netsim::LinkConfig;
use skipstone_proto::{ChannelRule, Config, DeliveryMode, Event, Redundancy, RedundancyMode, Settings, Stats};

/// Echoes of 25 messages, 60 times a second. Returns the statistics of the client's last 20 of 60 s.
fn late_in_the_run(mode: RedundancyMode, round_trip_ms: u64, reorder: f64) -> Stats {
    let rule = ChannelRule::new(0..=u16::MAX, DeliveryMode::ReliableOrdered);
    let redundancy = Redundancy { mode, ..Redundancy::default() };
    let config = Config::server(Settings { channels: vec![rule], redundancy, ..Settings::default() });
    let mut world = World::new(5, config, &[LinkConfig { reorder, ..link(round_trip_ms / 2) }]);
    world.connect();
    let (client, server) = (world.clients[0].peer(), world.server.peer());
    let mut before = None;
    for tick in 0..60 * 60 {
        for channel in 0..25 {
            let _ = world.clients[0].send_to(world.now, client, channel, vec![7; 50]);
        }
        let end = world.now + ms(16);
        while world.now < end {
            for (_, event) in world.server.events.drain(..) {
                if let Event::Message { channel, payload, .. } = event {
                    let _ = world.server.endpoint.send(world.now, server, channel, payload, Default::default());
                }
            }
            world.run_for(ms(1));
        }
        world.clients[0].events.clear();
        if tick == 40 * 60 {
            before = Some(world.clients[0].endpoint.overview(client).expect("it stands").stats);
        }
    }
    let mut stats = world.clients[0].endpoint.overview(client).expect("it stands").stats;
    stats.subtract(&before.expect("40 s"));
    stats
}

#[test]
fn a_reordering_path_without_loss_gets_almost_no_redundancy() {
    for (round_trip_ms, reorder) in [(20, 0.05), (60, 0.02), (100, 0.10)] {
        let off = late_in_the_run(RedundancyMode::Off, round_trip_ms, reorder);
        let adaptive = late_in_the_run(RedundancyMode::Adaptive, round_trip_ms, reorder);
        let share = adaptive.sent.ip_bytes as f64 / off.sent.ip_bytes as f64;
        assert!(share < 1.06, "{round_trip_ms} ms: {share}, {:?}", adaptive.redundancy);
    }
}
