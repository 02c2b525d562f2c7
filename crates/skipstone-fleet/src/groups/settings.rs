//! How a node takes part in groups.

use super::name::GroupName;
use super::packet::StreamId;
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
    /// Bytes that are kept for all groups together. Beyond it the oldest batches go, of whichever group.
    pub kept_bytes_max: usize,
    /// Bytes of events that wait for [`Groups::poll_event`](super::Groups::poll_event).
    pub event_bytes_max: usize,
    /// Publishers that a node follows in reliable groups.
    pub streams_max: usize,
    /// Bytes of batches that wait for an earlier one, of all publishers.
    pub early_bytes_max: usize,
    /// How soon after a batch its sequence number is repeated. The intervals then double.
    pub heartbeat_every: Duration,
    /// The longest of these intervals. A last batch that was lost is asked for within it, however quiet its group is.
    pub heartbeat_every_max: Duration,
    /// Repetitions in a second, of all groups. With many groups the intervals grow instead.
    pub heartbeats_per_s_max: u32,
    /// How long after its last batch a group that this node has left is kept for others' requests.
    pub kept_after_leaving: Duration,
    /// How often missing batches are asked for.
    pub ask_every: Duration,
    /// How long a publisher may leave requests unanswered before its missing batches are a gap.
    pub give_up_after: Duration,
}

impl GroupSettings {
    /// The defaults: messages of 64 KiB, 1,024 batches kept for each group and 64 MiB for all, heartbeats 500 ms to 30 s
    /// apart and at most 200 in a second, requests each 200 ms for 90 s.
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
            kept_bytes_max: 64 << 20,
            event_bytes_max: 32 << 20,
            streams_max: 4_096,
            early_bytes_max: 32 << 20,
            heartbeat_every: Duration::from_millis(500),
            heartbeat_every_max: Duration::from_secs(30),
            heartbeats_per_s_max: 200,
            kept_after_leaving: Duration::from_secs(60),
            ask_every: Duration::from_millis(200),
            give_up_after: Duration::from_secs(90),
        }
    }

    /// This node's stream of that number.
    pub(super) fn own(&self, number: u32) -> StreamId {
        StreamId { node: self.node.clone(), process: self.process, number }
    }

    pub(super) fn is_own(&self, sender: &StreamId) -> bool {
        sender.node == self.node && sender.process == self.process
    }

    /// Where all members of a group receive.
    pub(super) fn group_subject(&self, group: &GroupName) -> String {
        format!("{}.group.{group}", self.prefix)
    }

    /// Where the process of that stream receives.
    pub(super) fn node_subject(&self, of: &StreamId) -> String {
        format!("{}.node.{}.{:016x}", self.prefix, of.node, of.process)
    }
}
