//! Where nothing has been missing for a while, an acknowledgement waits for further ticks; the first loss is still
//! reported at once, and no probe or retransmission is sent meanwhile.

use crate::simulation::clear::Eavesdropper;
use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::Time;
use skipstone_proto::{Config, DeliveryMode, Duration, Settings};
use skipstone_proto::{Event, Stats};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The client sends a message each tick of 16 ms.
fn play(world: &mut World, ticks: u32) -> Stats {
    for _ in 0..ticks {
        world.clients[0].send(world.now, 1, vec![1; 55]);
        world.run_for(ms(16));
    }
    world.clients[0].overview().stats
}

fn quiet_world() -> World {
    let mut world = World::new(1, server_of(DeliveryMode::ReliableOrdered), &[link(20)]);
    world.connect();
    play(&mut world, 800);
    world
}

#[test]
fn a_steady_stream_is_acknowledged_every_fifth_tick() {
    let mut world = quiet_world();
    let acknowledged = |world: &World| world.sent[0].1;
    let before = acknowledged(&world);
    let stats = play(&mut world, 1_000);
    let datagrams = acknowledged(&world) - before;
    assert!((195..=210).contains(&datagrams), "{datagrams}");
    assert_eq!((stats.probes, stats.resent), (0, 0), "nobody was impatient");
}

#[test]
fn the_first_loss_on_a_quiet_path_is_reported_with_the_next_packet() {
    let mut world = quiet_world();
    let mut count = 0;
    world.lose(move |is_up, _| {
        count += u32::from(is_up);
        is_up && count == 3
    });
    play(&mut world, 30);
    world.run_for(ms(200));
    let is_message = |event: &&(Time, Event)| matches!(event.1, Event::Message { .. });
    let arrivals: Vec<u64> =
        world.server.events.iter().filter(is_message).map(|(at, _)| at.as_micros() / 1_000).collect();
    let worst = arrivals.windows(2).map(|pair| pair[1] - pair[0]).max().expect("there were many");
    // From the tick before: two ticks until the gap shows, and a round trip until the copy is here.
    assert!((32 + 38..=32 + 42).contains(&worst), "{worst} ms");
    let acknowledged = world.sent[0].1;
    play(&mut world, 50);
    assert!(world.sent[0].1 - acknowledged >= 49, "after a loss every tick is acknowledged again");
}

#[test]
fn a_lone_message_is_acknowledged_at_once() {
    let mut world = quiet_world();
    world.run_for(ms(1_000));
    let before = world.sent[0].1;
    world.clients[0].send(world.now, 1, vec![1; 55]);
    world.run_for(ms(20 + 3));
    assert_eq!(world.sent[0].1, before + 1);
}

#[test]
fn no_ack_is_delayed_beyond_the_setting_and_no_rtt_includes_the_delay() {
    for (ack_delay, ack_delay_max) in [(1, 0), (1, 25), (1, 70), (1, 150), (40, 10)] {
        let settings = Settings { ack_delay: ms(ack_delay), ack_delay_max: ms(ack_delay_max), ..Settings::default() };
        let greatest = ms(ack_delay.max(ack_delay_max));
        let mut world = World::new(1, Config::server(settings), &[link(20)]);
        // The longest delay that an acknowledgement states, and when each left.
        let (longest, acks) = (Rc::new(Cell::new(Duration::ZERO)), Rc::new(RefCell::new(Vec::new())));
        let (noted, left, mut eavesdropper) = (longest.clone(), acks.clone(), Eavesdropper::default());
        world.tap = Some(Box::new(move |now, _, is_up, bytes| {
            let opened = eavesdropper.look(bytes).filter(|_| !is_up);
            if let Some(delay) = opened.and_then(|packet| packet.ack_delay_us) {
                noted.set(noted.get().max(Duration::from_micros(delay)));
                left.borrow_mut().push(now);
            }
        }));
        world.connect();
        let stats = play(&mut world, 800);
        assert!(longest.get() <= greatest + ms(1), "{greatest:?}: {:?}", longest.get());
        // A tick passes until the first packet of the next one.
        let acks = acks.borrow();
        let apart =
            acks[acks.len() - 50..].windows(2).map(|pair| pair[1].since(pair[0])).max().expect("there are many");
        assert!((greatest..=greatest + ms(17)).contains(&apart), "{greatest:?}: {apart:?}");
        let rtt = world.clients[0].overview().rtt.smoothed();
        assert!((ms(40)..ms(42)).contains(&rtt), "{greatest:?}: {rtt:?}");
        assert_eq!((stats.probes, stats.acks_overdue), (0, 0));
    }
}

/// A server whose machine pauses holds its acknowledgement back: the delay is counted, and the estimate does not
/// change.
#[test]
fn an_ack_delayed_for_longer_is_counted_and_harmless() {
    let mut world = quiet_world();
    world.run_for(ms(100));
    let before = world.clients[0].overview();
    world.clients[0].send(world.now, 1, vec![1; 55]);
    let (now, path) = (world.now, world.path_to_client(0));
    let mut buffer = vec![0; 2_000];
    let sent = world.clients[0].endpoint.poll_transmit(now, &mut buffer).expect("a message");
    world.server.endpoint.handle_datagram(now, path, &mut buffer[..sent.bytes]);
    world.now += ms(200);
    world.run_for(ms(100));
    let after = world.clients[0].overview();
    assert_eq!(after.stats.acks_overdue, before.stats.acks_overdue + 1);
    assert!(after.rtt.smoothed().abs_diff(before.rtt.smoothed()) < ms(2), "{:?}, {:?}", before.rtt, after.rtt);
}
