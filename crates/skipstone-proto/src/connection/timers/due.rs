//! When each timer of a connection is due.

use crate::connection::{Connection, ConnectionState, Side};
use crate::time::{Duration, Time};
use crate::wire::settings::Merging;

/// The least part of a round trip without a packet of the peer after which a sender that waits for the window announces
/// its address.
const ANNOUNCEMENT_PART: u32 = 8;
/// The least number of the window's datagrams that arrive in that time.
const ANNOUNCEMENT_DATAGRAMS: u32 = 4;

impl Connection {
    /// The earliest time at which [`Connection::handle_timeout`] has work.
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
        self.idle_due()
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
    pub(super) fn probe_due(&self) -> Time {
        self.sending.ledger.probe_due(&self.path.rtt, self.peers_delay(), self.sending.is_limited)
    }

    /// Whether both sides know that acknowledgements may be few: nothing was lost for a while, and repairs, which would
    /// take the place of a loss that is noticed late, begin with the first one.
    pub(in crate::connection) fn is_calm(&self, now: Time) -> bool {
        self.redundancy.is_adaptive() && self.sending.ledger.is_calm(now)
    }

    /// Time by which the peer may delay an acknowledgement, or the packet itself while it waits for a repair.
    pub(in crate::connection) fn peers_delay(&self) -> Duration {
        // At the time of the last packet sent: if the path is calm then, it is so when that packet's acknowledgement is
        // due.
        let is_calm = self.is_calm(self.sending.ledger.last_sent_at());
        let settings = &self.terms.settings;
        let ack_delay = if is_calm { settings.greatest_ack_delay() } else { settings.ack_delay };
        ack_delay + self.repair_grace()
    }

    /// Time at which the peer counts as lost.
    pub(super) fn idle_due(&self) -> Time {
        let idle = self.timers.last_received + self.terms.settings.idle_timeout;
        let silent = if self.timers.is_confirmed { idle } else { idle.min(self.timers.handshake_due) };
        silent.min(self.timers.gone_due)
    }

    /// Time of the next PING to a silent peer.
    pub(super) fn keepalive_due(&self) -> Time {
        let asked = self.timers.last_received.max(self.timers.last_ping) + self.terms.keepalive;
        asked.min(self.announcement_due())
    }

    /// The time at which a client that a full window keeps silent sends a PING, once: a NAT may have given it another
    /// address. Until the client's next packet the server does not know that, and sends the awaited acknowledgements to
    /// the old address.
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
}
