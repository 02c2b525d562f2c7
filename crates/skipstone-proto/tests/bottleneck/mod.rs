//! One link that several flows share, in virtual time: model senders with the controller under test (packets with
//! stamps, acknowledgements per packet, losses by time, probes), and CUBIC flows.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use skipstone_netsim::cubic::{CubicFlow, CubicReceiver, Segment};
use skipstone_netsim::{Link, LinkConfig, QueueLimit};
use skipstone_proto::Time;
use skipstone_proto::congestion::{AckSample, Congestion, CongestionControl, DeliveryStamp, LossSample};
use std::collections::VecDeque;
use std::time::Duration;

pub const DATAGRAM_BYTES: u16 = 1_200;
const HEADER_BYTES: u32 = 28;
/// With the 28 bytes of headers, the 52 of an acknowledgement by TCP with its time stamps.
const CUBIC_ANSWER_BYTES: usize = 24;

pub fn millis(value: u64) -> Duration {
    Duration::from_millis(value)
}

pub fn seconds(value: u64) -> Duration {
    Duration::from_secs(value)
}

fn time(now: Duration) -> Time {
    Time::from_micros(now.as_micros() as u64)
}

fn span(time: Time) -> Duration {
    Duration::from_micros(time.as_micros())
}

/// The traffic of a model sender.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// More than the link carries.
    Greedy,
    /// This many bytes each tick.
    Ticks { bytes: u32, interval: Duration },
}

/// The kind of a flow.
#[derive(Clone, Debug)]
pub enum Kind {
    Ours(Congestion, Load),
    Cubic,
}

#[derive(Debug)]
struct Sent {
    at: Duration,
    stamp: DeliveryStamp,
    bytes: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    InFlight,
    Acked,
    Lost,
}

/// A sender with the controller under test.
#[derive(Debug)]
pub struct Model {
    pub controller: CongestionControl,
    load: Load,
    tick_at: Duration,
    backlog: VecDeque<(Duration, u32)>,
    resend: u32,
    sent: VecDeque<Sent>,
    base: u64,
    in_flight: u32,
    smoothed: Duration,
    variation: Duration,
    is_measured: bool,
    latest_acked_sent_at: Duration,
    loss_at: Option<Duration>,
    probe_at: Option<Duration>,
    probes: u32,
    may_probe: bool,
    wake_at: Duration,
    /// The longest that the controller held new data back: from the tick to its leaving.
    pub held_max: Duration,
    pub packets_lost: u64,
    pub packets_sent: u64,
}

impl Model {
    fn new(algorithm: Congestion, load: Load, start: Duration) -> Self {
        Model {
            controller: CongestionControl::new(algorithm, DATAGRAM_BYTES),
            load,
            tick_at: start,
            backlog: VecDeque::new(),
            resend: 0,
            sent: VecDeque::new(),
            base: 0,
            in_flight: 0,
            smoothed: millis(100),
            variation: millis(50),
            is_measured: false,
            latest_acked_sent_at: Duration::ZERO,
            loss_at: None,
            probe_at: None,
            probes: 0,
            may_probe: false,
            wake_at: Duration::ZERO,
            held_max: Duration::ZERO,
            packets_lost: 0,
            packets_sent: 0,
        }
    }

    fn on_ack(&mut self, now: Duration, number: u64) {
        let Some(index) = number.checked_sub(self.base) else { return };
        let packet = &mut self.sent[index as usize];
        let (at, stamp, bytes) = (packet.at, packet.stamp, packet.bytes);
        let was = core::mem::replace(&mut packet.state, State::Acked);
        match was {
            State::Acked => return,
            State::Lost => {}
            State::InFlight => self.in_flight -= bytes,
        }
        self.probes = 0;
        let rtt = now - at;
        if self.is_measured {
            self.variation = (self.variation * 3 + self.smoothed.abs_diff(rtt)) / 4;
            self.smoothed = (self.smoothed * 7 + rtt) / 8;
        } else {
            (self.smoothed, self.variation, self.is_measured) = (rtt, rtt / 2, true);
        }
        self.latest_acked_sent_at = self.latest_acked_sent_at.max(at);
        if was == State::InFlight {
            self.controller.on_ack(&AckSample {
                now: time(now),
                bytes,
                sent_at: time(at),
                stamp,
                rtt: Some(rtt),
                smoothed: self.smoothed,
                bytes_in_flight: self.in_flight,
            });
        }
        self.detect_losses(now);
        self.settle();
        self.arm(now);
    }

