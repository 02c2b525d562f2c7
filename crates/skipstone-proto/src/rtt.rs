//! Round-trip time: smoothed value, variation and minimum (RFC 6298 weights, RFC 9002 section 5 for the ack delay).

use core::time::Duration;

/// The round-trip time estimate of a connection's path.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    smoothed: Nanos,
    variation: Nanos,
    min: Nanos,
    latest: Nanos,
    is_measured: bool,
}

/// Nanoseconds, in half the memory of a [`Duration`]: up to 73 years, so that eight of them can be added.
type Nanos = u64;

fn nanos(span: Duration) -> Nanos {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 8)
}

impl Rtt {
    /// Before the first sample, timers act as if the path took this long.
    pub const INITIAL: Duration = Duration::from_millis(100);

    /// Nothing measured yet.
    pub const fn new() -> Self {
        const INITIAL: Nanos = Rtt::INITIAL.as_nanos() as u64;
        Rtt { smoothed: INITIAL, variation: INITIAL / 2, min: u64::MAX / 8, latest: INITIAL, is_measured: false }
    }

    /// The time to the handshake's first answer, used until there is a sample. The request may have been sent more than
    /// once, so the first sample replaces this time.
    pub fn on_handshake(&mut self, span: Duration) {
        if !self.is_measured {
            let span = nanos(span);
            (self.smoothed, self.variation, self.latest) = (span, span / 2, span);
        }
    }

    /// Machines occasionally pause this long without any loss.
    const TIMEOUT_MIN: Duration = Duration::from_millis(6);

    /// Adds a sample: the time from sending a packet to its acknowledgement, which the peer states that it held back
    /// for `ack_delay`.
    pub fn on_sample(&mut self, sample: Duration, ack_delay: Duration) {
        // RFC 9002 does not subtract the delay if the sample would fall below the minimum. Here it is subtracted: a
        // peer that states a false delay would harm only itself, and a path on which every acknowledgement is held back
        // would otherwise look longer than it is.
        let adjusted = nanos(sample.saturating_sub(ack_delay));
        self.min = self.min.min(adjusted);
        self.latest = adjusted;
        if !self.is_measured {
            self.is_measured = true;
            self.smoothed = adjusted;
            self.variation = adjusted / 2;
            return;
        }
        self.variation = (self.variation * 3 + self.smoothed.abs_diff(adjusted)) / 4;
        self.smoothed = (self.smoothed * 7 + adjusted) / 8;
    }

    /// As [`Rtt::on_sample`], for a delay that should be at most `greatest`. The excess is subtracted, too, but sets no
    /// new minimum: a peer that states false delays cannot make the path look shorter than it is by more than
    /// `greatest`.
    pub fn on_delayed_sample(&mut self, sample: Duration, ack_delay: Duration, greatest: Duration) {
        let floor = Duration::from_nanos(self.min).min(sample.saturating_sub(greatest));
        self.on_sample(sample, ack_delay.min(sample.saturating_sub(floor)));
    }

    /// Smoothed round-trip time.
    pub fn smoothed(&self) -> Duration {
        Duration::from_nanos(self.smoothed)
    }

    /// Mean deviation of the samples.
    pub fn variation(&self) -> Duration {
        Duration::from_nanos(self.variation)
    }

    /// The smallest sample so far; the initial guess before there is one.
    pub fn min(&self) -> Duration {
        if self.is_measured { Duration::from_nanos(self.min) } else { Self::INITIAL }
    }

    /// The last sample.
    pub fn latest(&self) -> Duration {
        Duration::from_nanos(self.latest)
    }

    /// Whether there was a sample.
    pub fn is_measured(&self) -> bool {
        self.is_measured
    }

    /// Probe timeout: the time to wait for any acknowledgement before requesting one. The peer's ack delay is part of
    /// the variation, except before it was measured. On the shortest paths the machines determine it.
    pub fn probe_timeout(&self, ack_delay: Duration) -> Duration {
        let timeout = self.smoothed() + (self.variation() * 4).max(Duration::from_millis(2));
        timeout.max(Self::TIMEOUT_MIN) + ack_delay
    }
}

impl Default for Rtt {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn an_actual_ack_delay_is_excluded_from_the_estimate() {
        let mut rtt = Rtt::new();
        rtt.on_delayed_sample(ms(40), ms(0), ms(70));
        for held in [1, 30, 70, 300, 5_000] {
            rtt.on_delayed_sample(ms(40 + held), ms(held), ms(70));
            assert_eq!((rtt.smoothed(), rtt.min()), (ms(40), ms(40)), "{held}");
        }
    }

    #[test]
    fn a_false_ack_delay_lowers_the_estimate_by_the_maximum_delay_at_most() {
        let mut rtt = Rtt::new();
        rtt.on_delayed_sample(ms(100), ms(0), ms(30));
        for _ in 0..100 {
            rtt.on_delayed_sample(ms(100), ms(5_000), ms(30));
        }
        assert_eq!(rtt.min(), ms(70));
        assert!(rtt.smoothed() >= ms(70));
    }
}
