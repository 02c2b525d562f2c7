//! Pings, the round-trip time, and the time after which packets are sent again.

use super::packet::{PING, PONG, first_byte};
use core::time::Duration;
use skipstone_proto::Time;

/// Pings of one connection.
#[derive(Debug)]
pub(super) struct Pings {
    ping_at: Time,
    number: u16,
    unanswered: Option<Time>,
    sum: Duration,
    samples: u32,
    pings: u32,
    answered: u16,
}

/// The library's default.
const INTERVAL: Duration = Duration::from_secs(1);
/// Before the first sample, and beside the round trip. Both are the library's.
const RESEND_FIRST: Duration = Duration::from_millis(27);
const RESEND_FIXED: Duration = Duration::from_millis(25);
/// After so many pings, the average begins anew with itself.
const PINGS_OF_AVERAGE: u32 = 3;

impl Pings {
    pub(super) fn new(now: Time) -> Self {
        Pings {
            ping_at: now + INTERVAL,
            number: 1,
            unanswered: None,
            sum: Duration::ZERO,
            samples: 0,
            pings: 0,
            answered: 0,
        }
    }

    /// When a ping is due.
    pub(super) fn ping_at(&self) -> Time {
        self.ping_at
    }

    /// The ping that is due.
    pub(super) fn ping(&mut self, now: Time, connection: u8) -> Vec<u8> {
        self.ping_at = now + INTERVAL;
        self.number = self.number.wrapping_add(1);
        if let Some(sent) = self.unanswered.replace(now) {
            self.on_sample(now.since(sent));
        }
        self.pings += 1;
        if self.pings.is_multiple_of(PINGS_OF_AVERAGE) {
            (self.sum, self.samples) = self.round_trip().map_or((Duration::ZERO, 0), |average| (average, 1));
        }
        [&[first_byte(PING, connection)][..], &self.number.to_le_bytes()].concat()
    }

    /// The answer to a ping of the server; `None` if it was answered. `ticks` is the own time of day, which servers
    /// use for nothing but an estimate of the client's clock.
    pub(super) fn pong(&mut self, number: u16, connection: u8, ticks: i64) -> Option<Vec<u8>> {
        // Numbers wrap; a late ping is behind by less than half of them.
        if number.wrapping_sub(self.answered) as i16 <= 0 {
            return None;
        }
        self.answered = number;
        Some([&[first_byte(PONG, connection)][..], &number.to_le_bytes(), &ticks.to_le_bytes()].concat())
    }

    pub(super) fn on_pong(&mut self, now: Time, number: u16) {
        if number == self.number
            && let Some(sent) = self.unanswered.take()
        {
            self.on_sample(now.since(sent));
        }
    }

    /// The average.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        (self.samples > 0).then(|| self.sum / self.samples)
    }

    /// After this time without an acknowledgement, a packet is sent again.
    pub(super) fn resend_after(&self) -> Duration {
        self.round_trip().map_or(RESEND_FIRST, |average| RESEND_FIXED + average * 21 / 10)
    }

    fn on_sample(&mut self, sample: Duration) {
        self.sum += sample;
        self.samples += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_trip_is_the_average_of_the_last_pings() {
        let ms = Duration::from_millis;
        let mut pings = Pings::new(Time::ZERO);
        assert_eq!(pings.resend_after(), ms(27));
        let mut now = Time::ZERO;
        for round_trip in [30, 50, 40, 40, 40] {
            now = pings.ping_at();
            let ping = pings.ping(now, 0);
            pings.on_pong(now + ms(round_trip), u16::from_le_bytes([ping[1], ping[2]]));
            pings.on_pong(now + ms(500), u16::from_le_bytes([ping[1], ping[2]]));
        }
        assert_eq!(pings.round_trip(), Some(ms(40)));
        assert_eq!(pings.resend_after(), ms(25 + 84));
        assert_eq!(now, Time::ZERO + 5 * INTERVAL);
    }

    #[test]
    fn each_ping_is_answered_once() {
        let mut pings = Pings::new(Time::ZERO);
        assert_eq!(pings.pong(2, 1, 7).expect("new")[..3], [first_byte(PONG, 1), 2, 0]);
        assert_eq!(pings.pong(2, 1, 7), None);
        assert_eq!(pings.pong(1, 1, 7), None);
        assert!(pings.pong(3, 1, 7).is_some());
    }
}
