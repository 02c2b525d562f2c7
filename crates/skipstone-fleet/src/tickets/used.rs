//! Tickets that were used, until their time is over. When there are too many, further ones are refused: one that was
//! forgotten could be used again.

use super::time::UnixTime;
use std::collections::BTreeSet;

/// The numbers of used tickets, each with when it may be forgotten.
#[derive(Debug, Default)]
pub(super) struct UsedTickets(BTreeSet<(u64, u128)>);

/// What becomes of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    First,
    Again,
    NoPlace,
}

impl UsedTickets {
    /// Notes a ticket as used, unless it was or there is no place.
    pub(super) fn note(&mut self, id: u128, over_at: UnixTime, now: UnixTime) -> Use {
        while self.0.first().is_some_and(|(over_at, _)| *over_at <= now.0) {
            self.0.pop_first();
        }
        if self.0.contains(&(over_at.0, id)) {
            return Use::Again;
        }
        if self.0.len() >= USED_MAX {
            return Use::NoPlace;
        }
        self.0.insert((over_at.0, id));
        Use::First
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

/// Tickets within their time, 2,300 each second: about 4 MiB.
pub(super) const USED_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_set_refuses_new_tickets_and_still_knows_the_used_ones_until_their_time_is_over() {
        let mut used = UsedTickets::default();
        let (now, over) = (UnixTime(1_000), UnixTime(1_036));
        for id in 0..USED_MAX as u128 {
            assert_eq!(used.note(id, over, now), Use::First);
        }
        assert_eq!(used.note(u128::MAX, over, now), Use::NoPlace);
        assert_eq!(used.note(0, over, UnixTime(1_035)), Use::Again);
        assert_eq!(used.note(u128::MAX, UnixTime(1_060), UnixTime(1_036)), Use::First);
        assert_eq!(used.count(), 1);
    }
}
