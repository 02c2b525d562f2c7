//! What a driver publishes, and when next.

use crate::statistics::Board;
use skipstone_proto::Time;
use skipstone_proto::{PeerId, Stats};
use std::sync::Arc;

/// What is published, and when next.
#[derive(Debug)]
pub(super) struct Publisher {
    pub(super) board: Arc<Board>,
    /// When what has changed is published.
    pub(super) due: Time,
    /// Something happened since the last time, on a connection or beside all of them.
    pub(super) is_stale: bool,
    /// Counters of the connections that are published.
    pub(super) live: Stats,
    /// Connections on which something happened; kept for its memory.
    pub(super) touched: Vec<PeerId>,
    /// The least length of messages whose progress is published.
    pub(super) transfer_bytes_min: Option<usize>,
}

impl Default for Publisher {
    fn default() -> Self {
        Publisher {
            board: Arc::default(),
            due: Time::ZERO,
            is_stale: true,
            live: Stats::default(),
            touched: Vec::new(),
            transfer_bytes_min: None,
        }
    }
}

impl Publisher {
    pub(super) fn board(&self) -> Arc<Board> {
        Arc::clone(&self.board)
    }
}
