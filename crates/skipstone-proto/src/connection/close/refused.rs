//! A server's REFUSE, and its RESET of a handshake. Any host that has seen the nonce or the id can forge them, so they
//! only shorten the wait of an encrypted handshake: a handshake that continues with authentic packets is not ended by
//! them (WIRE.md sections 2.6, 2.11).

use crate::connection::client_handshake::{Hint, News, RESEND_FIRST};
use crate::connection::event::{ClosedBy, code};
use crate::connection::identity::{ConnectionIds, SpareIds};
use crate::connection::transmit::Sending;
use crate::connection::{Connection, ConnectionState, Context};
use crate::security::plain::KEY_BYTES;
use crate::security::{Plain, Security};
use crate::time::{Duration, Time};
use bytes::Bytes;

/// How long the server has to show otherwise, beyond three round trips: both sides retransmit lost datagrams meanwhile,
/// after 200 ms and 400 ms more.
const HINT_PATIENCE: Duration = Duration::from_millis(700);

impl Connection {
    /// Handles a REFUSE: the server does not accept the client.
    pub(crate) fn handle_refuse(&mut self, cx: &mut Context<'_>, nonce: u64, code: u64, reason: &str) -> bool {
        if self.handshake.as_ref().is_none_or(|handshake| handshake.nonce != nonce) {
            return false;
        }
        let is_opening = self.state == ConnectionState::Opening;
        // Once a suite is agreed upon, the answer to a damaged HELLO does not count.
        if code == code::NO_COMMON_SUITE && is_opening {
            return true;
        }
        let reason = Bytes::copy_from_slice(reason.as_bytes());
        if is_opening && self.security.session().is_some() {
            self.take_hint(cx, News::Refused { code, reason });
        } else {
            self.finish(cx, ClosedBy::Peer, code, reason);
            self.die();
        }
        true
    }

    /// Handles a RESET during an encrypted handshake: the server does not know it any more. False if it is ignored.
    pub(super) fn handle_forgotten(&mut self, cx: &mut Context<'_>) -> bool {
        let is_taken = self.state == ConnectionState::Opening && self.security.session().is_some();
        if is_taken {
            self.take_hint(cx, News::Forgotten);
        }
        is_taken
    }

    /// The first hint counts, until it is due.
    fn take_hint(&mut self, cx: &mut Context<'_>, news: News) {
        let (due, progress) = (cx.now + self.path.rtt.smoothed() * 3 + HINT_PATIENCE, self.progress());
        if let Some(handshake) = self.handshake.as_mut().filter(|handshake| handshake.hint.is_none()) {
            handshake.hint = Some(Hint { due, progress, news });
            if self.security.is_established() {
                // A server that knows this client answers its CONNECT.
                handshake.interval = RESEND_FIRST;
                handshake.resend_at = handshake.resend_at.min(cx.now + RESEND_FIRST);
            }
        }
    }

    /// The server's proof of progress: by its handshake, and by packets.
    fn progress(&mut self) -> (u64, u64) {
        let handshake = self.security.session().map_or(0, |session| session.progress());
        (handshake, self.receiving.received.count())
    }

    /// Follows a hint, if the server has proven nothing more since.
    pub(in crate::connection) fn handle_hint_timeout(&mut self, cx: &mut Context<'_>) {
        let Some(handshake) = &mut self.handshake else { return };
        let Some(hint) = handshake.hint.take_if(|hint| hint.due <= cx.now) else { return };
        if self.progress() != hint.progress {
            return;
        }
        match hint.news {
            News::Refused { code, reason } => {
                self.finish(cx, ClosedBy::Peer, code, reason);
                self.die();
            }
            News::Forgotten => {
                if let Some(handshake) = &mut self.handshake {
                    handshake.is_forgotten = true;
                }
            }
        }
    }

    /// Whether [`Connection::begin_anew`] is waited for.
    pub(crate) fn begins_anew(&self) -> bool {
        self.handshake.as_ref().is_some_and(|handshake| handshake.is_forgotten)
    }

    /// A client whose server has forgotten the handshake starts another with HELLO, under an id and a nonce that no
    /// other host has seen. A server that still has the old handshake would take an OPEN with the old ones for a
    /// repetition; and nothing that the server said in the old handshake belongs to this one.
    pub(crate) fn begin_anew(&mut self, now: Time, local: u32, nonce: u64) {
        let Some(handshake) = &mut self.handshake else { return };
        handshake.begin_anew(now, local, nonce);
        self.identity.ids = ConnectionIds { local, remote: 0 };
        self.identity.spare = SpareIds::default();
        self.security = Security::Plain(Plain::with_key(&[0; KEY_BYTES]));
        // Each session has packet numbers of its own.
        self.sending = Sending { bandwidth: self.sending.bandwidth.take(), ..Sending::default() };
        self.receiving.begin_anew();
        self.state = ConnectionState::Hello;
    }

    /// Server: why its session failed before the client was asked for. The reason is of use to the client only.
    pub(crate) fn refusal(&mut self) -> Option<&str> {
        let is_failed = self.identity.is_server() && self.is_dead();
        self.security.session().filter(|_| is_failed)?.failure()
    }
}
