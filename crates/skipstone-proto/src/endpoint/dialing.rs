//! A client whose server has several addresses. The embedder sends its HELLO to each of them in turn, from a path that
//! represents all of them; the first answer decides which address is the path.

use super::state::Endpoint;
use crate::connection::event::PeerId;
use crate::path::Path;
use crate::time::Time;
use crate::wire::datagram::{self, Datagram};

impl Endpoint {
    /// Whether this datagram answers the HELLO of a client that has had no answer yet, from any address.
    pub fn is_answer(&mut self, peer: PeerId, datagram: &[u8]) -> bool {
        let Some(connection) = self.slots.connection(peer) else { return false };
        match datagram::decode(datagram) {
            Ok(Datagram::Challenge(challenge)) => connection.awaits_answer(challenge.to, challenge.nonce),
            Ok(Datagram::Refuse { to, nonce, .. } | Datagram::Versions { to, nonce, .. }) => {
                connection.awaits_answer(to, nonce)
            }
            _ => false,
        }
    }

    /// Sets the path of a client that has had no answer yet: this address answered, or the stream to it opened. The
    /// new path's carrier must be as reliable as the previous path's. False if the client was answered already, or has
    /// ended.
    pub fn settle_path(&mut self, peer: PeerId, path: Path) -> bool {
        let Some(connection) = self.slots.connection(peer) else { return false };
        let before = *connection.path();
        if before.carrier.is_bound != path.carrier.is_bound
            || before.carrier.is_reliable != path.carrier.is_reliable
            || !connection.settle_path(path)
        {
            return false;
        }
        if path.carrier.is_bound {
            self.directory.by_socket.remove(&before.socket);
            self.directory.by_socket.insert(path.socket, peer.index);
        }
        self.directory.set_client_socket(peer.index, Some(before.socket), path.socket);
        self.activate(peer.index);
        true
    }

    /// Gives a client whose server has forgotten its handshake another id and another nonce, with which it starts
    /// again.
    pub(super) fn begin_anew(&mut self, now: Time, index: u32) {
        let id = self.directory.ids.assign_spare(&mut self.secrets.rng, index);
        let nonce = self.secrets.rng.number();
        let Some(connection) = self.slots.connection_at(index) else { return };
        let before = connection.ids().local;
        connection.begin_anew(now, id.unwrap_or(before), nonce);
        if id.is_some() {
            self.directory.ids.release(before);
        }
    }

    /// Ends a client that cannot reach a server, with the embedder's code and reason.
    pub fn handle_unreachable(&mut self, now: Time, peer: PeerId, code: u64, reason: &str) {
        self.with(now, peer, |connection, cx| connection.handle_carrier_lost(cx, code, reason));
    }
}
