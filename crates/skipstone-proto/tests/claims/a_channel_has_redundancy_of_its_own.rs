//! Channels of one connection whose rules name different modes: each is protected by its own, in packets of its own.

use crate::simulation::clear::{Eavesdropper, Opened};
use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::RedundancyMode;
use skipstone_proto::rng::Rng;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Config, Event};
use skipstone_proto::{Duration, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const OFF: u16 = 0;
const FIXED: u16 = 1;
const ADAPTIVE: u16 = 2;
const CHANNELS: [u16; 3] = [OFF, FIXED, ADAPTIVE];
const DELAY_MS: u64 = 40;

type Sent = Rc<RefCell<Vec<(Time, Opened)>>>;

/// A world whose channels have a mode each, and the packets with messages or repairs that leave the client.
fn world(seed: u64, link: LinkConfig, mut is_lost: impl FnMut(&Opened) -> bool + 'static) -> (World, Sent) {
    let rule =
        |channel, mode| ChannelRule::new(channel..=channel, DeliveryMode::ReliableUnordered).with_redundancy(mode);
    let channels = vec![
        rule(OFF, RedundancyMode::Off),
        rule(FIXED, RedundancyMode::Fixed { sources: 2, repairs: 1 }),
        ChannelRule::new(ADAPTIVE..=ADAPTIVE, DeliveryMode::ReliableUnordered),
    ];
    let mut world = World::new(seed, Config::server(Settings { channels, ..Settings::default() }), &[link]);
    let sent = Sent::default();
    let (mut eavesdropper, seen) = (Eavesdropper::default(), sent.clone());
    world.tap = Some(Box::new(move |now, _, is_up, bytes| {
        let Some(opened) = eavesdropper.look(bytes).filter(|_| is_up) else { return };
        if is_lost(&opened) {
            bytes.clear();
        }
        if !opened.messages.is_empty() || !opened.covers.is_empty() {
            seen.borrow_mut().push((now, opened));
        }
    }));
    world.connect();
    (world, sent)
}

/// The time at which the message with this payload arrived on a channel.
fn arrival(world: &World, on: u16, with: &[u8]) -> Time {
    let is_it =
        |event: &Event| matches!(event, Event::Message { channel, payload, .. } if *channel == on && payload == with);
    world.server.events.iter().find(|(_, event)| is_it(event)).expect("it has arrived").0
}

#[test]
fn repairs_cover_packets_of_their_own_channel_only() {
    for seed in 0..10 {
        let lossy = LinkConfig { loss: Loss::Random(0.05), ..link(DELAY_MS) };
        let (mut world, sent) = world(seed, lossy, |_| false);
        let mut rng = Rng::new(seed);
        for number in 0..1_000_u32 {
            for channel in CHANNELS {
                for _ in 0..rng.below(4) {
                    let mut payload = vec![0; 30 + rng.below(100) as usize];
                    payload[..4].copy_from_slice(&number.to_be_bytes());
                    world.clients[0].send(world.now, channel, payload);
                }
            }
            world.run_for(ms(16));
        }
        world.run_for(ms(2_000));
        let sent = sent.take();
        let packets: BTreeMap<u64, &Opened> = sent.iter().map(|(_, opened)| (opened.number, opened)).collect();
        // Lost messages of the unprotected channel may be retransmitted in the same packet.
        let protected = |opened: &Opened| {
            let mut channels: Vec<u16> = opened.messages.iter().map(|(channel, _)| *channel).collect();
            channels.retain(|channel| *channel != OFF);
            channels.dedup();
            channels
        };
        let mut repairs = [0; 3];
        for opened in packets.values().filter(|opened| !opened.covers.is_empty()) {
            let mut covered: Vec<u16> = opened.covers.iter().flat_map(|number| protected(packets[number])).collect();
            assert!(
                opened.covers.iter().all(|number| !protected(packets[number]).is_empty()),
                "seed {seed}: {opened:?}"
            );
            covered.dedup();
            assert_eq!(covered.len(), 1, "seed {seed}: {opened:?}");
            repairs[usize::from(covered[0])] += 1;
        }
        assert!(
            repairs[OFF as usize] == 0 && repairs[FIXED as usize] > 300 && repairs[ADAPTIVE as usize] > 700,
            "{repairs:?}"
        );
        // New messages of two channels never share a packet; retransmissions leave separately.
        let is_mixed = |opened: &&&Opened| !opened.is_late && protected(opened).len() > 1;
        assert_eq!(packets.values().find(is_mixed), None, "seed {seed}");
    }
}

/// Each channel loses its 50th message once.
#[test]
fn losses_are_awaited_only_on_unprotected_channels() {
    let mut lost: Vec<u16> = Vec::new();
    let (mut world, sent) = world(3, link(DELAY_MS), move |opened| {
        let channel = opened.messages.iter().find(|(_, payload)| payload == b"to be lost").map(|(channel, _)| *channel);
        let is_lost = channel.is_some_and(|channel| !lost.contains(&channel));
        lost.extend(channel);
        is_lost
    });
    let mut sent_at = world.now;
    for number in 0..100 {
        let payload = if number == 50 { b"to be lost" } else { b"not so far" };
        sent_at = if number == 50 { world.now } else { sent_at };
        for channel in CHANNELS {
            world.clients[0].send(world.now, channel, payload.to_vec());
        }
        world.run_for(ms(20));
    }
    world.run_for(ms(500));
    let took = CHANNELS.map(|channel| arrival(&world, channel, b"to be lost").since(sent_at));
    assert!(took[0] > ms(3 * DELAY_MS) && took[0] < ms(3 * DELAY_MS + 30), "a round trip later: {took:?}");
    // A block of two waits for the next tick.
    assert!(took[1] <= ms(DELAY_MS + 22), "{took:?}");
    assert!(took[2] <= ms(DELAY_MS + 2), "{took:?}");
    assert!(CHANNELS.iter().all(|channel| world.server.messages(*channel).len() == 100), "each once");
    let is_it = |(channel, payload): &(u16, Vec<u8>)| *channel == OFF && payload == b"to be lost";
    let times: Vec<Duration> = sent
        .take()
        .into_iter()
        .filter(|(_, opened)| opened.messages.iter().any(is_it))
        .map(|(at, _)| at.since(sent_at))
        .collect();
    assert_eq!(times.len(), 2, "no copies of it: {times:?}");
}

/// Two losses in a row of every retransmission: where copies are sent, these losses cost no further round trip.
#[test]
fn late_messages_are_copied_by_the_mode_of_their_channel() {
    let rule =
        |channel, mode| ChannelRule::new(channel..=channel, DeliveryMode::ReliableUnordered).with_redundancy(mode);
    let channels = vec![rule(0, RedundancyMode::Off), rule(1, RedundancyMode::Lean)];
    let mut world = World::new(5, Config::server(Settings { channels, ..Settings::default() }), &[link(DELAY_MS)]);
    let (mut eavesdropper, counts) = (Eavesdropper::default(), Rc::new(RefCell::new([0; 2])));
    let times = counts.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        let Some(opened) = eavesdropper.look(bytes).filter(|_| is_up) else { return };
        for (channel, _) in opened.messages.iter().filter(|(_, payload)| payload == b"to be lost") {
            let count = &mut times.borrow_mut()[usize::from(*channel)];
            *count += 1;
            if *count == 1 {
                bytes.clear();
            }
        }
    }));
    world.connect();
    for number in 0..100 {
        let payload = if number == 50 { b"to be lost" } else { b"not so far" };
        for channel in 0..2 {
            world.clients[0].send(world.now, channel, payload.to_vec());
        }
        world.run_for(ms(20));
    }
    world.run_for(ms(500));
    let [off, lean] = counts.take();
    assert!(off == 2 && lean >= 3, "{off} and {lean} times");
    assert_eq!(world.clients[0].overview().stats.redundancy.copies_sent, lean - 2);
}
