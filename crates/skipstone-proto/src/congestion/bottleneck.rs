//! The rate of the bottleneck, and the part of its queue that this sender fills. Packets that left together are spaced
//! by the bottleneck (packet trains), so round-trip times show its rate although the sender has less to send.

use crate::time::{Duration, Time};

/// A model of the bottleneck's queue, counting only this sender's own packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bottleneck {
    /// The additional time of the later packets of trains compared with the first, in microseconds, and their bytes.
    span: f32,
    bytes: f32,
    train: DelayTrain,
    /// Spacing up to this, in microseconds, is caused by the ends of the path.
    spread: u32,
    /// Time at which the bottleneck has sent everything so far.
    idle_at: Time,
    /// Start of the last burst of new data, and the shortest recent time between bursts.
    burst_at: Time,
    interval: Duration,
}

/// A packet train: packets that left together.
#[derive(Clone, Copy, Debug)]
struct DelayTrain {
    sent_at: Time,
    /// Round-trip times of the packets that the first acknowledgement covers, and of the last packet so far.
    first_rtt: u32,
    last_rtt: u32,
    /// Bytes of packets after the first acknowledgement.
    bytes: u32,
}

/// Packets that left within this are a train.
const TOGETHER: Duration = Duration::from_micros(50);
/// Bursts that began within this, of several channels, are one.
const BURST: Duration = Duration::from_micros(500);
/// Measured trains are forgotten after about this.
const MEMORY: Duration = Duration::from_secs(5);
/// Without trains the bottleneck counts as fast: as if a train of this many bytes had arrived at once.
const FAST_BYTES: f32 = 100.0;
/// Fraction of the rate that stays free, as a margin for errors of the estimate.
const FREE: f32 = 0.25;
/// An estimate that is far too low does not count for longer than this.
const BUSY_MAX: Duration = Duration::from_secs(1);
/// Where the ends space packets, a train counts with this many bytes after its first packet.
const SPREAD_BYTES_MIN: u32 = 1_000;
const INTERVAL_INITIAL: Duration = Duration::from_secs(1);

impl Bottleneck {
    pub(super) const fn new() -> Self {
        Bottleneck {
            span: 0.0,
            bytes: 0.0,
            train: DelayTrain { sent_at: Time::ZERO, first_rtt: 0, last_rtt: 0, bytes: 0 },
            spread: 0,
            idle_at: Time::ZERO,
            burst_at: Time::ZERO,
            interval: INTERVAL_INITIAL,
        }
    }

    /// The ends of the path may space packets that left together by this much.
    pub(super) fn set_spread(&mut self, spread: Duration) {
        self.spread = spread.as_micros() as u32;
    }

    /// A burst of new data begins. Its packets may leave one after the other, as the pacer lets them.
    pub(super) fn begin_burst(&mut self, now: Time) {
        let since = now.since(self.burst_at);
        if since > BURST {
            self.interval = since.min(self.interval + self.interval / 16);
            self.burst_at = now;
        }
    }

    /// A packet leaves.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u32) {
        self.idle_at = (self.idle_at.max(now) + self.time_for(bytes)).min(now + BUSY_MAX);
    }

    /// This many bytes were acknowledged, after this round-trip time of their newest packet, which left at `sent_at`.
    pub(super) fn on_ack(&mut self, bytes: u32, sent_at: Time, rtt: u32) {
        let train = &mut self.train;
        if sent_at < train.sent_at {
            return;
        }
        if sent_at.since(train.sent_at) <= TOGETHER {
            (train.bytes, train.last_rtt) = (train.bytes.saturating_add(bytes), rtt);
            return;
        }
        let age = sent_at.since(train.sent_at).as_secs_f32() / MEMORY.as_secs_f32();
        let kept = 1.0 - age.min(1.0);
        // Jitter makes some spans too long and some too short, or negative: the sum is right.
        let (span, bytes) = train.measured(self.spread);
        self.span = self.span * kept + span;
        self.bytes = self.bytes * kept + bytes;
        *train = DelayTrain { sent_at, first_rtt: rtt, last_rtt: rtt, bytes: 0 };
    }

    /// How long the next burst waits at the bottleneck if this many bytes leave now.
    pub(super) fn lateness(&self, now: Time, bytes: u32) -> Duration {
        (self.idle_at.since(now) + self.time_for(bytes)).saturating_sub(self.interval)
    }

    /// How long this many bytes take.
    fn time_for(&self, bytes: u32) -> Duration {
        let micros_per_byte = self.span.max(0.0) / (self.bytes + FAST_BYTES) / (1.0 - FREE);
        Duration::from_micros((micros_per_byte * bytes as f32) as u64).min(BUSY_MAX)
    }
}

