//! The two ends of a connection of every transport, each in its own file.

pub(crate) mod ends;
#[cfg(feature = "peers")]
mod kcp;
pub(crate) mod peer;
#[cfg(feature = "peers")]
pub(crate) mod quinn;
#[cfg(feature = "peers")]
mod renet;
pub(crate) mod skipstone;

use skipstone_proto::RedundancyMode;

use self::ends::{Ends, EndsSetup};
use self::skipstone::{Ages, Suite};
use super::contender::Contender;
use super::transport::Transport;
use crate::units::Mode;

/// How rows are encrypted.
pub(crate) const SEALING: &str = include_str!("sealing.txt").trim_ascii_end();

/// Both ends of this contender's connection.
pub(crate) fn ends(contender: Contender, setup: EndsSetup<'_>) -> Ends {
    let mode = contender.mode.unwrap_or(Mode(RedundancyMode::Adaptive));
    match contender.transport {
        Transport::Skipstone => skipstone::ends(Suite::Sealed, Ages::HandedOn, mode, setup),
        Transport::SkipstoneAgeless => skipstone::ends(Suite::Sealed, Ages::Dropped, mode, setup),
        Transport::SkipstonePlain => skipstone::ends(Suite::Plain, Ages::HandedOn, mode, setup),
        #[cfg(feature = "peers")]
        other => other_ends(other, setup),
        #[cfg(not(feature = "peers"))]
        other => unreachable!("a build without {other} refuses its name"),
    }
}

#[cfg(feature = "peers")]
fn other_ends(transport: Transport, setup: EndsSetup<'_>) -> Ends {
    match transport {
        Transport::Kcp => kcp::ends(kcp::KcpStyle::STREAM, setup),
        Transport::KcpTuned => kcp::ends(kcp::KcpStyle::PROMPT, setup),
        Transport::KcpMsg => kcp::ends(kcp::KcpStyle::PER_MESSAGE, setup),
        Transport::KcpFec => kcp::ends(kcp::KcpStyle::STREAM.in_blocks(10, 3), setup),
        Transport::KcpMsgFec => kcp::ends(kcp::KcpStyle::PER_MESSAGE.in_blocks(10, 3), setup),
        Transport::KcpFecTwice => kcp::ends(kcp::KcpStyle::STREAM.in_blocks(1, 1), setup),
        Transport::KcpFecThrice => kcp::ends(kcp::KcpStyle::STREAM.in_blocks(1, 2), setup),
        Transport::Quinn => quinn::ends(quinn::QuinnTuning::Default, setup),
        Transport::QuinnTuned => quinn::ends(quinn::QuinnTuning::Expert, setup),
        Transport::QuinnBbr => quinn::ends(quinn::QuinnTuning::ExpertBbr, setup),
        Transport::Renet => renet::ends(renet::RenetTuning::Default, setup),
        Transport::RenetTuned => renet::ends(renet::RenetTuning::Expert, setup),
        other => unreachable!("{other} has no simulated ends"),
    }
}
