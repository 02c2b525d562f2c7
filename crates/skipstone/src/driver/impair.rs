//! A bad network around a real socket: each client has a model link of its own, in both directions.

use skipstone_netsim::{ConfigError, Duplex, LinkConfig, LinkStats};
use skipstone_proto::time::{Duration, Time};

/// What a client's network does to its datagrams.
#[derive(Clone, Debug, Default)]
pub struct Impairment {
    /// Towards the server.
    pub up: LinkConfig,
    /// Towards the client.
    pub down: LinkConfig,
    /// The same seed treats the same sequence of datagrams alike. Each client adds its own number.
    pub seed: u64,
}

impl Impairment {
    /// What is wrong with it, if anything.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.up.validate()?;
        self.down.validate()
    }
}

/// The links of one socket.
#[derive(Debug)]
pub(super) struct Links(Duplex);

impl Links {
    pub(super) fn new(impairment: &Impairment, number: u64) -> Result<Self, ConfigError> {
        let seed = impairment.seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Duplex::new(impairment.up.clone(), impairment.down.clone(), seed).map(Links)
    }

    pub(super) fn send_up(&mut self, now: Time, datagram: &[u8]) {
        self.0.up.send(since_epoch(now), datagram, 0);
    }

    pub(super) fn send_down(&mut self, now: Time, datagram: &[u8]) {
        self.0.down.send(since_epoch(now), datagram, 0);
    }

    /// The next datagram that has come out towards the server.
    pub(super) fn receive_up(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.0.up.receive(since_epoch(now), out).is_some()
    }

    /// The next datagram that has come out towards the client.
    pub(super) fn receive_down(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.0.down.receive(since_epoch(now), out).is_some()
    }

    pub(super) fn next_arrival(&self) -> Time {
        self.0.next_arrival().map_or(Time::NEVER, |at| Time::from_micros(at.as_nanos().div_ceil(1_000) as u64))
    }

    pub(super) fn stats(&self) -> (LinkStats, LinkStats) {
        (self.0.up.stats(), self.0.down.stats())
    }
}

fn since_epoch(now: Time) -> Duration {
    Duration::from_micros(now.as_micros())
}
