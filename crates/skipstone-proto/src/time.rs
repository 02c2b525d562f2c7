//! Points in time, by the embedder's clock. The core never reads a clock.

use core::ops::{Add, AddAssign, Sub};
pub use core::time::Duration;

/// Microseconds since an epoch that the embedder chooses. Only differences are meaningful.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The epoch itself.
    pub const ZERO: Time = Time(0);
    /// Later than every deadline.
    pub const NEVER: Time = Time(u64::MAX);

    /// The time `micros` microseconds after the epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Time(micros)
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The time since `earlier`; zero if it is in the future.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(micros(span)))
    }
}

/// Whole microseconds of a span, or the maximum of 64 bits.
const fn micros(span: Duration) -> u64 {
    span.as_secs().saturating_mul(1_000_000).saturating_add(span.subsec_micros() as u64)
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, span: Duration) -> Time {
        Time(self.0.saturating_sub(micros(span)))
    }
}

impl core::fmt::Debug for Time {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if *self == Time::NEVER { f.write_str("never") } else { write!(f, "{}us", self.0) }
    }
}
