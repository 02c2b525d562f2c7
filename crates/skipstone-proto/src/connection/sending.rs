//! State of the sending direction: packets in flight, frames that wait, and what holds messages back.

use crate::congestion::Bandwidth;
use crate::recovery::Ledger;
use crate::time::Time;

/// State of what this side has sent and is about to send, except messages.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) ledger: Ledger,
    pub(super) pending: PendingFrames,
    /// Greatest number of a packet whose acknowledgement set the send window.
    pub(super) window_from: u64,
    /// New messages wait because the congestion window is full.
    pub(super) is_limited: bool,
    /// When the pace lets the next packet leave, if one waits for it.
    pub(super) pace_due: Time,
    /// The bandwidth limit for this peer; `None` without one.
    pub(super) bandwidth: Option<Box<Bandwidth>>,
    /// Until this time, messages wait for this connection's share of the endpoint's bandwidth.
    pub(super) held_until: Time,
    /// Messages wait only for that share.
    pub(super) is_held: bool,
}

/// Frames of the connection's own that wait to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingFrames {
    pub(super) accept: bool,
    pub(super) connect: bool,
    pub(super) ping: bool,
    /// A NEW_ID, which waits for a packet that asks for an acknowledgement anyway.
    pub(super) new_id: bool,
    /// Packets that may leave although the congestion window is full: probes.
    pub(super) probes: u8,
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
        }
    }
}
