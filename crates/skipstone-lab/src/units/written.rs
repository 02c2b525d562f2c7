//! Values in plans and messages are written as on the command line: as text.

/// Reads and writes types by what they parse and display.
macro_rules! written_as_text {
    ($($type:ty),*) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

#[cfg(feature = "experiments")]
pub(crate) use written_as_text;

use super::bit_rate::BitRate;
use super::burst::Burst;
use super::fade::Fade;
use super::percent::Percent;
use super::rate::Rate;
use super::redundancy::{Budget, Mode};
use super::span::Span;

written_as_text!(BitRate, Burst, Budget, Fade, Mode, Percent, Rate, Span);
