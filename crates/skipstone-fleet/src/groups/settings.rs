//! How a node takes part in groups.

use crate::directory::NodeName;
use std::time::Duration;

/// What a group promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// At most once, in each publisher's order unless the bus reorders.
    Unreliable,
    /// Each publisher's batches in order and exactly once, or a [`GroupEvent::Gap`](super::GroupEvent::Gap).
    Reliable,
}

/// Settings of [`Groups`](super::Groups).
#[derive(Clone, Debug)]
pub struct GroupSettings {
    /// This node.
    pub node: NodeName,
    /// A random number of this start of the node: another start's differs.
    pub process: u64,
    /// The first tokens of all subjects; the same at all nodes of a fleet.
    pub prefix: String,
    /// Groups that a node may be in.
    pub groups_max: usize,
    /// The largest message, in bytes.
    pub message_bytes_max: usize,
    /// The largest batch, in bytes. More messages in one tick leave as several batches.
    pub batch_bytes_max: usize,
    /// Bytes of messages that wait for the next flush.
    pub pending_bytes_max: usize,
    /// Bytes of packets that wait for the bus.
    pub call_bytes_max: usize,
    /// Batches that a publisher keeps for each reliable group.
    pub kept_batches_max: usize,
    /// Their bytes, for each reliable group.
    pub kept_bytes_max: usize,
    /// Bytes of events that wait for [`Groups::poll_event`](super::Groups::poll_event).
    pub event_bytes_max: usize,
    /// Publishers that a node follows in reliable groups.
    pub streams_max: usize,
    /// Bytes of batches that wait for an earlier one, of all publishers.
    pub early_bytes_max: usize,
    /// How often the last sequence number is repeated while a group is used.
    pub heartbeat_every: Duration,
    /// How long after the last message a group counts as used.
    pub used_for: Duration,
    /// How often missing batches are asked for.
    pub ask_every: Duration,
    /// How long a publisher may leave requests unanswered before its missing batches are a gap.
    pub give_up_after: Duration,
}

impl GroupSettings {
    /// The defaults: messages of 64 KiB, 1,024 batches and 16 MiB kept for each group, heartbeats each 500 ms for 60 s
    /// after the last message, requests each 200 ms for 90 s.
    pub fn new(node: NodeName, process: u64) -> GroupSettings {
        GroupSettings {
            node,
            process,
            prefix: "skipstone.groups".into(),
            groups_max: 4_096,
            message_bytes_max: 64 << 10,
            batch_bytes_max: 256 << 10,
            pending_bytes_max: 4 << 20,
            call_bytes_max: 16 << 20,
            kept_batches_max: 1_024,
            kept_bytes_max: 16 << 20,
            event_bytes_max: 32 << 20,
            streams_max: 4_096,
            early_bytes_max: 32 << 20,
            heartbeat_every: Duration::from_millis(500),
            used_for: Duration::from_secs(60),
            ask_every: Duration::from_millis(200),
            give_up_after: Duration::from_secs(90),
        }
    }
}
