//! What groups report to the application, and what they ask of the bus.

use super::name::GroupName;
use crate::directory::NodeName;
use bytes::Bytes;

/// Something that happened in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupEvent {
    /// A message for this node's members.
    Message {
        /// The group.
        group: GroupName,
        /// The node that sent it; perhaps this one.
        node: NodeName,
        /// Its content.
        payload: Bytes,
    },
    /// Batches of a reliable group are lost: the publisher keeps them no longer, or has vanished.
    Gap {
        /// The group.
        group: GroupName,
        /// The node that sent them.
        node: NodeName,
        /// How many batches are missing, at least.
        missed: u64,
    },
}

impl GroupEvent {
    pub(super) fn weight(&self) -> usize {
        match self {
            GroupEvent::Message { payload, .. } => EVENT_BYTES + payload.len(),
            GroupEvent::Gap { .. } => EVENT_BYTES,
        }
    }
}

/// A call of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupCall {
    /// Receive this subject's messages.
    Subscribe {
        /// The subject.
        subject: String,
    },
    /// Receive them no longer.
    Unsubscribe {
        /// The subject.
        subject: String,
    },
    /// Publish a packet, at most once.
    Publish {
        /// The subject.
        subject: String,
        /// The packet.
        packet: Bytes,
    },
}

/// What an event costs beside its payload.
const EVENT_BYTES: usize = 64;
