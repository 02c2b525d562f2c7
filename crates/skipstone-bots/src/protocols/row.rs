//! A row of the table of protocols, and what a client is made of.

use crate::protocol::Protocol;
use crate::target::{BotTarget, TargetError};
use skipstone_proto::Time;

/// A protocol, as the table has it.
#[derive(Debug)]
pub struct ProtocolRow {
    /// Before `://`.
    pub scheme: &'static str,
    /// The socket that carries it.
    pub carrier: Carrier,
    /// One line for help and guide: what it is, and which versions of it were tested.
    pub about: &'static str,
    /// The options of its targets, each with a line for the help.
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
    /// The source of all its randomness (cookies, connection ids): the same seed gives the same bytes.
    pub seed: u64,
}

impl ProtocolRow {
    /// Its options, for errors.
    pub(super) fn option_names(&self) -> String {
        let names: Vec<&str> = self.options.iter().map(|(name, _)| *name).collect();
        if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) }
    }
}