    fn settle(&mut self) {
        while self.sent.len() > 50_000 || self.sent.front().is_some_and(|packet| packet.state == State::Acked) {
            self.sent.pop_front();
            self.base += 1;
        }
    }

    fn detect_losses(&mut self, now: Duration) {
        let patience = self.smoothed + (self.smoothed / 8).max(millis(2));
        let (mut bytes, mut counted, mut run, mut last) = (0, 0, 0, Duration::ZERO);
        self.loss_at = None;
        for packet in &mut self.sent {
            if packet.at > self.latest_acked_sent_at {
                break;
            }
            if packet.state != State::InFlight || packet.at == self.latest_acked_sent_at {
                run = if packet.state == State::Lost { run + 1 } else { 0 };
                continue;
            }
            if packet.at + patience > now {
                self.loss_at = Some(packet.at + patience);
                break;
            }
            packet.state = State::Lost;
            bytes += packet.bytes;
            run += 1;
            // The connection's ledger counts in the same way.
            counted += if run <= 8 { packet.bytes } else { 0 };
            last = packet.at;
            self.packets_lost += 1;
        }
        if bytes > 0 {
            self.in_flight -= bytes;
            self.resend += bytes;
            self.controller.on_loss(time(now), LossSample { bytes: counted, sent_at: time(last) });
        }
    }

    fn arm(&mut self, now: Duration) {
        let timeout = self.smoothed + (self.variation * 4).max(millis(2));
        let doubled = timeout * 2u32.pow(self.probes.saturating_sub(3).min(6));
        self.probe_at = (self.in_flight > 0).then(|| now + doubled.min(seconds(4)));
    }

    fn on_timers(&mut self, now: Duration) {
        if self.loss_at.is_some_and(|at| at <= now) {
            self.detect_losses(now);
        }
        if self.probe_at.is_some_and(|at| at <= now) {
            self.probes += 1;
            if self.probes >= 3 {
                self.controller.on_silence(time(now));
            }
            self.may_probe = true;
            self.arm(now);
        }
        if let Load::Ticks { bytes, interval } = self.load {
            while self.tick_at <= now {
                self.backlog.push_back((self.tick_at, bytes));
                self.tick_at += interval;
            }
        }
    }

    /// The bytes of the next packet, if it may leave.
    fn poll_transmit(&mut self, now: Duration) -> Option<(u64, u32)> {
        self.wake_at = Duration::MAX;
        let most = u32::from(DATAGRAM_BYTES);
        let waiting: u32 = match self.load {
            Load::Greedy => most,
            Load::Ticks { .. } => self.backlog.iter().map(|(_, bytes)| bytes).sum(),
        };
        let bytes = (waiting + self.resend).min(most);
        if bytes == 0 {
            self.may_probe = false;
            return None;
        }
        if !self.may_probe {
            if u64::from(self.in_flight + bytes) > self.controller.window() && self.in_flight > 0 {
                return None;
            }
            let at = self.controller.next_send(time(now), bytes);
            if at > time(now) {
                self.wake_at = span(at);
                return None;
            }
        }
        self.may_probe = false;
        let resent = bytes.min(self.resend);
        self.resend -= resent;
        let mut new = bytes - resent;
        while let Some((tick, left)) = self.backlog.front_mut()
            && new > 0
        {
            self.held_max = self.held_max.max(now - *tick);
            let part = new.min(*left);
            *left -= part;
            new -= part;
            if *left == 0 {
                self.backlog.pop_front();
            }
        }
        let stamp = self.controller.on_sent(time(now), bytes, self.in_flight);
        let number = self.base + self.sent.len() as u64;
        self.sent.push_back(Sent { at: now, stamp, bytes, state: State::InFlight });
        self.in_flight += bytes;
        self.packets_sent += 1;
        self.arm(now);
        Some((number, bytes))
    }

    fn next_event(&self) -> Duration {
        let tick = if matches!(self.load, Load::Ticks { .. }) { self.tick_at } else { Duration::MAX };
        let timers = [self.loss_at, self.probe_at, Some(self.wake_at), Some(tick)];
        timers.into_iter().flatten().min().unwrap_or(Duration::MAX)
    }
}

