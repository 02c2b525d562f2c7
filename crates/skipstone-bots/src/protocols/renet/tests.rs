//! The client against the crates' own server, on a bad path.

use super::super::simulated::{Model, Simulated, bad_path, client, create, fuzz, leaving};
use super::{CHANNELS, FRAME_ACTIVE, GOODBYES, ROW};
use crate::protocol::{Cause, Delivery, Ending, Event, Outgoing, SendRefused};
use core::time::Duration;
use renet::{ConnectionConfig, RenetServer};
use renetcode::{NetcodeServer, ServerAuthentication, ServerConfig, ServerResult};
use skipstone_netsim::LinkConfig;
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;
use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

const URL: &str = "renet://127.0.0.1:5000?protocol=7&client=3";
const CLIENT: u64 = 3;
const FRAME: Duration = Duration::from_millis(15);

/// Returns every message on its channel.
struct Echo {
    net: NetcodeServer,
    renet: RenetServer,
    datagrams: VecDeque<Vec<u8>>,
    updated: Time,
    leavers: usize,
}

impl Echo {
    fn new() -> Self {
        let config = ServerConfig {
            current_time: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            max_clients: 1,
            protocol_id: 7,
            public_addresses: vec!["127.0.0.1:5000".parse().expect("an address")],
            authentication: ServerAuthentication::Unsecure,
        };
        Echo {
            net: NetcodeServer::new(config),
            renet: RenetServer::new(ConnectionConfig::default()),
            datagrams: VecDeque::new(),
            updated: Time::ZERO,
            leavers: 0,
        }
    }
}

fn handle(result: ServerResult<'_, '_>, renet: &mut RenetServer, datagrams: &mut VecDeque<Vec<u8>>) -> usize {
    match result {
        ServerResult::None => {}
        ServerResult::PacketToSend { payload, .. } => datagrams.push_back(payload.to_vec()),
        ServerResult::Payload { client_id, payload } => {
            renet.process_packet_from(payload, client_id).expect("connected");
        }
        ServerResult::ClientConnected { client_id, payload, .. } => {
            renet.add_connection(client_id);
            datagrams.push_back(payload.to_vec());
        }
        ServerResult::ClientDisconnected { client_id, payload, .. } => {
            renet.remove_connection(client_id);
            datagrams.extend(payload.map(|payload| payload.to_vec()));
            return 1;
        }
    }
    0
}

impl Model for Echo {
    fn handle_datagram(&mut self, _now: Time, datagram: &[u8]) {
        let mut datagram = datagram.to_vec();
        let from = "127.0.0.1:6000".parse().expect("an address");
        let result = self.net.process_packet(from, &mut datagram);
        self.leavers += handle(result, &mut self.renet, &mut self.datagrams);
    }

    fn handle_deadline(&mut self, now: Time) {
        let span = now.since(self.updated);
        self.updated = now;
        self.net.update(span);
        self.renet.update(span);
        if !self.net.is_client_connected(CLIENT) {
            return;
        }
        let result = self.net.update_client(CLIENT);
        self.leavers += handle(result, &mut self.renet, &mut self.datagrams);
        for channel in 0..CHANNELS.len() as u8 {
            while let Some(message) = self.renet.receive_message(CLIENT, channel) {
                self.renet.send_message(CLIENT, channel, message);
            }
        }
        for packet in self.renet.get_packets_to_send(CLIENT).unwrap_or_default() {
            if let Ok((_, sealed)) = self.net.generate_payload_packet(CLIENT, &packet) {
                self.datagrams.push_back(sealed.to_vec());
            }
        }
    }

    fn poll_datagram(&mut self, _now: Time) -> Option<Vec<u8>> {
        self.datagrams.pop_front()
    }

    fn deadline(&self) -> Option<Time> {
        Some(self.updated + FRAME)
    }
}

fn connected(path: LinkConfig, seed: u64) -> Simulated<Echo> {
    Simulated::connected(client(&ROW, URL, seed), Echo::new(), path, seed)
}

#[test]
fn reliable_messages_come_back_once_and_in_order_on_a_lossy_path() {
    for seed in 0..5 {
        connected(bad_path(0.05), seed).assert_echoed(2, 200);
    }
}

#[test]
fn an_idle_client_stays_and_a_silent_server_times_out() {
    let mut run = connected(bad_path(0.02), 1);
    run.run(Duration::from_secs(60));
    assert_eq!(run.events, [Event::Connected]);
    run.silence_server();
    run.run(Duration::from_secs(20));
    assert!(run.has_timed_out(), "{:?}", run.events);
}

#[test]
fn a_goodbye_ends_the_connection() {
    let mut run = connected(bad_path(0.0), 1);
    run.client.close(run.now);
    run.run(Duration::from_millis(200));
    assert_eq!(run.server.leavers, 1, "however often it is said");
    assert_eq!(run.send(1, b"late"), Err(SendRefused::NotConnected));
}

#[test]
fn messages_that_renet_cannot_carry_are_refused() {
    let mut run = connected(bad_path(0.0), 1);
    assert_eq!(run.send(3, b"x"), Err(SendRefused::NoChannel { channel: 3, max: 2 }));
    let unreliable = Outgoing { channel: 1, delivery: Some(Delivery::Unreliable), data: b"x" };
    assert!(matches!(run.client.send(run.now, unreliable), Err(SendRefused::NoDelivery(_))));
    for data in [&[1; 1000][..], b""] {
        for channel in 0..3 {
            let message = Outgoing { channel, delivery: None, data };
            assert!(run.fills_queue(message));
            run.run(Duration::from_secs(30));
            assert_eq!(run.client.send(run.now, message), Ok(()));
        }
    }
}

