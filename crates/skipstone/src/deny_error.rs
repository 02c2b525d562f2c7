//! Why addresses were not denied.

use crate::send_error::PeerError;

/// Why [`Server::set_denied`](crate::Server::set_denied) changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DenyError {
    /// The text, which is neither an address nor a network.
    NoNetwork(String),
    /// The driver is gone, or its queue is full.
    Driver(PeerError),
}

impl std::fmt::Display for DenyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DenyError::NoNetwork(text) => {
                let text = text.escape_debug();
                write!(
                    f,
                    "'{text}' is neither an address nor a network (examples: 10.0.0.7, 10.0.0.0/8, 2001:db8::/32)"
                )
            }
            DenyError::Driver(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DenyError {}
