//! The real TLS through the model network: loss, doubled and damaged datagrams, a key change; no message is lost, and
//! no plaintext is visible. The other simulated runs use the simulated suite.

use bytes::Bytes;
use skipstone::netsim::{Duplex, LinkConfig, Loss};
use skipstone::{DropReason, Event, MessageId, PeerId, Security, Trust};
use skipstone_proto::Protection;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{Config, Endpoint};
use skipstone_proto::{Duration, Time};

const WORD: &[u8] = b"what nobody else may read";

struct End {
    endpoint: Endpoint,
    path: Path,
    peer: Option<PeerId>,
    got: Vec<Bytes>,
    closes: Vec<String>,
}

struct World {
    now: Time,
    client: End,
    server: End,
    link: Duplex,
    /// Datagrams that held the word.
    shown: usize,
    /// How often each value occurs as a datagram's first byte.
    kinds: [usize; 256],
}

impl World {
    fn new(seed: u8, link: LinkConfig) -> World {
        World::of(Security::self_signed().expect("it is made"), seed, link)
    }

    fn of(security: Security, seed: u8, link: LinkConfig) -> World {
        let pin = Trust::Pinned(security.fingerprint().expect("it has a certificate"));
        let suites = pin.suites("localhost").expect("it is a pin");
        let server = Config::server(Default::default()).encrypted(security.suites().expect("it encrypts"));
        let end = |config, number: u8| End {
            endpoint: Endpoint::new(config, [seed ^ number; 32]).expect("a good configuration"),
            path: Path { socket: 0, local: None, remote: ([192, 0, 2, number], 7777).into(), carrier: Carrier::UDP },
            peer: None,
            got: Vec::new(),
            closes: Vec::new(),
        };
        let now = Time::from_micros(1_000_000);
        let (mut client, server) = (end(Config::client(), 1), end(server, 2));
        let peer = client.endpoint.connect_with(now, client.path, b"a token", Protection::Encrypted(suites));
        client.peer = Some(peer.expect("it may"));
        let link = Duplex::symmetric(link, u64::from(seed)).expect("a good link");
        World { now, client, server, link, shown: 0, kinds: [0; 256] }
    }

    fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.now += Duration::from_millis(1);
            self.step();
        }
    }

    fn step(&mut self) {
        let (now, at) = (self.now, Duration::from_micros(self.now.as_micros()));
        let mut bytes = Vec::new();
        while self.link.up.receive(at, &mut bytes).is_some() {
            self.server.endpoint.handle_datagram(now, self.server.path, &mut bytes);
        }
        while self.link.down.receive(at, &mut bytes).is_some() {
            self.client.endpoint.handle_datagram(now, self.client.path, &mut bytes);
        }
        let mut buffer = vec![0; 1 << 16];
        for (end, link) in [(&mut self.client, &mut self.link.up), (&mut self.server, &mut self.link.down)] {
            end.endpoint.handle_timeout(now);
            while let Some(event) = end.endpoint.poll_event(now) {
                match event {
                    Event::Requested { peer, .. } => drop(end.endpoint.accept(now, peer)),
                    Event::Connected { peer, .. } => end.peer = Some(peer),
                    Event::Message { payload, .. } => end.got.push(payload),
                    Event::Closed { close, .. } => end.closes.push(close.reason_text().into_owned()),
                    _ => {}
                }
            }
            while let Some(transmit) = end.endpoint.poll_transmit(now, &mut buffer) {
                for datagram in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                    self.shown += usize::from(datagram.windows(10).any(|window| window == &WORD[..10]));
                    self.kinds[usize::from(datagram[0])] += 1;
                    link.send(at, datagram, 0);
                }
            }
        }
    }

    fn talk(&mut self, rounds: u32) {
        for number in 0..rounds {
            for end in [&mut self.client, &mut self.server] {
                let Some(peer) = end.peer else { continue };
                let message = Bytes::from([WORD, &number.to_be_bytes()].concat());
                end.endpoint.send(self.now, peer, 0, message, MessageId(number.into())).expect("room");
            }
            self.run_for(Duration::from_millis(5));
        }
        self.run_for(Duration::from_secs(2));
    }
}

fn link() -> LinkConfig {
    LinkConfig { delay: Duration::from_millis(10), ..LinkConfig::default() }
}

#[test]
fn everything_arrives_once_in_order_without_visible_plaintext() {
    for seed in 0..8 {
        let bad = LinkConfig { loss: Loss::Random(0.08), duplicate: 0.1, reorder: 0.1, ..link() };
        let mut world = World::new(seed, bad);
        world.run_for(Duration::from_secs(9));
        assert!(world.client.endpoint.open_count() == 1 && world.server.peer.is_some(), "seed {seed}");
        world.talk(200);
        for end in [&world.client, &world.server] {
            let expected = (0..200_u32).map(|number| [WORD, &number.to_be_bytes()].concat());
            assert!(end.got.iter().eq(expected.collect::<Vec<_>>().iter()), "seed {seed}");
            assert!(end.closes.is_empty());
        }
        assert_eq!(world.shown, 0);
        assert!(world.kinds[0x80] > 200 && world.kinds[0x84] >= 2);
    }
}

