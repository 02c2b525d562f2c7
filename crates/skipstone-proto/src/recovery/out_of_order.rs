//! Packets that arrived out of order, below numbers that the peer knows already, and the acknowledgements that reported
//! them.

/// Late arrivals, by the acknowledgement that reported them first. Empty while all packets arrive in order.
#[derive(Clone, Debug)]
pub(super) struct OutOfOrder {
    /// The least number that no acknowledgement has reported.
    unreported: u64,
    /// The packets whose acknowledgements reported late arrivals, oldest first, and the least number of each; at most
    /// [`REPORTED_MAX`].
    reported: Vec<(u64, u64)>,
}

/// Maximum number of acknowledgements that are tracked separately; a round trip rarely has more, and the newest two are
/// then joined.
const REPORTED_MAX: usize = 8;

impl OutOfOrder {
    pub(super) const fn new() -> Self {
        OutOfOrder { unreported: u64::MAX, reported: Vec::new() }
    }

    /// A packet of this number arrived late.
    pub(super) fn on_arrival(&mut self, number: u64) {
        self.unreported = self.unreported.min(number);
    }

    /// Our packet of this number acknowledges everything received so far.
    pub(super) fn on_ack_sent(&mut self, packet: u64) {
        let low = core::mem::replace(&mut self.unreported, u64::MAX);
        if low == u64::MAX {
            return;
        }
        let is_full = self.reported.len() == REPORTED_MAX;
        match self.reported.last_mut() {
            Some(last) if is_full => *last = (packet, last.1.min(low)),
            _ => self.reported.push((packet, low)),
        }
    }

    /// The peer has received the acknowledgement in our packet of this number. Returns the least number that the peer
    /// may not know of.
    pub(super) fn known_below(&mut self, packet: u64) -> u64 {
        let heard = self.reported.iter().take_while(|reported| reported.0 <= packet).count();
        self.reported.drain(..heard);
        self.reported.iter().fold(self.unreported, |low, reported| low.min(reported.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_packet_is_known_once_a_later_ack_arrives() {
        let mut late = OutOfOrder::new();
        late.on_ack_sent(10);
        assert_eq!(late.known_below(10), u64::MAX);
        late.on_arrival(7);
        assert_eq!(late.known_below(11), 7, "it left before");
        late.on_ack_sent(12);
        late.on_arrival(5);
        late.on_ack_sent(14);
        assert_eq!(late.known_below(13), 5);
        assert_eq!(late.known_below(14), u64::MAX);
    }

    #[test]
    fn of_many_late_packets_none_is_forgotten() {
        let mut late = OutOfOrder::new();
        for packet in 0..100 {
            late.on_arrival(1_000 - packet);
            late.on_ack_sent(packet);
        }
        assert_eq!(late.known_below(98), 901);
        assert_eq!(late.known_below(99), u64::MAX);
    }
}
