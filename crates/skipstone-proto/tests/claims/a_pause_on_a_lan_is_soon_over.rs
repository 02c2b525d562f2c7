//! Where the round trip is shorter than the time for which acknowledgements are held back, each of them covers a whole
//! window: a small window must still grow. Otherwise a pause of the reader, after which the window is small, would
//! leave a fast link idle until queues overflow.

use crate::simulation::{World, link, ms};
use skipstone_netsim::{LinkConfig, QueueLimit};
use skipstone_proto::{Config, Duration, Settings};

const LAN_DELAY: Duration = Duration::from_micros(50);

fn lan(delay: Duration) -> LinkConfig {
    let (rate_bits_per_second, queue) = (Some(1_000_000_000), QueueLimit::Time(ms(1_000)));
    LinkConfig { delay, rate_bits_per_second, queue, ..link(0) }
}

/// Sends `messages_per_tick` messages of 1,000 bytes each tick of 16 ms; returns how many are missing after the last.
fn missing(messages_per_tick: usize, ticks: usize, pause: Option<Duration>) -> usize {
    let mut world = World::new(3, Config::server(Settings::default()), &[lan(LAN_DELAY)]);
    world.connect();
    for tick in 0..ticks {
        for _ in 0..messages_per_tick {
            world.server.send(world.now, 1, vec![0; 1_000]);
        }
        if let Some(pause) = pause.filter(|_| tick == ticks / 3) {
            world.relink(&lan(pause));
            world.run_for(pause);
            world.relink(&lan(LAN_DELAY));
        }
        world.run_for(ms(16));
    }
    messages_per_tick * ticks - world.clients[0].messages(1).len()
}

#[test]
fn a_pause_of_50_ms_is_caught_up_and_not_reverted_later() {
    assert_eq!(missing(100, 300, Some(ms(50))), 0);
}

#[test]
fn half_a_gigabit_per_second_is_sustained() {
    assert_eq!(missing(1_000, 100, None), 0);
}
