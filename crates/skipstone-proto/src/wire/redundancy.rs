//! The redundancy against loss in the settings and the channel table (WIRE.md section 5). The sender's behaviour is in
//! `redundancy` and `connection`.

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};

/// The protection of a connection, or of a channel, against loss, in addition to retransmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RedundancyMode {
    /// Lost content is retransmitted once, and nothing else.
    Off,
    /// No repair packets; lost content is retransmitted in several copies, a few milliseconds apart.
    Lean,
    /// Repair packets according to the path's measured losses: none on a path without loss. Copies as in `Lean`.
    #[default]
    Adaptive,
    /// A block code: after `sources` packets, `repairs` repair packets, regardless of the path's losses. Copies as in
    /// `Lean`.
    Fixed {
        /// Packets in a block, at least 1; together with `repairs` at most 64.
        sources: u8,
        /// Repair packets for each block, at least 1.
        repairs: u8,
    },
    /// For small urgent messages, such as a player's inputs: no repair packets; each packet with new messages also
    /// contains those of the packets before it that are neither acknowledged nor known to be lost, so a lost message
    /// arrives with the next packet. This is limited by the budget, and applies to every delivery mode except
    /// `ReliableSequenced`, where a newer message replaces an older one. On unreliable channels this is the only
    /// redundancy; reliable ones have the copies of `Lean` as well.
    Repeat {
        /// Packets with new messages that the next one repeats: 1 to 8.
        bursts: u8,
    },
}

impl RedundancyMode {
    /// Whether the mode is within its limits.
    pub const fn is_valid(self) -> bool {
        match self {
            RedundancyMode::Fixed { sources, repairs } => {
                sources > 0 && repairs > 0 && sources as u16 + repairs as u16 <= BLOCK_MAX
            }
            RedundancyMode::Repeat { bursts } => 1 <= bursts && bursts <= BURSTS_MAX,
            RedundancyMode::Off | RedundancyMode::Lean | RedundancyMode::Adaptive => true,
        }
    }

    /// The least [`Redundancy::budget_percent`] with which the mode works: that of a block code, whose repairs would be
    /// dropped otherwise. A repair is as long as the longest packet of its block and has its own header, so it needs a
    /// quarter more than the ratio. Other modes work within any budget.
    pub const fn budget_percent_min(self) -> u16 {
        match self {
            RedundancyMode::Fixed { sources, repairs } if sources > 0 => {
                (repairs as u16 * 125).div_ceil(sources as u16)
            }
            _ => 0,
        }
    }

    pub(super) fn encode(self, writer: &mut Writer<'_>) {
        match self {
            RedundancyMode::Off => writer.u8(0),
            RedundancyMode::Lean => writer.u8(1),
            RedundancyMode::Adaptive => writer.u8(2),
            RedundancyMode::Fixed { sources, repairs } => {
                writer.u8(3);
                writer.u8(sources);
                writer.u8(repairs);
            }
            RedundancyMode::Repeat { bursts } => {
                writer.u8(4);
                writer.u8(bursts);
            }
        }
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mode = match reader.u8()? {
            0 => RedundancyMode::Off,
            1 => RedundancyMode::Lean,
            2 => RedundancyMode::Adaptive,
            3 => RedundancyMode::Fixed { sources: reader.u8()?, repairs: reader.u8()? },
            4 => RedundancyMode::Repeat { bursts: reader.u8()? },
            _ => return Err(Malformed),
        };
        mode.is_valid().then_some(mode).ok_or(Malformed)
    }
}

/// The protection of a connection against loss, and its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redundancy {
    /// The mode of protection.
    pub mode: RedundancyMode,
    /// Maximum bytes of repair packets and copies, in percent of the bytes of the packets that they protect.
    pub budget_percent: u16,
}

impl Default for Redundancy {
    fn default() -> Self {
        Redundancy { mode: RedundancyMode::Adaptive, budget_percent: 125 }
    }
}

impl Redundancy {
    pub(super) fn encode(self, writer: &mut Writer<'_>) {
        self.mode.encode(writer);
        writer.varint(self.budget_percent.into());
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Redundancy { mode: RedundancyMode::decode(reader)?, budget_percent: reader.varint_u16()? })
    }
}

/// Maximum number of source and repair packets of a block.
pub const BLOCK_MAX: u16 = 64;
/// Maximum number of packets that a packet repeats.
pub const BURSTS_MAX: u8 = 8;
/// Maximum bytes of an encoded mode.
pub(super) const MODE_BYTES_MAX: usize = 3;
