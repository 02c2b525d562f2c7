//! A client with the library's own machine for moves, and links in place of connections.

use skipstone::PeerId;
use skipstone_proto::ClientMoves;

#[derive(Default)]
pub(crate) struct Client {
    pub(crate) moves: ClientMoves,
    pub(crate) here: Option<PeerId>,
    pub(crate) there: Option<PeerId>,
}
