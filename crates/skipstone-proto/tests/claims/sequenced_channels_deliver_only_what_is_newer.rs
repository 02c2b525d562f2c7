//! Both sequenced modes deliver only rising numbers; the reliable one always delivers the newest.

use crate::simulation::{World, link, ms, no_redundancy, server_of};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::DeliveryMode;
use skipstone_proto::DropReason;

fn numbers(world: &World) -> Vec<u32> {
    let number = |message: &bytes::Bytes| u32::from_be_bytes(message[..4].try_into().expect("4 bytes"));
    world.server.messages(0).iter().map(number).collect()
}

fn bad() -> LinkConfig {
    LinkConfig { loss: Loss::Random(0.2), reorder: 0.3, reorder_extra: ms(40), duplicate: 0.1, ..link(10) }
}

#[test]
fn reliable_ones_deliver_in_order_and_include_the_newest() {
    for mode in [DeliveryMode::UnreliableSequenced, DeliveryMode::ReliableSequenced] {
        for seed in 0..10 {
            let mut world = World::new(seed, server_of(mode), &[bad()]);
            world.connect();
            for number in 0..3_000_u32 {
                world.clients[0].send(world.now, 0, number.to_be_bytes().to_vec());
                if number % 3 == 0 {
                    world.run_for(ms(1));
                }
            }
            world.run_for(ms(3_000));
            let got = numbers(&world);
            assert!(got.is_sorted_by(|a, b| a < b), "seed {seed} {mode:?}");
            assert!(got.len() > 500, "seed {seed} {mode:?}: {}", got.len());
            assert!(world.server.drops(DropReason::StaleMessage) > 0);
            if mode == DeliveryMode::ReliableSequenced {
                assert_eq!(got.last(), Some(&2_999), "seed {seed}");
            }
        }
    }
}

#[test]
fn an_older_message_is_not_retransmitted() {
    let mut server = server_of(DeliveryMode::ReliableSequenced);
    server.settings.redundancy = no_redundancy();
    let mut world = World::new(1, server, &[link(10)]);
    world.connect();
    let mut count = 0;
    world.lose(move |is_up, _| {
        count += u32::from(is_up);
        is_up && count <= 3
    });
    for number in 0..3_u32 {
        world.clients[0].send(world.now, 0, number.to_be_bytes().to_vec());
        world.run_for(ms(1));
    }
    world.run_for(ms(1_000));
    assert_eq!(numbers(&world), [2]);
    assert_eq!(world.clients[0].overview().stats.resent, 1);
}

#[test]
fn a_constantly_replaced_large_state_still_arrives_regularly() {
    // A message of 100 packets, replaced before it has left, over a window that holds one of them.
    let mut config = server_of(DeliveryMode::ReliableSequenced);
    config.settings.message_bytes_max = 120_000;
    config.settings.window_bytes = 130_000;
    let slow = LinkConfig { rate_bits_per_second: Some(4_000_000), loss: Loss::Random(0.02), ..link(10) };
    let mut world = World::new(1, config, &[slow]);
    world.connect();
    for number in 0..300_u32 {
        let mut state = vec![number as u8; 120_000];
        state[..4].copy_from_slice(&number.to_be_bytes());
        world.clients[0].send(world.now, 0, state);
        world.run_for(ms(30));
        let held = world.server.overview().depth.held_bytes;
        assert!(held <= 2 * 130_000, "{held}");
    }
    world.run_for(ms(3_000));
    let got = numbers(&world);
    assert!(got.len() >= 15, "{got:?}");
    assert_eq!(got.last(), Some(&299));
}

#[test]
fn refused_messages_do_not_replace_the_older_one() {
    let mut config = server_of(DeliveryMode::ReliableSequenced);
    config.settings.channels[0].queue_bytes_max = 100;
    let mut world = World::new(1, config, &[link(10)]);
    world.connect();
    let peer = world.clients[0].peer();
    world.clients[0].send(world.now, 0, vec![0, 0, 0, 1]);
    let refused = world.clients[0].send_to(world.now, peer, 0, vec![9; 200]);
    assert_eq!(refused, Err(skipstone_proto::SendError::TooLong { bytes_max: 100 }));
    world.run_for(ms(100));
    assert_eq!(numbers(&world), [1]);
}
