//! A connected client.

use skipstone_lab::workload::{Guest, StressTurn};
use std::time::Instant;

/// A client that is there.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub(super) guest: Guest,
    pub(super) since: Instant,
    pub(super) lines: u64,
    /// The state of a stress client, as last reported.
    pub(super) turn: StressTurn,
}

impl Visit {
    /// A name for logs and lists.
    pub(super) fn name(&self) -> String {
        match &self.guest {
            Guest::Chat(name) => name.clone(),
            Guest::Stress(number) => format!("stress-{number}"),
        }
    }
}
