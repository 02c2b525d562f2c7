//! The interface of congestion controllers: those of this crate, and those of applications.

use super::model::PathModel;
use super::pacer::Pace;
use super::phase::Phase;
use super::samples::AckSample;
use crate::time::{Duration, Time};

/// A congestion controller: it decides how many bytes may be in flight on one path, and how fast they leave. An
/// application brings its own by [`Congestion::custom`](super::Congestion::custom).
///
/// **What it knows.** [`PathModel`] has what acknowledgements and losses tell of the path. A window that is not used up
/// says nothing about the path: [`PathModel::is_limited`]. That looks at the bytes in flight only, so a controller that
/// thinks in rates should keep its window near the rate times the round trip, and not let the pace alone hold data
/// back.
///
/// **When it is called.** After the first round-trip time is measured, for every acknowledgement, for losses that ask
/// for an answer, when nothing is acknowledged any more, and when the path changes; never for a packet that leaves.
/// After each of these calls [`window`](Self::window), [`pace`](Self::pace) and [`phase`](Self::phase) are asked. The
/// calls come from the thread that drives the connection: what waits in them holds up all its connections, and a panic
/// ends that thread. Carriers with a controller of their own, such as WebSocket, have none of these.
///
/// **What it may answer.** Anything: what no connection is able to make use of is brought into range, and counted in
/// [`Overview::controller_corrections`](crate::Overview::controller_corrections). A controller that asks for too much
/// floods its own connection, and all flows that share a bottleneck with it, such as a server's uplink:
/// [`Config::bandwidth_max`](crate::Config::bandwidth_max) limits that. Retransmission, redundancy and the search for
/// lost packets are not a controller's: they ask [`PathModel`] and the phase.
pub trait Controller: Send + Sync {
    /// Bytes that may be in flight: at least two datagrams, at most 1 GiB.
    fn window(&self) -> u64;

    /// The rate at which packets leave, and how many bytes may leave at once: at least the smallest window in each
    /// round trip, or in each second if round trips are shorter. If it is not defined, 5/4 of the window in each of the
    /// shortest recent round trips, so that pacing does not hold back what the window allows.
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

    /// [`is_congestion`](Self::is_congestion) was so: the window should become smaller; [`PathModel::loss`] says how
    /// much is lost. Afterwards losses are counted anew, and those of packets that have left are not asked about (RFC
    /// 9002, section 7.3.2).
    fn on_congestion(&mut self, now: Time, path: &PathModel);

    /// Nothing is acknowledged, not even probes: the path is down, or too full to use.
    fn on_silence(&mut self, now: Time, path: &PathModel);

    /// The first round-trip time: a client's of the handshake, if it has one, and that of the first acknowledgement.
    fn on_first_rtt(&mut self, rtt: Duration, path: &PathModel) {
        let _ = (rtt, path);
    }

    /// The size of a datagram has changed.
    fn on_datagram_bytes(&mut self, path: &PathModel) {
        let _ = path;
    }

    /// The peer or this side has another address: all packets in flight are lost, this many bytes. If the path is
    /// another one, the controller is new as well.
    fn on_flight_settled(&mut self, now: Time, in_flight: u32, path: &PathModel) {
        let _ = (now, in_flight, path);
    }
}

/// So that an application may choose one at run time.
impl<C: Controller + ?Sized> Controller for Box<C> {
    fn window(&self) -> u64 {
        (**self).window()
    }

    fn pace(&self, path: &PathModel) -> Pace {
        (**self).pace(path)
    }

    fn phase(&self) -> Phase {
        (**self).phase()
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathModel) {
        (**self).on_ack(ack, path);
    }

    fn is_congestion(&self, path: &PathModel) -> bool {
        (**self).is_congestion(path)
    }

    fn on_congestion(&mut self, now: Time, path: &PathModel) {
        (**self).on_congestion(now, path);
    }

    fn on_silence(&mut self, now: Time, path: &PathModel) {
        (**self).on_silence(now, path);
    }

    fn on_first_rtt(&mut self, rtt: Duration, path: &PathModel) {
        (**self).on_first_rtt(rtt, path);
    }

    fn on_datagram_bytes(&mut self, path: &PathModel) {
        (**self).on_datagram_bytes(path);
    }

    fn on_flight_settled(&mut self, now: Time, in_flight: u32, path: &PathModel) {
        (**self).on_flight_settled(now, in_flight, path);
    }
}

/// Loss beyond the usual, in percent, that is too much even without a visible queue: a policer, or a queue of one or
/// two datagrams.
const LOSS_WITHOUT_QUEUE: u32 = 30;

/// Whether more is lost than the path usually loses, by much.
pub(super) fn loses_too_much(path: &PathModel) -> bool {
    path.overflows() || path.loses_too_much(LOSS_WITHOUT_QUEUE)
}