#[test]
fn a_certificate_of_many_datagrams_arrives_through_loss_too() {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("entropy");
    let names: Vec<String> = (0..118).map(|number| format!("a-rather-long-name-{number}.example")).collect();
    let params = rcgen::CertificateParams::new(names).expect("good names");
    let pem = params.self_signed(&key).expect("it is made").pem() + &key.serialize_pem();
    for seed in 0..8 {
        let bad = LinkConfig { loss: Loss::Random(0.05), duplicate: 0.1, reorder: 0.2, ..link() };
        let security = Security::from_pem(pem.as_bytes(), pem.as_bytes()).expect("it is good");
        let mut world = World::of(security, seed, bad);
        world.run_for(Duration::from_secs(9));
        assert!(world.server.peer.is_some() && world.client.closes.is_empty(), "seed {seed}");
        assert!(world.kinds[0x84] > 5, "it takes several");
    }
}

#[test]
fn damage_fails_no_handshake() {
    for seed in 0..60 {
        let bad = LinkConfig { corrupt: 0.1, ..link() };
        let mut world = World::new(seed, bad);
        world.run_for(Duration::from_secs(9));
        let is_in = world.client.endpoint.open_count() == 1 && world.server.peer.is_some();
        assert!(is_in && world.client.closes.is_empty(), "seed {seed}: {:?}", world.client.closes);
    }
}

#[test]
fn damaged_and_repeated_packets_are_dropped_and_counted() {
    let mut world = World::new(3, link());
    world.run_for(Duration::from_secs(1));
    let bad = LinkConfig { corrupt: 0.1, duplicate: 0.2, ..link() };
    world.link.up.set_config(bad.clone()).expect("a good link");
    world.link.down.set_config(bad).expect("a good link");
    world.talk(200);
    assert_eq!((world.client.got.len(), world.server.got.len()), (200, 200));
    let drops = world.server.endpoint.totals().drops;
    assert!(drops.of(DropReason::NotAuthentic) > 20 && drops.of(DropReason::Replay) > 20, "{drops:?}");
}

#[test]
fn a_wrong_fingerprint_ends_the_client_with_a_reason_and_frees_the_server() {
    let mut world = World::new(1, link());
    let suites = Trust::Pinned(skipstone::Fingerprint([7; 32])).suites("localhost").expect("it is a pin");
    let path = Path { socket: 1, ..world.client.path };
    world.client = World::new(9, link()).client;
    let _ = path;
    let peer = world.client.peer.expect("it was made");
    world.client.endpoint.close(world.now, peer, 0, "", Duration::ZERO);
    while world.client.endpoint.poll_event(world.now).is_some() {}
    let path = world.client.path;
    world.client.endpoint.connect_with(world.now, path, b"a token", Protection::Encrypted(suites)).expect("it may");
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.client.closes.len(), 1);
    assert!(world.client.closes[0].contains("fingerprint"), "{}", world.client.closes[0]);
    assert!(world.client.closes[0].contains(&"07".repeat(32)), "{}", world.client.closes[0]);
    assert!(world.server.closes.is_empty() && world.server.peer.is_none());
    // A client that rejects the certificate leaves silently, and the server does not wait for it.
    world.run_for(Duration::from_millis(2_500));
    assert_eq!(world.server.endpoint.connection_count(), 0);
    assert_eq!(world.kinds[0x80], 0, "no packet was ever sent");
}

/// Packet numbers are truncated: an old one looks like one to come when half of 2^14 packets have passed.
#[test]
fn a_packet_repeated_much_later_is_not_mistaken_for_a_new_one() {
    let mut world = World::new(5, link());
    world.run_for(Duration::from_secs(1));
    let peer = world.client.peer.expect("it is in");
    let (mut buffer, mut old, mut repeats) = (vec![0; 1 << 16], None, 0);
    for number in 0..10_000 {
        let message = Bytes::from([WORD, &u32::to_be_bytes(number)].concat());
        world.client.endpoint.send(world.now, peer, 0, message, MessageId(number.into())).expect("room");
        if old.is_none() {
            let sent = world.client.endpoint.poll_transmit(world.now, &mut buffer).expect("a packet");
            old = Some(buffer[..sent.bytes].to_vec());
            world.server.endpoint.handle_datagram(world.now, world.server.path, &mut buffer[..sent.bytes]);
        }
        world.run_for(Duration::from_millis(1));
        if let Some(old) = old.as_ref().filter(|_| number % 50 == 0) {
            repeats += 1;
            world.server.endpoint.handle_datagram(world.now, world.server.path, &mut old.clone());
        }
    }
    world.run_for(Duration::from_secs(1));
    let stats = world.server.endpoint.totals();
    assert!(stats.received.datagrams > 9_000, "one packet a message");
    let dropped = stats.drops.of(DropReason::NotAuthentic) + stats.drops.of(DropReason::Replay);
    assert_eq!(dropped, repeats);
    assert_eq!(world.server.got.len(), 10_000);
}
