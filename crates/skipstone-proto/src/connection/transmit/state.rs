//! State of the sending direction: packets in flight, frames that wait, and limits that hold messages back.

use crate::congestion::Bandwidth;
use crate::recovery::Ledger;
use crate::time::Time;

/// State of the packets that this side has sent, and of the frames that it is about to send, except messages.
#[derive(Debug)]
pub(in crate::connection) struct Sending {
    pub(in crate::connection) ledger: Ledger,
    pub(in crate::connection) pending: PendingFrames,
    /// Greatest number of a packet whose acknowledgement set the send window.
    pub(in crate::connection) window_from: u64,
    /// New messages wait because the congestion window is full.
    pub(in crate::connection) is_limited: bool,
    /// When the pace lets the next packet leave, if one waits for it.
    pub(in crate::connection) pace_due: Time,
    /// The bandwidth limit for this peer; `None` without one.
    pub(in crate::connection) bandwidth: Option<Box<Bandwidth>>,
    /// Until this time, messages wait for this connection's share of the endpoint's bandwidth.
    pub(in crate::connection) held_until: Time,
    /// Messages wait only for that share.
    pub(in crate::connection) is_held: bool,
    /// The application asked to be told when every reliable message was acknowledged.
    pub(in crate::connection) is_settling: bool,
}

/// Frames of the connection's own that wait to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::connection) struct PendingFrames {
    pub(in crate::connection) accept: bool,
    pub(in crate::connection) connect: bool,
    pub(in crate::connection) ping: bool,
    /// A NEW_ID, which waits for a packet that asks for an acknowledgement anyway.
    pub(in crate::connection) new_id: bool,
    /// Packets that may leave although the congestion window is full: probes.
    pub(in crate::connection) probes: u8,
}

impl Default for Sending {
    fn default() -> Self {
        Sending {
            ledger: Ledger::default(),
            pending: PendingFrames::default(),
            window_from: 0,
            is_limited: false,
            pace_due: Time::NEVER,
            bandwidth: None,
            held_until: Time::ZERO,
            is_held: false,
            is_settling: false,
        }
    }
}
