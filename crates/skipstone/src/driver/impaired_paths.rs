//! Simulated network impairment of a server's shared socket: each client address has its own links in both directions
//! with each address of the server.

use super::impair::{Impairment, LinkStats, Links, add_stats};
use crate::net::udp::AddressPair;
use skipstone_proto::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet};

/// All paths of one shared socket.
#[derive(Debug)]
pub(super) struct ImpairedPaths {
    impairment: Impairment,
    paths: BTreeMap<AddressPair, ImpairedPath>,
    /// Paths with datagrams in flight, by the arrival time of the next one.
    due: BTreeSet<(Time, AddressPair)>,
    /// Links opened so far, from which each path's seed follows.
    opened: u64,
    in_flight: usize,
    dropped: u64,
    /// Time of the next removal of idle paths.
    sweep_at: Time,
    /// Counters of the links of removed paths.
    past: (LinkStats, LinkStats),
}

#[derive(Debug)]
struct ImpairedPath {
    links: Links,
    /// This path's entry in `due`; [`Time::NEVER`] without one.
    due: Time,
    used_at: Time,
}

/// Direction of a datagram that has left a link, with the client's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    FromClient(AddressPair),
    ToClient(AddressPair),
}

/// Limit on addresses that have links at the same time, so that forged addresses do not exhaust the memory.
const PATHS_MAX: usize = 65_536;
/// Limit on datagrams in flight, over all paths: 190 MB of 1,472 bytes.
const IN_FLIGHT_MAX: usize = 131_072;
/// A path without traffic for this time is removed. It is longer than the interval of keepalives.
const IDLE_MAX: Duration = Duration::from_secs(60);
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

impl ImpairedPaths {
    /// The paths of this shard of a server.
    pub(super) fn new(impairment: Impairment, shard: u32) -> Self {
        ImpairedPaths {
            impairment,
            paths: BTreeMap::new(),
            due: BTreeSet::new(),
            opened: u64::from(shard) << 32,
            in_flight: 0,
            dropped: 0,
            sweep_at: Time::ZERO,
            past: Default::default(),
        }
    }

    /// Puts a datagram from a client, or from any other address, onto the link towards the server.
    pub(super) fn send_up(&mut self, now: Time, from: AddressPair, datagram: &[u8]) {
        self.send(now, from, |links| links.send_up(now, datagram));
    }

    /// Puts a datagram of the server onto the link towards this client.
    pub(super) fn send_down(&mut self, now: Time, to: AddressPair, datagram: &[u8]) {
        self.send(now, to, |links| links.send_down(now, datagram));
    }

    fn send(&mut self, now: Time, remote: AddressPair, act: impl FnOnce(&mut Links)) {
        self.forget_idle(now);
        let is_full =
            self.in_flight >= IN_FLIGHT_MAX || self.paths.len() >= PATHS_MAX && !self.paths.contains_key(&remote);
        if is_full {
            self.dropped += 1;
            return;
        }
        let path = self.paths.entry(remote).or_insert_with(|| {
            self.opened += 1;
            let links = Links::new(&self.impairment, self.opened).expect("the impairment was checked at the start");
            ImpairedPath { links, due: Time::NEVER, used_at: now }
        });
        path.used_at = now;
        let before = path.links.in_flight();
        act(&mut path.links);
        self.in_flight += path.links.in_flight() - before;
        path.schedule(remote, &mut self.due);
    }

    /// The next datagram that has left a link by now, in `out`.
    pub(super) fn receive(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Arrival> {
        loop {
            let (_, remote) = self.due.first().copied().filter(|(due, _)| *due <= now)?;
            let path = self.paths.get_mut(&remote).expect("a path that is due has links");
            let before = path.links.in_flight();
            let arrival = if path.links.receive_up(now, out) {
                Some(Arrival::FromClient(remote))
            } else {
                path.links.receive_down(now, out).then_some(Arrival::ToClient(remote))
            };
            self.in_flight -= before - path.links.in_flight();
            path.schedule(remote, &mut self.due);
            if arrival.is_some() {
                return arrival;
            }
        }
    }

    pub(super) fn next_arrival(&self) -> Time {
        self.due.first().map_or(Time::NEVER, |(due, _)| *due)
    }

    /// Counters of the links, towards the server and towards the clients.
    #[cfg(feature = "simulate")]
    pub(super) fn stats(&self) -> (LinkStats, LinkStats) {
        self.paths.values().fold(self.past, |sum, path| add_stats(sum, path.links.stats()))
    }

    /// Datagrams dropped because a limit on memory was reached.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn forget_idle(&mut self, now: Time) {
        if now < self.sweep_at {
            return;
        }
        self.sweep_at = now + SWEEP_INTERVAL;
        let past = &mut self.past;
        self.paths.retain(|_, path| {
            let is_used = path.due != Time::NEVER || now.since(path.used_at) < IDLE_MAX;
            if !is_used {
                *past = add_stats(*past, path.links.stats());
            }
            is_used
        });
    }
}

