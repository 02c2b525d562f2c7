//! Configuration of a link as plain data, and its validation.

use core::{fmt, time::Duration};

use crate::opportunities::Opportunities;

/// Effects of one direction of a path on datagrams. The default is an ideal link: nothing is delayed, lost or changed.
///
/// Probabilities are per datagram, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Time from the end of serialisation to the arrival: propagation, one way.
    pub delay: Duration,
    /// Adds a uniform random time from zero up to this to each datagram.
    ///
    /// A datagram that would overtake an earlier one arrives together with it instead, so at spacings far below the
    /// jitter most datagrams wait for the unluckiest before them and the mean is above half of this.
    pub jitter: Duration,
    /// Lets jitter reorder: every datagram takes its own time, regardless of earlier ones.
    pub jitter_reorders: bool,
    /// How fast the link serialises, counting [`header_bytes`](Self::header_bytes). `None`: in no time.
    pub rate_bits_per_second: Option<u64>,
    /// Moments at which the link carries data, instead of a rate: a recorded radio link, played back. They count from
    /// the caller's epoch.
    pub opportunities: Option<Opportunities>,
    /// How much may wait for the rate, or for an opportunity, before the newest is dropped. Matters only with one of
    /// them.
    pub queue: QueueLimit,
    /// How datagrams get lost on the way.
    pub loss: Loss,
    /// Probability that a datagram is held back, so that later ones overtake it.
    pub reorder: f64,
    /// The longest that a datagram is held back; the time is uniform from zero up to this.
    ///
    /// Only datagrams sent within that time can overtake. The default, 20 ms, is longer than a tick at 60 Hz.
    pub reorder_extra: Duration,
    /// Probability that a datagram arrives twice.
    ///
    /// The copy carries the same bytes (also if they are corrupted), does not count towards the rate and immediately
    /// follows its original, unless it is held back by its own chance of [`reorder`](Self::reorder) or takes its own
    /// jitter under [`jitter_reorders`](Self::jitter_reorders).
    pub duplicate: f64,
    /// Probability that one to three random bits of a datagram are flipped. An empty datagram has none to flip.
    pub corrupt: f64,
    /// Times when the link is down. A datagram sent then is lost; one already in flight arrives.
    pub outages: Vec<Outage>,
    /// The largest datagram that the link carries, without [`header_bytes`](Self::header_bytes). `None`: any.
    pub datagram_bytes_max: Option<usize>,
    /// Bytes that each datagram costs the rate and the queue besides its own. The default, 28, is IPv4 and UDP.
    pub header_bytes: usize,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            jitter_reorders: false,
            rate_bits_per_second: None,
            opportunities: None,
            queue: QueueLimit::Unlimited,
            loss: Loss::None,
            reorder: 0.0,
            reorder_extra: Duration::from_millis(20),
            duplicate: 0.0,
            corrupt: 0.0,
            outages: Vec::new(),
            datagram_bytes_max: None,
            header_bytes: 28,
        }
    }
}

impl LinkConfig {
    /// Checks that the configuration is valid.
    ///
    /// # Errors
    /// A probability outside 0 to 1, a rate of zero, or a burst loss that no two-state chain has.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.loss.validate()?;
        probability("reorder", self.reorder)?;
        probability("duplicate", self.duplicate)?;
        probability("corrupt", self.corrupt)?;
        if self.rate_bits_per_second == Some(0) {
            return Err(ConfigError::RateZero);
        }
        if self.rate_bits_per_second.is_some() && self.opportunities.is_some() {
            return Err(ConfigError::RateAndOpportunities);
        }
        Ok(())
    }

    /// Whether the link is down at `now`.
    pub(crate) fn is_down(&self, now: Duration) -> bool {
        self.outages.iter().any(|outage| outage.covers(now))
    }
}

/// How much may wait for a link's rate. A datagram that finds the link idle never waits, so it is never dropped here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything waits, for as long as it takes.
    #[default]
    Unlimited,
    /// At most this many bytes wait, counting headers, and not counting the datagram that is being serialised.
    Bytes(usize),
    /// Nothing waits longer than this.
    Time(Duration),
}

