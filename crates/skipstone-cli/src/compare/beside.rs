//! Flows that share the link with the contender: they send towards the server and are answered from there.

use skipstone::netsim::{Duplex, LinkConfig};
use skipstone_proto::time::{Duration, Time};

use super::condition::HEADER_BYTES;
use super::plan::Flow;

/// A flow of its own, both of its ends.
pub(crate) trait Neighbour {
    /// The next datagram towards the server.
    fn poll_transmit(&mut self, now: Time) -> Option<Vec<u8>>;

    /// A datagram came to the server.
    fn handle_datagram(&mut self, now: Time, datagram: &[u8]);

    /// The next answer from the server.
    fn poll_answer(&mut self, now: Time) -> Option<Vec<u8>>;

    /// An answer came back.
    fn handle_answer(&mut self, now: Time, datagram: &[u8]);

    /// Does what is due.
    fn handle_timeout(&mut self, now: Time);

    /// When `handle_timeout` or `poll_transmit` wants to be called.
    fn poll_timeout(&self) -> Time;
}

/// The flow that a plan names. The error says why there is none.
fn neighbour(flow: Flow, _link: &LinkConfig, _seed: u64) -> Result<Box<dyn Neighbour>, String> {
    match flow {
        Flow::Cubic => Err("a flow \"cubic\" beside cannot be played yet; leave [[beside]] out of the plan".into()),
    }
}

/// Whether these flows can be played over this link.
pub(crate) fn check(flows: &[Flow], link: &LinkConfig) -> Result<(), String> {
    flows.iter().try_for_each(|flow| neighbour(*flow, link, 0).map(drop))
}

/// All flows beside. They run while updates are sent.
#[derive(Default)]
pub(crate) struct Neighbours {
    flows: Vec<Box<dyn Neighbour>>,
    is_running: bool,
    bytes: u64,
}

/// Datagrams of the contender's have this in their tag, and the client's port.
pub(crate) const OWN_TAG: u64 = 0;
/// Above the contender's ports, the number of the flow from 1.
const FLOW_SHIFT: u32 = 32;

impl Neighbours {
    pub(crate) fn new(flows: &[Flow], link: &LinkConfig, seed: u64) -> Neighbours {
        let make = |flow: &Flow| neighbour(*flow, link, seed).expect("it was checked");
        Neighbours { flows: flows.iter().map(make).collect(), ..Neighbours::default() }
    }

    /// They begin.
    pub(crate) fn begin(&mut self) {
        self.is_running = true;
    }

    /// They fall silent.
    pub(crate) fn end(&mut self) {
        self.is_running = false;
    }

    /// IP bytes that came to the server so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A datagram came to the server. False if it is not one of theirs.
    pub(crate) fn take(&mut self, tag: u64, now: Time, datagram: &[u8]) -> bool {
        let Some(at) = place(tag) else { return false };
        if self.is_running {
            self.bytes += (datagram.len() + HEADER_BYTES) as u64;
        }
        self.flows[at].handle_datagram(now, datagram);
        true
    }

    /// A datagram came to the client's side. False if it is not one of theirs.
    pub(crate) fn take_answer(&mut self, tag: u64, now: Time, datagram: &[u8]) -> bool {
        let Some(at) = place(tag) else { return false };
        self.flows[at].handle_answer(now, datagram);
        true
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        for flow in self.flows.iter_mut().filter(|_| self.is_running) {
            flow.handle_timeout(now);
        }
    }

    pub(crate) fn poll_timeout(&self) -> Time {
        let running = self.flows.iter().filter(|_| self.is_running);
        running.map(|flow| flow.poll_timeout()).min().unwrap_or(Time::NEVER)
    }

    /// Puts on the links what they have to send.
    pub(crate) fn transmit(&mut self, now: Time, links: &mut Duplex) {
        let since_epoch = Duration::from_micros(now.as_micros());
        for (at, flow) in self.flows.iter_mut().enumerate().filter(|_| self.is_running) {
            let tag = (at as u64 + 1) << FLOW_SHIFT;
            while let Some(datagram) = flow.poll_transmit(now) {
                links.up.send(since_epoch, &datagram, tag);
            }
            while let Some(answer) = flow.poll_answer(now) {
                links.down.send(since_epoch, &answer, tag);
            }
        }
    }
}

fn place(tag: u64) -> Option<usize> {
    (tag >> FLOW_SHIFT).checked_sub(1).map(|at| at as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A datagram a millisecond, each answered.
    #[derive(Default)]
    struct Steady {
        next: Time,
        to_answer: u64,
        answered: u64,
    }

    impl Neighbour for Steady {
        fn poll_transmit(&mut self, now: Time) -> Option<Vec<u8>> {
            let is_due = now >= self.next;
            is_due.then(|| {
                self.next = now + Duration::from_millis(1);
                vec![0; 972]
            })
        }
        fn handle_datagram(&mut self, _: Time, _: &[u8]) {
            self.to_answer += 1;
        }
        fn poll_answer(&mut self, _: Time) -> Option<Vec<u8>> {
            self.to_answer = self.to_answer.checked_sub(1)?;
            Some(vec![0; 12])
        }
        fn handle_answer(&mut self, _: Time, _: &[u8]) {
            self.answered += 1;
        }
        fn handle_timeout(&mut self, _: Time) {}
        fn poll_timeout(&self) -> Time {
            self.next
        }
    }

    #[test]
    fn a_flow_shares_the_link_and_is_told_apart() {
        let config = LinkConfig { rate_bits_per_second: Some(4_000_000), ..LinkConfig::default() };
        let mut links = Duplex::symmetric(config, 1).unwrap();
        let mut beside = Neighbours { flows: vec![Box::<Steady>::default()], ..Neighbours::default() };
        beside.begin();
        let mut own = 0;
        for millis in 0..1_000 {
            let now = Time::from_micros(millis * 1_000);
            links.up.send(Duration::from_millis(millis), &[0; 100], OWN_TAG | 20_000);
            beside.handle_timeout(now);
            beside.transmit(now, &mut links);
            let mut datagram = Vec::new();
            while let Some(arrival) = links.up.receive(Duration::from_millis(millis), &mut datagram) {
                own += u64::from(!beside.take(arrival.tag, now, &datagram));
            }
            while let Some(arrival) = links.down.receive(Duration::from_millis(millis), &mut datagram) {
                assert!(beside.take_answer(arrival.tag, now, &datagram));
            }
        }
        // The two want 9 Mbit/s together and get 4, in turn.
        assert!((440..450).contains(&own) && (440_000..450_000).contains(&beside.bytes()), "{own} {}", beside.bytes());
    }
}
