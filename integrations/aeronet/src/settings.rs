//! How packets of aeronet become messages: the channel, its rule, the length.

use skipstone::{ChannelRule, DeliveryMode, Merging, Overflow, Settings};
use std::fmt;

/// The channel of aeronet's packets. The others are free for the game.
pub const PACKETS: u16 = 0;

/// Longest packet, in bytes: with the headers of Skipstone and an acknowledgement it fits into a datagram of 1,200
/// bytes, which every path carries from the first packet on. Where a path is narrower, packets are fragmented below.
pub const MTU: usize = 1_150;

/// Settings with a channel for aeronet's packets and no other. A game that uses more channels adds rules to
/// [`Settings::channels`].
pub fn settings() -> Settings {
    // A packet that waits is worth less than the one after it.
    let rule =
        ChannelRule { overflow: Overflow::DropOldest, ..ChannelRule::new(PACKETS..=PACKETS, DeliveryMode::Unreliable) };
    // Clients send once in each frame, as the server does.
    Settings { channels: vec![rule], merging: Merging::Flush, ..Settings::default() }
}

/// The server's settings do not have the channel of aeronet's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPacketChannel;

impl NoPacketChannel {
    /// Refuses settings whose channel for packets is not unreliable: a retransmitted packet would hold back later ones.
    pub(crate) fn check(settings: &Settings) -> Result<(), NoPacketChannel> {
        let is_unreliable = settings.rule(PACKETS).is_some_and(|rule| rule.mode == DeliveryMode::Unreliable);
        if is_unreliable { Ok(()) } else { Err(NoPacketChannel) }
    }
}

impl fmt::Display for NoPacketChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server's channel {PACKETS} is not unreliable: let its settings begin with ")?;
        f.write_str("`aeronet_skipstone::settings()`")
    }
}

impl std::error::Error for NoPacketChannel {}
