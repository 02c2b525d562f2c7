//! A hint that the server has lost this connection: the server was restarted, or its port is closed. Any host could
//! have sent the hint, so the client probes the server first, and ends the connection only if no answer comes (WIRE.md
//! section 2.11).

use crate::connection::event::{ClosedBy, code};
use crate::connection::{Connection, ConnectionState, Context, Side};
use crate::time::{Duration, Time};

/// How long the answer to two probes may take beyond one and a half round trips.
const PROBE_PATIENCE: Duration = Duration::from_millis(30);
/// Two probes, so that the loss of one does not end an established connection.
const GONE_PROBES: u8 = 2;

impl Connection {
    /// Handles a hint that the server does not know this connection. False if the hint is ignored.
    pub(crate) fn handle_gone(&mut self, cx: &mut Context<'_>) -> bool {
        let is_standing = matches!(self.state, ConnectionState::Established | ConnectionState::Lingering);
        match self.state {
            ConnectionState::Opening => return self.handle_forgotten(cx),
            ConnectionState::Closing if self.identity.side == Side::Client => {
                // The server has no state of this connection, as after a CLOSE.
                if let Some(ending) = self.ending.take() {
                    self.finish(cx, ClosedBy::Local, ending.code, ending.reason);
                }
                self.die();
                return true;
            }
            _ => {}
        }
        if self.identity.is_server() || !is_standing || self.path.current.carrier.is_reliable {
            return false;
        }
        if self.timers.gone_due == Time::NEVER {
            self.timers.gone_due = cx.now + self.path.rtt.smoothed() * 3 / 2 + PROBE_PATIENCE;
            self.sending.pending.ping = true;
            self.sending.pending.probes = self.sending.pending.probes.max(GONE_PROBES);
        }
        true
    }

    /// Handles a report of the system that this client's datagrams reach a closed port.
    pub(crate) fn handle_closed_port(&mut self, cx: &mut Context<'_>) {
        if matches!(self.state, ConnectionState::Hello | ConnectionState::Opening) {
            let reason = "no server listens at this address: is it running, and is the port right?";
            self.finish(cx, ClosedBy::Nobody, code::UNREACHABLE, reason.into());
            self.die();
        } else {
            self.handle_gone(cx);
        }
    }
}
