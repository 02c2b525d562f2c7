//! Bounds of the difference between two clocks, from exchanges of time stamps (Cristian 1989, Marzullo 1984; NTP, RFC
//! 5905).
//!
//! The server's stamp was made between the request's departure and the answer's arrival. So each exchange bounds the
//! difference, however unequal the two ways are; several exchanges have the overlap of their bounds in common. Bounds
//! that grow old widen by as much as two clocks may drift apart.

use crate::time::{Duration, Time};

/// How far two clocks drift apart at most, in millionths: two crystals of 100 ppm each.
const DRIFT_PPM: u64 = 200;
/// Stamps are whole microseconds, rounded down: three of them go into a bound.
const ROUNDING_US: i64 = 3;

/// An estimate of the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerTime {
    /// The server's clock, in its own microseconds.
    pub at: Time,
    /// The clock is no further than this from `at`, as long as both clocks keep to 100 ppm.
    pub error: Duration,
}

impl ServerTime {
    /// The estimate `span` later, if no answer has arrived since.
    pub fn after(self, span: Duration) -> Self {
        ServerTime { at: self.at + span, error: self.error + drift(span) }
    }
}

/// Stamps of a request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) sent_at: Time,
    pub(super) server_us: u64,
    /// How long the server had the request before it wrote its stamp.
    pub(super) held_us: u64,
    pub(super) received_at: Time,
}

/// The server's clock less this side's, in microseconds, lies between these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetBounds {
    low: i64,
    high: i64,
    /// The time, by this side's clock.
    at: Time,
}

impl OffsetBounds {
    /// Bounds from one exchange; `None` if its stamps contradict each other.
    pub(super) fn of(exchange: &Exchange) -> Option<Self> {
        let Exchange { sent_at, server_us, held_us, received_at: at } = *exchange;
        if sent_at > at {
            return None;
        }
        let span = at.since(sent_at);
        let slack = drift(span).as_micros() as i64 + ROUNDING_US;
        let under_way = i64::try_from(span.as_micros()).ok()?.checked_sub_unsigned(held_us)?.checked_add(slack)?;
        // The stamp was made before the answer arrived, by no more than the time on the way.
        let low = i64::try_from(server_us).ok()?.checked_sub_unsigned(at.as_micros())?;
        let high = low.checked_add(under_way)?;
        (under_way >= 0).then_some(OffsetBounds { low, high, at })
    }

    /// The overlap of these bounds with a later exchange's bounds. Without an overlap, a clock was set, and the later
    /// bounds count.
    pub(super) fn narrowed(&self, later: &OffsetBounds) -> Self {
        let kept = self.widened(later.at);
        let (low, high) = (kept.low.max(later.low), kept.high.min(later.high));
        if low <= high { OffsetBounds { low, high, at: later.at } } else { *later }
    }

    fn widened(&self, now: Time) -> Self {
        let drift = drift(now.since(self.at)).as_micros() as i64;
        OffsetBounds {
            low: self.low.saturating_sub(drift),
            high: self.high.saturating_add(drift),
            at: now.max(self.at),
        }
    }

    /// The server's clock now.
    pub(super) fn read(&self, now: Time) -> ServerTime {
        let OffsetBounds { low, high, .. } = self.widened(now);
        let width = high.saturating_sub(low);
        let at = now.as_micros().saturating_add_signed(low).saturating_add_signed(width / 2);
        ServerTime { at: Time::from_micros(at), error: Duration::from_micros(width as u64 / 2 + 1) }
    }
}

/// How far the clocks may drift apart in this time.
fn drift(span: Duration) -> Duration {
    Duration::from_micros((span.as_micros() as u64).saturating_mul(DRIFT_PPM).div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_true_offset_is_always_within_the_error_and_the_error_never_grows() {
        for seed in 0..2_000 {
            let mut rng = Rng::new(seed);
            // During 1,000,000 µs on the client's clock, the server's clock counts this many.
            let rate = 999_800 + i64::from(rng.below(401));
            let first = i64::from(rng.below(2_000_000_000));
            let server_at = |client_us: i64| first + client_us + client_us * (rate - 1_000_000) / 1_000_000;
            let (mut now, mut bounds) = (1_000_000, None::<OffsetBounds>);
            for _ in 0..50 {
                let [up, held, down] = [0; 3].map(|_| {
                    let most = 1 << (4 + rng.below(17));
                    i64::from(rng.below(most))
                });
                let [arrived, left] = [now + up, now + up + held].map(server_at);
                let received = now + up + held + down;
                let exchange = Exchange {
                    sent_at: Time::from_micros(now as u64),
                    server_us: left as u64,
                    held_us: (left - arrived) as u64,
                    received_at: Time::from_micros(received as u64),
                };
                let sample = OffsetBounds::of(&exchange).expect("the stamps agree");
                let before = bounds.map(|bounds| bounds.read(Time::from_micros(received as u64)));
                bounds = Some(bounds.map_or(sample, |bounds| bounds.narrowed(&sample)));
                for wait in [0, 30_000_000] {
                    let read = bounds.expect("it was just made").read(Time::from_micros((received + wait) as u64));
                    let off = server_at(received + wait).abs_diff(read.at.as_micros() as i64);
                    assert!(u128::from(off) <= read.error.as_micros(), "seed {seed}: {off} µs, {read:?}");
                    assert!(wait > 0 || before.is_none_or(|before| read.error <= before.error), "seed {seed}");
                }
                now = received + i64::from(rng.below(5_000_000));
            }
        }
    }

    #[test]
    fn contradictory_timestamps_are_ignored() {
        let good = Exchange {
            sent_at: Time::from_micros(1_000),
            server_us: 5,
            held_us: 100,
            received_at: Time::from_micros(2_000),
        };
        assert!(OffsetBounds::of(&good).is_some());
        assert_eq!(OffsetBounds::of(&Exchange { sent_at: Time::from_micros(2_001), ..good }), None, "not asked yet");
        assert_eq!(OffsetBounds::of(&Exchange { held_us: 1_010, ..good }), None, "held for longer than it was away");
        for extreme in [0, 1 << 61, (1 << 62) - 1] {
            let any = Exchange { server_us: extreme, held_us: extreme, sent_at: Time::from_micros(extreme), ..good };
            _ = OffsetBounds::of(&any).map(|bounds| bounds.narrowed(&bounds).read(Time::NEVER));
        }
    }

    #[test]
    fn after_a_clock_change_the_newest_exchange_counts() {
        let at = |micros| Time::from_micros(micros);
        let old = OffsetBounds { low: 0, high: 1_000, at: at(1_000_000) };
        let new = OffsetBounds { low: 90_000, high: 95_000, at: at(2_000_000) };
        assert_eq!(old.narrowed(&new), new);
    }
}