/// How a link loses datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// No loss.
    #[default]
    None,
    /// Each datagram is lost with this probability, independently.
    Random(f64),
    /// In bursts: a Gilbert-Elliott chain (Gilbert 1960, Elliott 1963) that loses everything in its bad state and
    /// nothing in its good one, stepped once per datagram sent.
    Burst {
        /// Share of all datagrams that is lost, in the long run; below 1.
        rate: f64,
        /// Mean number of datagrams lost in a row; at least 1, and at least `rate / (1 - rate)`.
        mean_length: f64,
    },
    /// In fades: as [`Burst`](Self::Burst), except that the chain moves only with time: links of one seed are faded at
    /// the same moments, whatever they carry. Datagrams sent at one moment share their fate, and a fade that falls
    /// between two datagrams hits none.
    Fade {
        /// Share of the time for which the link is faded, in the long run; below 1.
        rate: f64,
        /// Mean length of a fade; at least 1 ms, and at least `1 / (1 - rate)` microseconds.
        mean_length: Duration,
    },
}

impl Loss {
    fn validate(self) -> Result<(), ConfigError> {
        match self {
            Loss::None => Ok(()),
            Loss::Random(rate) => probability("loss", rate),
            Loss::Fade { rate, mean_length } => {
                probability("loss", rate)?;
                // Its chain steps each microsecond, and the sum of both transition probabilities must itself be a
                // probability.
                if mean_length < FADE_MIN || mean_length.as_micros() as f64 * (1.0 - rate) < 1.0 {
                    return Err(ConfigError::FadeLength { rate, mean_length });
                }
                Ok(())
            }
            Loss::Burst { rate, mean_length } => {
                probability("loss", rate)?;
                if !mean_length.is_finite() || mean_length < 1.0 {
                    return Err(ConfigError::BurstLength(mean_length));
                }
                // The chain leaves its good state with this probability over the mean length, at most 1. At a rate of 1
                // it never leaves, and this is infinite.
                if rate / (1.0 - rate) > mean_length {
                    return Err(ConfigError::BurstTooDense { rate, mean_length });
                }
                Ok(())
            }
        }
    }
}

/// The shortest mean of fades.
const FADE_MIN: Duration = Duration::from_millis(1);

/// A time during which a link is down: from `start`, for `length`, not including its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it begins, since the caller's epoch.
    pub start: Duration,
    /// How long it lasts.
    pub length: Duration,
}

impl Outage {
    fn covers(self, now: Duration) -> bool {
        now.checked_sub(self.start).is_some_and(|into| into < self.length)
    }
}

/// Why a [`LinkConfig`] makes no sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfigError {
    /// A probability is not a number from 0 to 1.
    Probability {
        /// The field of the configuration.
        field: &'static str,
        /// The invalid value of that field.
        value: f64,
    },
    /// A rate of zero would never carry anything; use an [`Outage`] instead.
    RateZero,
    /// A rate and recorded opportunities: only one of them can set the speed of the link.
    RateAndOpportunities,
    /// A mean burst length below 1, or not finite.
    BurstLength(f64),
    /// This loss rate needs longer bursts: the gaps between bursts would have to be shorter than one datagram.
    BurstTooDense {
        /// The loss asked for.
        rate: f64,
        /// The mean burst length asked for.
        mean_length: f64,
    },
    /// Fades of a mean below 1 ms, or a link that is always faded.
    FadeLength {
        /// The loss asked for.
        rate: f64,
        /// The mean length asked for.
        mean_length: Duration,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Probability { field, value } => {
                write!(f, "{field} is {value}, not a probability from 0 to 1")
            }
            Self::RateZero => write!(f, "a rate of 0 bits per second carries nothing; use an outage"),
            Self::RateAndOpportunities => {
                write!(f, "a rate and a recorded trace both say how fast the link is; choose one")
            }
            Self::BurstLength(length) => write!(f, "a mean burst length of {length} is not a number of 1 or more"),
            Self::BurstTooDense { rate, mean_length } => {
                write!(f, "a loss rate of {rate} cannot be made of bursts as short as {mean_length}")
            }
            Self::FadeLength { rate, mean_length } => {
                write!(f, "a loss rate of {rate} cannot be made of fades of {mean_length:?}; a fade lasts 1 ms or more")
            }
        }
    }
}

impl core::error::Error for ConfigError {}

fn probability(field: &'static str, value: f64) -> Result<(), ConfigError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(ConfigError::Probability { field, value }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_includes_its_start_and_excludes_its_end() {
        let outage = Outage { start: Duration::from_secs(2), length: Duration::from_secs(1) };
        assert!(!outage.covers(Duration::from_nanos(1_999_999_999)));
        assert!(outage.covers(Duration::from_secs(2)));
        assert!(outage.covers(Duration::from_nanos(2_999_999_999)));
        assert!(!outage.covers(Duration::from_secs(3)));
    }

    #[test]
    fn an_endless_outage_does_not_overflow() {
        let outage = Outage { start: Duration::from_secs(2), length: Duration::MAX };
        assert!(outage.covers(Duration::MAX));
    }
}
