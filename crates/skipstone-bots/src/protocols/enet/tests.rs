//! The client against a host of the same crate, on a bad path. The originals are C.

use super::super::simulated::{
    FUZZED, FUZZED_AT, Model, Simulated, bad_path, client, dead_path, first_datagram, fuzz, leaving,
};
use super::{GOODBYES, PEER, Queue, ROW, SERVICE_ACTIVE};
use crate::protocol::{Cause, Delivery, Ending, Event, Outgoing, QUEUE_BYTES_MAX, SendRefused};
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use rusty_enet::{EventNoRef, Host, HostSettings};
use skipstone_netsim::LinkConfig;
use skipstone_proto::Time;
use std::sync::Arc;

const URL: &str = "enet://127.0.0.1:7777?channels=3&data=77";

/// Returns every message as it came.
struct Echo {
    host: Host<Queue>,
    clock: Arc<AtomicU64>,
    serviced: Time,
    data: Option<u32>,
    received: usize,
    goodbyes: usize,
}

impl Echo {
    fn new() -> Self {
        let clock = Arc::<AtomicU64>::default();
        let own = Arc::clone(&clock);
        let settings = HostSettings {
            peer_limit: 1,
            time: Box::new(move || Duration::from_micros(own.load(Ordering::Relaxed))),
            seed: Some(1),
            ..HostSettings::default()
        };
        let host = Host::new(Queue::default(), settings).expect("a host");
        Echo { host, clock, serviced: Time::ZERO, data: None, received: 0, goodbyes: 0 }
    }

    fn service(&mut self, now: Time) {
        self.serviced = now;
        self.clock.store(now.as_micros(), Ordering::Relaxed);
        while let Some(event) = self.host.service().expect("a queue does not fail").map(rusty_enet::Event::no_ref) {
            match event {
                EventNoRef::Connect { data, .. } => self.data = Some(data),
                EventNoRef::Receive { channel_id, packet, .. } => {
                    self.received += 1;
                    self.host.peer_mut(PEER).send(channel_id, &packet).expect("sent");
                }
                EventNoRef::Disconnect { .. } => self.goodbyes += 1,
            }
        }
    }
}

impl Model for Echo {
    fn handle_datagram(&mut self, now: Time, datagram: &[u8]) {
        self.host.socket_mut().incoming.push_back(datagram.to_vec());
        self.service(now);
    }

    fn handle_deadline(&mut self, now: Time) {
        self.service(now);
    }

    fn poll_datagram(&mut self, _now: Time) -> Option<Vec<u8>> {
        self.host.socket_mut().pop_outgoing()
    }

    fn deadline(&self) -> Option<Time> {
        Some(self.serviced + SERVICE_ACTIVE)
    }
}

fn connected(path: LinkConfig, seed: u64) -> Simulated<Echo> {
    Simulated::connected(client(&ROW, URL, seed), Echo::new(), path, seed)
}

#[test]
fn reliable_messages_come_back_once_and_in_order_on_a_lossy_path() {
    for seed in 0..10 {
        let mut run = connected(bad_path(0.05), seed);
        run.assert_echoed(2, 200);
        assert!(run.client.figures().counts.retransmitted > 0);
        assert_eq!(run.server.data, Some(77));
    }
}

#[test]
fn the_same_seed_sends_the_same_bytes() {
    let sent = || connected(bad_path(0.02), 3).traced();
    assert_eq!(sent(), sent());
}

#[test]
fn an_idle_client_stays() {
    let mut run = connected(bad_path(0.02), 1);
    run.run(Duration::from_secs(60));
    assert_eq!(run.events, [Event::Connected]);
    let rtt = run.client.figures().rtt.expect("a round trip");
    assert!((Duration::from_millis(40)..Duration::from_millis(120)).contains(&rtt), "{rtt:?}");
}

#[test]
fn sequenced_and_unreliable_messages_arrive_on_a_good_path() {
    let mut run = connected(LinkConfig::default(), 1);
    for delivery in [Delivery::Sequenced, Delivery::Unreliable] {
        run.client.send(run.now, Outgoing { channel: 1, delivery: Some(delivery), data: b"quick" }).expect("accepted");
    }
    run.run(Duration::from_millis(100));
    assert_eq!(run.messages(1), [b"quick".to_vec(), b"quick".to_vec()]);
}

#[test]
fn a_silent_server_times_out_before_and_after_the_handshake() {
    let mut run = Simulated::new(client(&ROW, URL, 1), Echo::new(), dead_path(), 1);
    run.run(Duration::from_secs(60));
    assert!(run.has_timed_out() && run.events.len() == 1, "{:?}", run.events);
    let mut run = connected(bad_path(0.0), 1);
    run.silence_server();
    run.send(0, b"x").expect("accepted");
    run.run(Duration::from_secs(60));
    assert!(run.has_timed_out(), "{:?}", run.events);
}

