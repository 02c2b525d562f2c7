//! What a controller hears of the path.

use crate::delivery::DeliveryStamp;
use crate::time::{Duration, Time};

/// What an acknowledgement brought.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When it came.
    pub now: Time,
    /// Bytes of packets that were in flight until now.
    pub bytes: u32,
    /// When the latest-sent of these packets left.
    pub sent_at: Time,
    /// What [`Controller::on_sent`](super::Controller::on_sent) gave for that packet.
    pub stamp: DeliveryStamp,
    /// Time since that packet left, if it measures the path: it was sent once, and the peer did not hold the
    /// acknowledgement back for longer than it says.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub smoothed: Duration,
    /// Bytes in flight, without those.
    pub bytes_in_flight: u32,
}

/// Packets that were declared lost, or that arrived only because a repair packet brought them back.
#[derive(Clone, Copy, Debug)]
pub struct LossSample {
    /// Their bytes.
    pub bytes: u32,
    /// When the latest-sent of them left.
    pub sent_at: Time,
}
