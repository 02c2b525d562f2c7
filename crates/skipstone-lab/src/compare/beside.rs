//! Flows that share the link with the contender: they send towards the server and are answered from there.

use std::collections::VecDeque;

use skipstone::netsim::cubic::{Acknowledgement, CubicFlow, CubicReceiver, Segment};
use skipstone::netsim::{Duplex, LinkConfig};
use skipstone_proto::{Duration, Time};

use super::plan::Kind;
use crate::framing::HEADER_BYTES;

/// A background flow of a condition. Times count from the first update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) kind: Kind,
    /// The flow has the link to itself for this long before the first update.
    pub(crate) ahead: Duration,
    pub(crate) starts: Duration,
    /// At the end of sending, at the latest.
    pub(crate) stops: Duration,
}

/// All background flows.
#[derive(Default)]
pub(crate) struct Neighbours {
    flows: Vec<Running>,
    /// IP bytes that arrived at the server.
    bytes: u64,
}

struct Running {
    flow: CubicTransfer,
    from: Time,
    until: Time,
}

/// Datagrams of the contender's have this in their tag, and the client's port.
pub(crate) const OWN_TAG: u64 = 0;
/// Above the contender's ports, the number of the flow from 1.
const FLOW_SHIFT: u32 = 32;

impl Neighbours {
    /// The flows begin and end as the condition says, counted from the first update.
    pub(crate) fn new(flows: &[Flow], link: &LinkConfig, first: Time) -> Self {
        let running = |flow: &Flow| {
            let ahead = Duration::from_micros(first.as_micros()).saturating_sub(flow.ahead).as_micros() as u64;
            let from = if flow.ahead > Duration::ZERO { Time::from_micros(ahead) } else { first + flow.starts };
            let Kind::Cubic = flow.kind;
            let datagram_bytes = link.datagram_bytes_max.unwrap_or(1_500 - HEADER_BYTES);
            Running { flow: CubicTransfer::new(datagram_bytes), from, until: first + flow.stops }
        };
        Self { flows: flows.iter().map(running).collect(), bytes: 0 }
    }

    /// IP bytes that arrived at the server so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the flows' data that the server has received so far, each counted once.
    pub(crate) fn delivered(&self) -> u64 {
        self.flows.iter().map(|running| running.flow.delivered()).sum()
    }

    /// A datagram arrived at the server. False if it is not one of theirs.
    pub(crate) fn take(&mut self, tag: u64, datagram: &[u8]) -> bool {
        let Some(at) = place(tag) else { return false };
        self.bytes += (datagram.len() + HEADER_BYTES) as u64;
        self.flows[at].flow.handle_datagram(datagram);
        true
    }

    /// A datagram arrived at the client's side. False if it does not belong to these flows.
    pub(crate) fn take_answer(&mut self, tag: u64, now: Time, datagram: &[u8]) -> bool {
        let Some(at) = place(tag) else { return false };
        self.flows[at].flow.handle_answer(now, datagram);
        true
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        for running in self.flows.iter_mut().filter(|running| running.is_due(now)) {
            running.flow.handle_timeout(now);
        }
    }

    pub(crate) fn poll_timeout(&self, now: Time) -> Time {
        let next = |running: &Running| match now {
            now if now < running.from => running.from,
            now if now < running.until => running.flow.poll_timeout(),
            _ => Time::NEVER,
        };
        self.flows.iter().map(next).min().unwrap_or(Time::NEVER)
    }

    /// Puts the flows' datagrams on the links.
    pub(crate) fn transmit(&mut self, now: Time, links: &mut Duplex) {
        let since_epoch = Duration::from_micros(now.as_micros());
        for (at, running) in self.flows.iter_mut().enumerate().filter(|(_, running)| running.is_due(now)) {
            let tag = (at as u64 + 1) << FLOW_SHIFT;
            while let Some(datagram) = running.flow.poll_transmit(now) {
                links.up.send(since_epoch, &datagram, tag);
            }
            while let Some(answer) = running.flow.poll_answer() {
                links.down.send(since_epoch, &answer, tag);
            }
        }
    }
}

impl Running {
    fn is_due(&self, now: Time) -> bool {
        (self.from..self.until).contains(&now)
    }
}

/// A transfer without end by CUBIC: full datagrams, each acknowledged by one of TCP's size with selective
/// acknowledgements.
pub(crate) struct CubicTransfer {
    sender: CubicFlow,
    receiver: CubicReceiver,
    datagram_bytes: usize,
    answers: VecDeque<Acknowledgement>,
}

/// With the model link's 28, the 52 of IPv4, TCP and its time stamps.
const ANSWER_BYTES: usize = 24;

impl CubicTransfer {
    pub(crate) fn new(datagram_bytes: usize) -> Self {
        let (sender, receiver) = (CubicFlow::new(), CubicReceiver::default());
        Self { sender, receiver, datagram_bytes, answers: VecDeque::new() }
    }

