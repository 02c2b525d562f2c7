//! A packet is opened, checked as a whole, and then applied.

use crate::connection::event::code;
use crate::connection::packet_log::PacketEvent;
use crate::connection::stats::DropReason;
use crate::connection::{Connection, ConnectionState, Context};
use crate::time::{Duration, Time};
use crate::wire::cursor::Reader;
use crate::wire::datagram::HEADER_BYTES;
use core::ops::Range;

/// After such a silence, memory that is kept for reuse is freed: the connection may be idle.
const REST_AFTER: Duration = Duration::from_secs(5);
/// Longest delay of an acknowledgement on a reliable carrier: with a longer delay, queues and windows, which count
/// content that is not acknowledged, would be full of content that has long arrived.
const RELIABLE_ACK_DELAY: Duration = Duration::from_millis(100);

impl Connection {
    /// Handles a datagram for this connection, with a packet at `sealed`. Returns the packet's number, if the packet
    /// was authentic, new and valid.
    pub(crate) fn handle_packet(
        &mut self,
        cx: &mut Context<'_>,
        datagram: &mut [u8],
        sealed: Range<usize>,
    ) -> Option<u64> {
        let length = datagram.len();
        let header = sealed.start;
        match self.open(cx, &mut datagram[..sealed.end], header, length) {
            Ok(number) => {
                self.stats.received.datagrams += 1;
                self.stats.received.datagram_bytes += length as u64;
                self.stats.received.ip_bytes += length as u64 + u64::from(self.path.current.carrier.overhead_bytes);
                Some(number)
            }
            Err(reason) => {
                self.log(cx.now, || PacketEvent::Dropped { bytes: length, reason });
                self.stats.drops.count(reason);
                if header > HEADER_BYTES {
                    if reason == DropReason::Replay {
                        self.on_request_again(cx.now);
                    }
                } else {
                    self.close_broken_stream(cx, reason);
                }
                None
            }
        }
    }

    fn open(
        &mut self,
        cx: &mut Context<'_>,
        datagram: &mut [u8],
        header: usize,
        length: usize,
    ) -> Result<u64, DropReason> {
        if matches!(self.state, ConnectionState::Hello | ConnectionState::Dead) {
            return Err(DropReason::BadFrame);
        }
        if !self.security.is_established() {
            return Err(DropReason::TooEarly);
        }
        let reference = self.receiving.received.next();
        let Some(plaintext) = self.security.open(datagram, header, reference) else {
            return Err(if self.security.was_replay() { DropReason::Replay } else { DropReason::NotAuthentic });
        };
        let mut reader = Reader::new(&datagram[plaintext]);
        let number = reader.truncated().map_err(|_| DropReason::BadFrame)?.resolve(reference);
        if !self.receiving.received.is_new(number) {
            self.receiving.received.on_late(cx.now, number);
            return Err(DropReason::Replay);
        }
        let frames = reader.rest();
        let summary = self.check(number, frames)?;
        self.log_received(cx.now, number, length, frames);
        if cx.now.since(self.timers.last_received) >= REST_AFTER {
            self.channels.shrink();
            self.sending.ledger.shrink();
        }
        self.timers.last_received = cx.now;
        self.timers.gone_due = Time::NEVER;
        // This side takes no messages any more, so it must not acknowledge any.
        if !matches!(self.state, ConnectionState::Closing | ConnectionState::Drained) {
            let is_quiet = !self.path.current.carrier.is_reliable && self.is_quiet(cx.now);
            let delay = self.ack_delay(is_quiet);
            if is_quiet {
                // The sender does not rely on earlier packets either when it begins with repairs again.
                self.redundancy.forget_kept();
            }
            self.receiving.received.on_packet(cx.now, number, summary.is_ack_eliciting, delay);
        }
        self.apply(cx, number, frames, summary.age);
        if !self.path.current.carrier.is_reliable {
            if !summary.has_repair && summary.content_from < frames.len() {
                self.keep_for_repairs(number, &frames[summary.content_from..]);
            }
            self.take_recovered(cx);
        }
        // Only now: messages in the same packet were acknowledged with it and must be delivered.
        self.end_lingering_if_done(cx);
        self.tell_if_settled(cx);
        if self.sending.ledger.is_ignored() {
            self.close(cx, code::PROTOCOL, "the peer acknowledges nothing".into(), Duration::ZERO);
        }
        Ok(number)
    }

    /// On a reliable carrier nothing waits for an acknowledgement but windows and receipts.
    fn ack_delay(&self, is_quiet: bool) -> Duration {
        let carrier = &self.path.current.carrier;
        match carrier.is_reliable {
            true if self.receiving.received.unacked() >= self.terms.unacked_max(carrier) => Duration::ZERO,
            true => RELIABLE_ACK_DELAY,
            false if is_quiet => self.terms.settings.greatest_ack_delay(),
            false => self.terms.settings.ack_delay,
        }
    }

    /// Whether no loss is known in either direction, and the peer expects none.
    fn is_quiet(&self, now: Time) -> bool {
        self.redundancy.is_adaptive()
            && !self.sending.ledger.has_lost_lately(now)
            && self.receiving.received.is_quiet(now)
    }

    /// Closes a connection on a stream that brought an invalid packet. A stream delivers all bytes in order, so no
    /// valid peer sends a packet that must be dropped, and the packet would never be retransmitted.
    pub(super) fn close_broken_stream(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        if self.path.current.carrier.is_reliable && self.is_open() {
            let reason = format!("a packet on a stream breaks the rules: {}", reason.name());
            self.close(cx, code::PROTOCOL, reason.into(), Duration::ZERO);
        }
    }
}
