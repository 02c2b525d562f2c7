//! What arrived out of order, below numbers that the peer knows already: which acknowledgements told of it.

/// Late arrivals, by the acknowledgement that told of them first. Empty while all arrives in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateNews {
    /// The least number that no acknowledgement has told of.
    untold: u64,
    /// The packets whose acknowledgements told of late arrivals, oldest first, and the least number of each.
    told: [(u64, u64); TOLD_MAX],
    count: usize,
}

/// Acknowledgements that are told apart; more than one round trip rarely holds that many, and the newest two are joined.
const TOLD_MAX: usize = 8;

impl LateNews {
    pub(super) const fn new() -> Self {
        LateNews { untold: u64::MAX, told: [(0, 0); TOLD_MAX], count: 0 }
    }

    /// A packet of this number came late.
    pub(super) fn on_arrival(&mut self, number: u64) {
        self.untold = self.untold.min(number);
    }

    /// An acknowledgement of everything left in this packet of ours.
    pub(super) fn on_told(&mut self, packet: u64) {
        let low = core::mem::replace(&mut self.untold, u64::MAX);
        if low == u64::MAX {
            return;
        }
        if self.count == TOLD_MAX {
            let (_, last) = self.told[TOLD_MAX - 1];
            self.told[TOLD_MAX - 1] = (packet, last.min(low));
        } else {
            self.told[self.count] = (packet, low);
            self.count += 1;
        }
    }

    /// The peer has seen the acknowledgement in this packet of ours: up to which number it knows of all that arrived.
    pub(super) fn known_below(&mut self, packet: u64) -> u64 {
        let heard = self.told[..self.count].iter().take_while(|told| told.0 <= packet).count();
        self.told.copy_within(heard..self.count, 0);
        self.count -= heard;
        self.told[..self.count].iter().fold(self.untold, |low, told| low.min(told.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_late_is_known_once_an_acknowledgement_that_left_later_was_heard() {
        let mut late = LateNews::new();
        late.on_told(10);
        assert_eq!(late.known_below(10), u64::MAX);
        late.on_arrival(7);
        assert_eq!(late.known_below(11), 7, "it left before");
        late.on_told(12);
        late.on_arrival(5);
        late.on_told(14);
        assert_eq!(late.known_below(13), 5);
        assert_eq!(late.known_below(14), u64::MAX);
    }

    #[test]
    fn of_many_none_is_forgotten() {
        let mut late = LateNews::new();
        for packet in 0..100 {
            late.on_arrival(1_000 - packet);
            late.on_told(packet);
        }
        assert_eq!(late.known_below(98), 901);
        assert_eq!(late.known_below(99), u64::MAX);
    }
}
