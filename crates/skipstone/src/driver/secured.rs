//! The DTLS session around a client's socket.

use crate::security::DtlsSession;

/// A client's session.
#[derive(Debug)]
pub(super) struct Secured {
    pub(super) session: DtlsSession,
    /// The handshake is in progress.
    pub(super) is_opening: bool,
    /// The driver watches the session's timer.
    pub(super) is_timed: bool,
}

impl Secured {
    pub(super) fn new(session: DtlsSession) -> Self {
        Secured { session, is_opening: true, is_timed: false }
    }
}
