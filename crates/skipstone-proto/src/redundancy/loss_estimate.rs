//! Estimate of a path's losses from acknowledgements: how often losses begin, the share of lost packets, and the number
//! of consecutive losses.

use crate::time::{Duration, Time};

/// An estimate over about the last thousand ticks: packets that were sent together count as one tick, so that more
/// repair packets do not shorten the memory of the estimate. The estimate begins with a guess, so that a connection is
/// careful until the path is measured.
#[derive(Clone, Copy, Debug)]
pub struct LossEstimate {
    packets: f32,
    lost: f32,
    /// Runs of lost packets: loss events.
    events: f32,
    /// Length of the last run of lost packets, up to now.
    run: u32,
    /// Time of the first packet, and of the last tick's beginning.
    first_at: Time,
    tick_at: Time,
    /// The weight that the initial guess still has.
    guess: f32,
    /// Packets since the last loss, and whether there was one.
    clean: u32,
    has_lost: bool,
}

/// Packets that left within this are one tick.
const TICK: Duration = Duration::from_micros(500);
/// The weight that an observation keeps from tick to tick.
const KEPT: f32 = 1.0 - 1.0 / 1_000.0;
/// The initial guess: 1% of this many packets, one at a time. The guess fades within this time, regardless of what was
/// sent.
const GUESS_PACKETS: f32 = 300.0;
const GUESS_LOST: f32 = 3.0;
const GUESS_SPAN: Duration = Duration::from_secs(3);
/// Packets of one run that count: an outage, or a queue that overflows, reveals little about the next loss.
const RUN_MAX: u32 = 8;

impl Default for LossEstimate {
    fn default() -> Self {
        LossEstimate {
            packets: 0.0,
            lost: 0.0,
            events: 0.0,
            run: 0,
            first_at: Time::NEVER,
            tick_at: Time::ZERO,
            guess: 1.0,
            clean: 0,
            has_lost: false,
        }
    }
}

impl LossEstimate {
    /// The next packet, in the order of numbers, which left at `at`, was lost or arrived.
    pub fn on_packet(&mut self, at: Time, is_lost: bool) {
        self.begin_tick(at);
        if !is_lost {
            self.packets += 1.0;
            self.run = 0;
            self.clean = self.clean.saturating_add(1);
            return;
        }
        self.run += 1;
        self.events += f32::from(u8::from(self.run == 1));
        if self.run <= RUN_MAX {
            self.packets += 1.0;
            self.lost += 1.0;
        }
        (self.clean, self.has_lost) = (0, true);
    }

    fn begin_tick(&mut self, at: Time) {
        self.first_at = self.first_at.min(at);
        if at.since(self.tick_at) <= TICK {
            return;
        }
        self.tick_at = at;
        self.packets *= KEPT;
        self.lost *= KEPT;
        self.events *= KEPT;
        self.guess = 1.0 - (at.since(self.first_at).as_secs_f32() / GUESS_SPAN.as_secs_f32()).min(1.0);
    }

    /// Observed share of packets lost, 0 to 1: without the guess, and 0 before the first packet.
    pub fn observed(&self) -> f32 {
        if self.packets > 0.0 { self.lost / self.packets } else { 0.0 }
    }

    /// Share of packets lost, 0 to 1.
    pub fn rate(&self) -> f32 {
        self.per_packet(self.lost)
    }

    /// Loss events per packet, 0 to 1.
    pub fn event_rate(&self) -> f32 {
        self.per_packet(self.events)
    }

    fn per_packet(&self, count: f32) -> f32 {
        (count + GUESS_LOST * self.guess) / (self.packets + GUESS_PACKETS * self.guess).max(1.0)
    }

    /// Mean number of consecutive lost packets, at least 1.
    pub fn burst_length(&self) -> f32 {
        let guess = GUESS_LOST * self.guess;
        if self.events > 0.0 { ((self.lost + guess) / (self.events + guess)).max(1.0) } else { 1.0 }
    }

    /// Number of packets that arrived since the last loss, if there was one.
    pub fn clean_since_loss(&self) -> Option<u32> {
        self.has_lost.then_some(self.clean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u32) -> Time {
        Time::from_micros(u64::from(millis) * 1_000)
    }

    fn after(pattern: impl Fn(u32) -> bool) -> LossEstimate {
        let mut estimate = LossEstimate::default();
        (0..5_000).for_each(|number| estimate.on_packet(ms(number / 5 * 16), pattern(number)));
        estimate
    }

    #[test]
    fn the_initial_guess_is_replaced_by_measurements() {
        assert!((LossEstimate::default().rate() - 0.01).abs() < 1e-6);
        assert_eq!(LossEstimate::default().observed(), 0.0, "a guess is nothing that was seen");
        assert!(after(|_| false).rate() < 1e-4);
        let two_percent = after(|number| number % 50 == 0);
        assert!((two_percent.rate() - 0.02).abs() < 0.002, "{two_percent:?}");
        assert!((two_percent.burst_length() - 1.0).abs() < 0.01);
    }

    #[test]
    fn consecutive_losses_are_one_burst() {
        let bursts = after(|number| number % 150 < 3);
        assert!((bursts.rate() - 0.02).abs() < 0.003, "{bursts:?}");
        assert!((bursts.burst_length() - 3.0).abs() < 0.1, "{bursts:?}");
    }

    #[test]
    fn the_initial_guess_lasts_three_seconds_regardless_of_traffic() {
        for packets_per_tick in [1, 5] {
            let mut estimate = LossEstimate::default();
            let mut rate_at = |millis| {
                (0..packets_per_tick).for_each(|_| estimate.on_packet(ms(millis), false));
                estimate.rate()
            };
            assert!(rate_at(0) > 0.009 && rate_at(1_500) > 0.004 && rate_at(2_900) > 0.0);
            assert!(rate_at(3_100) == 0.0);
        }
    }

    #[test]
    fn an_outage_is_one_loss_event() {
        let outage = after(|number| (2_500..2_600).contains(&number));
        assert!(outage.event_rate() < 0.001, "{outage:?}");
        assert_eq!(outage.clean_since_loss(), Some(2_400));
    }
}
