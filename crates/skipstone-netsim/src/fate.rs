//! The fate of a sent datagram, and the causes of loss.

use core::fmt;

/// The fate of a datagram that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The datagram is on its way and will arrive.
    Queued,
    /// The datagram will not arrive.
    Lost(LossCause),
}

/// Why a datagram was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossCause {
    /// [`Loss::Random`](crate::Loss::Random).
    Random,
    /// [`Loss::Burst`](crate::Loss::Burst).
    Burst,
    /// [`Loss::Fade`](crate::Loss::Fade).
    Fade,
    /// The queue before the rate was full: [`QueueLimit`](crate::QueueLimit).
    Queue,
    /// The link was down: [`Outage`](crate::Outage).
    Outage,
    /// Larger than [`LinkConfig::datagram_bytes_max`](crate::LinkConfig::datagram_bytes_max).
    TooLarge,
}

impl fmt::Display for LossCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "random",
            Self::Burst => "burst",
            Self::Fade => "fade",
            Self::Queue => "queue full",
            Self::Outage => "outage",
            Self::TooLarge => "too large",
        })
    }
}
