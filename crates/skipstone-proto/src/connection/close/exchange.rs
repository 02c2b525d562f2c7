//! The exchange of CLOSE and CLOSED, and the one `Closed` event.

use super::state::{Answer, Ending};
use crate::channel::channels::Channels;
use crate::channel::classes::Classes;
use crate::connection::event::{Close, ClosedBy, Event};
use crate::connection::packet_log::PacketEvent;
use crate::connection::transmit::PendingFrames;
use crate::connection::{Connection, ConnectionState, Context};
use crate::recovery::Ledger;
use crate::time::{Duration, Time};
use crate::wire::frame::REASON_BYTES_MAX;
use crate::wire::varint::MAX as CODE_MAX;
use bytes::Bytes;

/// Number of times that CLOSE is repeated before the peer counts as lost.
const CLOSE_PROBES: u32 = 8;
/// The first repeats of CLOSE are a probe timeout apart, the others at doubled intervals.
const CLOSE_PROMPT: u32 = 2;
const DRAIN_MIN: Duration = Duration::from_millis(200);
const DRAIN_MAX: Duration = Duration::from_secs(3);

impl Connection {
    /// Ends the connection from this side, with a code of 2^62-1 at most: a greater one counts as that. Queued reliable
    /// messages have `linger` to be acknowledged first.
    pub(crate) fn close(&mut self, cx: &mut Context<'_>, code: u64, reason: Bytes, linger: Duration) {
        let (code, reason) = (code.min(CODE_MAX), shorten(reason));
        match self.state {
            ConnectionState::Hello | ConnectionState::Opening => {
                self.finish(cx, ClosedBy::Local, code, reason);
                self.die();
            }
            ConnectionState::Established if linger > Duration::ZERO && self.channels.owes() => {
                self.state = ConnectionState::Lingering;
                self.flush(cx.now);
                let deadline = cx.now + linger;
                let ending = Ending { code, reason, answer: Answer::Close, send_at: Time::NEVER, sent: 0, deadline };
                self.ending = Some(Box::new(ending));
            }
            ConnectionState::Requested if self.is_unasked() => self.die(),
            ConnectionState::Requested => self.turn_away(cx, code, reason),
            ConnectionState::Established => self.begin_closing(cx, code, reason),
            ConnectionState::Lingering if linger == Duration::ZERO => self.begin_closing(cx, code, reason),
            ConnectionState::Lingering
            | ConnectionState::Closing
            | ConnectionState::Drained
            | ConnectionState::Dead => {}
        }
    }

    /// Ends the lingering if all reliable messages were acknowledged, or the linger time is over.
    pub(in crate::connection) fn end_lingering_if_done(&mut self, cx: &mut Context<'_>) {
        if self.state != ConnectionState::Lingering {
            return;
        }
        let is_over = self.ending.as_ref().is_some_and(|ending| ending.deadline <= cx.now);
        if is_over || !self.channels.owes() {
            let ending = self.ending.take().expect("a lingering connection has an ending");
            self.begin_closing(cx, ending.code, ending.reason);
        }
    }

    /// Refuses a client that was never accepted: it has no id of ours to answer to, so CLOSE is sent several times
    /// without waiting for an answer.
    fn turn_away(&mut self, cx: &mut Context<'_>, code: u64, reason: Bytes) {
        self.sending.pending = PendingFrames::default();
        self.finish(cx, ClosedBy::Local, code, reason.clone());
        self.drain(cx.now, Ending { code, reason, answer: Answer::Close, send_at: cx.now, sent: 0, deadline: cx.now });
    }

    fn begin_closing(&mut self, cx: &mut Context<'_>, code: u64, reason: Bytes) {
        self.state = ConnectionState::Closing;
        self.sending.pending = PendingFrames::default();
        self.give_everything_up(cx);
        let deadline = cx.now + self.drain_span();
        self.ending =
            Some(Box::new(Ending { code, reason, answer: Answer::Close, send_at: cx.now, sent: 0, deadline }));
    }

    /// The peer's CLOSE.
    pub(in crate::connection) fn on_close(&mut self, cx: &mut Context<'_>, code: u64, reason: &str) {
        match self.state {
            ConnectionState::Drained => self.answer_now(cx.now),
            // Both sides close at once: the server's reason counts. The server sends CLOSE again, and the client
            // answers.
            ConnectionState::Closing if self.identity.is_server() => {
                let ending = self.ending.take().expect("a closing connection has an ending");
                self.finish(cx, ClosedBy::Local, ending.code, ending.reason.clone());
                self.drain(cx.now, *ending);
            }
            ConnectionState::Dead => {}
            _ => {
                let reason = shorten(Bytes::copy_from_slice(reason.as_bytes()));
                self.finish(cx, ClosedBy::Peer, code, reason.clone());
                let ending =
                    Ending { code, reason, answer: Answer::Closed, send_at: cx.now, sent: 0, deadline: cx.now };
                self.drain(cx.now, ending);
            }
        }
    }

