//! When a connection must be woken, and what happens then.

use super::event::{ClosedBy, code};
use super::stats::Drop;
use super::{Connection, Context, Side, State};
use crate::time::{Duration, Time};
use crate::wire::settings::Merging;

/// Deadlines that belong to the connection itself. Those of a mechanism lie with the mechanism.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub(super) last_received: Time,
    pub(super) last_ping: Time,
    /// The handshake ends with this, one way or the other.
    pub(super) handshake_due: Time,
    /// When what was merged so far leaves; in the past after a flush, never while nothing waits.
    pub(super) merge_due: Time,
    /// When unfinished unreliable messages are forgotten.
    pub(super) expire_due: Time,
    /// Server: the client's token was handed to the application.
    pub(super) is_requested: bool,
    /// The peer has shown that it knows the connection stands.
    pub(super) is_confirmed: bool,
}

/// How long the fragments of an unreliable message may take.
pub(super) const UNFINISHED_MAX: Duration = Duration::from_secs(2);

impl Timers {
    pub(super) fn new(now: Time, handshake_due: Time) -> Self {
        Timers {
            last_received: now,
            last_ping: Time::ZERO,
            handshake_due,
            merge_due: Time::NEVER,
            expire_due: Time::NEVER,
            is_requested: false,
            is_confirmed: false,
        }
    }
}

impl Connection {
    /// When [`Connection::handle_timeout`] has something to do, at the earliest.
    pub(crate) fn poll_timeout(&self) -> Time {
        match self.state {
            State::Dead => Time::ZERO,
            State::Closing | State::Drained => self.ending.as_ref().map_or(Time::ZERO, |ending| ending.due()),
            State::Hello | State::Opening => {
                let resend = self.handshake.as_ref().map_or(Time::NEVER, |handshake| handshake.resend_at());
                resend.min(self.timers.handshake_due)
            }
            State::Requested => self.timers.handshake_due.min(self.received.ack_due()),
            State::Established | State::Lingering => self.established_timeout(),
        }
    }

    fn established_timeout(&self) -> Time {
        let merge = match self.merging {
            Merging::After(_) if self.lanes.has_new() => self.timers.merge_due,
            _ => Time::NEVER,
        };
        let linger = self.ending.as_ref().map_or(Time::NEVER, |ending| ending.due());
        self.silence_due()
            .min(self.keepalive_due())
            .min(self.received.ack_due())
            .min(self.recovery_due())
            .min(merge)
            .min(self.timers.expire_due)
            .min(linger)
    }

    /// When the next packet is lost or a probe is due. On a reliable carrier neither happens.
    fn recovery_due(&self) -> Time {
        if self.path.carrier.is_reliable {
            return Time::NEVER;
        }
        self.ledger.loss_due().min(self.ledger.probe_due(&self.rtt, self.settings.ack_delay))
    }

    /// When the peer counts as gone.
    fn silence_due(&self) -> Time {
        let idle = self.timers.last_received + self.settings.idle_timeout;
        if self.timers.is_confirmed { idle } else { idle.min(self.timers.handshake_due) }
    }

    /// When to ask a silent peer for a sign of life. The client asks first, so that one exchange serves both sides.
    fn keepalive_due(&self) -> Time {
        let span = match self.side {
            Side::Client => self.settings.keepalive,
            Side::Server => self.settings.keepalive * 3 / 2,
        };
        self.timers.last_received.max(self.timers.last_ping) + span
    }

    /// Does what is due by now.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        match self.state {
            State::Dead => {}
            State::Closing | State::Drained => self.handle_ending_timeout(cx),
            State::Hello | State::Opening | State::Requested => {
                if self.timers.handshake_due <= cx.now {
                    self.on_handshake_timeout(cx);
                }
            }
            State::Established | State::Lingering => self.handle_established_timeout(cx),
        }
    }

    fn on_handshake_timeout(&mut self, cx: &mut Context<'_>) {
        match self.side {
            Side::Client => {
                let reason = "the server did not answer in time: is it running, and does a firewall let UDP pass?";
                self.finish(cx, ClosedBy::Nobody, code::HANDSHAKE_TIMEOUT, reason.into());
                self.die();
            }
            Side::Server => {
                let reason = "the server's application did not decide in time".into();
                self.close(cx, code::HANDSHAKE_TIMEOUT, reason, Duration::ZERO);
            }
        }
    }

    fn handle_established_timeout(&mut self, cx: &mut Context<'_>) {
        let now = cx.now;
        if self.silence_due() <= now {
            let (code, reason) = if self.timers.is_confirmed {
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
            self.pending.ping = true;
        }
        if self.timers.expire_due <= now {
            self.timers.expire_due = Time::NEVER;
            self.stats.drops.count_many(Drop::UnfinishedMessage, self.lanes.expire());
        }
        if !self.path.carrier.is_reliable {
            if self.ledger.loss_due() <= now {
                self.detect_losses(cx);
            }
            if self.ledger.probe_due(&self.rtt, self.settings.ack_delay) <= now {
                self.on_probe_timeout(cx);
            }
        }
        if self.state == State::Lingering {
            self.handle_ending_timeout(cx);
        }
    }

    fn on_probe_timeout(&mut self, cx: &mut Context<'_>) {
        self.stats.probes += 1;
        self.pending.probes = 2;
        self.ledger.on_probe(cx.now, &mut cx.scratch.resolved);
        self.take_lost(cx);
        if !self.lanes.has_lost() && !self.pending.accept {
            self.pending.ping = true;
        }
    }
}
