//! The settings of a node's directory.

use super::name::NodeName;
use super::record::{Incarnation, NodeRecord, NodeStatus};
use std::time::Duration;

/// What a node is, and the durations of leases, which are the same at all nodes of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectorySettings {
    /// The node.
    pub node: NodeName,
    /// A random number, another for each start of the process: of the system's entropy.
    pub process: u64,
    /// Where players connect, at most 256 bytes.
    pub address: String,
    /// The version of the program, at most 64 bytes.
    pub version: String,
    /// Where the node's `/metrics` are, as `host:port` of at most 256 bytes, if it has any.
    pub metrics: Option<String>,
    /// How long a lease lasts that is not renewed.
    pub lease: Duration,
    /// How often it is renewed.
    pub renew_every: Duration,
    /// How long before the lease's end unique rooms stop: what the application needs to stop them.
    pub stop_before: Duration,
    /// The greatest error of a clock's rate, in millionths. Crystals have 100, and NTP corrects at most 500.
    pub clock_error_ppm: u32,
    /// Rooms of this node, at most.
    pub own_rooms_max: usize,
    /// Entries of the watched copy, at most: nodes and rooms of all.
    pub entries_max: usize,
    /// Bytes of the watched copy, at most.
    pub bytes_max: usize,
}

impl DirectorySettings {
    /// A lease of 15 s, renewed each 3 s: it outlasts an election of the store, which takes up to 8 s.
    pub fn new(node: NodeName, process: u64) -> DirectorySettings {
        DirectorySettings {
            node,
            process,
            address: String::new(),
            version: String::new(),
            metrics: None,
            lease: Duration::from_secs(15),
            renew_every: Duration::from_secs(3),
            stop_before: Duration::from_secs(1),
            clock_error_ppm: 500,
            own_rooms_max: 4_096,
            entries_max: 65_536,
            bytes_max: 32 << 20,
        }
    }

    /// As [`DirectorySettings::new`], with a random number of the system for this process.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn of_this_process(node: NodeName) -> std::io::Result<DirectorySettings> {
        let process = getrandom::u64().map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(DirectorySettings::new(node, process))
    }

    /// How long after a renewal was sent its owner relies on it.
    pub(super) fn owner_term(&self) -> Duration {
        self.lease - self.stop_before - self.clock_error()
    }

    /// How long after a revision was first seen another node relies on its end.
    pub(super) fn watcher_term(&self) -> Duration {
        self.lease + self.clock_error()
    }

    /// How long after a renewal a node gets players: two may be late, by an election of the store.
    pub(super) fn fresh(&self) -> Duration {
        self.lease - self.renew_every
    }

    /// The node's first entry.
    pub(super) fn record(&self) -> NodeRecord {
        NodeRecord {
            address: self.address.clone(),
            version: self.version.clone(),
            metrics: self.metrics.clone(),
            status: NodeStatus::default(),
            incarnation: Incarnation { process: self.process, session: 0 },
        }
    }

    fn clock_error(&self) -> Duration {
        self.lease * self.clock_error_ppm / 1_000_000
    }

    pub(super) fn check(&self) -> Result<(), DirectoryError> {
        if !self.record().fits() {
            return Err(DirectoryError::TextTooLong);
        }
        let reserve = self.stop_before + self.renew_every * 2;
        match self.renew_every.is_zero() || self.clock_error_ppm > 100_000 || reserve + self.clock_error() >= self.lease
        {
            true => Err(DirectoryError::Durations),
            false => Ok(()),
        }
    }
}

/// Why there is no directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// A text is too long.
    #[error("an address has at most 256 bytes and a version 64, and the node's whole entry 1,024; shorten them")]
    TextTooLong,
    /// The durations contradict each other.
    #[error("a lease must outlast two renewals and the time to stop rooms; raise `lease` or lower `renew_every`")]
    Durations,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_whose_entry_others_would_not_take_is_refused() {
        let with = |address: String, metrics: String| {
            let settings = DirectorySettings::new(NodeName::new("n").unwrap(), 1);
            DirectorySettings { address, metrics: Some(metrics), version: "v".repeat(64), ..settings }.check()
        };
        assert_eq!(with("a".repeat(256), "m".repeat(256)), Ok(()));
        for (address, metrics) in [("a".repeat(257), String::new()), (String::new(), "m".repeat(257))] {
            assert_eq!(with(address, metrics), Err(DirectoryError::TextTooLong));
        }
        // Each is short, and becomes six times as long.
        assert_eq!(with("\u{1}".repeat(256), String::new()), Err(DirectoryError::TextTooLong));
    }
}
