//! What a path loses, as the acknowledgements tell: the share of packets and how many are lost in a row.

/// An estimate over about the last thousand packets. It begins with a guess, so that a connection is careful until its
/// path has proved itself.
#[derive(Clone, Copy, Debug)]
pub struct LossEstimate {
    packets: f32,
    lost: f32,
    /// Runs of lost packets.
    bursts: f32,
    is_last_lost: bool,
    /// What is left of the guess.
    guess: f32,
}

/// Packets after which an observation has lost two thirds of its weight.
const MEMORY: f32 = 1_000.0;
/// The guess: 1% of so many packets, one at a time. It fades sooner than what was seen.
const GUESS_PACKETS: f32 = 300.0;
const GUESS_LOST: f32 = 3.0;
const GUESS_KEPT: f32 = 1.0 - 1.0 / 200.0;

impl Default for LossEstimate {
    fn default() -> Self {
        LossEstimate { packets: 0.0, lost: 0.0, bursts: 0.0, is_last_lost: false, guess: 1.0 }
    }
}

impl LossEstimate {
    /// The next packet, in the order of numbers, was lost or arrived.
    pub fn on_packet(&mut self, is_lost: bool) {
        const KEPT: f32 = 1.0 - 1.0 / MEMORY;
        self.packets = self.packets * KEPT + 1.0;
        self.lost *= KEPT;
        self.bursts *= KEPT;
        self.guess *= GUESS_KEPT;
        if is_lost {
            self.lost += 1.0;
            if !self.is_last_lost {
                self.bursts += 1.0;
            }
        }
        self.is_last_lost = is_lost;
    }

    /// Share of packets lost, 0 to 1.
    pub fn rate(&self) -> f32 {
        (self.lost + GUESS_LOST * self.guess) / (self.packets + GUESS_PACKETS * self.guess)
    }

    /// Mean number of packets lost in a row, at least 1.
    pub fn burst_length(&self) -> f32 {
        let guess = GUESS_LOST * self.guess;
        if self.bursts > 0.0 { ((self.lost + guess) / (self.bursts + guess)).max(1.0) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(pattern: impl Fn(u32) -> bool) -> LossEstimate {
        let mut estimate = LossEstimate::default();
        (0..5_000).for_each(|number| estimate.on_packet(pattern(number)));
        estimate
    }

    #[test]
    fn the_guess_gives_way_to_what_is_seen() {
        assert!((LossEstimate::default().rate() - 0.01).abs() < 1e-6);
        assert!(after(|_| false).rate() < 1e-4);
        let two_percent = after(|number| number % 50 == 0);
        assert!((two_percent.rate() - 0.02).abs() < 0.002, "{two_percent:?}");
        assert!((two_percent.burst_length() - 1.0).abs() < 0.01);
    }

    #[test]
    fn losses_in_a_row_are_one_burst() {
        let bursts = after(|number| number % 150 < 3);
        assert!((bursts.rate() - 0.02).abs() < 0.003, "{bursts:?}");
        assert!((bursts.burst_length() - 3.0).abs() < 0.1, "{bursts:?}");
    }
}
