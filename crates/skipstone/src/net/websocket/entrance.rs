//! A server's state of a stream before it is open.

use super::StreamRules;
use super::handshake::Head;
use std::net::SocketAddr;
use std::sync::Arc;

/// The input that a server waits for.
#[derive(Debug)]
pub(super) struct Entrance {
    pub(super) head: Head,
    pub(super) rules: Arc<StreamRules>,
    /// A PROXY header may still arrive.
    pub(super) may_be_announced: bool,
    /// The other end of TCP is a trusted proxy.
    pub(super) is_proxied: bool,
    /// The client that the header names is also a trusted proxy, or the header names none: further headers may name the
    /// client.
    pub(super) names_client: bool,
}

impl Entrance {
    pub(super) fn new(rules: Arc<StreamRules>, peer: SocketAddr) -> Self {
        let is_proxied = rules.proxies.has(peer.ip());
        Entrance { head: Head::default(), rules, may_be_announced: true, is_proxied, names_client: is_proxied }
    }
}
