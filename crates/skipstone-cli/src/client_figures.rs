//! Figures of one connected client, as the console and the dashboard show them: the same names, units and values in
//! both.

use serde::Serialize;
use skipstone::{Flow, Overview};

/// Packet loss of each direction, in percent of the packets sent, over about the last thousand packets. `None` on a
/// stream, which loses no packet, and before the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct PacketLoss {
    /// The loss of packets that the server sent to the client.
    pub(crate) sent: Option<f64>,
    /// The loss of packets that the client sent to the server.
    pub(crate) received: Option<f64>,
}

impl PacketLoss {
    pub(crate) fn of(seen: &Overview) -> Self {
        let is_lossy = !seen.path.carrier.is_reliable;
        let percent = |share: f64, flow: &Flow| (is_lossy && flow.datagrams > 0).then_some(100.0 * share);
        PacketLoss {
            sent: percent(seen.sending.loss, &seen.stats.sent),
            received: percent(seen.receiving.loss, &seen.stats.received),
        }
    }

    /// The greater of the two.
    pub(crate) fn greater(&self) -> Option<f64> {
        [self.sent, self.received].into_iter().flatten().max_by(f64::total_cmp)
    }
}

/// The smoothed round-trip time in milliseconds; `None` before one was measured.
pub(crate) fn rtt_ms(seen: &Overview) -> Option<f64> {
    seen.rtt.is_measured().then(|| seen.rtt.smoothed().as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_loss_is_its_worse_directions() {
        let loss = |sent, received| PacketLoss { sent, received }.greater();
        assert_eq!((loss(Some(2.0), Some(0.5)), loss(Some(0.0), Some(3.0))), (Some(2.0), Some(3.0)));
        assert_eq!((loss(None, Some(0.5)), loss(None, None)), (Some(0.5), None));
    }
}
