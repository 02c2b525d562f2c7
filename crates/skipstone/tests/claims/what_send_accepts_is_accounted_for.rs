//! Each message that `send` or `broadcast` accepted is delivered, or given up with an event, or its connection ended:
//! with real threads, real sockets and a slow network, under each overflow rule, for any behaviour of the application.
//!
//! A hundred seeds by default; `SKIPSTONE_FACADE_SEEDS=A..B` runs others, and replays one that failed.

use skipstone::netsim::{LinkConfig, Loss, QueueLimit};
use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, Group, Impairment, Merging, MessageId, Overflow, PeerId,
    Security, SendRefusal, Server, ServerConfig, Settings, Threading,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A small generator (SplitMix64): the same seed gives the same run, except for effects of the machine's clock.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The state of one accepted message, by its id and its peer.
#[derive(Default)]
struct Account {
    accepted: BTreeMap<(PeerId, MessageId), u16>,
    refused: u64,
    delivered: BTreeSet<(PeerId, MessageId)>,
    given_up: BTreeSet<(PeerId, MessageId)>,
    closed: BTreeSet<PeerId>,
    acknowledged: u64,
}

impl Account {
    /// Messages whose fate is not known. On a sequenced channel every message older than the newest delivered one is
    /// settled: it may have arrived after it.
    fn open(&self) -> impl Iterator<Item = &(PeerId, MessageId)> {
        let mut newest: BTreeMap<(PeerId, u16), MessageId> = BTreeMap::new();
        for message in &self.delivered {
            newest.insert((message.0, self.accepted[message]), message.1);
        }
        let is_behind = move |message: &(PeerId, MessageId)| {
            let channel = self.accepted[message];
            let is_sequenced = MODES[usize::from(channel) % 3] == DeliveryMode::ReliableSequenced;
            is_sequenced && newest.get(&(message.0, channel)).is_some_and(|newest| message.1 < *newest)
        };
        let is_settled = |message: &(PeerId, MessageId)| {
            self.delivered.contains(message) || self.given_up.contains(message) || self.closed.contains(&message.0)
        };
        self.accepted.keys().filter(move |message| !is_settled(message) && !is_behind(message))
    }
}

/// Channels of all reliable modes under all overflow rules, with and without receipts: nine, then nine with receipts.
const MODES: [DeliveryMode; 3] =
    [DeliveryMode::ReliableOrdered, DeliveryMode::ReliableUnordered, DeliveryMode::ReliableSequenced];
const OVERFLOWS: [Overflow; 3] = [Overflow::Refuse, Overflow::DropOldest, Overflow::Disconnect];

fn rule(channel: u16, messages_max: u32, bytes_max: u32) -> ChannelRule {
    ChannelRule {
        overflow: OVERFLOWS[usize::from(channel) / 3 % 3],
        receipts: channel >= 9,
        queue_messages_max: messages_max,
        queue_bytes_max: bytes_max,
        ..ChannelRule::new(channel..=channel, MODES[usize::from(channel) % 3])
    }
}

struct Guest {
    client: Client,
    /// Its name at the server, learned from its token.
    peer: Option<PeerId>,
    is_reading: bool,
    is_over: bool,
    last: BTreeMap<u16, u64>,
}

fn payload(id: u64, length: usize) -> Vec<u8> {
    let mut payload = id.to_le_bytes().to_vec();
    payload.resize(length.max(8), id as u8);
    payload
}

