//! The samples of the path that a congestion controller receives.

use crate::delivery::DeliveryStamp;
use crate::time::{Duration, Time};

/// The content of an acknowledgement for the congestion controller.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// The time when the acknowledgement arrived.
    pub now: Time,
    /// Bytes of newly acknowledged packets that were in flight.
    pub bytes: u32,
    /// The time when the latest-sent of these packets was sent.
    pub sent_at: Time,
    /// What was noted when that packet left; for the delivery rate.
    pub stamp: DeliveryStamp,
    /// Time since that packet was sent, if it measures the path: the packet was sent once, and the peer did not delay
    /// the acknowledgement for longer than it states.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub smoothed: Duration,
    /// Bytes in flight, without the acknowledged ones.
    pub bytes_in_flight: u32,
}

/// Packets that were declared lost, or that were recovered from a repair packet.
#[derive(Clone, Copy, Debug)]
pub struct LossSample {
    /// The bytes of these packets; of consecutive losses, only the first few packets count.
    pub bytes: u32,
    /// When the latest-sent of them left.
    pub sent_at: Time,
}
