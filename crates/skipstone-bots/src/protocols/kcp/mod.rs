//! KCP alone, written from `ikcp.c` 1.7; kcp-go without FEC and encryption has the same wire. A message is one call of
//! `ikcp_send`, not a part of a stream. There is no handshake and no goodbye: a bot is connected at once, and notices
//! that the server is gone when a segment was sent twenty times. kcp2k adds both; it shares `conversation`.

pub(super) mod conversation;
mod incoming;
mod outgoing;
mod round_trip;
mod segment;
pub(super) mod settings;
#[cfg(test)]
mod tests;

use self::conversation::{Conversation, KcpFault};
use self::settings::KcpSettings;
use super::lifecycle::Lifecycle;
use super::limits::Limits;
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{Cause, Delivery, Event, Outgoing, Protocol, ProtocolFigures, SendRefused, SocketEnd};
use crate::target::TargetError;
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "kcp",
    carrier: Carrier::Datagrams,
    about: "KCP without handshake: kcp-go without FEC and encryption, ikcp.c",
    options: &[
        ("conversation", "the conversation's number; by default drawn from the seed"),
        ("mtu", "bytes of a datagram, default 1400"),
        ("interval", "milliseconds between two flushes, default 10"),
        ("resend", "acknowledgements of later segments after which one is sent again, default 2; 0: only the timer"),
        ("window", "segments in flight, default 1024"),
    ],
    new: Kcp::create,
};

/// A client of KCP.
#[derive(Debug)]
struct Kcp {
    settings: KcpSettings,
    lifecycle: Lifecycle,
    /// There from `handle_open` on.
    conversation: Option<Conversation>,
    invalid: u64,
}

const DEFAULTS: KcpSettings = KcpSettings {
    conversation: 0,
    datagram_bytes: 1400,
    interval: Duration::from_millis(10),
    window: 1024,
    resend_skips: 2,
    transmissions_max: TRANSMISSIONS_MAX,
};
/// `IKCP_DEADLINK` of `ikcp.c`.
const TRANSMISSIONS_MAX: u32 = 20;

impl Kcp {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        Ok(Box::new(Kcp::new(opening)?))
    }

    fn new(opening: &Opening<'_>) -> Result<Self, TargetError> {
        let target = opening.target;
        let drawn = Rng::new(opening.seed).next_u64() >> 32;
        let conversation = target.number("conversation", drawn, 0..=u32::MAX.into())? as u32;
        let settings = KcpSettings { conversation, ..KcpSettings::of(target, DEFAULTS)? };
        Ok(Kcp { settings, lifecycle: Lifecycle::default(), conversation: None, invalid: 0 })
    }

    fn limits(&self) -> Limits {
        Limits {
            is_open: self.lifecycle.is_open(),
            channel_max: 0,
            delivery: Some(Delivery::ReliableOrdered),
            message_bytes_max: self.settings.message_bytes_max(),
            queued: self.conversation.as_ref().map_or(0, Conversation::queued_bytes),
        }
    }
}

impl Protocol for Kcp {
    fn handle_open(&mut self, now: Time) {
        if self.lifecycle.begin() {
            self.conversation = Some(Conversation::new(now, self.settings));
            self.lifecycle.open();
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        let Some(conversation) = self.conversation.as_mut().filter(|_| self.lifecycle.is_open()) else { return };
        let handled = conversation.handle_datagram(now, bytes);
        while let Some(message) = conversation.poll_message() {
            self.lifecycle.message(0, message);
        }
        match handled {
            Ok(()) => {}
            Err(KcpFault::Datagram) => self.invalid += 1,
            Err(KcpFault::Message) => {
                self.lifecycle.end(Cause::Malformed, "the fragments of a message do not count down")
            }
        }
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let is_open = self.lifecycle.is_open();
        let Some(conversation) = &mut self.conversation else { return false };
        let datagram = if is_open { conversation.poll_datagram(now) } else { conversation.pop_datagram() };
        let Some(datagram) = datagram else { return false };
        out.extend_from_slice(&datagram);
        if conversation.is_peer_gone() {
            let text = format!("a segment was sent {TRANSMISSIONS_MAX} times without an answer");
            self.lifecycle.end(Cause::TimedOut, text);
        }
        true
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.conversation.as_ref().filter(|_| self.lifecycle.is_open())?.deadline()
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        self.limits().check(&message)?;
        if let Some(conversation) = &mut self.conversation {
            conversation.send(Bytes::copy_from_slice(message.data));
        }
        Ok(())
    }

    fn close(&mut self, now: Time) {
        if let Some(conversation) = self.conversation.as_mut().filter(|_| self.lifecycle.is_open()) {
            conversation.finish(now);
        }
        self.lifecycle.end(Cause::Closed, "closed by the bot");
    }

    fn figures(&self) -> ProtocolFigures {
        self.conversation.as_ref().map(|conversation| conversation.figures(self.invalid)).unwrap_or_default()
    }
}
