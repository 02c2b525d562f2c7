//! With blocks of K packets and M repairs, any M losses of a block are recovered, and no packet is sent again.

use crate::simulation::{World, link, ms};
use bytes::Bytes;
use skipstone_proto::Config;
use skipstone_proto::rng::Rng;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::cell::Cell;
use std::rc::Rc;

const SOURCES: u8 = 10;
const REPAIRS: u8 = 3;
const BLOCKS: u64 = 30;

fn world(seed: u64) -> World {
    let redundancy =
        Redundancy { mode: RedundancyMode::Fixed { sources: SOURCES, repairs: REPAIRS }, budget_percent: 100 };
    let channels = vec![ChannelRule::new(0..=9, DeliveryMode::Unreliable)];
    let config = Config::server(Settings { channels, redundancy, ..Settings::default() });
    let mut world = World::new(seed, config, &[link(20)]);
    world.connect();
    world
}

/// Packets of one message each, one at a time; of each block but the first, `REPAIRS` of its sources and repairs are
/// lost.
#[test]
fn fixed_blocks_repair_any_m_losses() {
    for seed in 0..10 {
        let mut world = world(seed);
        let mut rng = Rng::new(seed);
        let lost_sources = Rc::new(Cell::new(0_u64));
        let (mut in_block, mut losing) = (0, Vec::new());
        let (lost, mut sent) = (lost_sources.clone(), 0_u64);
        // A packet that is shorter than a message is an acknowledgement.
        world.lose(move |is_up, bytes| {
            if !is_up || bytes.len() < 90 {
                return false;
            }
            if in_block == 0 {
                let mut places: Vec<u8> = (0..SOURCES + REPAIRS).collect();
                losing = (0..REPAIRS).map(|_| places.remove(rng.below(places.len() as u32) as usize)).collect();
            }
            // A peer keeps nothing before it sees the first repair.
            let is_first_block = sent < u64::from(SOURCES + REPAIRS);
            let is_lost = losing.contains(&in_block) && !is_first_block;
            let place = in_block;
            in_block = (in_block + 1) % (SOURCES + REPAIRS);
            sent += 1;
            lost.set(lost.get() + u64::from(is_lost && place < SOURCES));
            is_lost
        });
        let count = BLOCKS * u64::from(SOURCES);
        for number in 0..count {
            let mut payload = vec![number as u8; 90 + (number * 37 % 400) as usize];
            payload[..8].copy_from_slice(&number.to_be_bytes());
            let now = world.now;
            world.clients[0].send(now, 1, payload);
            world.run_for(ms(4));
        }
        world.run_for(ms(500));
        let mut got: Vec<Bytes> = world.server.messages(1);
        got.sort_unstable();
        let numbers: Vec<u64> =
            got.iter().map(|payload| u64::from_be_bytes(payload[..8].try_into().unwrap())).collect();
        assert_eq!(numbers, (0..count).collect::<Vec<_>>(), "seed {seed}");
        let overview = world.clients[0].overview();
        assert_eq!(overview.stats.redundancy.repairs_sent, BLOCKS * u64::from(REPAIRS), "seed {seed}");
        assert_eq!(overview.stats.resent, 0, "seed {seed}");
        assert_eq!(world.server.overview().stats.redundancy.packets_recovered, lost_sources.get(), "seed {seed}");
    }
}

/// Packets of all sizes, several at a time, both ways: acknowledgements leave with them, and no block goes without its
/// repairs.
#[test]
fn every_block_gets_its_repairs() {
    for (seed, (burst, bytes)) in [(1, 100), (1, 1_150), (2, 1_300), (3, 700), (35, 1_100)].into_iter().enumerate() {
        let mut world = world(seed as u64);
        for _ in 0..200 {
            let now = world.now;
            for _ in 0..burst {
                world.clients[0].send(now, 1, vec![1; bytes]);
                world.server.send(now, 1, vec![2; bytes]);
            }
            world.run_for(ms(7));
        }
        world.run_for(ms(500));
        for node in [&mut world.server, &mut world.clients[0]] {
            let stats = node.overview().stats;
            let blocks = stats.redundancy.repairs_sent / u64::from(REPAIRS);
            // At these lengths a packet holds one message, and some two; messages that are cut are a packet more.
            let packets = stats.sent.payload_bytes / 1_472;
            let expected = packets / u64::from(SOURCES);
            assert!(blocks + 2 >= expected, "{burst} of {bytes}: {blocks} blocks of at least {packets} packets");
        }
    }
}
