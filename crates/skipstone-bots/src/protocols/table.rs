//! The table of protocols. A new protocol is a file (or folder) beside this one and a line in `TABLE`.

use super::{skipstone, tcp, udp, websocket};
use crate::protocol::Protocol;
use crate::target::{BotTarget, TargetError};
use skipstone_proto::Time;

/// All protocols.
pub const TABLE: &[&ProtocolRow] = &[
    &udp::ROW,
    &tcp::ROW,
    &websocket::ROW,
    &skipstone::ENCRYPTED,
    &skipstone::PLAIN,
    &skipstone::DTLS,
    &skipstone::STREAM,
    &skipstone::WEBSOCKET,
    &skipstone::SECURE_WEBSOCKET,
];

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

/// Reads a target, and finds its protocol.
pub fn find(url: &str) -> Result<(&'static ProtocolRow, BotTarget), TargetError> {
    let split = BotTarget::split(url).ok_or_else(|| TargetError::NoScheme(url.into(), schemes()))?;
    let scheme = url.split("://").next().unwrap_or_default();
    let Some(row) = TABLE.iter().find(|row| row.scheme == scheme) else {
        return Err(TargetError::UnknownScheme(url.into(), schemes()));
    };
    let target = split?;
    let unknown = target.options.keys().find(|name| row.options.iter().all(|(own, _)| own != name));
    match unknown {
        Some(name) => Err(TargetError::UnknownOption(url.into(), name.clone(), row.option_names())),
        None => Ok((row, target)),
    }
}

/// The names of all schemes, for help and errors.
pub fn schemes() -> String {
    let names: Vec<&str> = TABLE.iter().map(|row| row.scheme).collect();
    names.join(", ")
}

impl ProtocolRow {
    fn option_names(&self) -> String {
        let names: Vec<&str> = self.options.iter().map(|(name, _)| *name).collect();
        if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_is_in_the_table_once() {
        for row in TABLE {
            assert_eq!(TABLE.iter().filter(|other| other.scheme == row.scheme).count(), 1, "{}", row.scheme);
            assert!(!row.about.is_empty());
        }
    }

    #[test]
    fn an_unknown_scheme_or_option_names_those_that_exist() {
        let why = find("carrier-pigeon://host:1").expect_err("no such protocol").to_string();
        assert!(why.contains("schemes: ") && why.contains("udp"), "{why}");
        let why = find("udp://host:1?color=red").expect_err("no such option").to_string();
        assert!(why.contains("no option \"color\""), "{why}");
    }
}