impl DelayTrain {
    /// How much longer its last packet took than its first, in microseconds, and its bytes, as far as they show the
    /// bottleneck and not the ends of the path, which set packets apart by up to `spread`. Against that spread, a short
    /// packet after the first gives no information.
    fn measured(&self, spread: u32) -> (f32, f32) {
        let span = self.last_rtt as f32 - self.first_rtt as f32;
        match spread {
            0 => (span, self.bytes as f32),
            _ if self.bytes < SPREAD_BYTES_MIN => (0.0, 0.0),
            _ => ((span - spread as f32).max(0.0), self.bytes as f32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Microseconds that a byte takes at 300 kbit/s.
    const SLOW: u32 = 27;

    fn at(millis: u64) -> Time {
        Time::from_micros(millis * 1_000)
    }

    /// Delay of the next burst if `more` bytes leave in addition to these.
    fn delay_by(bottleneck: &Bottleneck, now: Time, bytes: u32, more: u32) -> Duration {
        bottleneck.lateness(now, bytes + more).saturating_sub(bottleneck.lateness(now, bytes))
    }

    /// A burst of packets of 150 bytes each 20 ms, each acknowledged a round trip of 50 ms later, for a second.
    fn after(packets: u32, micros_per_byte: u32, jitter: impl Fn(u32) -> i32) -> Bottleneck {
        played(Bottleneck::new(), packets, micros_per_byte, jitter)
    }

    fn played(
        mut bottleneck: Bottleneck,
        packets: u32,
        micros_per_byte: u32,
        jitter: impl Fn(u32) -> i32,
    ) -> Bottleneck {
        for tick in 0..50 {
            let sent_at = at(1_000 + 20 * u64::from(tick));
            bottleneck.begin_burst(sent_at);
            (0..packets).for_each(|_| bottleneck.on_sent(sent_at, 150));
            for packet in 0..packets {
                let rtt = (50_000 + jitter(tick * packets + packet)) as u32 + 150 * (packet + 1) * micros_per_byte;
                bottleneck.on_ack(150, sent_at, rtt);
            }
        }
        bottleneck
    }

    #[test]
    fn packets_that_a_slow_link_cannot_send_in_time_delay_the_burst() {
        let bottleneck = after(2, SLOW, |_| 0);
        let (now, free) = (at(5_000), Duration::ZERO);
        assert_eq!(
            delay_by(&bottleneck, now, 300, 150),
            free,
            "16 ms at three quarters of the rate, and 20 to the next"
        );
        let late = delay_by(&bottleneck, now, 300, 600).as_millis();
        assert!((11..=13).contains(&late), "900 bytes in 32 ms: {late}");
        assert!(
            delay_by(&bottleneck, now, 900, 150) > Duration::from_millis(4),
            "all of it, if the link is full anyway"
        );
    }

    #[test]
    fn earlier_packets_count_until_the_link_has_sent_them() {
        let mut bottleneck = after(2, SLOW, |_| 0);
        bottleneck.on_sent(at(5_000), 450);
        assert!(delay_by(&bottleneck, at(5_000), 300, 150) > Duration::ZERO);
        assert_eq!(delay_by(&bottleneck, at(5_020), 300, 150), Duration::ZERO);
    }

    #[test]
    fn a_fast_link_delays_nothing() {
        for bottleneck in [Bottleneck::new(), after(5, 0, |_| 0)] {
            assert_eq!(delay_by(&bottleneck, at(5_000), 10_000, 20_000), Duration::ZERO);
        }
    }

    #[test]
    fn single_packets_give_no_estimate() {
        let single = after(1, SLOW, |_| 0);
        assert_eq!(delay_by(&single, at(5_000), 300, 600), Duration::ZERO);
    }

    #[test]
    fn jitter_is_not_mistaken_for_a_slow_link() {
        let jittery = after(2, 1, |packet| [3_000, -2_000, -3_000, 2_000][packet as usize % 4]);
        assert!(delay_by(&jittery, at(5_000), 1_500, 3_000) < Duration::from_millis(1));
    }

    #[test]
    fn pacing_by_the_endpoints_is_not_mistaken_for_a_slow_link() {
        // All packets but the first wait for a pacer.
        let late = |spread: u64, packets: u32, micros_per_byte: u32| {
            let mut bottleneck = Bottleneck::new();
            bottleneck.set_spread(Duration::from_millis(spread));
            let paced = played(bottleneck, packets, micros_per_byte, |packet| 4_000 * i32::from(packet % packets > 0));
            delay_by(&paced, at(5_000), 1_500, 1_500)
        };
        assert!(late(0, 2, 0) > Duration::from_millis(5), "taken for a slow link: {:?}", late(0, 2, 0));
        assert_eq!((late(5, 2, 0), late(5, 9, 0)), (Duration::ZERO, Duration::ZERO));
        assert!(late(5, 9, SLOW) > Duration::from_millis(5), "a slow link is still seen: {:?}", late(5, 9, SLOW));
    }

    #[test]
    fn a_formerly_slow_link_is_forgotten() {
        let mut bottleneck = after(2, SLOW, |_| 0);
        bottleneck.on_ack(150, at(8_950), 50_000);
        bottleneck.on_ack(150, at(8_970), 50_000);
        assert!(delay_by(&bottleneck, at(9_100), 300, 600) < Duration::from_millis(11));
        bottleneck.on_ack(150, at(18_950), 50_000);
        assert_eq!(delay_by(&bottleneck, at(19_100), 300, 600), Duration::ZERO);
    }
}
