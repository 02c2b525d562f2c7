//! Counters of a link.

use crate::fate::{Fate, LossCause};

/// Counters of a [`Link`](crate::Link) since its creation. Counts are of datagrams, bytes are without headers.
///
/// At any time `sent + duplicated == delivered + lost() + in_flight`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Datagrams that were given to the link, regardless of their fate.
    pub sent: u64,
    /// Handed to the receiver, copies included.
    pub delivered: u64,
    /// Bytes handed to the link.
    pub bytes_sent: u64,
    /// Bytes handed to the receiver, copies included.
    pub bytes_delivered: u64,
    /// Lost by [`Loss::Random`](crate::Loss::Random).
    pub lost_random: u64,
    /// Lost by [`Loss::Burst`](crate::Loss::Burst).
    pub lost_burst: u64,
    /// Lost by [`Loss::Fade`](crate::Loss::Fade).
    pub lost_fade: u64,
    /// Lost because the queue was full.
    pub lost_queue: u64,
    /// Lost because the link was down.
    pub lost_outage: u64,
    /// Lost because the datagram was larger than the link carries.
    pub lost_too_large: u64,
    /// Held back; not necessarily long enough to be overtaken. Copies not included.
    pub held_back: u64,
    /// Delivered after a datagram that was sent later, for whatever reason. Copies not included.
    pub reordered: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Sent on with flipped bits; a copy of such a datagram is not counted again.
    pub corrupted: u64,
    /// The most bytes that ever waited for the rate, headers included.
    pub queue_bytes_peak: usize,
}

impl LinkStats {
    /// All that were lost, for whatever reason.
    pub fn lost(&self) -> u64 {
        let on_the_way = self.lost_random + self.lost_burst + self.lost_fade;
        on_the_way + self.lost_queue + self.lost_outage + self.lost_too_large
    }

    pub(crate) fn on_fate(&mut self, fate: Fate) {
        match fate {
            Fate::Queued => {}
            Fate::Lost(LossCause::Random) => self.lost_random += 1,
            Fate::Lost(LossCause::Burst) => self.lost_burst += 1,
            Fate::Lost(LossCause::Fade) => self.lost_fade += 1,
            Fate::Lost(LossCause::Queue) => self.lost_queue += 1,
            Fate::Lost(LossCause::Outage) => self.lost_outage += 1,
            Fate::Lost(LossCause::TooLarge) => self.lost_too_large += 1,
        }
    }
}
