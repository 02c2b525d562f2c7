//! The two ends of a connection of any transport, and their setup.

use std::net::SocketAddr;

use skipstone_proto::Time;

use crate::compare::condition::Condition;
use crate::compare::packet_logs::PacketLogs;
use crate::compare::peers::peer::Peer;

/// A client that has begun to connect, and its server.
pub(crate) struct Ends {
    pub(crate) client: Box<dyn Peer>,
    pub(crate) server: Box<dyn Peer>,
}

/// The setup of both ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndsSetup<'a> {
    pub(crate) now: Time,
    /// Where the server is.
    pub(crate) server: SocketAddr,
    /// Makes the random choices of both ends.
    pub(crate) seed: u64,
    pub(crate) condition: &'a Condition,
    /// Take Skipstone's packet events.
    pub(crate) logs: &'a PacketLogs,
}
