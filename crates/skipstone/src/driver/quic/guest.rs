//! One QUIC connection of a client, and the session in it.

use super::session::Session;
use crate::driver::carrier::webtransport_carrier;
use quinn_proto::{Connection, ConnectionHandle};
use skipstone_proto::{Path, Time};
use std::net::{IpAddr, SocketAddr};

pub(super) struct Guest {
    /// The shared UDP socket.
    pub(super) socket: u32,
    /// The address from which the client came. QUIC may move; the path of the protocol's connection stays.
    pub(super) remote: SocketAddr,
    /// The server's address that the client asked, if the socket has several: QUIC answers from there.
    pub(super) local: Option<IpAddr>,
    pub(super) handle: ConnectionHandle,
    pub(super) quic: Connection,
    pub(super) session: Session,
    pub(super) stage: Stage,
    pub(super) until: Time,
    /// The entry in the list of deadlines: never later than what is to be done next.
    pub(super) due: Time,
    /// Bytes of a packet that the protocol was told.
    pub(super) packet_bytes: u16,
    /// Of the datagram that was given to QUIC last and has no packet yet; 0 if all have one.
    pub(super) newest_bytes: usize,
    /// It is in the list of those with whom something happened.
    pub(super) is_unsettled: bool,
    /// QUIC has forgotten the connection.
    pub(super) is_drained: bool,
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Its handshake began without a proof of its address.
    Stranger,
    /// Its address is proven; it has no session yet.
    Proven,
    /// It has a session without a connection of the protocol.
    Open,
    /// The protocol has answered it: it is a client, whatever it was told.
    Answered,
    Connected,
    /// It is told that the session is over.
    Closing,
}

impl Guest {
    pub(super) fn path(&self, number: u32) -> Path {
        Path { socket: number, local: self.local, remote: self.remote, carrier: webtransport_carrier(&self.remote) }
    }

    /// Bytes of a packet that the session takes at present; `None` without a session.
    pub(super) fn packet_bytes(&mut self) -> Option<u16> {
        let prefix = Some(self.session.prefix().len()).filter(|bytes| *bytes > 0)?;
        let bytes = self.quic.datagrams().max_size()?.saturating_sub(prefix);
        Some(u16::try_from(bytes).unwrap_or(u16::MAX))
    }
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest").field("remote", &self.remote).field("stage", &self.stage).finish_non_exhaustive()
    }
}
