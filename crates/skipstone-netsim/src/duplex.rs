//! Both directions of a path.

use core::time::Duration;

use crate::{
    config::{ConfigError, LinkConfig},
    link::Link,
    rng::SplitMix64,
};

/// The two links of a path in both directions, each with its own random numbers from one seed.
///
/// ```
/// use core::time::Duration;
/// use skipstone_netsim::{Duplex, LinkConfig};
///
/// # fn main() -> Result<(), skipstone_netsim::ConfigError> {
/// let mut path = Duplex::symmetric(LinkConfig { delay: Duration::from_millis(10), ..LinkConfig::default() }, 7)?;
/// let mut datagram = Vec::new();
///
/// path.up.send(Duration::ZERO, b"ping", 0);
/// let now = path.next_arrival().expect("on its way");
/// assert!(path.up.receive(now, &mut datagram).is_some());
///
/// path.down.send(now, b"pong", 0);
/// assert_eq!(path.next_arrival(), Some(Duration::from_millis(20)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Duplex {
    /// The way there, for instance from a client to a server.
    pub up: Link,
    /// The way back.
    pub down: Link,
}

impl Duplex {
    /// A path with different directions.
    ///
    /// # Errors
    /// Returns the error of [`LinkConfig::validate`] if either configuration is invalid.
    pub fn new(up: LinkConfig, down: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        let mut seeds = SplitMix64::new(seed);
        Ok(Self { up: Link::new(up, seeds.draw())?, down: Link::new(down, seeds.draw())? })
    }

    /// A path with the same configuration in both directions, but different random numbers.
    ///
    /// # Errors
    /// Returns the error of [`LinkConfig::validate`] if the configuration is invalid.
    pub fn symmetric(config: LinkConfig, seed: u64) -> Result<Self, ConfigError> {
        Self::new(config.clone(), config, seed)
    }

    /// When the next datagram arrives at either end.
    pub fn next_arrival(&self) -> Option<Duration> {
        [self.up.next_arrival(), self.down.next_arrival()].into_iter().flatten().min()
    }
}
