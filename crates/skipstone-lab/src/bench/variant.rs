//! The variants of a preset besides transport and number of clients.

use serde::{Deserialize, Serialize};

/// How lines are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum LineDelivery {
    /// Each once, in order
    Reliable,
    /// On arrival, or not at all
    Unreliable,
}

/// One of a preset's variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
pub(crate) enum Variant {
    /// Nothing is varied.
    #[display("")]
    Only,
    /// This number of channels is used once, and is idle before the measurement.
    #[display("{_0} channels")]
    Channels(u16),
    /// Each client has this number of lines in flight, there and back.
    #[display("{delivery}, {lines} in flight")]
    InFlight { lines: u32, delivery: LineDelivery },
}

impl Variant {
    pub(crate) fn channels(self) -> u16 {
        match self {
            Self::Channels(channels) => channels,
            Self::Only | Self::InFlight { .. } => 1,
        }
    }

    pub(crate) fn delivery(self) -> LineDelivery {
        match self {
            Self::InFlight { delivery, .. } => delivery,
            Self::Only | Self::Channels(_) => LineDelivery::Reliable,
        }
    }

    pub(crate) fn in_flight(self) -> Option<u32> {
        match self {
            Self::InFlight { lines, .. } => Some(lines),
            Self::Only | Self::Channels(_) => None,
        }
    }

    /// Its name in a result; `None` without variants.
    pub(crate) fn name(self) -> Option<String> {
        (self != Self::Only).then(|| self.to_string())
    }
}
