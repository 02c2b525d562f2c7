//! Timers of a connection, and their handling.

use super::event::{ClosedBy, code};
use super::stats::DropReason;
use super::timers::INCOMPLETE_MAX;
use super::{Connection, ConnectionState, Context, Side};
use crate::time::{Duration, Time};
use crate::wire::settings::Merging;

/// The least part of a round trip without a packet of the peer after which a sender that waits for the window says where it is.
const ANNOUNCEMENT_PART: u32 = 8;
/// And how many of the window's datagrams come in that time at the least.
const ANNOUNCEMENT_DATAGRAMS: u32 = 4;

impl Connection {
    /// When [`Connection::handle_timeout`] has something to do, at the earliest.
    pub(crate) fn poll_timeout(&self) -> Time {
        match self.state {
            ConnectionState::Dead => Time::ZERO,
            ConnectionState::Closing | ConnectionState::Drained => {
                self.ending.as_ref().map_or(Time::ZERO, |ending| ending.due()).min(self.path.roaming.due())
            }
            ConnectionState::Hello | ConnectionState::Opening => {
                let handshake = self.handshake.as_ref().map_or(Time::NEVER, |handshake| handshake.due());
                handshake.min(self.timers.handshake_due).min(self.session_due())
            }
            ConnectionState::Requested => {
                self.timers.handshake_due.min(self.receiving.received.ack_due()).min(self.session_due())
            }
            ConnectionState::Established | ConnectionState::Lingering => self.established_timeout(),
        }
    }

    fn established_timeout(&self) -> Time {
        let merge = match self.terms.merging {
            Merging::After(_) if self.channels.has_new() => self.timers.merge.wakes_at(),
            _ => Time::NEVER,
        };
        let linger = self.ending.as_ref().map_or(Time::NEVER, |ending| ending.due());
        self.silence_due()
            .min(self.keepalive_due())
            .min(self.receiving.received.ack_due())
            .min(self.recovery_due())
            .min(self.redundancy.due())
            .min(self.sending.pace_due)
            .min(merge)
            .min(self.timers.expire_due)
            .min(self.path.roaming.due())
            .min(self.time.due())
            .min(self.session_due())
            .min(linger)
    }

    /// Time of the next loss or probe timeout. On a reliable carrier there is neither.
    fn recovery_due(&self) -> Time {
        if self.path.current.carrier.is_reliable {
            return Time::NEVER;
        }
        self.sending.ledger.loss_due().min(self.sending.ledger.copy_due()).min(self.probe_due())
    }

    /// Time of the next probe timeout. A packet that waits behind others of ours in a full path is not overdue.
    fn probe_due(&self) -> Time {
        self.sending.ledger.probe_due(&self.path.rtt, self.peers_delay(), self.sending.is_limited)
    }

    /// Whether both sides know that acknowledgements may be few: nothing was lost for a while, and repairs, which would
    /// take the place of a loss that is noticed late, begin with the first one.
    pub(super) fn is_calm(&self, now: Time) -> bool {
        self.redundancy.is_adaptive() && self.sending.ledger.is_calm(now)
    }

    /// Time by which the peer may delay an acknowledgement, or the packet itself while it waits for a repair.
    pub(super) fn peers_delay(&self) -> Duration {
        // At the time of the last packet sent: if the path is calm then, it is so when that packet's acknowledgement is
        // due.
        let is_calm = self.is_calm(self.sending.ledger.last_sent_at());
        let settings = &self.terms.settings;
        let ack_delay = if is_calm { settings.greatest_ack_delay() } else { settings.ack_delay };
        ack_delay + self.repair_grace()
    }

    /// Time at which the peer counts as lost.
    fn silence_due(&self) -> Time {
        let idle = self.timers.last_received + self.terms.settings.idle_timeout;
        let silent = if self.timers.is_confirmed { idle } else { idle.min(self.timers.handshake_due) };
        silent.min(self.timers.gone_due)
    }

    /// Time of the next PING to a silent peer.
    fn keepalive_due(&self) -> Time {
        let asked = self.timers.last_received.max(self.timers.last_ping) + self.terms.keepalive;
        asked.min(self.announcement_due())
    }

    /// When a client that a full window keeps silent sends a PING, once: a NAT may have given it another address, which only the
    /// client's next packet tells the server, and then the acknowledgements that it waits for go to the old one.
    fn announcement_due(&self) -> Time {
        let may_have_moved = self.identity.side == Side::Client && !self.path.current.carrier.is_bound;
        let has_asked = self.timers.last_ping >= self.timers.last_received;
        if !may_have_moved || has_asked || !self.sending.is_limited || !self.path.rtt.is_measured() {
            return Time::NEVER;
        }
        let rtt = self.path.rtt.smoothed();
        // Acknowledgements of a full window are as far apart as its datagrams.
        let datagrams = (self.path.congestion.window() / u64::from(self.datagram_bytes())).clamp(1, 1 << 20) as u32;
        let patience = (rtt / ANNOUNCEMENT_PART).max(rtt * ANNOUNCEMENT_DATAGRAMS / datagrams);
        self.timers.last_received.max(self.sending.ledger.last_sent_at()) + patience
    }

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
        if self.silence_due() <= now {
            let (code, reason) = if self.timers.gone_due <= now {
                (
                    code::CARRIER_LOST,
                    "the server does not know this connection any more, or is not there: was it restarted?",
                )
            } else if self.timers.is_confirmed {
                (code::IDLE_TIMEOUT, "nothing was heard from the peer for the idle timeout")
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
