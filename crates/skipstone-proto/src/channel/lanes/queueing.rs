//! Messages on their way into a channel's queue: one by one, or a bundle that many peers get.

use super::Lanes;
use crate::channel::bundle::Bundle;
use crate::channel::outgoing::{Admission, Outgoing, Receipt};
use crate::channel::packet::Window;
use crate::channel::{Channel, Submission};
use crate::wire::settings::{ChannelRule, Settings};
use std::sync::Arc;

/// What became of messages that were to be queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// How many wait now.
    pub messages: u32,
    /// Their bytes.
    pub bytes: usize,
    /// How many were refused, or took the place of others.
    pub overflows: u32,
    /// The channel's rule is that the connection ends.
    pub is_over: bool,
}

impl Lanes {
    /// Queues messages on one channel, until its rule says that the connection ends. `None` if no rule holds the channel.
    pub fn queue(
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

    /// As `queue`, for messages that other peers get, too.
    pub fn queue_bundle(
        &mut self,
        settings: &Settings,
        channel: u16,
        bundle: &Arc<Bundle>,
        receipts: &mut Vec<Receipt>,
    ) -> Option<Queued> {
        self.queue_by(settings, channel, |outgoing, rule, window| {
            if !outgoing.queue_bundle(rule, bundle) {
                return queue_each(outgoing, rule, window, bundle.submissions(), receipts);
            }
            Queued { messages: bundle.count() as u32, bytes: bundle.payload_bytes(), ..Queued::default() }
        })
    }

    fn queue_by(
        &mut self,
        settings: &Settings,
        channel: u16,
        queue: impl FnOnce(&mut Outgoing, &ChannelRule, &mut Window) -> Queued,
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
    window: &mut Window,
    messages: impl Iterator<Item = Submission>,
    receipts: &mut Vec<Receipt>,
) -> Queued {
    let mut queued = Queued::default();
    for message in messages {
        let length = message.payload.len();
        let admission = outgoing.queue(rule, message, window, receipts);
        queued.overflows += u32::from(admission != Admission::Queued);
        match admission {
            Admission::Queued | Admission::QueuedForOldest => {
                queued.messages += 1;
                queued.bytes += length;
            }
            Admission::Refused => {}
            Admission::Disconnect => {
                queued.is_over = true;
                break;
            }
        }
    }
    queued
}
