//! KCP alone, as `ikcp.c` 1.7 and kcp-go without FEC and encryption speak it, a message in each `ikcp_send`. There is no
//! handshake and no goodbye: a bot is connected at once, and notices that the server is gone when a segment was sent
//! twenty times. kcp2k adds what is missing; `conversation` is shared with it.

pub(super) mod conversation;
mod incoming;
mod outgoing;
mod round_trip;
mod segment;
#[cfg(test)]
mod tests;

use self::conversation::{Conversation, KcpFault, KcpSettings};
use super::lifecycle::Lifecycle;
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Delivery, Event, Outgoing, Protocol, ProtocolCounts, ProtocolFigures, QUEUE_BYTES_MAX, SendRefused,
    SocketEnd,
};
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

/// KCP's `dead_link`.
const TRANSMISSIONS_MAX: u32 = 20;

impl Kcp {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        Ok(Box::new(Kcp::new(opening)?))
    }

    fn new(opening: &Opening<'_>) -> Result<Self, TargetError> {
        let target = opening.target;
        let drawn = Rng::new(opening.seed).next_u64() >> 32;
        let settings = KcpSettings {
            conversation: target.number("conversation", drawn, 0..=u32::MAX.into())? as u32,
            datagram_bytes: target.number("mtu", 1400, 50..=1500)? as usize,
            interval: Duration::from_millis(target.number("interval", 10, 1..=5000)?),
            window: target.number("window", 1024, 2..=32_768)? as u16,
            resend_skips: target.number("resend", 2, 0..=100)? as u32,
            transmissions_max: TRANSMISSIONS_MAX,
        };
        Ok(Kcp { settings, lifecycle: Lifecycle::default(), conversation: None, invalid: 0 })
    }

    fn check(&self, message: &Outgoing<'_>) -> Result<(), SendRefused> {
        let (size, max) = (message.data.len(), self.settings.message_bytes_max());
        let queued = self.conversation.as_ref().map_or(0, Conversation::queued_bytes);
        if !self.lifecycle.is_open() {
            Err(SendRefused::NotConnected)
        } else if message.channel != 0 {
            Err(SendRefused::NoChannel { channel: message.channel, max: 0 })
        } else if !matches!(message.delivery, None | Some(Delivery::ReliableOrdered)) {
            Err(SendRefused::NoDelivery("reliable"))
        } else if size > max {
            Err(SendRefused::TooLong { size, max })
        } else if queued + size > QUEUE_BYTES_MAX {
            Err(SendRefused::QueueFull { queued })
        } else {
            Ok(())
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
        self.check(&message)?;
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
        let figures = self.conversation.as_ref().map(Conversation::figures).unwrap_or_default();
        ProtocolFigures {
            rtt: figures.rtt,
            counts: ProtocolCounts {
                invalid: self.invalid + figures.refused,
                retransmitted: figures.retransmitted,
                duplicates: figures.duplicates,
                dropped: 0,
            },
        }
    }
}