impl ImpairedPath {
    /// Updates this path's entry in `due`.
    fn schedule(&mut self, remote: AddressPair, due: &mut BTreeSet<(Time, AddressPair)>) {
        let next = self.links.next_arrival();
        if next == self.due {
            return;
        }
        due.remove(&(self.due, remote));
        if next != Time::NEVER {
            due.insert((next, remote));
        }
        self.due = next;
    }
}

#[cfg(all(test, feature = "simulate"))]
mod tests {
    use super::*;
    use skipstone_netsim::{LinkConfig, Loss};

    const START: Time = Time::from_micros(1_000_000);

    fn address(number: u32) -> AddressPair {
        std::net::SocketAddr::from((number.to_be_bytes(), 4_000)).into()
    }

    fn slow(up: u64, down: u64) -> Impairment {
        let delayed = |ms| LinkConfig { delay: Duration::from_millis(ms), ..LinkConfig::default() };
        Impairment { up: delayed(up), down: delayed(down), seed: 7 }
    }

    fn arrivals(paths: &mut ImpairedPaths, now: Time) -> Vec<(Arrival, Vec<u8>)> {
        let mut out = Vec::new();
        std::iter::from_fn(|| paths.receive(now, &mut out).map(|arrival| (arrival, out.clone()))).collect()
    }

    #[test]
    fn each_direction_of_each_path_has_its_own_delay() {
        let mut paths = ImpairedPaths::new(slow(30, 50), 0);
        paths.send_up(START, address(1), b"up");
        paths.send_down(START + Duration::from_millis(10), address(2), b"down");
        assert_eq!(paths.next_arrival(), START + Duration::from_millis(30));
        assert_eq!(arrivals(&mut paths, START + Duration::from_millis(29)), []);
        let up = (Arrival::FromClient(address(1)), b"up".to_vec());
        assert_eq!(arrivals(&mut paths, START + Duration::from_millis(30)), [up]);
        assert_eq!(paths.next_arrival(), START + Duration::from_millis(60));
        let down = (Arrival::ToClient(address(2)), b"down".to_vec());
        assert_eq!(arrivals(&mut paths, START + Duration::from_millis(60)), [down]);
        assert_eq!(paths.next_arrival(), Time::NEVER);
        let (up, down) = paths.stats();
        assert_eq!((up.delivered, down.delivered, paths.in_flight), (1, 1, 0));
    }

    #[test]
    fn each_client_has_its_own_random_stream_by_seed_and_index() {
        let lossy = LinkConfig { loss: Loss::Random(0.5), ..LinkConfig::default() };
        let impairment = Impairment { up: lossy, ..Impairment::default() };
        let fates = |shard| {
            let mut paths = ImpairedPaths::new(impairment.clone(), shard);
            [1, 2].map(|client| {
                let fate = |_| {
                    paths.send_up(START, address(client), b"x");
                    !arrivals(&mut paths, START).is_empty()
                };
                (0..64).map(fate).collect::<Vec<bool>>()
            })
        };
        assert_eq!(fates(0), fates(0));
        let ([first, second], [other, _]) = (fates(0), fates(1));
        assert!(first != second && first != other, "no two are alike");
    }

    #[test]
    fn forged_addresses_and_datagrams_in_flight_are_bounded_and_idle_paths_expire() {
        let mut paths = ImpairedPaths::new(slow(100, 0), 0);
        (0..PATHS_MAX as u32 + 10).for_each(|number| paths.send_up(START, address(number), b"x"));
        assert_eq!((paths.paths.len(), paths.dropped()), (PATHS_MAX, 10));
        (0..IN_FLIGHT_MAX as u32).for_each(|number| paths.send_up(START, address(number % 9), b"x"));
        assert_eq!((paths.in_flight, paths.dropped()), (IN_FLIGHT_MAX, 10 + PATHS_MAX as u64));
        let later = START + Duration::from_millis(100);
        assert_eq!(arrivals(&mut paths, later).len(), IN_FLIGHT_MAX);
        paths.send_up(later + IDLE_MAX, address(1), b"x");
        assert_eq!((paths.paths.len(), paths.in_flight), (1, 1));
        assert_eq!(paths.stats().0.delivered, IN_FLIGHT_MAX as u64, "what forgotten paths did still counts");
    }
}
