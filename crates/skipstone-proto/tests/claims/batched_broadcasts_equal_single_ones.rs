//! A message to many peers is written once and shared. Peers cannot tell: datagrams, events and receipts are identical,
//! in bytes and times, to a server that sends each message to each peer.

use crate::simulation::{BEGINNING, Node, World, link, ms};
use bytes::Bytes;
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;
use skipstone_proto::{BroadcastMessage, Config, Event, Group};
use skipstone_proto::{ChannelRule, DeliveryMode, Merging, Overflow, Settings};
use skipstone_proto::{GivenUp, MessageId};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::cell::RefCell;
use std::rc::Rc;

const CLIENTS: usize = 3;
const TICKS: u32 = 120;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Broadcast,
    OneByOne,
}

/// Datagrams that left, and events of the applications, each with its time.
type History = (Vec<(Time, usize, bool, Vec<u8>)>, Vec<Vec<(Time, Event)>>);

/// Rules that cover everything: turns, receipts, short queues, all modes that retransmit and one that does not.
fn settings(rng: &mut Rng) -> Settings {
    let mode =
        *pick(rng, &[DeliveryMode::ReliableOrdered, DeliveryMode::ReliableOrdered, DeliveryMode::ReliableUnordered]);
    let any = *pick(
        rng,
        &[
            DeliveryMode::ReliableSequenced,
            DeliveryMode::Unreliable,
            DeliveryMode::UnreliableSequenced,
            DeliveryMode::ReliableOrdered,
        ],
    );
    let overflow = *pick(rng, &[Overflow::Refuse, Overflow::DropOldest]);
    let short =
        ChannelRule { queue_messages_max: 20, queue_bytes_max: 4_000, overflow, ..ChannelRule::new(1..=1, mode) };
    let channels = vec![
        ChannelRule { weight: *pick(rng, &[1, 3]), ..ChannelRule::new(0..=0, mode) },
        short,
        ChannelRule { receipts: true, ..ChannelRule::new(2..=2, mode) },
        ChannelRule {
            redundancy: (any == DeliveryMode::ReliableSequenced).then_some(RedundancyMode::Lean),
            ..ChannelRule::new(3..=9, any)
        },
    ];
    let redundancy_mode = *pick(
        rng,
        &[RedundancyMode::Off, RedundancyMode::Lean, RedundancyMode::Adaptive, RedundancyMode::Repeat { bursts: 2 }],
    );
    let redundancy = Redundancy { mode: redundancy_mode, ..Redundancy::default() };
    let merging = *pick(rng, &[Merging::Immediate, Merging::Flush]);
    let window_bytes = *pick(rng, &[40_000, 1 << 20]);
    Settings { channels, redundancy, merging, window_bytes, message_bytes_max: 20_000, ..Settings::default() }
}

fn pick<'a, T>(rng: &mut Rng, choices: &'a [T]) -> &'a T {
    &choices[rng.below(choices.len() as u32) as usize]
}

fn history(seed: u64, way: Way) -> History {
    let mut rng = Rng::new(seed);
    let settings = settings(&mut rng);
    let rate = *pick(&mut rng, &[0.0, 0.02, 0.2]);
    let lossy = LinkConfig { loss: Loss::Random(rate), ..link(*pick(&mut rng, &[1, 10, 60])) };
    let mut world = World::new(seed, Config::server(settings), &vec![lossy; CLIENTS]);
    world.connect();
    let sent = Rc::new(RefCell::new(Vec::new()));
    let datagrams = Rc::clone(&sent);
    world.tap = Some(Box::new(move |now, client, is_up, bytes| {
        datagrams.borrow_mut().push((now, client, is_up, bytes.clone()));
    }));
    let lengths = *pick(&mut rng, &[[100, 100, 100], [0, 13, 700], [50, 100, 3_000]]);
    let per_tick = *pick(&mut rng, &[1, 4, 40]);
    let mut id = 0;
    for _ in 0..TICKS {
        let count = rng.below(per_tick + 1);
        let messages: Vec<_> = (0..count)
            .map(|_| {
                id += 1;
                let channel = *pick(&mut rng, &[0, 0, 0, 0, 1, 2, 3]);
                let length = *pick(&mut rng, &lengths);
                BroadcastMessage::new(channel, Bytes::from(vec![id as u8; length]), MessageId(id))
            })
            .collect();
        let (now, server) = (world.now, &mut world.server.endpoint);
        if way == Way::Broadcast {
            server.broadcast_all(now, Group::EVERYONE, &messages);
        } else {
            for peer in server.peers().collect::<Vec<_>>() {
                for BroadcastMessage { channel, payload, id, .. } in &messages {
                    // Refused by a full queue, perhaps; that is a part of the history.
                    let _ = server.send(now, peer, *channel, payload.clone(), *id);
                }
            }
        }
        server.flush(now);
        world.run_for(ms(16));
    }
    world.run_for(ms(3_000));
    assert!(world.now > BEGINNING + ms(3_000));
    // The order of several peers at one moment does not matter.
    let mut sent = sent.take();
    sent.sort_by_key(|(_, client, ..)| *client);
    // A sender to one peer learns of a refusal at the call, a sender to many peers by an event.
    let is_refusal = |event: &Event| matches!(event, Event::GivenUp { why: GivenUp::QueueFull, .. });
    let heard = |node: Node| node.events.into_iter().filter(|(_, event)| !is_refusal(event)).collect();
    let events = world.clients.into_iter().chain([world.server]).map(heard).collect();
    (sent, events)
}

#[test]
fn every_datagram_and_event_is_equal_for_all_seeds() {
    for seed in 0..150 {
        let (shared, alone) = (history(seed, Way::Broadcast), history(seed, Way::OneByOne));
        for (at, (a, b)) in shared.0.iter().zip(&alone.0).enumerate() {
            assert_eq!(a, b, "datagram {at} of seed {seed}");
        }
        assert_eq!(shared.0.len(), alone.0.len(), "datagrams of seed {seed}");
        assert_eq!(shared.1, alone.1, "events of seed {seed}");
    }
}
