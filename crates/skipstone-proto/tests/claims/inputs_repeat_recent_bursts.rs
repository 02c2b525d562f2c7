//! On a channel that repeats, a lost message arrives with the next packet, and not after a round trip.

use crate::simulation::clear::Eavesdropper;
use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Duration;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Config, Event};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const DELAY_MS: u64 = 40;
const TICK_MS: u64 = 16;
const INPUTS: u64 = 200;
/// The first input whose packet is lost.
const LOST: u64 = 50;

struct Outcome {
    world: World,
    /// How long each input took.
    took: BTreeMap<u64, Duration>,
    /// How many packets held each of them.
    held: BTreeMap<u64, u32>,
}

/// A numbered input of 20 bytes at each tick; `losses` packets in a row are lost, from the one with input 50 on.
fn play(mode: DeliveryMode, redundancy: Redundancy, link: LinkConfig, losses: u64) -> Outcome {
    let rule = ChannelRule { receipts: true, ..ChannelRule::new(0..=9, mode) };
    let settings = Settings { channels: vec![rule], redundancy, ..Settings::default() };
    let mut world = World::new(7, Config::server(settings), &[link]);
    let held = Rc::new(RefCell::new(BTreeMap::new()));
    let (mut eavesdropper, counts, mut lost) = (Eavesdropper::default(), held.clone(), 0);
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        let Some(opened) = eavesdropper.look(bytes).filter(|_| is_up) else { return };
        let inputs: Vec<u64> = opened.messages.iter().map(|(_, payload)| number(payload)).collect();
        inputs.iter().for_each(|input| *counts.borrow_mut().entry(*input).or_default() += 1);
        if lost < losses && inputs.iter().any(|input| *input >= LOST) {
            lost += 1;
            bytes.clear();
        }
    }));
    world.connect();
    let mut sent_at = Vec::new();
    for input in 0..INPUTS {
        let mut payload = [7; 20];
        payload[..8].copy_from_slice(&input.to_be_bytes());
        sent_at.push(world.now);
        world.clients[0].send(world.now, 1, payload.to_vec());
        world.run_for(ms(TICK_MS));
    }
    world.run_for(ms(1_000));
    let took = world.server.events.iter().filter_map(|(at, event)| match event {
        Event::Message { payload, .. } => Some((number(payload), at.since(sent_at[number(payload) as usize]))),
        _ => None,
    });
    let took = took.collect();
    Outcome { world, took, held: held.take() }
}

fn number(payload: &[u8]) -> u64 {
    u64::from_be_bytes(payload[..8].try_into().expect("an input has 20 bytes"))
}

fn repeat(bursts: u8) -> Redundancy {
    Redundancy { mode: RedundancyMode::Repeat { bursts }, budget_percent: 100 }
}

#[test]
fn inputs_repeat_recent_bursts() {
    let modes = [
        DeliveryMode::ReliableOrdered,
        DeliveryMode::ReliableUnordered,
        DeliveryMode::Unreliable,
        DeliveryMode::UnreliableSequenced,
    ];
    for mode in modes {
        for (bursts, losses) in [(1, 1), (2, 1), (2, 2), (4, 4)] {
            let redundancy = Redundancy { budget_percent: 400, ..repeat(bursts) };
            let mut outcome = play(mode, redundancy, link(DELAY_MS), losses);
            let worst = outcome.took.values().max().expect("they came");
            let ticks_late = ms(DELAY_MS + losses * TICK_MS);
            assert!(*worst >= ticks_late && *worst <= ticks_late + ms(2), "{bursts}, {losses} lost: {worst:?}");
            let server = &outcome.world.server;
            let arrived = server.events.iter().filter(|(_, event)| matches!(event, Event::Message { .. })).count();
            assert_eq!(arrived as u64, INPUTS, "each once");
            let receipts = outcome.world.clients[0].events.iter();
            let acknowledged = receipts.filter(|(_, event)| matches!(event, Event::Acknowledged { .. })).count();
            assert_eq!(acknowledged as u64, INPUTS, "each once");
            let stats = outcome.world.clients[0].overview().stats;
            assert_eq!((stats.resent, stats.redundancy.repairs_sent), (0, 0), "nothing had to be sent again");
        }
    }
}

#[test]
fn each_input_is_repeated_exactly_as_configured() {
    for bursts in [1, 2, 8] {
        let redundancy = Redundancy { budget_percent: 400, ..repeat(bursts) };
        let outcome = play(DeliveryMode::ReliableOrdered, redundancy, link(DELAY_MS), 0);
        // Until an acknowledgement comes; no later inputs follow the last ones.
        let until_acked = (2 * DELAY_MS).div_ceil(TICK_MS) as u32;
        let expected = 1 + u32::from(bursts).min(until_acked);
        let held: Vec<u32> = outcome.held.values().copied().skip(20).take(150).collect();
        assert!(held.iter().all(|count| (expected - 1..=expected).contains(count)), "{bursts}: {held:?}");
    }
}

#[test]
fn an_input_lost_with_all_its_repeats_is_retransmitted() {
    let mut outcome = play(DeliveryMode::ReliableOrdered, repeat(2), link(DELAY_MS), 3);
    let worst = *outcome.took.values().max().expect("they came");
    assert!(worst > ms(3 * DELAY_MS) && worst < ms(3 * DELAY_MS + 4 * TICK_MS), "{worst:?}");
    assert!(outcome.world.clients[0].overview().stats.resent > 0);
}

