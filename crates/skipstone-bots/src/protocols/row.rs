//! A row of the table of protocols, and what a client is made of.

use crate::protocol::Protocol;
use crate::target::{BotTarget, TargetError};
use skipstone_proto::Time;
use std::net::SocketAddr;

/// A protocol, as the table has it.
#[derive(Debug)]
pub struct ProtocolRow {
    /// Before `://`.
    pub scheme: &'static str,
    /// The socket that carries it.
    pub carrier: Carrier,
    /// One line for help and guide: what it is, and which versions of it were tested.
    pub about: &'static str,
    /// The options of its targets, each with a line for the help. Without a name that begins with `/` or `#`, targets
    /// with a path or a fragment are refused.
    pub options: &'static [(&'static str, &'static str)],
    /// A client of it, not yet open.
    pub new: fn(&Opening<'_>) -> Result<Box<dyn Protocol>, TargetError>,
}

/// The kind of socket below a protocol.
#[derive(Clone, Copy, Debug)]
pub enum Carrier {
    /// A UDP socket, connected to the server's address.
    Datagrams,
    /// A TCP stream.
    Stream,
    /// Sockets of the protocol's own, which all its clients of a worker share. Nothing is received for such a client,
    /// and it transmits nothing; the worker calls the step again and again.
    Own(Step),
}

/// Lets all clients of this thread work, and returns the tokens of those to whom something happened.
pub type Step = fn(now: Time) -> Vec<usize>;

/// What a client is made of.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// Where it connects.
    pub target: &'a BotTarget,
    /// The target's address: its name was looked up once for all clients.
    pub address: SocketAddr,
    /// The source of its randomness (cookies, connection ids): the same seed gives the same bytes. Not so where a
    /// library draws keys from the system: renet's tokens, WebSocket's masks, Skipstone's handshakes.
    pub seed: u64,
}

impl ProtocolRow {
    /// Whether `?name=` is one of its options.
    pub(super) fn has_option(&self, name: &str) -> bool {
        !name.starts_with(PARTS) && self.options.iter().any(|(own, _)| *own == name)
    }

    /// Whether its targets may have a path (`/`) or a fragment (`#`).
    pub(super) fn has_part(&self, first: char) -> bool {
        self.options.iter().any(|(own, _)| own.starts_with(first))
    }

    /// The option as a target has it, for the help.
    pub(crate) fn option_as_written(name: &str) -> String {
        if name.starts_with(PARTS) { name.into() } else { format!("?{name}=") }
    }

    /// Its options, for errors.
    pub(super) fn option_names(&self) -> String {
        let names: Vec<&str> =
            self.options.iter().map(|(name, _)| *name).filter(|name| !name.starts_with(PARTS)).collect();
        if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) }
    }
}

/// How parts of a target begin that are no options.
const PARTS: [char; 2] = ['/', '#'];
