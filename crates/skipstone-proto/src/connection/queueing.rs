//! Queueing of messages in the channels, and the events about their delivery.

use super::context::Context;
use super::event::{Event, code};
use super::send_error::SendError;
use super::state::{Connection, ConnectionState};
use super::timers::MergeTimer;
use crate::channel::channels::Queued;
use crate::channel::encoded_batch::EncodedBatch;
use crate::channel::outgoing::Receipt;
use crate::channel::{GivenUp, Submission};
use crate::time::{Duration, Time};
use crate::wire::settings::Merging;
use std::sync::Arc;

/// The time at which a queued message may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    Now,
    /// The message waits to be merged with others until a time, or an earlier flush.
    Later,
    AtFlush,
}

impl Connection {
    /// Queues a message.
    pub(crate) fn send(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        message: Submission,
    ) -> Result<Leaves, SendError> {
        self.begin_queueing(channel)?;
        let rule = self.terms.settings.rule(channel).ok_or(SendError::NoSuchChannel)?;
        let bytes_max = self.terms.sends.message_bytes_max.min(rule.queue_bytes_max) as usize;
        if message.payload.len() > bytes_max {
            return Err(SendError::TooLong { bytes_max });
        }
        let id = message.id;
        let queued =
            self.channels.queue(&self.terms.settings, channel, core::iter::once(message), &mut cx.scratch.receipts);
        // The caller learns of a full queue by the error only.
        cx.scratch.receipts.retain(|receipt| receipt.id != id || receipt.fate != Err(GivenUp::QueueFull));
        let (leaves, messages) = self.end_queueing(cx, channel, queued)?;
        if messages > 0 { Ok(leaves) } else { Err(SendError::QueueFull) }
    }

    /// Queues messages of one channel that were accepted before, and returns how many were queued. Messages for which
    /// there is no room, or that are too long, are given up with an event, if the channel is reliable or has receipts.
    pub(crate) fn send_all(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        messages: impl Iterator<Item = Submission>,
    ) -> Result<(Leaves, u32), SendError> {
        self.begin_queueing(channel)?;
        let rule = self.terms.settings.rule(channel).ok_or(SendError::NoSuchChannel)?;
        let tells_fate = rule.receipts || rule.mode.is_reliable();
        let bytes_max = self.terms.sends.message_bytes_max as usize;
        let mut too_long = Vec::new();
        let messages = messages.filter(|message| {
            let is_too_long = message.payload.len() > bytes_max;
            if is_too_long && tells_fate {
                too_long.push(message.id);
            }
            !is_too_long
        });
        let queued = self.channels.queue(&self.terms.settings, channel, messages, &mut cx.scratch.receipts);
        let fate = Err(GivenUp::TooLong);
        cx.scratch.receipts.extend(too_long.into_iter().map(|id| Receipt { id, channel, fate }));
        self.end_queueing(cx, channel, queued)
    }

    /// Queues a batch's messages, and returns how many were queued.
    pub(crate) fn send_batch(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        batch: &Arc<EncodedBatch>,
    ) -> Result<(Leaves, u32), SendError> {
        if batch.payload_bytes_max() > self.terms.sends.message_bytes_max as usize {
            return self.send_all(cx, channel, batch.submissions());
        }
        self.begin_queueing(channel)?;
        let queued = self.channels.queue_batch(&self.terms.settings, channel, batch, &mut cx.scratch.receipts);
        self.end_queueing(cx, channel, queued)
    }

    fn begin_queueing(&mut self, channel: u16) -> Result<(), SendError> {
        if self.state != ConnectionState::Established {
            return Err(SendError::NotConnected);
        }
        if self.receiving.inbound.as_ref().is_some_and(|limits| !limits.let_server_send(channel)) {
            return Err(SendError::WrongDirection);
        }
        if !self.channels.has_new() {
            self.timers.merge = MergeTimer::default();
        }
        Ok(())
    }

    /// Returns when the queued messages leave, and their number.
    fn end_queueing(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        queued: Option<Queued>,
    ) -> Result<(Leaves, u32), SendError> {
        let queued = queued.ok_or(SendError::NoSuchChannel)?;
        self.push_receipts(cx);
        self.stats.queue_overflows += u64::from(queued.overflows);
        if queued.is_over {
            let reason = format!("the queue of channel {channel} is full");
            self.close(cx, code::QUEUE_OVERFLOW, reason.into(), Duration::ZERO);
            return Err(SendError::QueueFull);
        }
        let is_due = match self.terms.merging {
            Merging::Immediate => true,
            Merging::After(span) => {
                let full = usize::from(self.datagram_bytes());
                self.timers.merge.on_messages(cx.now, span, queued.bytes, full)
            }
            Merging::Flush => self.timers.merge.is_over(cx.now),
        };
        let leaves = match self.terms.merging {
            _ if is_due => Leaves::Now,
            Merging::Flush => Leaves::AtFlush,
            _ => Leaves::Later,
        };
        Ok((leaves, queued.messages))
    }

    /// Sends all queued messages.
    pub(crate) fn flush(&mut self, now: Time) {
        self.timers.merge.end(now);
    }

    /// Asks for [`Event::Settled`], once every reliable message has been acknowledged.
    pub(crate) fn await_settled(&mut self, cx: &mut Context<'_>) {
        self.sending.is_settling = self.state == ConnectionState::Established;
        self.flush(cx.now);
        self.tell_if_settled(cx);
    }

    pub(super) fn tell_if_settled(&mut self, cx: &mut Context<'_>) {
        if self.sending.is_settling && !self.channels.owes() {
            self.sending.is_settling = false;
            cx.events.push(Event::Settled { peer: self.identity.peer });
        }
    }

    pub(super) fn push_receipts(&mut self, cx: &mut Context<'_>) {
        if cx.scratch.receipts.is_empty() {
            return;
        }
        let peer = self.identity.peer;
        for Receipt { id, channel, fate } in cx.scratch.receipts.drain(..) {
            cx.events.push(match fate {
                Ok(()) => Event::Acknowledged { peer, id, channel },
                Err(why) => Event::GivenUp { peer, id, channel, why },
            });
        }
    }
}
