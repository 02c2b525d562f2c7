//! A client and a model of its server on a lossy path, in virtual time: for the tests of protocols.

use super::row::{Opening, ProtocolRow};
use crate::protocol::{Cause, Ending, Event, Outgoing, Protocol, SendRefused};
use crate::target::{BotTarget, TargetError};
use core::time::Duration;
use skipstone_netsim::{Duplex, LinkConfig, Loss};
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;
use std::net::{Ipv4Addr, SocketAddr};

/// The server's side of a protocol, as far as tests need it.
pub(super) trait Model {
    fn handle_datagram(&mut self, now: Time, datagram: &[u8]);
    fn handle_deadline(&mut self, now: Time);
    fn poll_datagram(&mut self, now: Time) -> Option<Vec<u8>>;
    fn deadline(&self) -> Option<Time>;
}

/// Both ends and the path between them.
pub(super) struct Simulated<M> {
    pub(super) client: Box<dyn Protocol>,
    pub(super) server: M,
    pub(super) path: Duplex,
    pub(super) now: Time,
    pub(super) events: Vec<Event>,
}

/// A path of 20 ms each way that loses and repeats datagrams, and changes their order.
pub(super) fn bad_path(loss: f64) -> LinkConfig {
    LinkConfig {
        delay: Duration::from_millis(20),
        jitter: Duration::from_millis(15),
        jitter_reorders: true,
        loss: Loss::Random(loss),
        duplicate: loss,
        ..LinkConfig::default()
    }
}

/// A path on which nothing arrives.
pub(super) fn dead_path() -> LinkConfig {
    LinkConfig { loss: Loss::Random(1.0), ..bad_path(0.0) }
}

/// A client of `row` at that target, not yet open.
pub(super) fn client(row: &ProtocolRow, url: &str, seed: u64) -> Box<dyn Protocol> {
    create(row, url, seed).expect("a client")
}

/// A client, or what is wrong with the target.
pub(super) fn create(row: &ProtocolRow, url: &str, seed: u64) -> Result<Box<dyn Protocol>, TargetError> {
    let target = BotTarget::split(url).expect("a scheme")?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, target.port));
    (row.new)(&Opening { target: &target, address, seed })
}

impl<M: Model> Simulated<M> {
    pub(super) fn new(client: Box<dyn Protocol>, server: M, path: LinkConfig, seed: u64) -> Self {
        let path = Duplex::symmetric(path, seed).expect("a path");
        let mut simulated = Simulated { client, server, path, now: Time::from_micros(1), events: Vec::new() };
        simulated.client.handle_open(simulated.now);
        simulated.settle();
        simulated
    }

    /// A client that the server has accepted.
    pub(super) fn connected(client: Box<dyn Protocol>, server: M, path: LinkConfig, seed: u64) -> Self {
        let mut run = Simulated::new(client, server, path, seed);
        assert!(run.run_until(Time::from_micros(9_000_000), Self::is_connected), "connected");
        run
    }

    pub(super) fn send(&mut self, channel: u16, data: &[u8]) -> Result<(), SendRefused> {
        let sent = self.client.send(self.now, Outgoing { channel, delivery: None, data });
        self.settle();
        sent
    }

    /// Runs for a span.
    pub(super) fn run(&mut self, span: Duration) {
        let end = self.now + span;
        self.run_until(end, |_| false);
    }

