//! A congestion controller of the application decides on the window and the pace. Whatever it answers, messages arrive,
//! other paths are not delayed, and corrections are counted.

use crate::simulation::{World, link, ms, server_of};
use skipstone_netsim::{LinkConfig, QueueLimit};
use skipstone_proto::{
    AckSample, Config, Congestion, Controller, DeliveryMode, Duration, Pace, PathModel, Phase, Time,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Reno: a datagram more in each round trip, half after a loss (RFC 5681).
#[derive(Debug)]
struct Reno {
    window: u64,
}

impl Controller for Reno {
    fn window(&self) -> u64 {
        self.window
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathModel) {
        if path.is_limited(ack.now) {
            self.window += u64::from(path.datagram()) * u64::from(ack.bytes) / self.window;
        }
    }

    fn is_congestion(&self, _: &PathModel) -> bool {
        true
    }

    fn on_congestion(&mut self, _: Time, path: &PathModel) {
        self.window = (self.window / 2).max(2 * u64::from(path.datagram()));
    }

    fn on_silence(&mut self, _: Time, path: &PathModel) {
        self.window = 2 * u64::from(path.datagram());
    }
}

/// Always the same answers.
#[derive(Debug)]
struct Constant {
    window: u64,
    pace: Pace,
    phase: Phase,
}

impl Controller for Constant {
    fn window(&self) -> u64 {
        self.window
    }

    fn pace(&self, _: &PathModel) -> Pace {
        self.pace
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn on_ack(&mut self, _: &AckSample, _: &PathModel) {}

    fn on_congestion(&mut self, _: Time, _: &PathModel) {}

    fn on_silence(&mut self, _: Time, _: &PathModel) {}
}

fn constant(window: u64, rate: u64, burst: u64, phase: Phase) -> Congestion {
    of_the_greedy(move |_| Constant { window, pace: Pace { rate, burst }, phase })
}

/// 200 kB/s, 20 ms of round trip, 100 ms of queue.
fn narrow() -> LinkConfig {
    LinkConfig { rate_bits_per_second: Some(1_600_000), queue: QueueLimit::Time(ms(100)), ..link(10) }
}

/// What a connection is given that is not the one under test.
fn generous() -> Box<dyn Controller> {
    Box::new(Constant { window: 1 << 20, pace: Pace { rate: 1 << 30, burst: 1 << 20 }, phase: Phase::Steady })
}

/// The greedy peer has this controller, the other a generous one. The greedy one's link is slower: it is the second to
/// arrive.
fn of_the_greedy<C: Controller + 'static>(make: impl Fn(&PathModel) -> C + Send + Sync + 'static) -> Congestion {
    let made = AtomicU32::new(0);
    Congestion::custom(move |path| match made.fetch_add(1, Ordering::Relaxed) {
        1 => Box::new(make(path)),
        _ => generous(),
    })
}

fn server_with(congestion: Congestion) -> Config {
    Config { congestion, ..server_of(DeliveryMode::ReliableOrdered) }
}

/// What the first client received when the server had much more to send to it, and the longest that a message to the
/// second one took, sent each 20 ms.
fn beside_a_greedy_peer(congestion: Congestion, span: Duration) -> (usize, Duration, u32) {
    let mut world = World::new(11, server_with(congestion), &[narrow(), link(10)]);
    world.connect();
    let peer = |world: &World, client| world.asked.iter().find(|asked| asked.1 == client).expect("connected").0;
    let (greedy, other) = (peer(&world, 0), peer(&world, 1));
    let (mut latest, end) = (Duration::ZERO, world.now + span);
    while world.now < end {
        while world.server.endpoint.queued(greedy, 1).1 < 500_000 {
            let sent = world.server.send_to(world.now, greedy, 1, vec![7; 5_000]);
            assert!(sent.is_ok(), "{sent:?}");
        }
        let (sent_at, before) = (world.now, world.clients[1].messages(1).len());
        assert!(world.server.send_to(world.now, other, 1, vec![8; 100]).is_ok());
        world.run_until_true(ms(1_000), |world| world.clients[1].messages(1).len() > before);
        latest = latest.max(world.now.since(sent_at));
        world.run_until(sent_at + ms(20));
    }
    let corrections = world.server.endpoint.overview(greedy).expect("connected").controller_corrections;
    (world.clients[0].messages(1).iter().map(|message| message.len()).sum(), latest, corrections)
}

#[test]
fn reno_of_thirty_lines_fills_a_link() {
    let reno = || Congestion::custom(|path| Reno { window: 10 * u64::from(path.datagram()) });
    let (bytes, latest, corrections) = beside_a_greedy_peer(reno(), ms(10_000));
    assert!(bytes > 1_500_000, "{bytes} of 2,000,000 bytes");
    assert!(latest < ms(15) && corrections == 0, "{latest:?}, {corrections} corrections");
}

#[test]
fn a_controller_that_asks_for_nothing_gets_two_datagrams_each_second() {
    let (bytes, latest, corrections) = beside_a_greedy_peer(constant(0, 0, 0, Phase::Steady), ms(10_000));
    assert!((5_000..50_000).contains(&bytes), "{bytes} bytes");
    assert!(latest < ms(15), "{latest:?}");
    assert!(corrections > 10, "{corrections} corrections");
}

#[test]
fn a_controller_that_asks_for_everything_does_not_delay_other_paths() {
    let (unlimited, _, _) = beside_a_greedy_peer(Congestion::Off, ms(3_000));
    for phase in [Phase::Starting, Phase::Steady, Phase::Draining, Phase::Competing, Phase::Probing] {
        let everything = constant(u64::MAX, u64::MAX, u64::MAX, phase);
        let (bytes, latest, corrections) = beside_a_greedy_peer(everything, ms(3_000));
        assert!(2 * bytes >= unlimited && bytes > 0, "{phase:?}: {bytes} bytes, {unlimited} without a controller");
        assert!(latest < ms(15), "{phase:?}: {latest:?}");
        assert!(corrections > 100, "{phase:?}: {corrections} corrections");
    }
}

#[test]
fn a_controller_that_changes_its_mind_each_time_does_not_delay_other_paths() {
    #[derive(Debug)]
    struct Moody(u64);
    impl Controller for Moody {
        fn window(&self) -> u64 {
            [0, u64::MAX, 5_000, 1][self.0 as usize % 4]
        }
        fn phase(&self) -> Phase {
            [Phase::Steady, Phase::Draining, Phase::Probing, Phase::Competing, Phase::Starting][self.0 as usize % 5]
        }
        fn on_ack(&mut self, _: &AckSample, _: &PathModel) {
            self.0 += 1;
        }
        fn on_congestion(&mut self, _: Time, _: &PathModel) {
            self.0 += 3;
        }
        fn on_silence(&mut self, _: Time, _: &PathModel) {
            self.0 += 7;
        }
    }
    let (bytes, latest, _) = beside_a_greedy_peer(of_the_greedy(|_| Moody(0)), ms(5_000));
    assert!(bytes > 0 && latest < ms(15), "{bytes} bytes, {latest:?}");
}

#[test]
fn the_losses_that_ask_for_an_answer_are_known_when_it_is_given() {
    #[derive(Debug)]
    struct Proportional {
        window: u64,
        losses: Arc<Mutex<Vec<f32>>>,
    }
    impl Controller for Proportional {
        fn window(&self) -> u64 {
            self.window
        }
        fn on_ack(&mut self, ack: &AckSample, _: &PathModel) {
            self.window += u64::from(ack.bytes);
        }
        fn on_congestion(&mut self, _: Time, path: &PathModel) {
            self.losses.lock().expect("whole").push(path.loss());
            self.window = ((1.0 - path.loss() / 2.0) * self.window as f32) as u64;
        }
        fn on_silence(&mut self, _: Time, _: &PathModel) {}
    }
    let losses = Arc::new(Mutex::new(Vec::new()));
    let noted = losses.clone();
    let congestion = of_the_greedy(move |_| Proportional { window: 20_000, losses: noted.clone() });
    beside_a_greedy_peer(congestion, ms(3_000));
    let losses = losses.lock().expect("whole");
    assert!(losses.len() > 2 && losses.iter().all(|loss| *loss > 0.1), "{losses:?}");
}

#[test]
fn a_controller_hears_of_a_datagrams_size_when_it_changes() {
    #[derive(Debug)]
    struct Counting(Arc<AtomicU32>);
    impl Controller for Counting {
        fn window(&self) -> u64 {
            100_000
        }
        fn on_ack(&mut self, _: &AckSample, _: &PathModel) {}
        fn on_congestion(&mut self, _: Time, _: &PathModel) {}
        fn on_silence(&mut self, _: Time, _: &PathModel) {}
        fn on_datagram_bytes(&mut self, _: &PathModel) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let changes = Arc::new(AtomicU32::new(0));
    let counted = changes.clone();
    let congestion = Congestion::custom(move |_| Box::new(Counting(counted.clone())) as Box<dyn Controller>);
    beside_a_greedy_peer(congestion, ms(3_000));
    // Both peers: from the greatest size to the smallest, and to that of their path.
    assert!((2..=12).contains(&changes.load(Ordering::Relaxed)), "{changes:?}");
}

#[test]
fn a_path_that_the_peer_moves_to_begins_with_a_new_controller() {
    let made = Arc::new(AtomicU32::new(0));
    let counted = made.clone();
    let congestion = Congestion::custom(move |path| {
        counted.fetch_add(1, Ordering::Relaxed);
        Reno { window: 10 * u64::from(path.datagram()) }
    });
    let mut world = World::new(12, server_with(congestion), &[link(10)]);
    world.connect();
    assert_eq!(made.load(Ordering::Relaxed), 1);
    assert!(world.roam(0));
    world.run_for(ms(2_000));
    assert_eq!(made.load(Ordering::Relaxed), 2);
}
