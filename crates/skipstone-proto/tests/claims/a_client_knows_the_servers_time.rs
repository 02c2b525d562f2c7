//! A client's estimate of the server's clock: the true time is always within the stated error, over paths of any delay,
//! jitter, asymmetry and loss, between clocks that drift; and it costs an idle connection nothing.

use crate::simulation::{World, link, ms, seed_bytes};
use skipstone_proto::MessageId;
use skipstone_proto::rng::Rng;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{Config, Endpoint, Event, PeerId};
use skipstone_proto::{Duration, Time};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;

/// A client and a server whose clocks differ, over a path that may treat its two directions differently.
struct TwoClocks {
    rng: Rng,
    /// True time, in µs; the server's clock shows it as it is.
    now: u64,
    /// The client's clock runs this much faster, in millionths.
    drift_ppm: i64,
    /// The client's clock at true time 0.
    client_first: u64,
    /// Delay towards the server and from it, in µs, and the random part of it.
    delays: [u64; 2],
    jitter_us: u32,
    loss_percent: u32,
    server: Endpoint,
    client: Endpoint,
    peer: PeerId,
    path: Path,
    /// Datagrams in flight by time of arrival: whether for the server, and the bytes.
    flying: BTreeMap<(u64, u64), (bool, Vec<u8>)>,
    sent: u64,
}

impl TwoClocks {
    fn new(seed: u64, carrier: Carrier) -> Self {
        let mut rng = Rng::new(seed);
        let config = Config { follows_server_time: true, ..Config::client() };
        let server = Endpoint::new(Config::server(Default::default()), seed_bytes(seed)).expect("it is good");
        let mut client = Endpoint::new(config, seed_bytes(seed + 1)).expect("it is good");
        let path = Path { socket: 0, local: None, remote: SocketAddr::from(([192, 0, 2, 1], 7_777)), carrier };
        let client_first = u64::from(rng.below(2_000_000_000));
        let now = 1_000_000 + u64::from(rng.below(2_000_000_000));
        let mut world = TwoClocks {
            drift_ppm: i64::from(rng.below(201)) - 100,
            client_first,
            delays: [0; 2].map(|_| 200 + u64::from(rng.below(200_000))),
            jitter_us: if carrier.is_reliable { 1 } else { 1 + rng.below(50_000) },
            loss_percent: if carrier.is_reliable { 0 } else { rng.below(20) },
            peer: PeerId { index: 0, generation: 0 },
            flying: BTreeMap::new(),
            sent: 0,
            rng,
            now,
            server,
            client: Endpoint::new(Config::client(), seed_bytes(0)).expect("it is good"),
            path,
        };
        world.peer = client.connect(world.client_time(), path, b"").expect("there is room");
        world.client = client;
        world
    }

    fn client_time(&self) -> Time {
        let drifted = self.now as i64 + self.now as i64 * self.drift_ppm / 1_000_000;
        Time::from_micros(self.client_first + drifted as u64)
    }

    /// Plays `span`, and calls `look` from time to time with the estimate and its error.
    fn run(&mut self, span: Duration, mut look: impl FnMut(&mut Self)) {
        let end = self.now + span.as_micros() as u64;
        while self.now < end {
            let arrival = self.flying.first_key_value().map_or(u64::MAX, |(key, _)| key.0);
            self.now = arrival.min(self.now + 5_000);
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (is_up, mut bytes) = entry.remove();
                let client_time = self.client_time();
                match is_up {
                    true => self.server.handle_datagram(Time::from_micros(self.now), self.path, &mut bytes),
                    false => self.client.handle_datagram(client_time, self.path, &mut bytes),
                }
            }
            self.settle();
            look(self);
        }
    }

    fn settle(&mut self) {
        let (server_time, client_time) = (Time::from_micros(self.now), self.client_time());
        self.server.handle_timeout(server_time);
        self.client.handle_timeout(client_time);
        while let Some(event) = self.server.poll_event(server_time) {
            if let Event::Requested { peer, .. } = event {
                self.server.accept(server_time, peer);
            }
        }
        while self.client.poll_event(client_time).is_some() {}
        let mut buffer = vec![0; 1 << 16];
        for is_up in [true, false] {
            let (endpoint, now) = if is_up { (&mut self.client, client_time) } else { (&mut self.server, server_time) };
            while let Some(transmit) = endpoint.poll_transmit(now, &mut buffer) {
                for bytes in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                    self.sent += 1;
                    if self.rng.below(100) >= self.loss_percent {
                        let delay = self.delays[usize::from(!is_up)] + u64::from(self.rng.below(self.jitter_us));
                        self.flying.insert((self.now + delay, self.sent), (is_up, bytes.to_vec()));
                    }
                }
            }
        }
    }

    /// The actual error of the estimate, and the error that it states.
    fn estimate(&mut self) -> Option<(Duration, Duration)> {
        let estimate = self.client.server_time(self.client_time(), self.peer)?;
        Some((Duration::from_micros(estimate.at.as_micros().abs_diff(self.now)), estimate.error))
    }

    fn send(&mut self) {
        let now = self.client_time();
        _ = self.client.send(now, self.peer, 0, vec![1; 50].into(), MessageId(1));
    }
}

