//! A server's limits on its client's messages, applied to those that arrive.

use super::event::code;
use super::stats::DropReason;
use super::{Connection, Context};
use crate::channel::channels::MessageCursor;
use crate::channel::inbound::{Breach, InboundLimits, InboundRule, Violation};
use crate::time::Duration;
use crate::wire::message::Message;
use std::sync::Arc;

/// Verdict on a message frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inbound {
    /// The rules allow the message.
    Allowed,
    /// The message counts for its sequence, but is not delivered.
    Dropped,
    /// The connection has ended.
    Closed,
}

impl Connection {
    /// Limits the messages that the client may send.
    pub(crate) fn set_inbound(&mut self, rules: &Arc<[InboundRule]>) {
        self.receiving.inbound = (!rules.is_empty()).then(|| Box::new(InboundLimits::new(rules.clone())));
    }

    /// Whether each message of this channel is checked separately, because a rule covers the channel.
    pub(super) fn is_limited_inbound(&self, channel: u16) -> bool {
        self.identity.is_server() && self.receiving.inbound.as_ref().is_some_and(|limits| limits.holds(channel))
    }

    /// Applies the limits that a frame's header shows to be broken.
    pub(super) fn check_inbound(
        &mut self,
        cx: &mut Context<'_>,
        cursor: &mut MessageCursor,
        message: &Message<'_>,
    ) -> Inbound {
        let Some(limits) = self.receiving.inbound.as_ref().filter(|_| self.identity.is_server()) else {
            return Inbound::Allowed;
        };
        let length = message.fragment.map_or(message.payload.len(), |fragment| fragment.total as usize);
        match limits.check(message.channel, length) {
            Ok(()) => Inbound::Allowed,
            Err(breach) => self.on_breach(cx, cursor, breach),
        }
    }

    /// Takes a message's share of its channel's rate. The message is complete and has not come before.
    pub(super) fn admit_inbound(&mut self, cx: &mut Context<'_>, cursor: &mut MessageCursor, channel: u16) -> Inbound {
        let is_server = self.identity.is_server();
        let Some(limits) = self.receiving.inbound.as_mut().filter(|_| is_server) else { return Inbound::Allowed };
        match limits.admit(cx.now, channel) {
            Ok(()) => Inbound::Allowed,
            Err(breach) => self.on_breach(cx, cursor, breach),
        }
    }

    fn on_breach(&mut self, cx: &mut Context<'_>, cursor: &mut MessageCursor, breach: Breach) -> Inbound {
        match breach.violation {
            Violation::Drop => {
                self.stats.drops.count(DropReason::InboundRule);
                Inbound::Dropped
            }
            Violation::Close => {
                self.channels.end_run(cursor);
                self.close(cx, code::PROTOCOL, breach.to_string().into(), Duration::ZERO);
                Inbound::Closed
            }
        }
    }
}
