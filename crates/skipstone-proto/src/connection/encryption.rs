//! The handshake of an encrypted suite inside a connection: its flights in and out, and the steps after its end.
//! WIRE.md sections 2.3, 2.4 and 6. Only the [`Session`](crate::security::Session) knows which suite it is.

use super::event::code;
use super::stats::DropReason;
use super::{Connection, ConnectionState, Context, Side};
use crate::time::Time;
use crate::wire::cursor::Writer;
use crate::wire::datagram::{self, CHECK_BYTES, CRYPTO_HEADER_BYTES};

impl Connection {
    /// Takes handshake bytes, which arrived in a CRYPTO from the peer with the id `from`, or after an OPEN.
    pub(crate) fn handle_crypto(&mut self, cx: &mut Context<'_>, from: u32, bytes: &[u8]) -> Result<(), DropReason> {
        let is_known = self.identity.side == Side::Client || from == self.identity.ids.remote;
        let is_over = matches!(self.state, ConnectionState::Hello | ConnectionState::Drained | ConnectionState::Dead);
        let session = self.security.session().filter(|_| is_known && !is_over).ok_or(DropReason::BadFrame)?;
        let was_established = session.is_established();
        let is_taken = session.handle_handshake(cx.now, bytes);
        if is_taken && !was_established {
            // The id is not authenticated yet. A false id only makes this handshake fail.
            self.identity.ids.remote = from;
            let is_established = session.is_established();
            if self.is_unasked() && is_established {
                self.timers.expect_request();
            } else if self.is_unasked() {
                self.timers.expect_answer(cx.now);
            }
        }
        self.check_session(cx);
        is_taken.then_some(()).ok_or(DropReason::BadHandshake)
    }

    /// Whether a part of the handshake that is still to come takes a signature.
    pub(crate) fn will_sign(&mut self) -> bool {
        self.security.session().is_some_and(|session| session.will_sign())
    }

    /// Handles the session's timeout: the session retransmits, or fails.
    pub(super) fn handle_session_timeout(&mut self, cx: &mut Context<'_>) {
        let Some(session) = self.security.session() else { return };
        if session.poll_timeout() <= cx.now {
            session.handle_timeout(cx.now);
            self.check_session(cx);
        }
    }

    /// Checks whether the session is now established, or has failed permanently.
    fn check_session(&mut self, cx: &mut Context<'_>) {
        let Some(session) = self.security.session() else { return };
        if let Some(why) = session.failure() {
            let reason = why.to_owned();
            if self.is_unasked() {
                self.die();
            } else {
                self.handle_carrier_lost(cx, code::SECURITY, &reason);
            }
            return;
        }
        if session.is_established() && self.state == ConnectionState::Opening {
            self.connect_at(cx.now);
        }
    }

    /// Handshake bytes that are due: after an OPEN until the server has named its id, then in a CRYPTO.
    pub(super) fn poll_crypto(&mut self, now: Time, buffer: &mut [u8]) -> Option<usize> {
        if matches!(self.state, ConnectionState::Hello | ConnectionState::Drained | ConnectionState::Dead) {
            return None;
        }
        let session = self.security.session()?;
        let is_established = session.is_established();
        let open = self.handshake.as_ref().filter(|_| self.identity.ids.remote == 0);
        let header = open.map_or(CRYPTO_HEADER_BYTES, |handshake| handshake.open_header().len());
        let room = header..buffer.len().saturating_sub(CHECK_BYTES);
        let length = header + session.poll_handshake(buffer.get_mut(room)?)?;
        match open {
            Some(handshake) => buffer[..header].copy_from_slice(handshake.open_header()),
            None => datagram::encode_crypto_header(
                &mut Writer::new(buffer),
                self.identity.ids.remote,
                self.identity.ids.local,
            ),
        }
        if is_established && self.state == ConnectionState::Opening {
            // The server may have dropped the last CONNECT because it lacked this flight.
            self.connect_at(now);
        }
        Some(datagram::append_check(buffer, length))
    }

    /// When the session must be woken.
    pub(super) fn session_due(&self) -> Time {
        self.security.poll_timeout()
    }
}
