//! Channels: independently ordered lanes of messages, each with a delivery rule. WIRE.md section 4.2.
//!
//! A channel's state exists while it has work. An idle one shrinks to its two counters in [`table`].

pub mod bundle;
pub mod classes;
pub mod inbox;
pub mod incoming;
pub mod lanes;
pub mod outgoing;
pub mod packet;
pub mod reassembly;
pub mod schedule;
pub mod table;

use crate::time::Duration;
pub use crate::wire::settings::window_cost;
use bytes::Bytes;
use incoming::Incoming;
use outgoing::Outgoing;

/// The application's name for a message that it sent, echoed in receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct MessageId(pub u64);

/// A message on its way in: the application's bytes and what belongs to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The message.
    pub payload: Bytes,
    /// The application's name for it.
    pub id: MessageId,
    /// How late it is already: it answers, or passes on, what was lost on its way before.
    pub age: Duration,
}

/// Why a message will not be sent (again).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// The queue was full, and the channel refuses then.
    QueueFull,
    /// The queue was full, and the channel drops its oldest message then.
    Dropped,
    /// A newer message of a sequenced channel took its place.
    Superseded,
    /// The packet that held it was lost, and the channel does not retransmit.
    Lost,
    /// The connection ended first.
    Closed,
}

/// A channel that has work.
#[derive(Debug)]
pub struct Channel {
    /// Its number.
    pub id: u16,
    /// Its rule's place in the settings.
    pub rule: u8,
    /// What this side sends.
    pub outgoing: Outgoing,
    /// What this side receives.
    pub incoming: Incoming,
    /// Whether it waits in the schedule for its turn to send new messages.
    pub is_scheduled: bool,
    /// Whether it waits for its turn to retransmit.
    pub is_resending: bool,
}

impl Channel {
    /// Whether nothing is lost when only the counters are kept.
    pub fn is_idle(&self) -> bool {
        !self.is_scheduled && !self.is_resending && self.outgoing.is_idle() && self.incoming.is_idle()
    }
}
