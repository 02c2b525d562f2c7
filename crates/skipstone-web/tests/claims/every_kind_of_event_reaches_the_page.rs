//! A core and a server of the protocol, connected by lists of datagrams.

use bytes::Bytes;
use skipstone_proto::{
    Carrier, ChannelRule, Config, DeliveryMode, Duration, Endpoint, Event, MessageId, Path, Settings, Submission, Time,
};
use skipstone_web::{Core, Options, Outcome, figures};

struct World {
    core: Core,
    server: Endpoint,
    path: Path,
    micros: u64,
    /// Drops everything from the client.
    is_broken: bool,
    events: Vec<Outcome>,
    released: Vec<u32>,
}

impl World {
    fn new(carrier: u32) -> Self {
        let rule = ChannelRule { receipts: true, ..ChannelRule::new(0..=9, DeliveryMode::Unreliable) };
        let settings = Settings { channels: vec![rule], ..Settings::default() };
        let mut core = Core::new(Options::default(), [1; 32]).expect("good options");
        core.connect(carrier, 0, b"token").expect("it may");
        let carrier = if carrier == 0 { Carrier::WEBSOCKET } else { Carrier::WEBTRANSPORT };
        World {
            core,
            server: Endpoint::new(Config::server(settings), [2; 32]).expect("good settings"),
            path: Path { socket: 0, local: None, remote: ([192, 0, 2, 1], 9).into(), carrier },
            micros: 0,
            is_broken: false,
            events: Vec::new(),
            released: Vec::new(),
        }
    }

    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            self.micros += 1_000;
            self.step();
        }
    }

    fn step(&mut self) {
        let now = Time::from_micros(1_000_000 + self.micros);
        self.core.advance(self.micros as f64);
        self.core.handle_timeout();
        while let Some((transmit, bytes)) = self.core.poll_transmit() {
            for datagram in bytes.chunks(transmit.segment_bytes).filter(|_| !self.is_broken) {
                self.server.handle_datagram(now, self.path, &mut datagram.to_vec());
            }
        }
        self.server.handle_timeout(now);
        while let Some(event) = self.server.poll_event(now) {
            match event {
                Event::Requested { peer, .. } => drop(self.server.accept(now, peer)),
                Event::Message { peer, channel, payload, .. } => {
                    self.server.send(now, peer, channel, payload, MessageId(0)).expect("room");
                }
                _ => {}
            }
        }
        let mut buffer = vec![0; 1 << 16];
        while let Some(transmit) = self.server.poll_transmit(now, &mut buffer) {
            for datagram in buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
                let _ = self.core.handle_datagram(0, datagram);
            }
        }
        self.events.extend(std::iter::from_fn(|| self.core.poll_event()));
        self.released.extend(std::iter::from_fn(|| self.core.poll_released()));
    }

    fn send(&mut self, id: u64) {
        let payload = Bytes::from_static(b"hello");
        let message = Submission { payload, id: MessageId(id), age: Duration::ZERO };
        self.core.send(0, 7, message).expect("it is taken");
    }

    fn kinds(&self) -> Vec<u32> {
        self.events.iter().map(|event| event.kind).collect()
    }
}

#[test]
fn connection_messages_receipts_and_close() {
    for carrier in [0, 1] {
        let mut world = World::new(carrier);
        world.run(100);
        assert_eq!(world.kinds(), [Outcome::CONNECTED]);
        world.send(41);
        world.run(500);
        let mut kinds = world.kinds();
        kinds.sort();
        assert_eq!(kinds, [Outcome::CONNECTED, Outcome::MESSAGE, Outcome::ACKNOWLEDGED], "carrier {carrier}");
        let of = |kind| world.events.iter().find(|event| event.kind == kind).expect("it came").clone();
        assert_eq!((of(Outcome::MESSAGE).numbers[0], &of(Outcome::MESSAGE).bytes[..]), (7.0, &b"hello"[..]));
        assert_eq!(of(Outcome::ACKNOWLEDGED).numbers, [7.0, 41.0, 0.0]);
        world.core.close(0, 5, "enough", Duration::ZERO).expect("it is there");
        world.run(2_000);
        let last = world.events.last().expect("some").clone();
        assert_eq!((last.kind, last.numbers, &last.bytes[..]), (Outcome::CLOSED, [5.0, 0.0, 0.0], &b"enough"[..]));
        assert_eq!(world.released, [0]);
    }
}

#[test]
fn a_lost_unreliable_message_with_a_receipt_is_given_up() {
    let mut world = World::new(1);
    world.run(100);
    world.is_broken = true;
    world.send(42);
    world.run(5);
    world.is_broken = false;
    world.run(3_000);
    let given_up: Vec<_> = world.events.iter().filter(|event| event.kind == Outcome::GIVEN_UP).collect();
    assert_eq!(given_up.iter().map(|event| event.numbers).collect::<Vec<_>>(), [[7.0, 42.0, 3.0]], "lost");
}

#[test]
fn settings_and_statistics_are_named_numbers() {
    let mut world = World::new(1);
    world.run(100);
    let settings = figures::of_settings(&world.core.settings(0).expect("it stands"));
    assert_eq!(settings.len(), figures::SETTINGS + figures::RULE);
    assert_eq!(settings[..2], [30_000_000.0, 25_000_000.0]);
    assert_eq!(settings[figures::SETTINGS..][..3], [0.0, 9.0, 0.0]);
    let overview = world.core.overview(0).expect("it stands");
    let (names, values) = (figures::statistics_names(&overview), figures::of_overview(&overview));
    assert_eq!(names.split(' ').count(), values.len());
    let at = |name: &str| names.split(' ').position(|one| one == name).map(|at| values[at]);
    assert!(at("received.datagrams").is_some_and(|count| count > 0.0));
    assert_eq!(at("drops.bad_frame"), Some(0.0));
    assert!(world.core.server_time(0).is_some());
    assert_eq!(world.core.queued(0, 7), Some((0, 0)));
}
