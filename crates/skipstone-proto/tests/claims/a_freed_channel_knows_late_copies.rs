//! An idle channel keeps only its counters, and they suffice.

use crate::simulation::{World, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Config, DropReason};

#[test]
fn a_message_whose_ack_was_lost_is_not_delivered_again() {
    for mode in [DeliveryMode::ReliableOrdered, DeliveryMode::ReliableUnordered, DeliveryMode::ReliableSequenced] {
        let mut world = World::new(1, server_of(mode), &[link(10)]);
        world.connect();
        let mut left = 3;
        world.lose(move |is_up, _| {
            let is_lost = !is_up && left > 0;
            left -= u32::from(is_lost);
            is_lost
        });
        for channel in [3, 3_000, 60_000] {
            world.clients[0].send(world.now, channel, b"once".to_vec());
        }
        world.run_for(ms(15));
        assert_eq!(world.server.overview().depth.channels, 0, "{mode:?}: it is freed at once");
        world.run_for(ms(2_000));
        for channel in [3, 3_000, 60_000] {
            assert_eq!(world.server.messages(channel).len(), 1, "{mode:?}");
        }
        let copies = world.server.drops(DropReason::DuplicateMessage) + world.server.drops(DropReason::StaleMessage);
        assert!(copies >= 3, "{mode:?}: {copies}");
        assert_eq!(world.clients[0].overview().depth.channels, 0);
    }
}

#[test]
fn repeatedly_freed_channels_keep_their_sequence() {
    let rules =
        (0..5_u16).map(|mode| ChannelRule::new(mode * 100..=mode * 100 + 99, (mode as u8).try_into().expect("a mode")));
    let settings = Settings { channels: rules.collect(), ..Settings::default() };
    let mut world = World::new(1, Config::server(settings), &[link(5)]);
    world.connect();
    for round in 0..300_u32 {
        for channel in (0..500).step_by(50) {
            world.clients[0].send(world.now, channel, round.to_be_bytes().to_vec());
        }
        // Packets this far apart are not a stream, so their acknowledgements do not wait.
        world.run_for(ms(41));
        assert_eq!(world.clients[0].overview().depth.channels, 0, "round {round}");
        assert_eq!(world.server.overview().depth.channels, 0, "round {round}");
    }
    for channel in (0..500).step_by(50) {
        let expected: Vec<_> = (0..300_u32).map(|round| round.to_be_bytes().to_vec()).collect();
        assert_eq!(world.server.messages(channel), expected, "channel {channel}");
    }
}

#[test]
fn an_unreportable_loss_keeps_no_state() {
    let bad = LinkConfig { loss: Loss::Random(0.3), ..link(5) };
    let mut config = server_of(DeliveryMode::UnreliableSequenced);
    config.settings.channels[0].receipts = false;
    let mut world = World::new(1, config, &[bad]);
    world.connect();
    for round in 0..200 {
        for channel in 0..20 {
            world.clients[0].send(world.now, channel, vec![round]);
        }
        world.run_for(ms(20));
        assert_eq!(world.clients[0].overview().depth.channels, 0, "round {round}");
    }
}
