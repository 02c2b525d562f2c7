//! Messages longer than a datagram, in every mode; messages that never become complete are dropped.

use crate::simulation::{World, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::DeliveryMode;
use skipstone_proto::DropReason;

const MODES: [DeliveryMode; 5] = [
    DeliveryMode::Unreliable,
    DeliveryMode::UnreliableSequenced,
    DeliveryMode::ReliableOrdered,
    DeliveryMode::ReliableUnordered,
    DeliveryMode::ReliableSequenced,
];

fn large(number: u8) -> Vec<u8> {
    (0..40_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8 ^ number).collect()
}

#[test]
fn payloads_arrive_complete_and_unchanged() {
    for mode in MODES {
        let mut world = World::new(1, server_of(mode), &[link(10)]);
        world.connect();
        for number in 0..5 {
            world.clients[0].send(world.now, 0, large(number));
            world.clients[0].send(world.now, 1, vec![number]);
            world.run_for(ms(200));
        }
        let got = world.server.messages(0);
        assert_eq!(got.len(), 5, "{mode:?}");
        assert!(got.iter().zip(0..).all(|(message, number)| *message == large(number)), "{mode:?}");
        assert_eq!(world.server.overview().depth.channels, 0);
    }
}

#[test]
fn reliable_ones_survive_loss_and_unreliable_ones_expire() {
    for mode in MODES {
        let bad = LinkConfig { loss: Loss::Random(0.1), reorder: 0.1, duplicate: 0.1, ..link(10) };
        let mut world = World::new(2, server_of(mode), &[bad]);
        world.connect();
        for number in 0..10 {
            world.clients[0].send(world.now, 0, large(number));
            world.run_for(ms(300));
        }
        world.run_for(ms(1_000));
        let got = world.server.messages(0).len();
        match mode.is_reliable() {
            true => assert_eq!(got, 10, "{mode:?}"),
            // Repairs make some of them whole, not all.
            false => assert!(got < 10, "{mode:?}: {got}"),
        }
        world.relink(&link(10));
        world.run_for(ms(4_500));
        assert_eq!(world.server.overview().depth.held_bytes, 0, "{mode:?}");
        assert_eq!(world.server.overview().depth.channels, 0, "{mode:?}");
        let forgotten = world.server.drops(DropReason::IncompleteMessage);
        assert!(!mode.is_reliable() || forgotten == 0, "{mode:?}: {forgotten}");
        assert!(mode != DeliveryMode::Unreliable || forgotten > 0, "{mode:?}");
    }
}

#[test]
fn a_message_begun_just_before_others_expire_is_finished() {
    let mut world = World::new(1, server_of(DeliveryMode::Unreliable), &[link(10)]);
    world.connect();
    let mut count = 0;
    world.lose(move |is_up, bytes| {
        count += u32::from(is_up && bytes.len() > 1_000);
        is_up && count == 3
    });
    world.clients[0].send(world.now, 0, large(0));
    world.run_for(ms(1_950));
    let slow = LinkConfig { rate_bits_per_second: Some(2_000_000), ..link(10) };
    world.relink(&slow);
    world.clients[0].send(world.now, 0, large(1));
    world.run_for(ms(400));
    assert_eq!(world.server.messages(0), [large(1)]);
}

#[test]
fn after_any_number_of_whole_messages() {
    for mode in [DeliveryMode::Unreliable, DeliveryMode::UnreliableSequenced] {
        let mut config = server_of(mode);
        config.settings.channels[0].receipts = false;
        let mut world = World::new(1, config, &[link(1)]);
        world.connect();
        for _ in 0..600 {
            for _ in 0..500 {
                world.clients[0].send(world.now, 0, Vec::new());
            }
            world.run_for(ms(4));
            world.server.events.retain(|(_, event)| matches!(event, skipstone_proto::Event::Connected { .. }));
        }
        world.clients[0].send(world.now, 0, large(3));
        world.run_for(ms(1_000));
        let got = world.server.messages(0);
        assert!(got.iter().any(|message| *message == large(3)), "{mode:?}");
        assert_eq!(world.clients[0].overview().depth.channels, 0, "{mode:?}");
    }
}
