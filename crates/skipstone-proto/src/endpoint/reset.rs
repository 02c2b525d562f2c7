//! What is said about packets of connections that nobody knows, and what a client makes of it. WIRE.md section 2.11.

use super::state::Endpoint;
use crate::connection::Side;
use crate::connection::event::PeerId;
use crate::connection::stats::DropReason;
use crate::path::Path;
use crate::time::Time;
use crate::wire::datagram::{self, RESET_BYTES};

impl Endpoint {
    /// A server tells whoever sends packets for a connection that it does not know, most often because it was restarted.
    pub(super) fn reset(&mut self, path: Path, id: u32, length: usize) {
        let is_asked = self.config.is_server && !path.carrier.is_reliable && id != 0 && length >= RESET_BYTES;
        if is_asked && self.replies.has_room_for_reset() {
            self.reply(path, length, RESET_BYTES, |writer| datagram::encode_reset(writer, id));
        }
    }

    /// A server, or somebody who poses as one, does not know a connection of ours.
    pub(super) fn handle_reset(&mut self, now: Time, path: Path, id: u32) -> Result<(), DropReason> {
        let ours = self.slots.find_by(|connection| {
            connection.side() == Side::Client && connection.ids().remote == id && connection.is_on(&path)
        });
        let peer = ours.ok_or(DropReason::UnknownConnection)?;
        let is_taken = self.with(now, peer, |connection, cx| connection.handle_gone(cx));
        if is_taken == Some(true) { Ok(()) } else { Err(DropReason::BadFrame) }
    }

    /// The system says that nobody listens where a client's datagrams go. A connection that stands asks its server first, one
    /// that is being made ends.
    pub fn handle_closed_port(&mut self, now: Time, peer: PeerId) {
        self.with(now, peer, |connection, cx| connection.handle_closed_port(cx));
    }
}
