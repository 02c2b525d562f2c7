//! Simulated network impairment for real sockets: each client has its own simulated link in each direction.

use super::impairment_error::ImpairmentError;
use crate::url::Scheme;
pub(crate) use skipstone_netsim::LinkStats;
use skipstone_netsim::{ConfigError, Duplex, LinkConfig};
use skipstone_proto::{Duration, Time};

/// Impairment of a client's datagrams: one simulated link in each direction.
#[derive(Clone, Debug, Default)]
pub struct Impairment {
    /// The link towards the server.
    pub up: LinkConfig,
    /// The link towards the client.
    pub down: LinkConfig,
    /// The random seed. The same seed treats the same sequence of datagrams in the same way; each client adds its own
    /// number.
    pub seed: u64,
}

impl Impairment {
    /// Checks the configuration of both links.
    ///
    /// # Errors
    /// A probability is outside 0 to 1, a rate is zero, or no two-state Markov chain has the configured burst loss.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.up.validate()?;
        self.down.validate()
    }

    /// Checks whether a client with this URL scheme can have the impairment.
    pub(crate) fn check_for(&self, scheme: Scheme) -> Result<(), ImpairmentError> {
        if scheme.is_stream() {
            return Err(ImpairmentError::WebSocket);
        }
        self.check().map_err(ImpairmentError::Config)
    }
}

/// The simulated links of one socket, one in each direction.
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

    /// Writes the next datagram that has left the link towards the server into `out`; false if there is none.
    pub(super) fn receive_up(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.0.up.receive(since_epoch(now), out).is_some()
    }

    /// Writes the next datagram that has left the link towards the client into `out`; false if there is none.
    pub(super) fn receive_down(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        self.0.down.receive(since_epoch(now), out).is_some()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.0.up.in_flight() + self.0.down.in_flight()
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

/// Adds the counters of other links, towards the server and towards the clients.
pub(crate) fn add_stats(sum: (LinkStats, LinkStats), other: (LinkStats, LinkStats)) -> (LinkStats, LinkStats) {
    (added(sum.0, &other.0), added(sum.1, &other.1))
}

fn added(mut sum: LinkStats, other: &LinkStats) -> LinkStats {
    sum.sent += other.sent;
    sum.delivered += other.delivered;
    sum.bytes_sent += other.bytes_sent;
    sum.bytes_delivered += other.bytes_delivered;
    sum.lost_random += other.lost_random;
    sum.lost_burst += other.lost_burst;
    sum.lost_queue += other.lost_queue;
    sum.lost_outage += other.lost_outage;
    sum.lost_too_large += other.lost_too_large;
    sum.reordered += other.reordered;
    sum.held_back += other.held_back;
    sum.duplicated += other.duplicated;
    sum.corrupted += other.corrupted;
    sum.queue_bytes_peak = sum.queue_bytes_peak.max(other.queue_bytes_peak);
    sum
}
