//! Who a connection is: the application's name for it, which side this is, and the ids in its packets.

use super::event::PeerId;

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It asked to be let in.
    Client,
    /// It let somebody in.
    Server,
}

/// Connection ids of both directions; the remote one is 0 until it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionIds {
    pub(crate) local: u32,
    pub(crate) remote: u32,
}

/// Does not change, but for the remote id during the handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) peer: PeerId,
    pub(super) side: Side,
    pub(super) ids: ConnectionIds,
}
