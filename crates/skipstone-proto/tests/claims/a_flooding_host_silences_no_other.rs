//! One host sends 30,000 datagrams a second that ask for answers, of each kind, and the server has room for 12,000 on
//! its way out: newcomers of other networks connect, and requests of other hosts are answered.

use crate::simulation::{BEGINNING, ms, seed_bytes, server_of};
use skipstone_proto::rng::Rng;
use skipstone_proto::security::simulated::SimulatedSuites;
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram::{self, Datagram, Open};
use skipstone_proto::{Carrier, Config, DeliveryMode, DropReason, Endpoint, Event, Path, Time};
use std::net::SocketAddr;
use std::sync::Arc;

const FLOOD_PER_MS: usize = 30;
const LEAVE_PER_MS: usize = 12;
const NEWCOMERS: usize = 20;
const DELAY_MS: u64 = 20;

/// The requests of the flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flood {
    Nothing,
    Challenges,
    Versions,
    Refusals,
    Resets,
    Answers,
    /// With OPENs whose cookie is invalid.
    NewChallenges,
}

const FLOODS: [Flood; 7] = [
    Flood::Nothing,
    Flood::Challenges,
    Flood::Versions,
    Flood::Refusals,
    Flood::Resets,
    Flood::Answers,
    Flood::NewChallenges,
];

/// Encrypted only.
fn of(config: Config) -> Config {
    config.encrypted(Arc::new(SimulatedSuites::new(3)))
}

fn hello(source: u32, nonce: u64, offer: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; datagram::hello_len(offer)];
    datagram::encode_hello(&mut Writer::new(&mut bytes), source, nonce, offer);
    bytes
}

fn query(nonce: u64) -> Vec<u8> {
    let mut bytes = vec![0; 300];
    datagram::encode_query(&mut Writer::new(&mut bytes), nonce, 300);
    bytes
}

fn packet(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = rng.next_u64().to_be_bytes().repeat(5);
    bytes[0] = datagram::KIND_PACKET;
    bytes
}

impl Flood {
    fn datagram(self, rng: &mut Rng) -> Option<Vec<u8>> {
        let (source, nonce) = (1 + rng.below(1_000_000), rng.next_u64());
        let encrypted = datagram::encode_offer(datagram::SUITE_TLS_1_3, &[1]);
        match self {
            Flood::Nothing => None,
            Flood::Challenges => Some(hello(source, nonce, &encrypted)),
            Flood::Versions => Some(hello(source, nonce, &datagram::encode_offer(datagram::SUITE_TLS_1_3, &[77]))),
            Flood::Refusals => Some(hello(source, nonce, &datagram::encode_offer(datagram::SUITE_PLAIN, &[1]))),
            Flood::Resets => Some(packet(rng)),
            Flood::Answers => Some(query(nonce)),
            Flood::NewChallenges => {
                let offer = datagram::Offer::decode(&encrypted).expect("it is one");
                let cookie = &[7; datagram::COOKIE_BYTES];
                let open = Open { source, nonce, version: 1, suite: datagram::SUITE_TLS_1_3, cookie, offer };
                let mut bytes = vec![0; open.header_bytes() + 800 + datagram::CHECK_BYTES];
                datagram::encode_open_header(&mut Writer::new(&mut bytes), &open);
                datagram::append_check(&mut bytes, open.header_bytes() + 800);
                Some(bytes)
            }
        }
    }
}

fn path(network: u8) -> Path {
    Path { socket: 0, local: None, remote: SocketAddr::from(([10, network, 0, 1], 5_000)), carrier: Carrier::UDP }
}

/// How long each newcomer took, then the server browser and a client unknown to the server, in ms.
fn took(flood: Flood) -> Vec<u64> {
    let config = of(server_of(DeliveryMode::ReliableOrdered));
    let mut server = Endpoint::new(config, seed_bytes(1)).expect("a good configuration");
    server.set_query_answer(Some(vec![7; 200].into())).expect("it fits");
    let mut rng = Rng::new(9);
    let client = |number: usize| {
        Endpoint::new(of(Config::client()), seed_bytes(100 + number as u64)).expect("a good configuration")
    };
    let mut clients: Vec<_> = (0..NEWCOMERS).map(client).collect();
    let (browser, forgotten) = (NEWCOMERS, NEWCOMERS + 1);
    let mut took = vec![u64::MAX; NEWCOMERS + 2];
    // Arrival time, number of the host, whether towards the server, bytes.
    let mut on_the_way: Vec<(Time, usize, bool, Vec<u8>)> = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    let begin = 500;
    for millis in 0..begin + 2_000_u64 {
        let now = BEGINNING + ms(millis);
        for _ in 0..FLOOD_PER_MS {
            let remote = SocketAddr::from(([203, 0, 113, 1], 1_024 + rng.below(60_000) as u16));
            if let Some(mut bytes) = flood.datagram(&mut rng) {
                server.handle_datagram(now, Path { remote, ..path(0) }, &mut bytes);
            }
        }
        let is_due = |entry: &(Time, usize, bool, Vec<u8>)| entry.0 <= now;
        let due: Vec<_> = on_the_way.extract_if(.., |entry| is_due(entry)).collect();
        for (_, who, is_up, mut bytes) in due {
            if is_up {
                server.handle_datagram(now, path(who as u8), &mut bytes);
            } else if let Some(client) = clients.get_mut(who) {
                client.handle_datagram(now, path(200), &mut bytes);
            } else {
                let is_answer =
                    matches!(datagram::decode(&bytes), Ok(Datagram::Answer { .. } | Datagram::Reset { .. }));
                assert!(is_answer, "{bytes:?}");
                took[who] = took[who].min(millis - begin);
            }
        }
        server.handle_timeout(now);
        while let Some(event) = server.poll_event(now) {
            if let Event::Requested { peer, .. } = event {
                server.accept(now, peer);
            }
        }
        let mut left = 0;
        while left < LEAVE_PER_MS
            && let Some(transmit) = server.poll_transmit(now, &mut buffer)
        {
            let [a, who, ..] = match transmit.path.remote.ip() {
                std::net::IpAddr::V4(ip) => ip.octets(),
                std::net::IpAddr::V6(_) => unreachable!("there are none"),
            };
            for bytes in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                left += 1;
                if a == 10 {
                    on_the_way.push((now + ms(DELAY_MS), who.into(), false, bytes.to_vec()));
                }
            }
        }
        if millis == begin {
            for client in &mut clients {
                client.connect(now, path(200), b"token").expect("it may");
            }
        }
        for (who, client) in clients.iter_mut().enumerate() {
            client.handle_timeout(now);
            while let Some(event) = client.poll_event(now) {
                if matches!(event, Event::Connected { .. }) {
                    took[who] = millis - begin;
                }
            }
            while let Some(transmit) = client.poll_transmit(now, &mut buffer) {
                for bytes in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
                    on_the_way.push((now + ms(DELAY_MS), who, true, bytes.to_vec()));
                }
            }
        }
        if millis >= begin && millis % 250 == 0 {
            on_the_way.push((now + ms(DELAY_MS), browser, true, query(7)));
            on_the_way.push((now + ms(DELAY_MS), forgotten, true, packet(&mut rng)));
        }
    }
    let dropped = server.totals().drops.of(DropReason::TooManyReplies);
    assert!(flood == Flood::Nothing || dropped > 10_000, "{flood:?}: the way out is full, {dropped}");
    took
}

#[test]
fn for_every_kind_of_flood() {
    for flood in FLOODS {
        let took = took(flood);
        assert!(took.iter().all(|ms| *ms < 2_000), "{flood:?}: {took:?} ms");
    }
}