#[derive(Debug)]
pub enum Sender {
    Model(Box<Model>),
    Cubic(Box<(CubicFlow, CubicReceiver)>),
}

/// One flow and its measurements.
#[derive(Debug)]
pub struct Flow {
    pub sender: Sender,
    start: Duration,
    stop: Duration,
    /// Bytes that arrived for the first time, headers included, in each tenth of a second.
    pub arrived: Vec<u64>,
    /// How long packets waited in the queue, with their time of arrival.
    pub waits: Vec<(Duration, Duration)>,
    useful: std::collections::BTreeSet<u64>,
}

impl Flow {
    pub fn model(&self) -> &Model {
        match &self.sender {
            Sender::Model(model) => model,
            Sender::Cubic(_) => panic!("a CUBIC flow has no controller of ours"),
        }
    }
}

/// Several flows through one link; acknowledgements come back over a path that only delays.
pub struct Network {
    pub link: Link,
    back: Link,
    has_echoes: bool,
    pub flows: Vec<Flow>,
    pub now: Duration,
    propagation: Duration,
    rate: u64,
}

impl Network {
    /// Acknowledgements have half of the delay.
    pub fn new(link: LinkConfig, seed: u64) -> Self {
        let back = LinkConfig { delay: link.delay, ..LinkConfig::default() };
        Network {
            propagation: link.delay,
            rate: link.rate_bits_per_second.unwrap_or(u64::MAX),
            link: Link::new(link, seed).unwrap(),
            back: Link::new(back, seed + 1).unwrap(),
            has_echoes: false,
            flows: Vec::new(),
            now: Duration::ZERO,
        }
    }

    /// Acknowledgements are lost, or jump, too.
    pub fn with_back(mut self, back: LinkConfig, seed: u64) -> Self {
        self.back = Link::new(back, seed).unwrap();
        self
    }

    /// The way back has a rate and a queue, too, and carries each of our packets back in full, as with a server that
    /// answers each message with one of the same length. The answers have no controller of their own.
    pub fn with_echoes(self, back: LinkConfig, seed: u64) -> Self {
        Network { has_echoes: true, ..self.with_back(back, seed) }
    }

    pub fn add(&mut self, kind: Kind, start: Duration, stop: Duration) -> usize {
        let sender = match kind {
            Kind::Ours(algorithm, load) => Sender::Model(Box::new(Model::new(algorithm, load, start))),
            Kind::Cubic => Sender::Cubic(Box::default()),
        };
        let useful = Default::default();
        self.flows.push(Flow { sender, start, stop, arrived: Vec::new(), waits: Vec::new(), useful });
        self.flows.len() - 1
    }

    pub fn run_until(&mut self, end: Duration) {
        let mut datagram = Vec::new();
        while self.now < end {
            self.arrivals(&mut datagram);
            for index in 0..self.flows.len() {
                self.step(index);
            }
            let arrivals = [self.link.next_arrival(), self.back.next_arrival()];
            let flows = self.flows.iter().map(|flow| flow.next_event(self.now));
            let next = arrivals.into_iter().flatten().chain(flows).min().unwrap_or(end);
            // The protocol's clock counts microseconds.
            let next = Duration::from_micros(next.as_nanos().div_ceil(1_000) as u64);
            self.now = next.max(self.now + Duration::from_micros(1));
        }
    }

