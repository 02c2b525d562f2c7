//! Connections and sockets with something for the embedder, each listed once, so that nothing walks all of them.

use crate::connection::event::PeerId;
use std::collections::VecDeque;

/// Lists of connections and sockets to process.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// Connections that may have something to send.
    pub(super) active: VecDeque<u32>,
    /// Connections with messages that wait for a flush.
    pub(super) unflushed: Vec<u32>,
    /// Connections to which something happened since [`Endpoint::take_touched`](super::Endpoint::take_touched).
    pub(super) touched: Vec<PeerId>,
    /// Sockets whose connection has ended.
    pub(super) released: VecDeque<u32>,
}
