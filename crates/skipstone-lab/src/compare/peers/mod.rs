//! The two ends of a connection of every transport, each in a file of its own.

pub(crate) mod ends;
#[cfg(feature = "peers")]
mod kcp;
#[cfg(feature = "peers")]
pub(crate) mod quinn;
#[cfg(feature = "peers")]
mod renet;
mod skipstone;

use skipstone_proto::RedundancyMode;

use self::ends::{Ends, EndsSetup};
use super::contender::{Contender, Mode, SimulatedTransport};

/// How rows are encrypted.
pub(crate) const SEALING: &str = include_str!("sealing.txt").trim_ascii_end();

/// Both ends of this contender's connection.
pub(crate) fn ends(contender: Contender, setup: EndsSetup<'_>) -> Ends {
    let mode = contender.mode.unwrap_or(Mode(RedundancyMode::Adaptive));
    match contender.transport {
        SimulatedTransport::Skipstone => skipstone::ends(skipstone::Suite::Sealed, mode, setup),
        SimulatedTransport::SkipstonePlain => skipstone::ends(skipstone::Suite::Plain, mode, setup),
        #[cfg(feature = "peers")]
        SimulatedTransport::Kcp => kcp::ends(kcp::Packing::Stream, kcp::Parity::None, setup),
        #[cfg(feature = "peers")]
        SimulatedTransport::KcpMsg => kcp::ends(kcp::Packing::PacketPerMessage, kcp::Parity::None, setup),
        #[cfg(feature = "peers")]
        SimulatedTransport::KcpFec => kcp::ends(kcp::Packing::Stream, kcp::Parity::Blocks, setup),
        #[cfg(feature = "peers")]
        SimulatedTransport::KcpMsgFec => kcp::ends(kcp::Packing::PacketPerMessage, kcp::Parity::Blocks, setup),
        #[cfg(feature = "peers")]
        SimulatedTransport::Quinn => quinn::ends(quinn::Tuning::Default, setup),
        #[cfg(feature = "peers")]
        SimulatedTransport::QuinnTuned => quinn::ends(quinn::Tuning::Expert, setup),
        #[cfg(feature = "peers")]
        SimulatedTransport::Renet => renet::ends(setup),
        #[cfg(not(feature = "peers"))]
        other => unreachable!("{other} is refused by its name in a build without it"),
    }
}