    /// The next datagram towards the server.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        let segment = self.sender.poll_transmit(since_epoch(now))?;
        let mut datagram = vec![0; self.datagram_bytes];
        datagram[..8].copy_from_slice(&segment.number.to_be_bytes());
        datagram[8..16].copy_from_slice(&segment.order.to_be_bytes());
        Some(datagram)
    }

    /// A datagram arrived at the server.
    pub(crate) fn handle_datagram(&mut self, datagram: &[u8]) {
        let segment = Segment { number: word(datagram, 0), order: word(datagram, 1) };
        self.answers.push_back(self.receiver.on_segment(segment));
    }

    /// The next answer from the server.
    pub(crate) fn poll_answer(&mut self) -> Option<Vec<u8>> {
        let answer = self.answers.pop_front()?;
        let words = [answer.segment.number, answer.segment.order, answer.next];
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_be_bytes).collect();
        debug_assert_eq!(bytes.len(), ANSWER_BYTES);
        Some(bytes)
    }

    /// An answer came back.
    pub(crate) fn handle_answer(&mut self, now: Time, datagram: &[u8]) {
        let segment = Segment { number: word(datagram, 0), order: word(datagram, 1) };
        self.sender.on_ack(since_epoch(now), Acknowledgement { next: word(datagram, 2), segment });
    }

    /// Handles the flow's expired timers.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.sender.on_timeout(since_epoch(now));
    }

    /// When `handle_timeout` or `poll_transmit` must be called.
    pub(crate) fn poll_timeout(&self) -> Time {
        self.sender.poll_timeout().map_or(Time::NEVER, |at| Time::from_micros(at.as_nanos().div_ceil(1_000) as u64))
    }

    /// Bytes of its data that the server has received, each counted once.
    fn delivered(&self) -> u64 {
        self.receiver.delivered() * self.datagram_bytes as u64
    }
}

/// The link damages nothing here.
fn word(datagram: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(datagram[at * 8..][..8].try_into().expect("8 bytes"))
}

fn since_epoch(time: Time) -> Duration {
    Duration::from_micros(time.as_micros())
}

fn place(tag: u64) -> Option<usize> {
    (tag >> FLOW_SHIFT).checked_sub(1).map(|at| at as usize)
}

#[cfg(test)]
mod tests {
    use skipstone::netsim::QueueLimit;

    use super::*;

    #[test]
    fn a_background_flow_shares_the_link_and_is_counted_separately() {
        let config = LinkConfig { rate_bits_per_second: Some(4_000_000), ..LinkConfig::default() };
        let mut links = Duplex::symmetric(config, 1).unwrap();
        let flow = CubicTransfer::new(972);
        let flows = vec![Running { flow, from: Time::ZERO, until: Time::NEVER }];
        let mut beside = Neighbours { flows, bytes: 0 };
        let mut own = 0;
        for millis in 0..1_000 {
            let now = Time::from_micros(millis * 1_000);
            links.up.send(Duration::from_millis(millis), &[0; 100], OWN_TAG | 20_000);
            beside.handle_timeout(now);
            beside.transmit(now, &mut links);
            let mut datagram = Vec::new();
            while let Some(arrival) = links.up.receive(Duration::from_millis(millis), &mut datagram) {
                own += u64::from(!beside.take(arrival.tag, &datagram));
            }
            while let Some(arrival) = links.down.receive(Duration::from_millis(millis), &mut datagram) {
                assert!(beside.take_answer(arrival.tag, now, &datagram));
            }
        }
        // Together they cannot have more than 4 Mbit/s in a second, and each has some of it.
        let bytes = own * (100 + HEADER_BYTES as u64) + beside.bytes();
        assert!(own > 100 && beside.bytes() > 100_000 && bytes < 510_000, "{own} {}", beside.bytes());
    }

    /// Runs a CUBIC transfer alone until its time is over.
    fn alone(flow: Flow, config: LinkConfig, seconds: u64) -> (Neighbours, Duplex) {
        let mut links = Duplex::symmetric(config.clone(), 1).unwrap();
        let first = Time::from_micros(5_000_000);
        let mut beside = Neighbours::new(&[flow], &config, first);
        let (mut now, mut datagram) = (Time::ZERO, Vec::new());
        while now < first + Duration::from_secs(seconds) {
            let at = since_epoch(now);
            while let Some(arrival) = links.up.receive(at, &mut datagram) {
                beside.take(arrival.tag, &datagram);
            }
            while let Some(arrival) = links.down.receive(at, &mut datagram) {
                beside.take_answer(arrival.tag, now, &datagram);
            }
            beside.handle_timeout(now);
            beside.transmit(now, &mut links);
            now += Duration::from_micros(100);
        }
        (beside, links)
    }

    #[test]
    fn a_cubic_transfer_fills_the_link_for_its_duration() {
        let config = LinkConfig {
            delay: Duration::from_millis(10),
            rate_bits_per_second: Some(2_000_000),
            queue: QueueLimit::Time(Duration::from_millis(100)),
            ..LinkConfig::default()
        };
        for (ahead, starts, length) in [(4, 0, 24), (0, 5, 15)] {
            let [ahead, starts, stops] = [ahead, starts, 20].map(Duration::from_secs);
            let (beside, links) = alone(Flow { kind: Kind::Cubic, ahead, starts, stops }, config.clone(), 25);
            let share = beside.delivered() as f64 * 8.0 / 2e6 / f64::from(length);
            assert!((0.9..1.0).contains(&share), "{share}");
            assert!(links.up.stats().lost_queue > 0, "it takes loss for a full link");
        }
    }
}
