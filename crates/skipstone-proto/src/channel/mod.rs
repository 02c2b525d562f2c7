//! Channels: independently ordered channels of messages, each with a delivery rule. WIRE.md section 4.2.
//!
//! A channel's state exists while it has work. An idle channel shrinks to its two counters in [`table`].

pub(crate) mod channels;
pub(crate) mod classes;
pub(crate) mod encoded_batch;
pub(crate) mod footprint;
pub(crate) mod inbound;
pub(crate) mod inbox;
pub(crate) mod incoming;
pub(crate) mod outgoing;
pub(crate) mod packet;
pub(crate) mod reassembly;
mod recent;
pub(crate) mod schedule;
mod submission;
pub(crate) mod table;
pub(crate) mod transfers;

pub(crate) use crate::wire::settings::window_cost;
use incoming::Incoming;
use outgoing::Outgoing;
pub use submission::{GivenUp, MessageId, Submission};

/// A channel that has work.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Its number.
    pub id: u16,
    /// The place of the channel's rule in the settings.
    pub rule: u8,
    /// Messages that this side sends.
    pub outgoing: Outgoing,
    /// Messages that this side receives.
    pub incoming: Incoming,
    /// Whether the channel waits in the schedule for its turn to send new messages.
    pub is_scheduled: bool,
    /// Whether the channel waits for its turn to retransmit.
    pub is_resending: bool,
}

impl Channel {
    /// Whether the counters by themselves represent the whole state.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_scheduled && !self.is_resending && self.outgoing.is_idle() && self.incoming.is_idle()
    }
}
