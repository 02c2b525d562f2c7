//! How a connection reacts when a timer has expired.

use super::state::INCOMPLETE_MAX;
use crate::connection::event::{ClosedBy, code};
use crate::connection::stats::DropReason;
use crate::connection::{Connection, ConnectionState, Context, Side};
use crate::time::{Duration, Time};

impl Connection {
    /// Handles all timers that have expired.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        self.handle_roaming_timeout(cx);
        if !matches!(self.state, ConnectionState::Closing | ConnectionState::Drained) {
            self.handle_session_timeout(cx);
        }
        match self.state {
            ConnectionState::Dead => {}
            ConnectionState::Closing | ConnectionState::Drained => self.handle_ending_timeout(cx),
            ConnectionState::Hello | ConnectionState::Opening | ConnectionState::Requested => {
                self.handle_hint_timeout(cx);
                if self.timers.handshake_due <= cx.now && !self.is_dead() {
                    self.on_handshake_timeout(cx);
                }
            }
            ConnectionState::Established | ConnectionState::Lingering => self.handle_established_timeout(cx),
        }
    }

    fn on_handshake_timeout(&mut self, cx: &mut Context<'_>) {
        match self.identity.side {
            Side::Client => {
                let reason = "the server did not answer in time: is it running, and does a firewall let UDP pass?";
                self.finish(cx, ClosedBy::Nobody, code::HANDSHAKE_TIMEOUT, reason.into());
                self.die();
            }
            // The client never had the keys, or never sent a token: the application does not know the connection.
            Side::Server if self.is_unasked() => self.die(),
            Side::Server => {
                let reason = "the server's application did not decide in time".into();
                self.close(cx, code::HANDSHAKE_TIMEOUT, reason, Duration::ZERO);
            }
        }
    }

    fn handle_established_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        if self.idle_due() <= now {
            let (code, reason) = if self.timers.gone_due <= now {
                (code::CARRIER_LOST, "the server no longer knows this connection, or is not running: was it restarted?")
            } else if self.timers.is_confirmed {
                (code::IDLE_TIMEOUT, "the peer sent nothing for the idle timeout")
            } else {
                (code::HANDSHAKE_TIMEOUT, "the client did not confirm that it was let in")
            };
            self.finish(cx, ClosedBy::Nobody, code, reason.into());
            self.die();
            return;
        }
        if self.keepalive_due() <= now {
            self.timers.last_ping = now;
            self.sending.pending.ping = true;
        }
        if self.timers.expire_due <= now {
            self.timers.expire_due = Time::NEVER;
            let free_before = self.receive_window_free();
            self.stats.drops.count_many(DropReason::IncompleteMessage, self.channels.expire());
            self.tell_window_if_freed(now, free_before);
            if self.channels.has_perishables() {
                self.timers.expire_due = now + INCOMPLETE_MAX;
            }
        }
        if !self.path.current.carrier.is_reliable {
            if self.sending.ledger.loss_due() <= now {
                self.detect_losses(cx);
            }
            if self.sending.ledger.copy_due() <= now {
                self.send_copies(cx);
            }
            if self.probe_due() <= now {
                self.on_probe_timeout(cx);
            }
        }
        if self.state == ConnectionState::Lingering {
            self.handle_ending_timeout(cx);
        }
    }
}
