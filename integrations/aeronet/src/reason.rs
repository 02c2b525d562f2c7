//! How the end of a connection becomes aeronet's reason.

use aeronet_io::connection::DisconnectReason;
use skipstone::{Close, ClosedBy, code};
use std::fmt;

/// A connection ended without a wish of either application: see [`Close::code`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLost(pub Close);

impl fmt::Display for ConnectionLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection lost (code {}): {}", self.0.code, self.0.reason_text())
    }
}

impl std::error::Error for ConnectionLost {}

/// Code of a connection that aeronet's `Disconnect` ends. Its reason is text.
pub(crate) const BY_USER: u64 = code::NONE;

/// A reason that the peer's application gave, or an error.
pub(crate) fn disconnect_reason(close: &Close) -> DisconnectReason {
    let by_application = matches!(close.code, code::NONE..=code::SHUTDOWN | code::REFUSED | code::KICKED);
    match close.by {
        ClosedBy::Peer if by_application => DisconnectReason::by_peer(close.reason_text()),
        ClosedBy::Local if by_application => DisconnectReason::by_user(close.reason_text()),
        _ => DisconnectReason::by_error(ConnectionLost(close.clone())),
    }
}