#[test]
fn a_loss_without_repeats_costs_a_round_trip() {
    for redundancy in
        [Redundancy { mode: RedundancyMode::Lean, budget_percent: 100 }, Redundancy { budget_percent: 0, ..repeat(2) }]
    {
        let outcome = play(DeliveryMode::ReliableUnordered, redundancy, link(DELAY_MS), 1);
        let worst = *outcome.took.values().max().expect("they came");
        assert!(worst > ms(3 * DELAY_MS), "{redundancy:?}: {worst:?}");
    }
}

#[test]
fn a_budget_bounds_the_repeats() {
    let mut outcome =
        play(DeliveryMode::ReliableOrdered, Redundancy { budget_percent: 20, ..repeat(8) }, link(DELAY_MS), 0);
    let stats = outcome.world.clients[0].overview().stats;
    let once = stats.sent.ip_bytes - stats.redundancy.bytes_sent;
    assert!(stats.redundancy.bytes_sent > 0 && stats.redundancy.bytes_sent * 5 <= once, "{stats:?}");
}

/// Eight repetitions are more than the budget allows: the budget goes to the newest messages.
#[test]
fn a_small_budget_repeats_the_newest() {
    let lossy = LinkConfig { loss: Loss::Burst { rate: 0.05, mean_length: 1.0 }, ..link(DELAY_MS) };
    let redundancy = Redundancy { budget_percent: 50, ..repeat(8) };
    let outcome = play(DeliveryMode::ReliableUnordered, redundancy, lossy, 0);
    let took = |from: u64, to: u64| outcome.took.values().filter(|took| (ms(from)..ms(to)).contains(took)).count();
    let (at_once, one_late) = (took(0, DELAY_MS + 2), took(DELAY_MS + TICK_MS, DELAY_MS + TICK_MS + 2));
    assert!(one_late >= 3 && at_once + one_late + 1 >= INPUTS as usize, "{at_once} and {one_late}");
}

/// Older states are of no use once a newer one arrived.
#[test]
fn reliable_sequenced_channels_repeat_nothing() {
    let lossy = LinkConfig { loss: Loss::Random(0.1), ..link(DELAY_MS) };
    let lean = Redundancy { mode: RedundancyMode::Lean, ..Redundancy::default() };
    let outcome = play(DeliveryMode::ReliableSequenced, lean, lossy, 0);
    assert!(outcome.took.len() as u64 > INPUTS * 8 / 10);
}

/// 60 inputs of 20 bytes a second over a path with a round trip of 60 ms that loses 5%: how long each took that
/// arrived.
fn inputs_through_loss(mode: DeliveryMode, bursts: u8, seed: u64) -> Vec<Duration> {
    let tick = Duration::from_micros(16_667);
    let settings = Settings {
        channels: vec![ChannelRule::new(0..=9, mode)],
        redundancy: Redundancy { budget_percent: 400, ..repeat(bursts) },
        ..Settings::default()
    };
    let lossy = LinkConfig { loss: Loss::Random(LOSS), ..link(ONE_WAY_MS) };
    let mut world = World::new(seed, Config::server(settings), &[lossy]);
    world.connect();
    let mut sent_at = Vec::new();
    for input in 0..LOSSY_INPUTS {
        let mut payload = [7; 20];
        payload[..8].copy_from_slice(&input.to_be_bytes());
        sent_at.push(world.now);
        world.clients[0].send(world.now, 1, payload.to_vec());
        world.run_for(tick);
    }
    world.run_for(ms(1_000));
    let mut numbers = Vec::new();
    let mut took = Vec::new();
    for (at, event) in &world.server.events {
        if let Event::Message { payload, .. } = event {
            numbers.push(number(payload));
            took.push(at.since(sent_at[number(payload) as usize]));
        }
    }
    assert!(!mode.is_sequenced() || numbers.is_sorted(), "only newer ones");
    numbers.sort_unstable();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "each once");
    assert_eq!(world.clients[0].overview().stats.resent, 0, "nothing waits for a round trip");
    assert!(world.clients[0].overview().depth.messages <= 1 + u64::from(bursts), "what is over is forgotten");
    took
}

const LOSS: f64 = 0.05;
const ONE_WAY_MS: u64 = 30;
const LOSSY_INPUTS: u64 = 3_000;

#[test]
fn unreliable_inputs_survive_loss_without_waiting_for_a_round_trip() {
    for mode in [DeliveryMode::Unreliable, DeliveryMode::UnreliableSequenced] {
        for bursts in [1, 2, 3] {
            let took: Vec<Duration> = (1..=4).flat_map(|seed| inputs_through_loss(mode, bursts, seed)).collect();
            let worst = *took.iter().max().expect("they came");
            let bound = ms(ONE_WAY_MS + 1) + Duration::from_micros(16_667) * u32::from(bursts);
            assert!(worst <= bound, "{mode:?}, {bursts}: {worst:?} of {bound:?}");
            let sent = 4.0 * LOSSY_INPUTS as f64;
            let lost_share = LOSS.powi(i32::from(bursts) + 1);
            // Three standard deviations of random variation.
            let lost_max = sent * lost_share + 3.0 * (sent * lost_share).sqrt() + 1.0;
            let lost = sent - took.len() as f64;
            println!(
                "{mode:?}, {bursts} bursts: {lost} of {sent} lost, at most {lost_max:.1}; the slowest took {worst:?}"
            );
            assert!(lost <= lost_max, "{mode:?}, {bursts}: {lost} lost, at most {lost_max}");
        }
    }
}