    /// Runs until `is_over`, or the end. Returns whether it was over before the end.
    pub(super) fn run_until(&mut self, end: Time, is_over: impl Fn(&[Event]) -> bool) -> bool {
        while !is_over(&self.events) {
            let arrival = self.path.next_arrival().map(not_before);
            let next = [arrival, self.client.deadline(), self.server.deadline()].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= end) else {
                self.now = end;
                return false;
            };
            self.now = next.max(self.now);
            self.step();
        }
        true
    }

    fn step(&mut self) {
        let mut datagram = Vec::new();
        while self.path.down.receive(self.now.since(Time::ZERO), &mut datagram).is_some() {
            self.client.handle_receive(self.now, &datagram);
        }
        while self.path.up.receive(self.now.since(Time::ZERO), &mut datagram).is_some() {
            self.server.handle_datagram(self.now, &datagram);
        }
        if self.client.deadline().is_some_and(|due| due <= self.now) {
            self.client.handle_deadline(self.now);
        }
        if self.server.deadline().is_some_and(|due| due <= self.now) {
            self.server.handle_deadline(self.now);
        }
        self.settle();
        for deadline in [self.client.deadline(), self.server.deadline()].into_iter().flatten() {
            assert!(deadline > self.now, "a deadline of the past would be asked for again and again");
        }
    }

    /// Everything that is ready leaves.
    fn settle(&mut self) {
        let mut datagram = Vec::new();
        while self.client.poll_transmit(self.now, &mut datagram) {
            self.path.up.send(self.now.since(Time::ZERO), &datagram, 0);
            datagram.clear();
        }
        while let Some(datagram) = self.server.poll_datagram(self.now) {
            self.path.down.send(self.now.since(Time::ZERO), &datagram, 0);
        }
        self.events.extend(core::iter::from_fn(|| self.client.poll_event()));
    }

    /// Messages that arrived on a channel, in order.
    pub(super) fn messages(&self, channel: u16) -> Vec<Vec<u8>> {
        let data = |event: &Event| match event {
            Event::Message { channel: own, data } if *own == channel => Some(data.to_vec()),
            _ => None,
        };
        self.events.iter().filter_map(data).collect()
    }

    /// Sends numbered messages, 60 a second: all come back once, unchanged and in order, from a server that echoes.
    pub(super) fn assert_echoed(&mut self, channel: u16, count: u32) {
        let sent: Vec<Vec<u8>> = (0..count).map(|number| numbered(number, 4000)).collect();
        for message in &sent {
            self.send(channel, message).expect("accepted");
            self.run(TICK);
        }
        self.run(Duration::from_secs(30));
        let echoed = self.messages(channel);
        assert!(echoed == sent, "{} of {count} came back", echoed.len());
    }

    /// What leaves while the bot sends for a second, with its times.
    pub(super) fn traced(&mut self) -> String {
        self.path.up.trace_on(1000);
        for number in 0..50 {
            self.send(0, &numbered(number, 900)).expect("accepted");
            self.run(TICK);
        }
        format!("{:?}", self.path.up.trace().collect::<Vec<_>>())
    }

    /// Nothing of the server arrives any more.
    pub(super) fn silence_server(&mut self) {
        self.path.down.set_config(dead_path()).expect("a path");
    }

    /// How the connection ended, by the last event.
    pub(super) fn ending(&self) -> &Ending {
        match self.events.last() {
            Some(Event::Closed(ending)) => ending,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn has_timed_out(&self) -> bool {
        matches!(self.events.last(), Some(Event::Closed(Ending { cause: Cause::TimedOut, .. })))
    }

    /// Whether a bot that sends at once what it can is told that its queue is full.
    pub(super) fn fills_queue(&mut self, message: Outgoing<'_>) -> bool {
        let refused = (0..40_000).find_map(|_| self.client.send(self.now, message).err());
        matches!(refused, Some(SendRefused::QueueFull { .. }))
    }

    pub(super) fn is_connected(events: &[Event]) -> bool {
        events.contains(&Event::Connected)
    }
}

/// The datagrams that are ready to leave.
pub(super) fn leaving(client: &mut dyn Protocol, now: Time) -> Vec<Vec<u8>> {
    let next = || {
        let mut datagram = Vec::new();
        client.poll_transmit(now, &mut datagram).then_some(datagram)
    };
    core::iter::from_fn(next).collect()
}

/// The first datagram of a client that opens at `now`.
pub(super) fn first_datagram(row: &ProtocolRow, url: &str, seed: u64, now: Time) -> Vec<u8> {
    let mut client = client(row, url, seed);
    client.handle_open(now);
    leaving(&mut *client, now).swap_remove(0)
}

/// The first microsecond that is not before `at`: links count nanoseconds.
fn not_before(at: Duration) -> Time {
    Time::from_micros(at.as_nanos().div_ceil(1000) as u64)
}

const TICK: Duration = Duration::from_millis(16);

/// A message with a number, of a length that differs.
pub(super) fn numbered(number: u32, length_max: usize) -> Vec<u8> {
    let mut message = number.to_le_bytes().to_vec();
    let length = 4 + Rng::new(number.into()).below(length_max as u32 - 3) as usize;
    message.resize(length, number as u8);
    message
}

/// The seed of the client of [`fuzz`], which opens at [`FUZZED_AT`]: what a server would answer depends on both.
pub(super) const FUZZED: u64 = 5;
pub(super) const FUZZED_AT: Time = Time::from_micros(1);

/// Gives a client seeded garbage, and real datagrams, some of them changed or shortened: it must not panic. Returns in
/// how many of the runs it was connected.
pub(super) fn fuzz(row: &ProtocolRow, url: &str, real: &[Vec<u8>], runs: u64) -> u64 {
    (0..runs).filter(|seed| fuzz_one(client(row, url, FUZZED), real, *seed)).count() as u64
}

fn fuzz_one(mut client: Box<dyn Protocol>, real: &[Vec<u8>], seed: u64) -> bool {
    let mut rng = Rng::new(seed);
    let mut now = FUZZED_AT;
    let mut was_connected = false;
    client.handle_open(now);
    for _ in 0..200 {
        let mut datagram = match real.get(rng.below(real.len() as u32 + 1) as usize) {
            Some(real) => real.clone(),
            None => (0..rng.below(80)).map(|_| rng.next_u64() as u8).collect(),
        };
        if rng.chance(0.3) {
            datagram.truncate(rng.below(datagram.len() as u32 + 1) as usize);
        }
        for _ in 0..rng.below(4).min(datagram.len() as u32) {
            let at = rng.below(datagram.len() as u32) as usize;
            datagram[at] = rng.next_u64() as u8;
        }
        now += Duration::from_micros(u64::from(rng.below(5_000)));
        client.handle_receive(now, &datagram);
        client.handle_deadline(now);
        let mut out = Vec::new();
        while client.poll_transmit(now, &mut out) {
            out.clear();
        }
        while let Some(event) = client.poll_event() {
            was_connected |= event == Event::Connected;
        }
        let _ = client.send(now, Outgoing { channel: 0, delivery: None, data: b"data" });
    }
    was_connected
}
