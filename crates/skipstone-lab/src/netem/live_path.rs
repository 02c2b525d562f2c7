//! The model network in real time: both directions of a path on the clock of this machine, with bounds, counters, and
//! the lateness of deliveries.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use skipstone::netsim::{Duplex, Fate, Link, LinkConfig, LinkStats, LossCause, Outage};

use super::path_settings::PathConfig;
use crate::measure::latency::Latency;
use crate::measure::monotonic::monotonic;

/// The way there, or the way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

/// A path that runs on the machine's clock.
pub(crate) struct LivePath {
    epoch: Instant,
    /// The same moment by the clock that all processes share.
    begun: Option<Duration>,
    links: Duplex,
    /// Packets that found the link's memory full: lost before anything else was decided.
    overflowed: [u64; 2],
    lateness: Latency,
    /// The latest losses, for lookups.
    losses: VecDeque<LossLine>,
    arrived: Vec<u8>,
}

/// A packet that the link lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LossLine {
    pub(crate) at: Duration,
    pub(crate) direction: Direction,
    /// Its number in its direction, from 0.
    pub(crate) number: u64,
    pub(crate) cause: LossCause,
    pub(crate) bytes: usize,
}

/// A packet that has arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrived<'a> {
    pub(crate) tag: u64,
    pub(crate) bytes: &'a [u8],
}

/// Bytes on their way in each direction; a long fat path of 1 Gbit/s and 500 ms holds 62 MB.
const IN_FLIGHT_BYTES_MAX: usize = 64 << 20;
const LOSSES_KEPT: usize = 10_000;

impl Direction {
    pub(crate) const BOTH: [Direction; 2] = [Direction::Up, Direction::Down];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
        }
    }
}

impl LivePath {
    pub(crate) fn new(config: &PathConfig, seed: u64, epoch: Instant) -> LivePath {
        LivePath {
            epoch,
            begun: monotonic().map(|now| now.saturating_sub(epoch.elapsed())),
            links: config.duplex(seed),
            overflowed: [0; 2],
            lateness: Latency::default(),
            losses: VecDeque::new(),
            arrived: Vec::new(),
        }
    }

    /// The time on the link.
    pub(crate) fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// When the path began, by the clock that all processes share.
    pub(crate) fn begun(&self) -> Option<Duration> {
        self.begun
    }

    /// Puts a packet on the link now.
    pub(crate) fn send(&mut self, direction: Direction, packet: &[u8], tag: u64) -> Fate {
        let now = self.now();
        if !self.has_room(direction, packet.len()) {
            self.overflowed[direction as usize] += 1;
            return Fate::Lost(LossCause::Queue);
        }
        let link = self.link(direction);
        let fate = link.send(now, packet, tag);
        if let Fate::Lost(cause) = fate {
            let number = link.stats().sent - 1;
            if self.losses.len() == LOSSES_KEPT {
                self.losses.pop_front();
            }
            self.losses.push_back(LossLine { at: now, direction, number, cause, bytes: packet.len() });
        }
        fate
    }

    /// Whether a packet of this size fits into the link's memory.
    pub(crate) fn has_room(&self, direction: Direction, bytes: usize) -> bool {
        self.links_of(direction).in_flight_bytes() + bytes <= IN_FLIGHT_BYTES_MAX
    }

    /// The next packet that has arrived.
    pub(crate) fn receive(&mut self, direction: Direction) -> Option<Arrived<'_>> {
        let now = self.now();
        let link = match direction {
            Direction::Up => &mut self.links.up,
            Direction::Down => &mut self.links.down,
        };
        let arrival = link.receive(now, &mut self.arrived)?;
        self.lateness.record((now - arrival.arrived).as_micros() as u64);
        Some(Arrived { tag: arrival.tag, bytes: &self.arrived })
    }

    /// When the next packet arrives at either end.
    pub(crate) fn next_arrival(&self) -> Option<Duration> {
        self.links.next_arrival()
    }

    /// Changes the link for packets that are sent from now on.
    pub(crate) fn configure(&mut self, config: &PathConfig) {
        for (direction, config) in [(Direction::Up, &config.up), (Direction::Down, &config.down)] {
            let outages = self.link(direction).config().outages.clone();
            let config = LinkConfig { outages, ..config.clone() };
            self.link(direction).set_config(config).expect("the configuration was validated");
        }
    }

    /// Takes a direction down from now on.
    pub(crate) fn take_down(&mut self, direction: Direction, length: Duration) {
        let start = self.now();
        let mut config = self.link(direction).config().clone();
        config.outages.retain(|outage| outage.start.saturating_add(outage.length) > start);
        config.outages.push(Outage { start, length });
        self.link(direction).set_config(config).expect("an outage is always possible");
    }

    /// How long a packet that was sent now would wait for the rate.
    pub(crate) fn queue_delay(&self, direction: Direction) -> Duration {
        self.links_of(direction).queue_delay(self.now())
    }

    pub(crate) fn stats(&self, direction: Direction) -> LinkStats {
        self.links_of(direction).stats()
    }

    pub(crate) fn overflowed(&self, direction: Direction) -> u64 {
        self.overflowed[direction as usize]
    }

    /// How much later than planned packets were delivered.
    pub(crate) fn lateness(&self) -> &Latency {
        &self.lateness
    }

    /// The latest losses, the newest last.
    pub(crate) fn losses(&self) -> &VecDeque<LossLine> {
        &self.losses
    }

    fn link(&mut self, direction: Direction) -> &mut Link {
        match direction {
            Direction::Up => &mut self.links.up,
            Direction::Down => &mut self.links.down,
        }
    }

    fn links_of(&self, direction: Direction) -> &Link {
        match direction {
            Direction::Up => &self.links.up,
            Direction::Down => &self.links.down,
        }
    }
}
