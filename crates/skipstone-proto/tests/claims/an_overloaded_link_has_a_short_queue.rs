//! More is sent than a link with a long queue takes: excess data waits in the application's queue. Neither our own
//! queue, nor acknowledgements that our queue pushes together, look like the queue of another flow.

use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, QueueLimit};
use skipstone_proto::{ChannelRule, Config, DeliveryMode, Event, Overflow, Redundancy, RedundancyMode, Settings};

/// The 95th percentile of the round-trip time, in ms, of an echo with three times the load of the link.
fn late_round_trip(mode: RedundancyMode) -> u64 {
    let mut rule = ChannelRule::new(0..=u16::MAX, DeliveryMode::ReliableOrdered);
    (rule.overflow, rule.queue_messages_max) = (Overflow::Refuse, 30);
    let redundancy = Redundancy { mode, ..Redundancy::default() };
    let config = Config::server(Settings { channels: vec![rule], redundancy, ..Settings::default() });
    let slow = LinkConfig { rate_bits_per_second: Some(1_000_000), queue: QueueLimit::Time(ms(500)), ..link(10) };
    let mut world = World::new(9, config, &[slow]);
    world.connect();
    let (client, server) = (world.clients[0].peer(), world.server.peer());
    let mut times = Vec::new();
    for _ in 0..60 * 60 {
        for channel in 0..75 {
            let _ = world.clients[0].send_to(world.now, client, channel, vec![7; 83]);
        }
        for (_, event) in world.server.events.drain(..) {
            if let Event::Message { channel, payload, .. } = event {
                let _ = world.server.endpoint.send(world.now, server, channel, payload, Default::default());
            }
        }
        world.clients[0].events.clear();
        world.run_for(ms(16));
        let overview = world.clients[0].endpoint.overview(client).expect("it stands");
        times.push(overview.rtt.latest().as_millis() as u64);
    }
    times.sort_unstable();
    times[times.len() * 95 / 100]
}

#[test]
fn a_half_second_queue_is_not_filled() {
    for mode in [RedundancyMode::Off, RedundancyMode::Lean, RedundancyMode::Adaptive] {
        let late = late_round_trip(mode);
        assert!(late <= 20 + 2 * 80, "{mode:?}: {late} ms");
    }
}
