//! Packets from other addresses, and clients that announce a new address. The connection decides about both.

use super::state::Endpoint;
use crate::connection::Context;
use crate::connection::event::PeerId;
use crate::connection::stats::DropReason;
use crate::path::Path;
use crate::time::Time;

impl Endpoint {
    /// Tells a client that its address or socket changed: from now on it sends along `path`, and its server learns of
    /// it at once. The caller closes the old socket. False if there is no such client, it is not established, or it is
    /// on a stream.
    pub fn set_path(&mut self, now: Time, peer: PeerId, path: Path) -> bool {
        let Some(before) = self.slots.connection(peer).map(|connection| connection.path().socket) else { return false };
        let is_moved = self.with(now, peer, |connection, cx| connection.set_path(cx, path)).unwrap_or(false);
        if is_moved {
            self.directory.set_client_socket(peer.index, Some(before), path.socket);
        }
        is_moved
    }

    /// A packet for the connection with this id, from anywhere.
    pub(super) fn handle_packet(&mut self, now: Time, path: Path, id: u32, bytes: &mut [u8]) -> Result<(), DropReason> {
        let Some(index) = self.directory.ids.find(id) else {
            self.reset(path, id, bytes.len());
            return Err(DropReason::UnknownConnection);
        };
        let slot = self.slots.at(index).ok_or(DropReason::UnknownConnection)?;
        let connection = slot.connection.as_deref_mut().ok_or(DropReason::UnknownConnection)?;
        if bytes.len() > connection.accepted_bytes() {
            return Err(DropReason::TooLong);
        }
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        let next = connection.next_number();
        if connection.is_on(&path) {
            connection.handle_packet_here(cx, &path, bytes);
        } else if connection.may_roam_to(&path) {
            connection.handle_packet_from(cx, path, self.secrets.rng.token(&path), bytes);
        } else {
            return Err(DropReason::WrongPath);
        }
        if connection.watches_ids(id) && connection.next_number() > next {
            let released = connection.on_newest_by(now, id);
            released.into_iter().for_each(|id| self.directory.ids.release(id));
            self.after(index);
            return Ok(());
        }
        // Usually the packet only held an acknowledgement, and nothing is due.
        if connection.is_silent(now) {
            self.rearm(index);
            self.account(index);
        } else {
            self.after(index);
        }
        Ok(())
    }
}
