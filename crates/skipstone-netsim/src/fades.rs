//! When a link is faded: a chain of two states in continuous time, each of which lasts for its own random time. It is
//! drawn from its own stream and depends only on time: two runs with one seed meet the same fades at the same moments,
//! whatever they send.
//!
//! ```text
//!                      mean_length x (1 - rate) / rate on average
//!   clear: loses none ───────────────────────────────────────────► faded: loses all
//!                     ◄───────────────────────────────────────────
//!                               mean_length on average
//! ```

use core::time::Duration;

use crate::rng::Xoshiro256PlusPlus;

/// The fades of a link.
#[derive(Clone, Debug)]
pub(crate) struct Fades {
    stream: Xoshiro256PlusPlus,
    /// The share of the time and the mean length that the present state was drawn for; none while there are no fades.
    of: Option<(f64, Duration)>,
    is_faded: bool,
    until: Duration,
}

/// After a pause of more changes than this the chain starts again: the result has the same distribution, and a call
/// stays short.
const CHANGES_MAX: u32 = 1_000_000;

impl Fades {
    pub(crate) fn new(stream: Xoshiro256PlusPlus) -> Self {
        Self { stream, of: None, is_faded: false, until: Duration::ZERO }
    }

    /// Fades were switched off: others begin when they are switched on.
    pub(crate) fn end(&mut self) {
        self.of = None;
    }

    /// Whether the link is faded at `now`. A `now` before an earlier one changes nothing.
    pub(crate) fn is_faded(&mut self, now: Duration, rate: f64, mean_length: Duration) -> bool {
        let chain = (rate, mean_length);
        if self.of.is_none() {
            // A link's fades are drawn from its beginning, whenever the first datagram is sent.
            self.begin(Duration::ZERO, chain);
        } else if self.of != Some(chain) {
            self.begin(now, chain);
        }
        for _ in 0..CHANGES_MAX {
            if now < self.until {
                return self.is_faded;
            }
            self.is_faded = !self.is_faded;
            self.until = self.until.saturating_add(self.length(chain));
        }
        self.begin(now, chain);
        self.is_faded
    }

    /// A chain that has not begun is faded with the long-run probability.
    fn begin(&mut self, now: Duration, chain: (f64, Duration)) {
        self.of = Some(chain);
        self.is_faded = self.stream.draw().hits(chain.0);
        self.until = now.saturating_add(self.length(chain));
    }

    fn length(&mut self, (rate, mean_length): (f64, Duration)) -> Duration {
        let mean = if self.is_faded { 1.0 } else { (1.0 - rate) / rate } * mean_length.as_secs_f64();
        Duration::try_from_secs_f64(mean * self.exponential()).unwrap_or(Duration::MAX)
    }

    /// Exponentially distributed with a mean of 1, only by comparisons (von Neumann, Various techniques used in
    /// connection with random digits, 1951). WHY: a logarithm may differ in the last digit from machine to machine.
    fn exponential(&mut self) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.stream.draw().unit();
            let (mut last, mut is_odd) = (first, true);
            loop {
                let next = self.stream.draw().unit();
                if next > last {
                    break;
                }
                (last, is_odd) = (next, !is_odd);
            }
            if is_odd {
                return whole + first;
            }
            whole += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

    fn fades(seed: u64) -> Fades {
        Fades::new(Xoshiro256PlusPlus::new(&mut SplitMix64::new(seed)))
    }

    #[test]
    fn lengths_are_distributed_exponentially() {
        let (mut fades, count) = (fades(5), 100_000);
        let lengths: Vec<f64> = (0..count).map(|_| fades.exponential()).collect();
        let mean = lengths.iter().sum::<f64>() / f64::from(count);
        assert!((0.98..=1.02).contains(&mean), "{mean}");
        for (least, share) in [(0.5, 0.606_5), (1.0, 0.367_9), (3.0, 0.049_8)] {
            let longer = lengths.iter().filter(|length| **length > least).count() as f64 / f64::from(count);
            assert!((longer - share).abs() < 0.006, "{longer} are longer than {least}");
        }
    }

    #[test]
    fn a_long_pause_costs_a_bounded_number_of_state_changes() {
        let (mut fades, mean) = (fades(1), Duration::from_millis(1));
        fades.is_faded(Duration::ZERO, 0.5, mean);
        fades.is_faded(Duration::MAX, 0.5, mean);
    }
}
