//! A lost message is sent again in several copies, a few milliseconds apart: one more loss costs no round trip. Without
//! redundancy it is sent again once.

use crate::simulation::clear::Eavesdropper;
use crate::simulation::{World, link, ms};
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Config, Event};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::cell::RefCell;
use std::rc::Rc;

const DELAY_MS: u64 = 40;

struct Outcome {
    world: World,
    /// The time from the first transmission of the lost message to its arrival.
    took: Duration,
    /// The times at which it left, lost or not.
    left: Vec<Time>,
}

/// One message in 20 ms; the first `losses` packets with the message in the middle are lost.
fn play(mode: RedundancyMode, losses: usize) -> Outcome {
    let redundancy = Redundancy { mode, budget_percent: 100 };
    let channels = vec![ChannelRule::new(0..=9, DeliveryMode::ReliableUnordered)];
    let settings = Settings { channels, redundancy, ..Settings::default() };
    let mut world = World::new(7, Config::server(settings), &[link(DELAY_MS)]);
    let left = Rc::new(RefCell::new(Vec::new()));
    let (mut eavesdropper, times) = (Eavesdropper::default(), left.clone());
    world.tap = Some(Box::new(move |now, _, is_up, bytes| {
        let has_messages = eavesdropper.see(bytes).is_some_and(|seen| seen.messages > 0);
        if is_up && has_messages && bytes.windows(4).any(|part| part == b"lost") {
            times.borrow_mut().push(now);
            if times.borrow().len() <= losses {
                bytes.clear();
            }
        }
    }));
    world.connect();
    let mut sent_at = world.now;
    for number in 0..100 {
        let payload = if number == 50 { b"to be lost" } else { b"not so far" };
        sent_at = if number == 50 { world.now } else { sent_at };
        world.clients[0].send(world.now, 1, payload.to_vec());
        world.run_for(ms(20));
    }
    world.run_for(ms(500));
    assert_eq!(world.server.messages(1).len(), 100, "each once");
    let is_it = |event: &Event| matches!(event, Event::Message { payload, .. } if payload.ends_with(b"lost"));
    let (at, _) = world.server.events.iter().find(|(_, event)| is_it(event)).expect("it has come");
    let took = at.since(sent_at);
    let left = left.take();
    Outcome { world, took, left }
}

#[test]
fn late_messages_are_sent_in_copies() {
    for losses in [1, 2] {
        let mut outcome = play(RedundancyMode::Lean, losses);
        assert!(outcome.took < ms(3 * DELAY_MS + 30), "{losses} lost: {:?}", outcome.took);
        let copies = &outcome.left[1..];
        assert!(copies.len() >= 2, "{copies:?}");
        assert!(copies.windows(2).all(|pair| (ms(1)..=ms(6)).contains(&pair[1].since(pair[0]))), "{copies:?}");
        let stats = outcome.world.clients[0].overview().stats;
        assert_eq!(stats.redundancy.repairs_sent, 0, "no repairs in this mode");
        assert_eq!(stats.redundancy.copies_sent, copies.len() as u64 - 1);
    }
}

#[test]
fn off_retransmits_once() {
    let mut outcome = play(RedundancyMode::Off, 1);
    assert_eq!(outcome.left.len(), 2);
    assert!(outcome.took < ms(3 * DELAY_MS + 30), "{:?}", outcome.took);
    let stats = outcome.world.clients[0].overview().stats;
    assert_eq!((stats.resent, stats.redundancy), (1, Default::default()));
    assert!(play(RedundancyMode::Off, 2).took > ms(4 * DELAY_MS), "a second loss costs another round trip");
}
