//! Statistics that a driver publishes, and the time of the next publication.

use crate::statistics::{Board, Published};
use skipstone_proto::Time;
use skipstone_proto::{PeerId, Stats};
use std::sync::Arc;

/// Statistics to publish, and the time of the next publication.
#[derive(Debug)]
pub(super) struct Publisher {
    pub(super) board: Arc<Board>,
    /// Time of the next publication of changes.
    pub(super) due: Time,
    /// Something happened since the last publication, on a connection or elsewhere in the driver.
    pub(super) is_stale: bool,
    /// Sum of the counters of all published connections.
    pub(super) live: Stats,
    /// Connections on which something happened; the vector is kept to reuse its memory.
    pub(super) touched: Vec<PeerId>,
    /// The snapshot that was replaced last, whose memory the next one takes.
    pub(super) spare: Option<Arc<Published>>,
    /// Minimum length of messages whose progress is published.
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
            spare: None,
            transfer_bytes_min: None,
        }
    }
}

impl Publisher {
    pub(super) fn board(&self) -> Arc<Board> {
        Arc::clone(&self.board)
    }
}
