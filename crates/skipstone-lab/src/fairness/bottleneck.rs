//! A bottleneck from a seed: a link that several flows share.

use std::fmt;
use std::time::Duration;

use skipstone::netsim::{LinkConfig, QueueLimit};

use crate::measure::chance::Chance;
use crate::units::Span;

/// A link without loss but for its queue's, the same in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bottleneck {
    pub(super) bits_per_second: u64,
    pub(super) rtt: Duration,
    /// The time that a datagram waits at most.
    pub(super) queue: Duration,
}

impl Bottleneck {
    /// 0.5 to 100 Mbit/s, 5 to 300 ms of round trip, 20 to 500 ms of queue: each decade is as likely as any other.
    pub(super) fn of(seed: u64) -> Self {
        let mut chance = Chance::of(seed, "bottleneck");
        Bottleneck {
            bits_per_second: chance.scaled(0.5e6, 100e6) as u64,
            rtt: chance.span(Duration::from_millis(5), Duration::from_millis(300)),
            queue: chance.span(Duration::from_millis(20), Duration::from_millis(500)),
        }
    }

    pub(super) fn link(&self) -> LinkConfig {
        LinkConfig {
            delay: self.rtt / 2,
            rate_bits_per_second: Some(self.bits_per_second),
            queue: QueueLimit::Time(self.queue),
            ..LinkConfig::default()
        }
    }

    /// Bytes that a second brings.
    pub(super) fn bytes_per_second(&self) -> f64 {
        self.bits_per_second as f64 / 8.0
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.bits_per_second as f64 / 1e6;
        write!(f, "{rate} Mbit/s, {} of round trip, {} of queue", Span(self.rtt), Span(self.queue))
    }
}
