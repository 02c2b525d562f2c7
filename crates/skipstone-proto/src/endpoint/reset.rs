//! RESET: a server's answer to packets and handshakes of unknown connections, and a client's reaction. WIRE.md section 2.11.

use super::state::Endpoint;
use crate::connection::Side;
use crate::connection::event::PeerId;
use crate::connection::stats::DropReason;
use crate::path::Path;
use crate::time::Time;
use crate::wire::datagram::{self, RESET_BYTES};

impl Endpoint {
    /// A server sends RESET to the sender of packets for an unknown connection, most often because the server was
    /// restarted; or to the client of a handshake that it gave up.
    pub(super) fn reset(&mut self, path: Path, id: u32, length: usize) {
        let is_asked = self.is_server() && !path.carrier.is_reliable && id != 0 && length >= RESET_BYTES;
        if is_asked && !self.replies.push_reset(path, |writer| datagram::encode_reset(writer, id)) {
            self.totals.past.drops.count(DropReason::TooManyReplies);
        }
    }

    /// Handles a RESET: a server, or an attacker in its place, does not know one of our connections.
    pub(super) fn handle_reset(&mut self, now: Time, path: Path, id: u32) -> Result<(), DropReason> {
        // A server never gets one, and looking for its connection would cost it the more the more clients it has.
        if self.is_server() {
            return Err(DropReason::BadFrame);
        }
        let ours = self.slots.find_by(|connection| {
            connection.side() == Side::Client && connection.ids().remote == id && connection.is_on(&path)
        });
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