fn run(seed: u64) -> Account {
    let mut random = Random(seed);
    let threading = if random.chance(70) { Threading::Background } else { Threading::Stepped };
    let (messages_max, bytes_max) = (1 + random.below(200) as u32, 2_000 + random.below(200_000) as u32);
    let channels = (0..18).map(|channel| rule(channel, messages_max, bytes_max)).collect();
    let merging = if random.chance(50) { Merging::Flush } else { Merging::Immediate };
    let config = ServerConfig {
        settings: Settings { channels, message_bytes_max: 100_000, ..Settings::default() },
        security: Some(Security::plain()),
        threading,
        merging,
        shards: if threading == Threading::Background && cfg!(target_os = "linux") {
            1 + random.below(2) as u32
        } else {
            1
        },
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    let mut server = Server::start(config).expect("a port is free");
    let count = 1 + random.below(3) as usize;
    let mut guests: Vec<Guest> = (0..count).map(|number| guest(&server, number, &mut random)).collect();
    let (mut account, mut next) = (Account::default(), 1_u64);
    // The payload carries a number of ours, because the id is known only once the message is accepted.
    let mut names: BTreeMap<u64, MessageId> = BTreeMap::new();
    let mut connected: Vec<PeerId> = Vec::new();
    let (began, span) = (Instant::now(), Duration::from_millis(40 + random.below(60)));
    while guests.iter().any(|guest| !guest.is_over) || account.open().next().is_some() {
        assert!(began.elapsed() < Duration::from_secs(60), "seed {seed}: {} messages are open", account.open().count());
        server.drive(Duration::from_micros(500)).expect("it drives");
        if threading == Threading::Background {
            server.wait(Duration::from_millis(1));
        }
        hear_server(&mut server, &mut account, &mut connected, &mut guests);
        if began.elapsed() < span {
            for _ in 0..random.below(20) {
                send(&mut server, &mut random, &connected, &mut account, &mut names, &mut next);
            }
            if random.chance(1) && !connected.is_empty() {
                let peer = connected[random.below(connected.len() as u64) as usize];
                let _ = server.close(peer, 7, "a whim", Duration::from_millis(random.below(20)));
                connected.retain(|other| *other != peer);
            }
        } else if began.elapsed() > span + Duration::from_millis(300) {
            for peer in connected.drain(..) {
                let _ = server.close(peer, 8, "enough", Duration::from_millis(random.below(30)));
            }
        }
        server.flush().expect("the driver runs");
        for guest in &mut guests {
            hear_guest(guest, &mut account, &names, seed);
        }
    }
    drop(server);
    account
}

fn guest(server: &Server, number: usize, random: &mut Random) -> Guest {
    let link = |random: &mut Random| LinkConfig {
        delay: Duration::from_millis(random.below(10)),
        rate_bits_per_second: random.chance(70).then(|| 200_000 + random.below(20_000_000)),
        queue: QueueLimit::Bytes(4_000 + random.below(60_000) as usize),
        loss: Loss::Random(random.below(8) as f64 / 100.0),
        ..LinkConfig::default()
    };
    let impairment = Impairment { up: link(random), down: link(random), seed: random.next() };
    let config = ClientConfig { impairment: Some(impairment), ..ClientConfig::default() };
    let client = Client::connect(&server.url(), &[number as u8], config).expect("it begins");
    Guest { client, peer: None, is_reading: random.chance(85), is_over: false, last: BTreeMap::new() }
}

fn send(
    server: &mut Server,
    random: &mut Random,
    connected: &[PeerId],
    account: &mut Account,
    names: &mut BTreeMap<u64, MessageId>,
    next: &mut u64,
) {
    let channel = random.below(20) as u16;
    let length = if random.chance(5) { random.below(120_000) } else { 8 + random.below(1_500) };
    let payload = payload(*next, length as usize);
    *next += 1;
    if random.chance(20) {
        match server.broadcast(Group::EVERYONE, channel, payload) {
            Ok(sent) => {
                assert_eq!(sent.peers, connected.len(), "it goes to those of whom the application has heard");
                names.insert(*next - 1, sent.id);
                account.accepted.extend(connected.iter().map(|peer| ((*peer, sent.id), channel)));
            }
            Err(error) => {
                account.refused += 1;
                assert!(
                    channel >= 18 || error.payload.len() > 2_000 || error.reason == SendRefusal::DriverBusy,
                    "{error}"
                );
            }
        }
        return;
    }
    let Some(peer) = connected.get(random.below(1 + connected.len() as u64) as usize).copied() else {
        let nobody = PeerId { index: 9_999, generation: 0 };
        assert_eq!(server.send(nobody, 0, payload).map_err(|error| error.reason), Err(SendRefusal::UnknownPeer));
        return;
    };
    match server.send(peer, channel, payload.clone()) {
        Ok(id) => {
            names.insert(*next - 1, id);
            account.accepted.insert((peer, id), channel);
        }
        Err(error) => {
            account.refused += 1;
            assert_eq!(error.payload, payload, "the message comes back");
        }
    }
}

fn hear_server(server: &mut Server, account: &mut Account, connected: &mut Vec<PeerId>, guests: &mut [Guest]) {
    while let Some(event) = server.poll_event() {
        match event {
            Event::Requested { peer, token, .. } => {
                guests[usize::from(token[0])].peer = Some(peer);
                server.accept(peer).expect("it waits");
            }
            Event::Connected { peer, .. } => connected.push(peer),
            Event::GivenUp { peer, id, channel, .. } => {
                assert_eq!(account.accepted.get(&(peer, id)), Some(&channel), "only what was accepted is given up");
                assert!(account.given_up.insert((peer, id)), "it is given up once");
                assert!(!account.closed.contains(&peer), "Closed is the last event");
            }
            Event::Acknowledged { peer, id, .. } => {
                assert!(account.accepted.contains_key(&(peer, id)));
                account.acknowledged += 1;
            }
            Event::Closed { peer, .. } => {
                connected.retain(|other| *other != peer);
                assert!(account.closed.insert(peer), "it ends once");
            }
            _ => {}
        }
    }
}

fn hear_guest(guest: &mut Guest, account: &mut Account, names: &BTreeMap<u64, MessageId>, seed: u64) {
    if !guest.is_reading && !guest.peer.is_some_and(|peer| account.closed.contains(&peer)) {
        return;
    }
    while let Some(event) = guest.client.poll_event() {
        match event {
            Event::Message { channel, payload, .. } => {
                let number = u64::from_le_bytes(payload[..8].try_into().expect("eight bytes"));
                let peer = guest.peer.expect("the server has heard of it");
                assert!(account.delivered.insert((peer, names[&number])), "seed {seed}: delivered once");
                if MODES[usize::from(channel) % 3] != DeliveryMode::ReliableUnordered {
                    let last = guest.last.insert(channel, number);
                    assert!(last < Some(number), "seed {seed}: in order");
                }
            }
            Event::Closed { .. } => guest.is_over = true,
            _ => {}
        }
    }
}

/// In a reliable-ordered stream nothing is missing that was not given up: up to the newest that arrived, each message
/// did.
fn assert_no_gap(account: &Account, seed: u64) {
    let mut newest: BTreeMap<(PeerId, u16), MessageId> = BTreeMap::new();
    for ((peer, id), channel) in account.accepted.iter().filter(|(_, channel)| *channel % 3 == 0) {
        if account.delivered.contains(&(*peer, *id)) {
            newest.entry((*peer, *channel)).and_modify(|newest| *newest = (*newest).max(*id)).or_insert(*id);
        }
    }
    for ((peer, id), channel) in &account.accepted {
        if newest.get(&(*peer, *channel)).is_some_and(|newest| id < newest) {
            let is_settled = account.delivered.contains(&(*peer, *id)) || account.given_up.contains(&(*peer, *id));
            assert!(is_settled, "seed {seed}: message {id:?} is missing inside the stream of channel {channel}");
        }
    }
}

#[test]
fn every_accepted_message_is_delivered_given_up_or_ends_with_its_connection() {
    let seeds = std::env::var("SKIPSTONE_FACADE_SEEDS").unwrap_or_else(|_| "0..100".into());
    let (from, to) = seeds.split_once("..").expect("SKIPSTONE_FACADE_SEEDS=A..B");
    let seeds = from.parse::<u64>().expect("a number")..to.parse::<u64>().expect("a number");
    let mut sums = [0_usize; 5];
    for seed in seeds.clone() {
        let account = run(seed);
        assert_no_gap(&account, seed);
        let open = account.accepted.len() - account.delivered.union(&account.given_up).count();
        let counts =
            [account.accepted.len(), account.delivered.len(), account.given_up.len(), open, account.refused as usize];
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [accepted, delivered, given_up, open, refused] = sums;
    println!(
        "{} seeds: accepted {accepted}, delivered {delivered}, given up {given_up}, open at Closed {open}; refused \
         {refused}",
        seeds.count()
    );
    assert!(delivered > 0 && given_up > 0 && refused > 0, "the runs show something");
}
