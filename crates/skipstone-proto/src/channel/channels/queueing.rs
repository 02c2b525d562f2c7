//! Adding messages to a channel's queue: one by one, or a batch for many peers.

use super::Channels;
use crate::channel::encoded_batch::EncodedBatch;
use crate::channel::outgoing::{Admission, Outgoing, Receipt};
use crate::channel::packet::SendWindow;
use crate::channel::{Channel, GivenUp, Submission};
use crate::wire::settings::{ChannelRule, Settings};
use std::sync::Arc;

/// The result of queueing messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queued {
    /// Messages that wait now.
    pub messages: u32,
    /// Their bytes.
    pub bytes: usize,
    /// Messages that were refused, or that replaced others.
    pub overflows: u32,
    /// The channel's rule is to disconnect.
    pub is_over: bool,
}

impl Channels {
    /// Queues messages on one channel, until its rule ends the connection. `None` if no rule covers the channel.
    pub(crate) fn queue(
        &mut self,
        settings: &Settings,
        channel: u16,
        messages: impl Iterator<Item = Submission>,
        receipts: &mut Vec<Receipt>,
    ) -> Option<Queued> {
        self.queue_by(settings, channel, |outgoing, rule, window| {
            queue_each(outgoing, rule, window, messages, receipts)
        })
    }

    /// Like `queue`, for messages that go to several peers.
    pub(crate) fn queue_batch(
        &mut self,
        settings: &Settings,
        channel: u16,
        batch: &Arc<EncodedBatch>,
        receipts: &mut Vec<Receipt>,
    ) -> Option<Queued> {
        self.queue_by(settings, channel, |outgoing, rule, window| {
            if !outgoing.queue_batch(rule, batch) {
                return queue_each(outgoing, rule, window, batch.submissions(), receipts);
            }
            Queued { messages: batch.count() as u32, bytes: batch.payload_bytes(), ..Queued::default() }
        })
    }

    fn queue_by(
        &mut self,
        settings: &Settings,
        channel: u16,
        queue: impl FnOnce(&mut Outgoing, &ChannelRule, &mut SendWindow) -> Queued,
    ) -> Option<Queued> {
        let slot = self.table.activate(channel, settings)?;
        let Channel { outgoing, is_scheduled, rule, .. } = self.table.slot(slot);
        let class = self.classes.of(*rule);
        let rule = &settings.channels[usize::from(*rule)];
        let queued = queue(outgoing, rule, &mut self.window);
        if outgoing.has_new() {
            if !*is_scheduled {
                *is_scheduled = true;
                self.schedule.push(rule.priority, class, slot);
            }
        } else {
            self.table.release_if_idle(slot);
        }
        Some(queued)
    }
}

fn queue_each(
    outgoing: &mut Outgoing,
    rule: &ChannelRule,
    window: &mut SendWindow,
    messages: impl Iterator<Item = Submission>,
    receipts: &mut Vec<Receipt>,
) -> Queued {
    let mut queued = Queued::default();
    for message in messages {
        let (length, id) = (message.payload.len(), message.id);
        let admission = outgoing.queue(rule, message, window, receipts);
        queued.overflows += u32::from(admission != Admission::Queued);
        match admission {
            Admission::Queued | Admission::QueuedForOldest => {
                queued.messages += 1;
                queued.bytes += length;
            }
            Admission::Refused => outgoing.give_up(id, GivenUp::QueueFull, receipts),
            Admission::Disconnect => {
                queued.is_over = true;
                break;
            }
        }
    }
    queued
}