#[test]
fn the_true_time_is_always_within_the_stated_error() {
    let mut widest = Duration::ZERO;
    for seed in 0..150 {
        let carrier = if seed % 5 == 0 { Carrier::WEBSOCKET } else { Carrier::UDP };
        let mut world = TwoClocks::new(seed, carrier);
        let mut looks = 0;
        world.run(ms(20_000), |world| {
            if let Some((off, error)) = world.estimate() {
                assert!(off <= error, "seed {seed}: off by {off:?}, said {error:?}");
                looks += 1;
            }
            if world.now % 100 < 3 {
                world.send();
            }
        });
        assert!(looks > 1_000, "seed {seed}: there is an estimate within the first seconds");
        let (_, error) = world.estimate().expect("there is one");
        let round_trip = Duration::from_micros(world.delays.iter().sum::<u64>() + 2 * u64::from(world.jitter_us));
        assert!(error <= round_trip / 2 + ms(5), "seed {seed}: {error:?} of a round trip of {round_trip:?}");
        widest = widest.max(error);
    }
    println!("the widest error after 20 s: {widest:?}");
}

#[test]
fn asking_again_when_idle_improves_the_estimate_from_connecting() {
    for seed in 0..20 {
        let mut world = TwoClocks::new(seed, Carrier::UDP);
        (world.delays, world.jitter_us, world.loss_percent) = ([300_000; 2], 2_000, 2);
        world.run(ms(4_000), |_| {});
        let (_, while_connecting) = world.estimate().expect("there is one");
        world.delays = [1_000; 2];
        world.run(ms(2_000), |_| {});
        let (_, idle) = world.estimate().expect("there is one");
        assert!(idle >= while_connecting, "seed {seed}: an idle client asks nothing");
        let now = world.client_time();
        world.client.ask_server_time(now, world.peer);
        world.run(ms(2_000), |_| {});
        let (off, error) = world.estimate().expect("there is one");
        assert!(off <= error && error <= ms(4), "seed {seed}: off by {off:?}, said {error:?}");
    }
}

#[test]
fn the_offset_follows_a_drifting_clock_for_ten_minutes() {
    for drift_ppm in [-100, 100] {
        let mut world = TwoClocks::new(7, Carrier::UDP);
        (world.drift_ppm, world.delays, world.jitter_us, world.loss_percent) = (drift_ppm, [10_000; 2], 2_000, 2);
        world.run(ms(2_000), |_| {});
        let (mut worst, mut steps) = (Duration::ZERO, 0);
        world.run(ms(600_000), |world| {
            let (off, error) = world.estimate().expect("there is one");
            assert!(off <= error && error <= ms(14), "off by {off:?}, said {error:?}");
            worst = worst.max(off);
            steps += 1;
            if steps % 20 == 0 {
                world.send();
            }
        });
        // Without a further exchange it would be off by 60 ms.
        assert!(worst <= ms(4), "{worst:?}");
        println!("{drift_ppm} ppm for 10 minutes: off by {worst:?} at most");
    }
}

#[test]
fn an_idle_connection_sends_no_time_requests_after_its_first_second() {
    let heard = |follows: bool| {
        let mut world = World::pair(1, link(20));
        if follows {
            let config = Config { follows_server_time: true, ..Config::client() };
            world.clients[0].endpoint = Endpoint::new(config, seed_bytes(9)).expect("it is good");
            let path = world.path_to_server(0);
            world.clients[0].endpoint.connect(world.now, path, b"token").expect("there is room");
        }
        world.connect();
        world.clients[0].send(world.now, 0, b"the last for long".to_vec());
        world.run_for(ms(5_000));
        let sent = Rc::new(RefCell::new((0, 0)));
        let ear = sent.clone();
        world.tap = Some(Box::new(move |_, _, is_up, _| {
            let (up, down) = &mut *ear.borrow_mut();
            *(if is_up { up } else { down }) += 1;
        }));
        world.run_for(ms(125_500));
        let (peer, now) = (world.clients[0].peer(), world.now);
        let estimate = world.clients[0].endpoint.server_time(now, peer);
        assert_eq!(estimate.is_some(), follows);
        if let Some(estimate) = estimate {
            // The last keepalive is up to 25 s old: 200 ppm of that.
            assert!(estimate.error <= ms(20 + 5), "{estimate:?}");
        }
        *sent.borrow()
    };
    assert_eq!(heard(true), heard(false), "requests and answers share the packets of keepalives");
    assert_eq!(heard(false), (5, 5));
}
