//! Tables that find a datagram's connection: by id, by the OPEN that created it, by its stream.

use super::ids::IdTable;
use super::spent_cookies::SpentCookies;
use crate::wire::datagram::COOKIE_BYTES;
use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};

/// Each table names connections by their place in the endpoint's slots.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) ids: IdTable,
    /// Servers' connections by the client's id and the address that it opened from, so that a repeated OPEN finds its
    /// own.
    pub(super) opened: BTreeMap<(SocketAddr, u32), Opened>,
    /// Used cookies, so that an OPEN which is replayed after its connection has ended opens none.
    pub(super) spent: SpentCookies,
    /// Connections on reliable carriers, by socket.
    pub(super) by_socket: BTreeMap<u32, u32>,
    /// The endpoint's own client connections: socket and place of each. Most have their own socket.
    clients: BTreeSet<(u32, u32)>,
}

/// The connection that an OPEN created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    pub(super) index: u32,
    pub(super) nonce: u64,
    pub(super) cookie: [u8; COOKIE_BYTES],
}

impl Directory {
    pub(super) fn new(ids: IdTable) -> Self {
        Directory {
            ids,
            opened: BTreeMap::new(),
            spent: SpentCookies::default(),
            by_socket: BTreeMap::new(),
            clients: BTreeSet::new(),
        }
    }

    /// A client connection uses this socket from now on, in place of another if it had one.
    pub(super) fn set_client_socket(&mut self, index: u32, before: Option<u32>, socket: u32) {
        before.map(|before| self.clients.remove(&(before, index)));
        self.clients.insert((socket, index));
    }

    /// A client connection has ended.
    pub(super) fn remove_client(&mut self, index: u32, socket: u32) {
        self.clients.remove(&(socket, index));
    }

    /// The client connections of a socket.
    pub(super) fn clients_of(&self, socket: u32) -> impl Iterator<Item = u32> + '_ {
        self.clients.range((socket, 0)..=(socket, u32::MAX)).map(|(_, index)| *index)
    }
}
