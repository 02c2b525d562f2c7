//! The path to the peer and its properties: round-trip time, congestion window, datagram size, and whether the peer
//! moves to another path.

use super::roaming::Roaming;
use crate::congestion::{Congestion, CongestionControl};
use crate::mtu::Mtu;
use crate::path::{Carrier, Path};
use crate::rtt::Rtt;
use crate::time::Duration;

/// State of a path. On another path, all fields except `roaming` start again.
#[derive(Debug)]
pub(super) struct PathState {
    /// Where packets are sent to at present.
    pub(super) current: Path,
    pub(super) rtt: Rtt,
    pub(super) congestion: CongestionControl,
    pub(super) mtu: Mtu,
    pub(super) roaming: Roaming,
}

impl PathState {
    /// A path of which nothing is known, for datagrams of at most `datagram_bytes_max` bytes.
    pub(super) fn new(current: Path, datagram_bytes_max: u16) -> Self {
        // A reliable carrier has its own congestion control.
        let congestion = if current.carrier.is_reliable { Congestion::Off } else { Congestion::default() };
        PathState {
            current,
            rtt: Rtt::new(),
            congestion: controller(congestion, &current.carrier, datagram_bytes_max),
            mtu: Mtu::new(current.carrier.overhead_bytes),
            roaming: Roaming::default(),
        }
    }
}

impl PathState {
    /// The peer has another path now, by `current`: all estimates of the old one are void.
    pub(super) fn begin_congestion(&mut self) {
        self.congestion.begin();
        describe(&mut self.congestion, &self.current.carrier);
    }
}

/// The controller of a path by this carrier.
pub(super) fn controller(congestion: Congestion, carrier: &Carrier, datagram_bytes_max: u16) -> CongestionControl {
    let mut controller = CongestionControl::new(congestion, datagram_bytes_max);
    describe(&mut controller, carrier);
    controller
}

fn describe(controller: &mut CongestionControl, carrier: &Carrier) {
    controller.set_spread(Duration::from_micros(carrier.spread_us.into()));
    if carrier.has_own_queue {
        controller.expect_foreign_queues();
    }
}
