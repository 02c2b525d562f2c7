//! The two ends of a connection of every transport, each in a file of its own.

#[cfg(feature = "peers")]
mod kcp;
#[cfg(feature = "peers")]
pub(crate) mod quinn;
#[cfg(feature = "peers")]
mod renet;
mod skipstone;

use std::net::SocketAddr;

use skipstone_proto::time::Time;

use super::condition::Condition;
use super::contender::{Contender, Mode, Transport};
use super::peer::Peer;

/// How rows are encrypted.
pub(crate) const SEALING: &str = "skipstone is sealed by a stand-in of DTLS 1.3's sizes, skipstone-plain is not; quinn and renet encrypt, KCP does not.";

/// A client that has begun to connect, and its server.
pub(crate) struct Ends {
    pub(crate) client: Box<dyn Peer>,
    pub(crate) server: Box<dyn Peer>,
}

/// What the ends are told when they are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) now: Time,
    /// Where the server is.
    pub(crate) server: SocketAddr,
    /// Decides what is left to chance at both ends.
    pub(crate) seed: u64,
    #[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "Skipstone finds out by itself"))]
    pub(crate) condition: &'a Condition,
}

/// Both ends of this contender's connection.
pub(crate) fn ends(contender: Contender, setup: Setup<'_>) -> Ends {
    let mode = contender.mode.unwrap_or(Mode::Adaptive);
    match contender.transport {
        Transport::Skipstone => skipstone::ends(skipstone::Suite::Sealed, mode, setup),
        Transport::SkipstonePlain => skipstone::ends(skipstone::Suite::Plain, mode, setup),
        #[cfg(feature = "peers")]
        Transport::Kcp => kcp::ends(kcp::Packing::Stream, kcp::Parity::None, setup),
        #[cfg(feature = "peers")]
        Transport::KcpMsg => kcp::ends(kcp::Packing::PacketPerMessage, kcp::Parity::None, setup),
        #[cfg(feature = "peers")]
        Transport::KcpFec => kcp::ends(kcp::Packing::Stream, kcp::Parity::Blocks, setup),
        #[cfg(feature = "peers")]
        Transport::KcpMsgFec => kcp::ends(kcp::Packing::PacketPerMessage, kcp::Parity::Blocks, setup),
        #[cfg(feature = "peers")]
        Transport::Quinn => quinn::ends(quinn::Tuning::Default, setup),
        #[cfg(feature = "peers")]
        Transport::QuinnTuned => quinn::ends(quinn::Tuning::Expert, setup),
        #[cfg(feature = "peers")]
        Transport::Renet => renet::ends(setup),
        #[cfg(not(feature = "peers"))]
        other => unreachable!("{other} is refused by its name in a build without it"),
    }
}

/// The entity that an update names, for transports without channels.
#[cfg(feature = "peers")]
fn entity_of(payload: &[u8]) -> u16 {
    payload.first_chunk().map_or(u16::MAX, |bytes| u16::from_be_bytes(*bytes))
}

/// Messages in a stream of bytes, each with its length in two bytes before it.
#[cfg(feature = "peers")]
#[derive(Debug, Default)]
struct Framing {
    bytes: Vec<u8>,
    /// So much of it has been read.
    read: usize,
}

#[cfg(feature = "peers")]
impl Framing {
    fn frame(payload: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&(payload.len() as u16).to_be_bytes());
        out.extend_from_slice(payload);
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.read);
        self.read = 0;
        self.bytes.extend_from_slice(bytes);
    }

    fn next(&mut self) -> Option<bytes::Bytes> {
        let rest = &self.bytes[self.read..];
        let (length, rest) = rest.split_first_chunk()?;
        let payload = rest.get(..u16::from_be_bytes(*length).into())?;
        self.read += 2 + payload.len();
        Some(bytes::Bytes::copy_from_slice(payload))
    }
}