    /// The peer knows that this side closed.
    pub(in crate::connection) fn on_closed(&mut self, cx: &mut Context<'_>) {
        if self.state == ConnectionState::Closing {
            let ending = self.ending.take().expect("a closing connection has an ending");
            self.finish(cx, ClosedBy::Local, ending.code, ending.reason.clone());
            self.drain(cx.now, Ending { send_at: Time::NEVER, ..*ending });
        }
    }

    /// The stream that carried the connection broke.
    pub(crate) fn handle_carrier_lost(&mut self, cx: &mut Context<'_>, code: u64, reason: &str) {
        match (self.state, self.ending.take()) {
            (ConnectionState::Closing, Some(ending)) => self.finish(cx, ClosedBy::Local, ending.code, ending.reason),
            (ConnectionState::Drained | ConnectionState::Dead, _) => {}
            _ => self.finish(cx, ClosedBy::Nobody, code, shorten(Bytes::copy_from_slice(reason.as_bytes()))),
        }
        self.die();
    }

    /// CLOSE or CLOSED, when it is time to send it.
    pub(in crate::connection) fn poll_ending(&mut self, now: Time) -> Option<Answer> {
        self.ending.as_ref()?;
        let spacing = self.path.rtt.probe_timeout(Duration::ZERO);
        let is_unanswered =
            self.state == ConnectionState::Closing || self.identity.is_server() && !self.timers.is_confirmed;
        let is_reliable = self.path.current.carrier.is_reliable;
        let ending = self.ending.as_mut().filter(|ending| ending.send_at <= now && now < ending.deadline)?;
        let repeats = is_unanswered && ending.answer == Answer::Close && !is_reliable;
        // However many connections close at once, the CLOSEs that are repeated soon are fewer than can be sent.
        let backed_off = spacing * (1 << ending.sent.saturating_sub(CLOSE_PROMPT).min(8));
        ending.sent += 1;
        ending.send_at = if repeats { now + backed_off } else { Time::NEVER };
        Some(ending.answer)
    }

    pub(in crate::connection) fn handle_ending_timeout(&mut self, cx: &mut Context<'_>) {
        self.end_lingering_if_done(cx);
        let is_over = self.ending.as_ref().is_none_or(|ending| ending.deadline <= cx.now);
        match self.state {
            ConnectionState::Closing if is_over => {
                if let Some(ending) = self.ending.take() {
                    self.finish(cx, ClosedBy::Local, ending.code, ending.reason);
                }
                self.die();
            }
            ConnectionState::Drained if is_over => self.die(),
            _ => {}
        }
    }

    /// The one `Closed` event.
    pub(in crate::connection) fn finish(&mut self, cx: &mut Context<'_>, by: ClosedBy, code: u64, reason: Bytes) {
        self.log(cx.now, || PacketEvent::Closed {
            by,
            code,
            reason: core::str::from_utf8(&reason).unwrap_or_default(),
        });
        self.give_everything_up(cx);
        cx.events.push(Event::Closed { peer: self.identity.peer, close: Close { by, code, reason } });
    }

    /// After the `Closed` event: only late packets are answered, and only for a while.
    fn drain(&mut self, now: Time, ending: Ending) {
        self.state = ConnectionState::Drained;
        self.handshake = None;
        let deadline = now + self.drain_span();
        self.ending = Some(Box::new(Ending { deadline, ..ending }));
    }

    pub(in crate::connection) fn answer_now(&mut self, now: Time) {
        if let Some(ending) = &mut self.ending {
            ending.send_at = now;
        }
    }

    pub(in crate::connection) fn die(&mut self) {
        self.state = ConnectionState::Dead;
        self.handshake = None;
    }

    fn give_everything_up(&mut self, cx: &mut Context<'_>) {
        self.channels.give_up_all(&mut cx.scratch.receipts);
        self.push_receipts(cx);
        self.channels = Channels::new(0, Classes::default());
        self.sending.ledger = Ledger::starting_at(self.sending.ledger.next());
    }

    fn drain_span(&self) -> Duration {
        (self.path.rtt.probe_timeout(Duration::ZERO) * CLOSE_PROBES).clamp(DRAIN_MIN, DRAIN_MAX)
    }
}

/// Cuts a reason to what a CLOSE frame may carry, at a character's border.
fn shorten(mut reason: Bytes) -> Bytes {
    if reason.len() > REASON_BYTES_MAX {
        let mut end = REASON_BYTES_MAX;
        while end > 0 && reason[end] & 0xC0 == 0x80 {
            end -= 1;
        }
        reason.truncate(end);
    }
    reason
}
