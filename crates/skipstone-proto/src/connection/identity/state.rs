//! Identity of a connection: the application's name for it, this side's role, and the ids in its packets.

use super::spare_ids::SpareIds;
use crate::connection::event::PeerId;

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that began the connection.
    Client,
    /// The side that accepted the connection.
    Server,
}

/// Connection ids of both directions; the remote one is 0 until it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionIds {
    pub(crate) local: u32,
    pub(crate) remote: u32,
}

/// Identity of a connection. The ids change: the remote one during the handshake, both when the client moves.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) struct Identity {
    pub(in crate::connection) peer: PeerId,
    pub(in crate::connection) side: Side,
    pub(in crate::connection) ids: ConnectionIds,
    pub(in crate::connection) spare: SpareIds,
}

impl Identity {
    /// Whether this is the server's end. Without the feature `server` there is none, and the compiler removes its code.
    pub(in crate::connection) fn is_server(&self) -> bool {
        cfg!(feature = "server") && self.side == Side::Server
    }
}
