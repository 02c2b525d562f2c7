//! The engine's transfer modes and channels as channels of Skipstone.

use skipstone::{ChannelRule, DeliveryMode, Settings};
use std::time::Duration;

/// How a packet is delivered, by the engine's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    Unreliable,
    /// Older packets than the newest are dropped.
    UnreliableOrdered,
    #[default]
    Reliable,
}

/// The transfer channels of each mode: 0 to 255.
pub(crate) const CHANNELS: u16 = 256;

/// Packets of a frame leave together, this long after the first: the engine has no place in a frame where they could be
/// flushed.
const MERGING: Duration = Duration::from_millis(2);

impl Mode {
    const ALL: [Mode; 3] = [Mode::Unreliable, Mode::UnreliableOrdered, Mode::Reliable];

    fn delivery(self) -> DeliveryMode {
        match self {
            Mode::Unreliable => DeliveryMode::Unreliable,
            Mode::UnreliableOrdered => DeliveryMode::UnreliableSequenced,
            Mode::Reliable => DeliveryMode::ReliableOrdered,
        }
    }
}

/// The channel of a mode and a transfer channel; `None` if there is no such transfer channel.
pub(crate) fn channel(mode: Mode, transfer_channel: i32) -> Option<u16> {
    let of_mode = u16::try_from(transfer_channel).ok().filter(|channel| *channel < CHANNELS)?;
    Some(mode as u16 * CHANNELS + of_mode)
}

/// The mode and the transfer channel of a channel.
pub(crate) fn mode(channel: u16) -> Option<(Mode, i32)> {
    let mode = Mode::ALL.get(usize::from(channel / CHANNELS))?;
    Some((*mode, i32::from(channel % CHANNELS)))
}

/// When a side sends.
pub(crate) fn merging() -> skipstone::Merging {
    skipstone::Merging::After(MERGING)
}

/// A server's settings: a range of channels for each mode.
pub(crate) fn settings() -> Settings {
    let rule = |mode: Mode| {
        let first = mode as u16 * CHANNELS;
        ChannelRule::new(first..=first + CHANNELS - 1, mode.delivery())
    };
    Settings { channels: Mode::ALL.map(rule).to_vec(), merging: merging(), ..Settings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_and_transfer_channel_has_a_channel_of_its_delivery() {
        let settings = settings();
        for expected in Mode::ALL {
            for transfer_channel in [0, 1, 255] {
                let channel = channel(expected, transfer_channel).expect("it exists");
                assert_eq!(mode(channel), Some((expected, transfer_channel)));
                assert_eq!(settings.rule(channel).expect("a rule covers it").mode, expected.delivery());
            }
        }
    }

    #[test]
    fn other_channels_do_not_exist() {
        assert_eq!([-1, 256, i32::MAX].map(|transfer_channel| channel(Mode::Reliable, transfer_channel)), [None; 3]);
        assert_eq!(mode(3 * CHANNELS), None);
    }
}