#[test]
fn the_servers_address_is_the_targets_unless_it_is_given_in_numbers() {
    let named = client(&ROW, "renet://somewhere:5000?protocol=7&client=3", 1);
    Simulated::connected(named, Echo::new(), bad_path(0.0), 1);
    let why = create(&ROW, "renet://somewhere:1?server=elsewhere:5000", 1).err().expect("refused").to_string();
    assert!(why.contains("server=127.0.0.1:5000"), "{why}");
}

/// Gives a connected client what its server seals.
fn receive(run: &mut Simulated<Echo>, payload: &[u8]) {
    let (_, datagram) = run.server.net.generate_payload_packet(CLIENT, payload).expect("sealed");
    run.client.handle_receive(run.now, datagram);
    run.events.extend(core::iter::from_fn(|| run.client.poll_event()));
}

/// As renet writes them: the kind, the packet's number, the channel, then messages, or a slice (the message's number,
/// the slice's, how many there are, its length).
const RELIABLE: [u8; 11] = [0, 1, 2, 0, 2, 0, 1, 7, 1, 1, 8];
const UNRELIABLE: [u8; 9] = [1, 2, 0, 0, 1, 3, 1, 2, 3];
const ACKNOWLEDGEMENT: [u8; 5] = [4, 3, 1, 0, 0];

fn slice(kind: u8, channel: u8, index: u8, count: u8) -> Vec<u8> {
    [&[kind, 9, channel, 0, index, count, 0x44, 0xB0][..], &[1; 1200]].concat()
}

#[test]
fn a_slice_beyond_its_message_ends_the_connection() {
    for (kind, channel) in [(2, 2), (3, 0)] {
        let mut run = connected(bad_path(0.0), 1);
        receive(&mut run, &slice(kind, channel, 0, 3));
        assert_eq!(run.events, [Event::Connected]);
        receive(&mut run, &slice(kind, channel, 5, 3));
        let last = run.events.last();
        assert!(matches!(last, Some(Event::Closed(Ending { cause: Cause::Malformed, .. }))), "{last:?}");
        assert_eq!(run.client.deadline(), None);
    }
}

#[test]
fn a_message_is_delivered_as_it_arrives() {
    let mut run = connected(bad_path(0.0), 1);
    run.run(Duration::from_secs(5));
    receive(&mut run, &[0, 9, 2, 0, 1, 0, 1, 7]);
    assert_eq!(run.messages(2), [[7]]);
    assert!(run.client.deadline().expect("its acknowledgement") <= run.now + FRAME_ACTIVE);
}

#[test]
fn what_is_sent_leaves_before_three_goodbyes() {
    let mut run = connected(bad_path(0.0), 1);
    run.client.send(run.now, Outgoing { channel: 2, delivery: None, data: b"last words" }).expect("accepted");
    run.client.close(run.now);
    let datagrams = leaving(&mut *run.client, run.now);
    let (payloads, goodbyes) = datagrams.split_at(datagrams.len() - GOODBYES);
    assert!(goodbyes.iter().all(|goodbye| *goodbye == goodbyes[0]));
    let from = "127.0.0.1:6000".parse().expect("an address");
    let has_words = |datagram: &Vec<u8>| match run.server.net.process_packet(from, &mut datagram.clone()) {
        ServerResult::Payload { payload, .. } => payload.ends_with(b"last words"),
        _ => false,
    };
    assert!(payloads.iter().any(has_words));
    run.server.handle_datagram(run.now, &goodbyes[2]);
    assert_eq!(run.server.leavers, 1);
}

#[test]
fn hostile_payloads_of_a_server_never_panic() {
    let slices = [slice(2, 2, 1, 3), slice(3, 0, 1, 2)];
    let real = [&RELIABLE[..], &UNRELIABLE, &ACKNOWLEDGEMENT, &slices[0], &slices[1]];
    let (mut malformed, mut messages) = (0, 0);
    for seed in 0..100 {
        let mut run = connected(LinkConfig::default(), 1);
        let mut rng = Rng::new(seed);
        for _ in 0..100 {
            let mut payload = real[rng.below(real.len() as u32) as usize].to_vec();
            for _ in 0..rng.below(3) {
                let at = rng.below(payload.len().min(9) as u32) as usize;
                payload[at] = rng.below(12) as u8;
            }
            receive(&mut run, &payload);
            run.run(Duration::from_millis(5));
            if matches!(run.events.last(), Some(Event::Closed(_))) {
                break;
            }
        }
        messages += run.messages(0).len() + run.messages(2).len();
        let is_malformed = |event| matches!(event, &Event::Closed(Ending { cause: Cause::Malformed, .. }));
        malformed += usize::from(run.events.last().is_some_and(is_malformed));
    }
    assert!(malformed > 90 && messages > 50, "{malformed} malformed, {messages} messages");
}

#[test]
fn hostile_datagrams_never_panic() {
    let real = [vec![0; 40], vec![0x13; 60], vec![0x24; 350], vec![0x35; 1400], vec![0x76; 25], vec![0xA3; 60]];
    fuzz(&ROW, URL, &real, 100);
}