    fn arrivals(&mut self, datagram: &mut Vec<u8>) {
        while let Some(arrival) = self.link.receive(self.now, datagram) {
            let (index, order, number) = split(arrival.tag);
            let wire = datagram.len() as u64 + u64::from(HEADER_BYTES);
            let serialised = Duration::from_nanos(wire * 8_000_000_000 / self.rate);
            let flow = &mut self.flows[index];
            let wait = (arrival.arrived - arrival.sent).saturating_sub(serialised + self.propagation);
            flow.waits.push((arrival.arrived, wait));
            let slot = (arrival.arrived.as_millis() / 100) as usize;
            if flow.arrived.len() <= slot {
                flow.arrived.resize(slot + 1, 0);
            }
            match &mut flow.sender {
                Sender::Model(model) => {
                    let is_useful = number
                        .checked_sub(model.base)
                        .is_some_and(|at| model.sent[at as usize].state == State::InFlight);
                    flow.arrived[slot] += if is_useful { wire } else { 0 };
                    let echo = if self.has_echoes { datagram.len() } else { 0 };
                    self.back.send(arrival.arrived, &ZEROS[..echo], arrival.tag);
                }
                Sender::Cubic(cubic) => {
                    if flow.useful.insert(number) {
                        flow.arrived[slot] += wire;
                    }
                    if flow.useful.len() > 100_000 {
                        flow.useful.pop_first();
                    }
                    cubic.1.on_segment(Segment { number, order });
                    let mut answer = [0; CUBIC_ANSWER_BYTES];
                    answer[..8].copy_from_slice(&cubic.1.delivered().to_be_bytes());
                    self.back.send(arrival.arrived, &answer, arrival.tag);
                }
            }
        }
        while let Some(arrival) = self.back.receive(self.now, datagram) {
            let (index, order, number) = split(arrival.tag);
            match &mut self.flows[index].sender {
                Sender::Model(model) => model.on_ack(self.now, number),
                Sender::Cubic(cubic) => {
                    let next = u64::from_be_bytes(datagram[..8].try_into().unwrap());
                    let segment = Segment { number, order };
                    cubic.0.on_ack(self.now, skipstone_netsim::cubic::Acknowledgement { next, segment });
                }
            }
        }
    }

    fn step(&mut self, index: usize) {
        let (now, flow) = (self.now, &mut self.flows[index]);
        if now < flow.start {
            return;
        }
        match &mut flow.sender {
            Sender::Model(model) => {
                model.on_timers(now);
                if now >= flow.stop {
                    model.wake_at = Duration::MAX;
                    model.load = Load::Ticks { bytes: 0, interval: seconds(3_600) };
                    return;
                }
                while let Some((number, bytes)) = model.poll_transmit(now) {
                    self.link.send(now, &ZEROS[..bytes as usize], tag(index, 0, number));
                }
            }
            Sender::Cubic(cubic) => {
                cubic.0.on_timeout(now);
                if now >= flow.stop {
                    return;
                }
                while let Some(segment) = cubic.0.poll_transmit(now) {
                    let bytes = usize::from(DATAGRAM_BYTES);
                    self.link.send(now, &ZEROS[..bytes], tag(index, segment.order, segment.number));
                }
            }
        }
    }

    /// Share of the link that a flow's useful bytes took.
    pub fn share(&self, flow: usize, from: Duration, to: Duration) -> f64 {
        let slots = (from.as_millis() / 100) as usize..(to.as_millis() / 100) as usize;
        let bytes: u64 = slots.filter_map(|slot| self.flows[flow].arrived.get(slot)).sum();
        bytes as f64 * 8.0 / (self.rate as f64 * (to - from).as_secs_f64())
    }

    /// A percentile of the time that a flow's packets waited.
    pub fn wait(&self, flow: usize, percentile: f64, from: Duration, to: Duration) -> Duration {
        let waits = self.flows[flow].waits.iter().filter(|(at, _)| *at >= from && *at < to);
        let mut waits: Vec<Duration> = waits.map(|(_, wait)| *wait).collect();
        waits.sort_unstable();
        let index = (waits.len() as f64 * percentile / 100.0) as usize;
        waits.get(index.min(waits.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

impl Flow {
    fn next_event(&self, now: Duration) -> Duration {
        if now < self.start {
            return self.start;
        }
        match &self.sender {
            Sender::Model(model) => model.next_event(),
            Sender::Cubic(cubic) if now < self.stop => cubic.0.poll_timeout().unwrap_or(Duration::MAX),
            Sender::Cubic(_) => Duration::MAX,
        }
    }
}

static ZEROS: [u8; 1_500] = [0; 1_500];

fn tag(flow: usize, order: u64, number: u64) -> u64 {
    (flow as u64) << 56 | order << 28 | number
}

fn split(tag: u64) -> (usize, u64, u64) {
    ((tag >> 56) as usize, tag >> 28 & 0xFFF_FFFF, tag & 0xFFF_FFFF)
}

/// A link of this rate, round trip without a queue (the way back takes half of it), and queue.
pub fn link(kbit: u64, rtt_ms: u64, queue_ms: u64) -> LinkConfig {
    LinkConfig {
        rate_bits_per_second: Some(kbit * 1_000),
        delay: Duration::from_micros(rtt_ms * 500),
        queue: QueueLimit::Time(millis(queue_ms)),
        ..LinkConfig::default()
    }
}
