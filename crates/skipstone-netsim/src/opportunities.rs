//! A recorded link, played back: the moments at which it carries data. The format is mahimahi's (Netravali and others,
//! 2015): a line for each opportunity, with the millisecond at which 1,504 bytes may leave. After the last line the
//! recording starts again.

use core::{fmt, str::FromStr, time::Duration};
use std::sync::Arc;

/// Bytes per opportunity: an Ethernet frame's payload, and mahimahi's own 4 bytes.
const OPPORTUNITY_BYTES: usize = 1_504;
/// Lines of a recording: more than two hours at 100 Mbit/s.
const OPPORTUNITIES_MAX: usize = 64 << 20;

/// The moments at which a link carries data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// In ms, ascending; the last is the length of the recording, and above zero.
    millis: Arc<[u32]>,
}

/// Why a text is not a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// This line, counted from 1, is not a whole number of milliseconds, or the number is too large.
    NoNumber(usize),
    /// This line, counted from 1, goes back in time.
    Backwards(usize),
    /// The recording has no length: it is empty, or ends at 0.
    NoLength,
    /// More lines than a link keeps.
    TooLong,
}

impl FromStr for Opportunities {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Opportunities, TraceError> {
        let mut millis = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let own: u32 = line.parse().map_err(|_| TraceError::NoNumber(at + 1))?;
            if millis.last().is_some_and(|before| own < *before) {
                return Err(TraceError::Backwards(at + 1));
            }
            if millis.len() == OPPORTUNITIES_MAX {
                return Err(TraceError::TooLong);
            }
            millis.push(own);
        }
        if millis.last().is_none_or(|last| *last == 0) {
            return Err(TraceError::NoLength);
        }
        Ok(Opportunities { millis: millis.into() })
    }
}

impl Opportunities {
    /// The average rate of the recorded link, in bits per second.
    pub fn mean_bits_per_second(&self) -> u64 {
        (self.millis.len() * OPPORTUNITY_BYTES * 8) as u64 * 1_000 / self.period()
    }

    /// In ms.
    fn period(&self) -> u64 {
        self.millis.last().map_or(1, |last| u64::from(*last))
    }

    fn time(&self, number: u64) -> Duration {
        let count = self.millis.len() as u64;
        let within = u64::from(self.millis[(number % count) as usize]);
        Duration::from_millis((number / count).saturating_mul(self.period()).saturating_add(within))
    }

    /// The number of the first one that is not before this moment.
    fn first_from(&self, moment: Duration) -> u64 {
        let (count, period) = (self.millis.len() as u64, self.period());
        let millis = u64::try_from(moment.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        // The last opportunity of a round is at the beginning of the next.
        let round = millis.saturating_sub(1) / period;
        let within = millis - round * period;
        round * count + self.millis.partition_point(|own| u64::from(*own) < within) as u64
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber(line) => write!(f, "line {line} is not a whole number of milliseconds"),
            Self::Backwards(line) => write!(f, "line {line} is earlier than the line before it"),
            Self::NoLength => write!(f, "it has no line with a time above 0"),
            Self::TooLong => write!(f, "it has more than {OPPORTUNITIES_MAX} lines"),
        }
    }
}

impl core::error::Error for TraceError {}

/// How far a link has used its opportunities.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Playback {
    /// The number of the first opportunity that was not used.
    next: u64,
    /// Bytes that the previous opportunity can still carry.
    rest: usize,
}

impl Playback {
    /// When these bytes have left, if they may begin at `from`. A datagram takes what its predecessor left of an
    /// opportunity, and as many whole ones as it needs; an opportunity that is not used at its time is lost.
    pub(crate) fn carry(&mut self, from: Duration, bytes: usize, opportunities: &Opportunities) -> Duration {
        if self.next == 0 || opportunities.time(self.next - 1) < from {
            self.rest = 0;
        }
        self.next = self.next.max(opportunities.first_from(from));
        let missing = bytes.saturating_sub(self.rest);
        let whole = missing.div_ceil(OPPORTUNITY_BYTES);
        self.rest = self.rest + whole * OPPORTUNITY_BYTES - bytes;
        self.next += whole as u64;
        opportunities.time(self.next.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn opportunities_repeat_after_the_last_line() {
        let trace: Opportunities = "0\n3\n3\n10\n".parse().unwrap();
        let times: Vec<u128> = (0..9).map(|number| trace.time(number).as_millis()).collect();
        assert_eq!(times, [0, 3, 3, 10, 10, 13, 13, 20, 20]);
        for moment in 0..50 {
            let first = trace.first_from(ms(moment));
            assert!(trace.time(first) >= ms(moment), "at {moment}");
            assert!(first == 0 || trace.time(first - 1) < ms(moment), "at {moment}");
        }
        assert_eq!(trace.first_from(Duration::from_micros(3_001)), 3);
    }

    #[test]
    fn datagrams_share_an_opportunity_and_large_ones_use_several() {
        let trace: Opportunities = "5\n10\n15\n20\n".parse().unwrap();
        let mut playback = Playback::default();
        assert_eq!(playback.carry(ms(0), 700, &trace), ms(5));
        assert_eq!(playback.carry(ms(5), 700, &trace), ms(5));
        assert_eq!(playback.carry(ms(5), 700, &trace), ms(10), "104 bytes at 5 ms, the rest at 10 ms");
        assert_eq!(playback.carry(ms(12), 3_008, &trace), ms(20), "what was left at 10 ms is gone");
        assert_eq!(playback.carry(ms(20), 1, &trace), ms(25));
    }

    #[test]
    fn an_invalid_recording_is_refused_with_the_line() {
        let error = |text: &str| text.parse::<Opportunities>().unwrap_err();
        assert_eq!(error("1\n2\nx\n"), TraceError::NoNumber(3));
        assert_eq!(error("1\n-2\n"), TraceError::NoNumber(2));
        assert_eq!(error("4\n3\n"), TraceError::Backwards(2));
        assert_eq!(error("0\n0\n"), TraceError::NoLength);
        assert_eq!(error(""), TraceError::NoLength);
    }
}
