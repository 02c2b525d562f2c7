//! Errors of a configuration: the field, its value, its range, and the remedy.

use crate::wire::settings::{CHANNEL_RULES_MAX, ChannelRule, DeliveryMode};
use core::fmt;
use core::ops::RangeInclusive;

/// Why a [`Config`](super::Config) is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A field is out of its range.
    OutOfRange {
        /// The field as it is written in the source, such as `settings.channels[2].weight`.
        field: String,
        /// Value of the field.
        value: String,
        /// The values that the field may have.
        range: String,
    },
    /// The channel table has no rule, so that nothing could be sent.
    NoChannels,
    /// The channel table has more rules than its encoding allows.
    TooManyRules {
        /// Number of rules in the table.
        rules: usize,
    },
    /// Two rules of the channel table cover the same channel.
    OverlappingRules {
        /// Places of the two rules in `settings.channels`.
        rules: [usize; 2],
        /// Their channels.
        channels: [RangeInclusive<u16>; 2],
    },
    /// A rule's redundancy is `Repeat`, from the rule or from the settings, but its delivery mode does not allow
    /// repeats.
    CannotRepeat {
        /// The rule's place in `settings.channels`.
        rule: usize,
        /// Its channels.
        channels: RangeInclusive<u16>,
        /// Its mode.
        mode: DeliveryMode,
    },
    /// Two inbound rules cover the same channel.
    OverlappingInboundRules {
        /// Places of the two rules in `inbound`.
        rules: [usize; 2],
    },
    /// An inbound rule would drop messages of a reliable channel, which their senders would consider delivered.
    CannotDrop {
        /// The rule's place in `inbound`.
        rule: usize,
        /// The reliable channels.
        channels: RangeInclusive<u16>,
    },
    /// The encoded settings do not fit into the packet that carries them to the client.
    ChannelTableTooLong {
        /// Bytes of the packet's frame.
        bytes: usize,
        /// Bytes available for it in the first datagrams of a connection.
        bytes_max: usize,
    },
}

impl ConfigError {
    /// A field is out of its range.
    pub fn out_of_range(field: impl Into<String>, value: impl fmt::Debug, range: impl Into<String>) -> Self {
        ConfigError::OutOfRange { field: field.into(), value: format!("{value:?}"), range: range.into() }
    }

    /// Two rules of the channel table cover the same channel.
    pub(super) fn overlapping(rules: [usize; 2], table: &[ChannelRule]) -> Self {
        ConfigError::OverlappingRules { rules, channels: rules.map(|rule| table[rule].first..=table[rule].last) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::OutOfRange { field, value, range } => write!(f, "{field} is {value}: set it to {range}"),
            ConfigError::NoChannels => f.write_str(
                "settings.channels is empty, so nothing could be sent: add a rule, such as one for channels 0 to \
                 65535, reliable and in order",
            ),
            ConfigError::TooManyRules { rules } => write!(
                f,
                "settings.channels has {rules} rules: use at most {CHANNEL_RULES_MAX}, each over a range of channels"
            ),
            ConfigError::OverlappingRules { rules: [first, second], channels: [of_first, of_second] } => write!(
                f,
                "settings.channels[{first}] (channels {}) and settings.channels[{second}] (channels {}) overlap: give \
                 each channel one rule",
                ChannelRange(of_first),
                ChannelRange(of_second)
            ),
            ConfigError::CannotRepeat { rule, channels, mode } => write!(
                f,
                "settings.channels[{rule}] (channels {}) is {mode:?}, which cannot repeat, because a newer message \
                 takes the place of an older one: use lean redundancy for it, or another delivery mode",
                ChannelRange(channels)
            ),
            ConfigError::OverlappingInboundRules { rules: [first, second] } => {
                write!(f, "inbound[{first}] and inbound[{second}] overlap: give each channel one inbound rule")
            }
            ConfigError::CannotDrop { rule, channels } => write!(
                f,
                "inbound[{rule}] drops messages, and channels {} are reliable: close the connection there instead",
                ChannelRange(channels)
            ),
            ConfigError::ChannelTableTooLong { bytes, bytes_max } => write!(
                f,
                "the settings take {bytes} bytes and must fit into {bytes_max}, one datagram: use fewer rules over \
                 wider ranges of channels"
            ),
        }
    }
}

impl core::error::Error for ConfigError {}

/// A range of channels as text.
pub(super) struct ChannelRange<'a>(pub(super) &'a RangeInclusive<u16>);

impl fmt::Display for ChannelRange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.0.start(), self.0.end())
    }
}
