//! How a node takes part in a feed.

use crate::directory::NodeName;
use std::time::Duration;

/// Settings of a [`Feed`](super::Feed).
#[derive(Clone, Debug)]
pub struct FeedSettings {
    /// This node.
    pub node: NodeName,
    /// A number of this start of the node, greater than those of earlier ones as far as that can be known: microseconds
    /// since 1970.
    pub process: u64,
    /// Bytes of messages that are kept for players that come.
    pub kept_bytes_max: usize,
    /// How long they are kept: longer than a move takes.
    pub kept_for: Duration,
    /// How long a message may wait for the one that it follows.
    pub wait_max: Duration,
    /// Bytes of messages that wait so.
    pub waiting_bytes_max: usize,
    /// How often a node that publishes nothing says where it is: a node that was just started knows no positions.
    pub beat_every: Duration,
    /// How long a node may be silent before it counts as ended, and is forgotten.
    pub forget_after: Duration,
    /// Nodes that are heard.
    pub nodes_max: usize,
}

impl FeedSettings {
    /// The defaults: 16 MiB kept for 60 s, 2 s of waiting in 4 MiB, a beat each 5 s, 4,096 nodes that were
    /// heard in the last 10 minutes.
    pub fn new(node: NodeName, process: u64) -> FeedSettings {
        FeedSettings {
            node,
            process,
            kept_bytes_max: 16 << 20,
            kept_for: Duration::from_secs(60),
            wait_max: Duration::from_secs(2),
            waiting_bytes_max: 4 << 20,
            beat_every: Duration::from_secs(5),
            forget_after: Duration::from_secs(600),
            nodes_max: 4_096,
        }
    }
}
