//! RESET: a server's answer to packets and handshakes of unknown connections, and a client's reaction. WIRE.md
//! section 2.11.

use super::state::Endpoint;
use crate::connection::event::PeerId;
use crate::connection::stats::DropReason;
use crate::path::Path;
use crate::time::Time;
use crate::wire::datagram::{self, Datagram, RESET_BYTES};

/// Stands for a connection's id if the whole session of a carrier is unknown.
const UNKNOWN_SESSION: u32 = 0;

impl Endpoint {
    /// A server sends RESET to the sender of packets for an unknown connection, most often because the server was
    /// restarted; or to the client of a handshake that it gave up.
    pub(super) fn reset(&mut self, path: Path, id: u32, length: usize) {
        if id != 0 {
            self.answer_unknown(path, id, length);
        }
    }

    /// A server answers a record of a carrier's session that it does not know. The carrier of `path` is the one beneath
    /// that session.
    pub fn handle_unknown_session(&mut self, path: Path, length: usize) {
        self.answer_unknown(path, UNKNOWN_SESSION, length);
    }

    fn answer_unknown(&mut self, path: Path, id: u32, length: usize) {
        let is_asked = self.is_server() && !path.carrier.is_reliable && length >= RESET_BYTES;
        if is_asked && !self.replies.push_reset(path, |writer| datagram::encode_reset(writer, id)) {
            self.totals.past.drops.count(DropReason::TooManyReplies);
        }
    }

    /// Whether a datagram outside a carrier's session says that the server does not know the session. No other datagram
    /// outside the session goes to the endpoint.
    pub fn is_session_reset(datagram: &[u8]) -> bool {
        datagram.len() == RESET_BYTES && datagram::decode(datagram) == Ok(Datagram::Reset { id: UNKNOWN_SESSION })
    }

    /// Handles a RESET: a server, or an attacker in its place, does not know one of our connections.
    pub(super) fn handle_reset(&mut self, now: Time, path: Path, id: u32) -> Result<(), DropReason> {
        // A server never gets one.
        if self.is_server() {
            return Err(DropReason::BadFrame);
        }
        let Endpoint { directory, slots, .. } = self;
        let mut of_socket = directory.clients_of(path.socket).filter_map(|index| slots.peer_at(index));
        let ours = of_socket.find(|peer| {
            let Some(connection) = slots.peek(*peer) else { return false };
            let is_meant = match id {
                UNKNOWN_SESSION => path.carrier.is_protected,
                id => connection.ids().remote == id,
            };
            is_meant && connection.is_on(&path)
        });
        drop(of_socket);
        let peer = ours.ok_or(DropReason::UnknownConnection)?;
        let is_taken = self.with(now, peer, |connection, cx| connection.handle_gone(cx));
        if is_taken == Some(true) { Ok(()) } else { Err(DropReason::BadFrame) }
    }

    /// Handles a report of the system that a client's datagrams reach a closed port. An established connection probes
    /// its server first; a connection whose handshake is in progress ends.
    pub fn handle_closed_port(&mut self, now: Time, peer: PeerId) {
        self.with(now, peer, |connection, cx| connection.handle_closed_port(cx));
    }
}