#[test]
fn goodbyes_end_the_connection() {
    let mut run = connected(bad_path(0.0), 1);
    run.client.close(run.now);
    run.run(Duration::from_millis(100));
    assert_eq!(run.server.goodbyes, 1);
    assert_eq!(run.send(0, b"late"), Err(SendRefused::NotConnected));

    let mut run = connected(bad_path(0.0), 1);
    run.server.host.peer_mut(PEER).disconnect(9);
    run.run(Duration::from_millis(500));
    assert_eq!(run.ending(), &Ending::new(Cause::ByServer, "the server disconnected, data 9"));
}

#[test]
fn messages_that_enet_cannot_carry_are_refused() {
    let mut run = connected(LinkConfig { rate_bits_per_second: Some(1_000_000), ..bad_path(0.0) }, 1);
    assert_eq!(run.send(3, b"x"), Err(SendRefused::NoChannel { channel: 3, max: 2 }));
    let unordered = Outgoing { channel: 0, delivery: Some(Delivery::ReliableUnordered), data: b"x" };
    assert!(matches!(run.client.send(run.now, unordered), Err(SendRefused::NoDelivery(_))));
    assert!(run.fills_queue(Outgoing { channel: 0, delivery: None, data: &[1; 1000] }));
}

#[test]
fn reliable_messages_that_are_empty_fill_the_queue_and_leave_it() {
    let mut run = connected(bad_path(0.0), 1);
    let empty = Outgoing { channel: 0, delivery: None, data: b"" };
    assert!(run.fills_queue(empty));
    run.run(Duration::from_secs(30));
    assert_eq!(run.client.send(run.now, empty), Ok(()));
}

#[test]
fn what_is_sent_leaves_before_three_goodbyes() {
    let mut run = connected(bad_path(0.0), 1);
    run.run(Duration::from_millis(100));
    run.client.send(run.now, Outgoing { channel: 0, delivery: None, data: b"last words" }).expect("accepted");
    run.client.close(run.now);
    let datagrams = leaving(&mut *run.client, run.now);
    let goodbyes = &datagrams[datagrams.len() - GOODBYES..];
    assert!(datagrams.len() > GOODBYES && goodbyes.iter().all(|goodbye| *goodbye == goodbyes[0]), "{datagrams:?}");
    datagrams.iter().for_each(|datagram| run.server.handle_datagram(run.now, datagram));
    assert_eq!((run.server.received, run.server.goodbyes), (1, 1));
}

#[test]
fn unreliable_messages_that_the_throttle_drops_do_not_fill_the_queue() {
    // ENet drops unreliable packets before they leave where the server's bandwidth is less than what is sent.
    let mut run = connected(bad_path(0.0), 1);
    run.server.host.set_bandwidth_limit(Some(20_000), None).expect("a limit");
    let data = vec![1; 1000];
    let (mut sent, mut refused) = (0_usize, 0_usize);
    for number in 0..6000 {
        let delivery = if number % 50 == 0 { Delivery::ReliableOrdered } else { Delivery::Unreliable };
        match run.client.send(run.now, Outgoing { channel: 0, delivery: Some(delivery), data: &data }) {
            Ok(()) => sent += data.len(),
            Err(_) => refused += 1,
        }
        run.run(Duration::from_millis(10));
    }
    let left = run.path.up.stats();
    assert!(sent > 2 * QUEUE_BYTES_MAX, "{sent} {left:?}");
    assert_eq!(refused, 0, "{left:?}");
}

#[test]
fn unreliable_messages_that_wait_have_a_bound() {
    let mut run = connected(bad_path(0.0), 1);
    let unreliable = Outgoing { channel: 0, delivery: Some(Delivery::Unreliable), data: &[1; 1000] };
    assert!(run.fills_queue(unreliable));
    run.run(Duration::from_millis(100));
    assert_eq!(run.client.send(run.now, unreliable), Ok(()));
}

#[test]
fn hostile_datagrams_never_panic() {
    let mut server = Echo::new();
    server.handle_datagram(FUZZED_AT, &first_datagram(&ROW, URL, FUZZED, FUZZED_AT));
    let mut real: Vec<Vec<u8>> = core::iter::from_fn(|| server.poll_datagram(FUZZED_AT)).collect();
    assert!(!real.is_empty());
    // Messages, fragments and a ping as the server's host writes them.
    for packet in [rusty_enet::Packet::reliable(&[1; 5000][..]), rusty_enet::Packet::unreliable(&b"x"[..])] {
        let _ = server.host.peer_mut(PEER).send(0, &packet);
    }
    server.host.flush();
    real.extend(core::iter::from_fn(|| server.poll_datagram(FUZZED_AT)));
    assert!(fuzz(&ROW, URL, &real, 200) > 20);
}
