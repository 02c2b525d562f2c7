//! The round-trip time and the time after which a segment is sent again (RFC 6298, with KCP's floor).

use core::time::Duration;

/// Estimates of one conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    smoothed: Option<Duration>,
    variation: Duration,
    resend_floor: Duration,
    interval: Duration,
}

/// Before the first sample.
const RESEND_FIRST: Duration = Duration::from_millis(200);
const RESEND_MAX: Duration = Duration::from_secs(60);

impl RoundTrip {
    pub(super) fn new(resend_floor: Duration, interval: Duration) -> Self {
        RoundTrip { smoothed: None, variation: Duration::ZERO, resend_floor, interval }
    }

    pub(super) fn on_sample(&mut self, sample: Duration) {
        let Some(smoothed) = self.smoothed else {
            self.smoothed = Some(sample);
            self.variation = sample / 2;
            return;
        };
        self.variation = (3 * self.variation + sample.abs_diff(smoothed)) / 4;
        self.smoothed = Some((7 * smoothed + sample) / 8);
    }

    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// After this time without an acknowledgement, a segment is sent again.
    pub(super) fn resend_after(&self) -> Duration {
        let Some(smoothed) = self.smoothed else { return RESEND_FIRST };
        (smoothed + self.interval.max(4 * self.variation)).clamp(self.resend_floor, RESEND_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_path_is_resent_after_its_round_trip_and_the_peers_interval() {
        let ms = Duration::from_millis;
        let mut round_trip = RoundTrip::new(ms(30), ms(10));
        assert_eq!(round_trip.resend_after(), ms(200));
        for _ in 0..100 {
            round_trip.on_sample(ms(50));
        }
        assert_eq!(round_trip.smoothed(), Some(ms(50)));
        assert_eq!(round_trip.resend_after(), ms(60));
    }
}
