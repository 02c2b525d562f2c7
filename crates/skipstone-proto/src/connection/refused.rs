//! A server's REFUSE. Anybody who has seen the nonce could have sent it, so during an encrypted handshake it only shortens
//! the wait: a handshake that goes on authentically does not end by it (WIRE.md section 2.6).

use super::client_handshake::Refusal;
use super::event::{ClosedBy, code};
use super::{Connection, ConnectionState, Context, Side};
use crate::time::Duration;
use bytes::Bytes;

/// How long the server has to show otherwise, beyond three round trips: both sides repeat what was lost meanwhile, after
/// 200 ms and 400 ms more.
const PATIENCE: Duration = Duration::from_millis(700);

impl Connection {
    /// Handles a REFUSE: the server does not accept the client.
    pub(crate) fn handle_refuse(&mut self, cx: &mut Context<'_>, nonce: u64, code: u64, reason: &str) -> bool {
        let Some(handshake) = self.handshake.as_mut().filter(|handshake| handshake.nonce == nonce) else {
            return false;
        };
        let is_opening = self.state == ConnectionState::Opening;
        // Once a suite is agreed upon, the answer to a damaged HELLO does not count.
        if code == code::NO_COMMON_SUITE && is_opening {
            return true;
        }
        let reason = Bytes::copy_from_slice(reason.as_bytes());
        match self.security.session().filter(|_| is_opening) {
            Some(session) if handshake.refusal.is_none() => {
                let due = cx.now + self.path.rtt.smoothed() * 3 + PATIENCE;
                handshake.refusal = Some(Refusal { due, code, reason, progress: session.progress() });
            }
            Some(_) => {}
            None => {
                self.finish(cx, ClosedBy::Peer, code, reason);
                self.die();
            }
        }
        true
    }

    /// Ends a handshake that was refused, if the server has proven nothing more since.
    pub(super) fn handle_refusal_timeout(&mut self, cx: &mut Context<'_>) {
        let Some(handshake) = &mut self.handshake else { return };
        let Some(refusal) = handshake.refusal.take_if(|refusal| refusal.due <= cx.now) else { return };
        if self.security.session().is_some_and(|session| session.progress() == refusal.progress) {
            self.finish(cx, ClosedBy::Peer, refusal.code, refusal.reason);
            self.die();
        }
    }

    /// Server: why its session failed before the client was asked for; nobody but the client wants to know.
    pub(crate) fn refusal(&mut self) -> Option<&str> {
        let is_failed = self.identity.side == Side::Server && self.is_dead();
        self.security.session().filter(|_| is_failed)?.failure()
    }
}
