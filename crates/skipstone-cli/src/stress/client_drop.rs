//! How a client lost its connection: the same for native clients and for clients in pages.

use skipstone::{ClosedBy, code};
use skipstone_lab::clean;

/// Whether the server was reachable when a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientDrop {
    /// The server shut down or restarted, fell silent, or its port was closed.
    Deserted,
    /// A reachable server ended the connection, or this side did.
    Ended,
}

impl ClientDrop {
    pub(crate) fn of(by: ClosedBy, code: u64) -> Self {
        match (by, code) {
            (ClosedBy::Nobody, _) | (ClosedBy::Peer, code::SHUTDOWN | code::RESTART) => ClientDrop::Deserted,
            _ => ClientDrop::Ended,
        }
    }
}

/// Why a connection ended, for the result.
pub(crate) fn told(by: ClosedBy, code: u64, reason: &str) -> String {
    let by = if by == ClosedBy::Peer { "the server says: " } else { "" };
    format!("{by}{} (code {code})", clean::line(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_abandoned_only_by_a_departed_or_silent_server() {
        let deserted = [
            (ClosedBy::Nobody, code::IDLE_TIMEOUT),
            (ClosedBy::Nobody, code::UNREACHABLE),
            (ClosedBy::Peer, code::SHUTDOWN),
            (ClosedBy::Peer, code::RESTART),
        ];
        let ended = [
            (ClosedBy::Peer, code::IDLE_TIMEOUT),
            (ClosedBy::Peer, code::KICKED),
            (ClosedBy::Local, code::CARRIER_LOST),
            (ClosedBy::Local, code::SHUTDOWN),
        ];
        for (of, drop) in [(deserted, ClientDrop::Deserted), (ended, ClientDrop::Ended)] {
            of.into_iter().for_each(|(by, code)| assert_eq!(ClientDrop::of(by, code), drop, "{by:?} {code}"));
        }
    }

    #[test]
    fn client_text_is_never_shown_as_the_servers() {
        assert_eq!(told(ClosedBy::Peer, code::KICKED, "too loud"), "the server says: too loud (code 1002)");
        assert_eq!(told(ClosedBy::Nobody, code::IDLE_TIMEOUT, "silence"), "silence (code 1007)");
    }
}
