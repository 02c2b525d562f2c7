//! A client that is there.

use skipstone_lab::workload::{Guest, StressTurn};
use std::time::Instant;

/// A client that is there.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub(super) guest: Guest,
    pub(super) since: Instant,
    pub(super) lines: u64,
    /// What a stress client does, as far as it has told.
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
