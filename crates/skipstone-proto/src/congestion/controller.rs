//! What a congestion controller is asked, whoever wrote it.

use super::model::PathModel;
use super::pacer::Pace;
use super::phase::Phase;
use super::samples::AckSample;
use crate::time::{Duration, Time};
use core::fmt::Debug;

/// A congestion controller: it decides how many bytes may be in flight on one path, and how fast they leave. An
/// application brings its own by [`Congestion::custom`](super::Congestion::custom).
///
/// [`PathModel`] has what acknowledgements and losses tell of the path. Every call leaves the controller with a
/// [`window`](Self::window) and a [`pace`](Self::pace); these are brought into the range of which the connection is
/// able to make use, and what was outside of it is counted
/// ([`Overview::controller_corrections`](crate::Overview::controller_corrections)). Retransmission, redundancy and the
/// search for lost packets are not a controller's: they ask [`PathModel`] and [`phase`](Self::phase).
///
/// A path that the peer has moved to begins with a new controller.
pub trait Controller: Debug + Send + Sync {
    /// Bytes that may be in flight: at least two datagrams, at most 1 GiB.
    fn window(&self) -> u64;

    /// The rate at which packets leave, and how many bytes may leave at once: at least the smallest window in each
    /// round trip. If it is not defined, 5/4 of the window in each of the shortest recent round trips, so that pacing
    /// does not hold back what the window allows.
    fn pace(&self, path: &PathModel) -> Pace {
        path.pace_of_window(self.window())
    }

    /// What the controller does at present. If it is not defined, always [`Phase::Steady`].
    fn phase(&self) -> Phase {
        Phase::Steady
    }

    /// Packets were acknowledged.
    fn on_ack(&mut self, ack: &AckSample, path: &PathModel);

    /// Whether losses, of packets that left after the last answer to losses, ask for a smaller window. If it is not
    /// defined, that is so where much more is lost than this path usually loses: 10% more during a queue, 30% more
    /// without one. Radio loses packets at any rate.
    fn is_congestion(&self, path: &PathModel) -> bool {
        loses_too_much(path)
    }

    /// [`is_congestion`](Self::is_congestion) was so: the window should become smaller. From here on losses are counted
    /// anew, and those of packets that have left are not asked about (RFC 9002, section 7.3.2).
    fn on_congestion(&mut self, now: Time, path: &PathModel);

    /// Nothing is acknowledged, not even probes: the path is down, or too full to use.
    fn on_silence(&mut self, now: Time, path: &PathModel);

    /// The first round-trip time: that of the handshake, and once more that of the first acknowledgement.
    fn on_first_rtt(&mut self, rtt: Duration, path: &PathModel) {
        let _ = (rtt, path);
    }

    /// The size of a datagram has changed.
    fn on_datagram_bytes(&mut self, path: &PathModel) {
        let _ = path;
    }

    /// The peer has another address on the same path: all packets in flight are lost, this many bytes.
    fn on_flight_settled(&mut self, now: Time, in_flight: u32, path: &PathModel) {
        let _ = (now, in_flight, path);
    }
}

/// Loss beyond the usual, in percent, that is too much even without a visible queue: a policer, or a queue of one or
/// two datagrams.
const LOSS_WITHOUT_QUEUE: u32 = 30;

/// Whether more is lost than the path usually loses, by much.
pub(super) fn loses_too_much(path: &PathModel) -> bool {
    path.overflows() || path.loses_too_much(LOSS_WITHOUT_QUEUE)
}
