//! Raw UDP: a message is a datagram. There is no handshake: a bot is connected at once, and notices that nobody listens
//! by the system's answer (ICMP) alone. The model for other protocols.

use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Delivery, Ending, Event, Outgoing, Protocol, ProtocolFigures, QUEUE_BYTES_MAX, SendRefused, SocketEnd,
};
use crate::target::TargetError;
use bytes::Bytes;
use skipstone_proto::Time;
use std::collections::VecDeque;

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "udp",
    carrier: Carrier::Datagrams,
    about: "raw UDP: a message is a datagram",
    options: &[],
    new: Udp::create,
};

/// A client of raw UDP.
#[derive(Debug, Default)]
struct Udp {
    phase: Phase,
    events: VecDeque<Event>,
    outgoing: VecDeque<Bytes>,
    queued: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    New,
    Open,
    Closed,
}

impl Udp {
    fn create(_: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        Ok(Box::new(Udp::default()))
    }

    fn end(&mut self, ending: Ending) {
        if self.phase != Phase::Closed {
            self.phase = Phase::Closed;
            self.events.push_back(Event::Closed(ending));
        }
    }
}

impl Protocol for Udp {
    fn handle_open(&mut self, _now: Time) {
        if self.phase == Phase::New {
            self.phase = Phase::Open;
            self.events.push_back(Event::Connected);
        }
    }

    fn handle_receive(&mut self, _now: Time, bytes: &[u8]) {
        if self.phase == Phase::Open {
            self.events.push_back(Event::Message { channel: 0, data: Bytes::copy_from_slice(bytes) });
        }
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        let text = match end {
            SocketEnd::Finished | SocketEnd::TimedOut => "the socket ended".into(),
            SocketEnd::PortClosed => "nobody listens on the server's port".into(),
            SocketEnd::Failed(why) => why,
        };
        self.end(Ending::new(Cause::Unreachable, text));
    }

    fn handle_deadline(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        let Some(datagram) = self.outgoing.pop_front() else { return false };
        self.queued -= datagram.len();
        out.extend_from_slice(&datagram);
        true
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        let size = message.data.len();
        if self.phase != Phase::Open {
            return Err(SendRefused::NotConnected);
        }
        if message.channel != 0 {
            return Err(SendRefused::NoChannel { channel: message.channel, max: 0 });
        }
        if !matches!(message.delivery, None | Some(Delivery::Unreliable)) {
            return Err(SendRefused::NoDelivery("unreliable"));
        }
        if size > DATAGRAM_MAX {
            return Err(SendRefused::TooLong { size, max: DATAGRAM_MAX });
        }
        if self.queued + size > QUEUE_BYTES_MAX {
            return Err(SendRefused::QueueFull { queued: self.queued });
        }
        self.queued += size;
        self.outgoing.push_back(Bytes::copy_from_slice(message.data));
        Ok(())
    }

    fn close(&mut self, _now: Time) {
        self.end(Ending::new(Cause::Closed, "closed by the bot"));
    }

    fn figures(&self) -> ProtocolFigures {
        ProtocolFigures::default()
    }
}

/// The largest UDP payload over IPv4.
const DATAGRAM_MAX: usize = 65_507;

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Udp {
        let mut udp = Udp::default();
        udp.handle_open(Time::ZERO);
        assert_eq!(udp.poll_event(), Some(Event::Connected));
        udp
    }

    fn message(data: &[u8]) -> Outgoing<'_> {
        Outgoing { channel: 0, delivery: None, data }
    }

    #[test]
    fn a_message_is_a_datagram_each_way() {
        let mut udp = open();
        udp.send(Time::ZERO, message(b"a")).expect("accepted");
        udp.send(Time::ZERO, message(b"bc")).expect("accepted");
        let mut sent = Vec::new();
        let mut out = Vec::new();
        while udp.poll_transmit(Time::ZERO, &mut out) {
            sent.push(std::mem::take(&mut out));
        }
        assert_eq!(sent, [b"a".to_vec(), b"bc".to_vec()]);
        udp.handle_receive(Time::ZERO, b"xyz");
        assert_eq!(udp.poll_event(), Some(Event::Message { channel: 0, data: Bytes::from_static(b"xyz") }));
    }

    #[test]
    fn a_connection_ends_once() {
        let mut udp = open();
        udp.close(Time::ZERO);
        udp.handle_end(Time::ZERO, SocketEnd::Failed("refused".into()));
        assert!(matches!(udp.poll_event(), Some(Event::Closed(Ending { cause: Cause::Closed, .. }))));
        assert_eq!(udp.poll_event(), None);
        assert_eq!(udp.send(Time::ZERO, message(b"late")), Err(SendRefused::NotConnected));
    }

    #[test]
    fn messages_that_raw_udp_cannot_carry_are_refused() {
        let mut udp = open();
        let reliable = Outgoing { delivery: Some(Delivery::ReliableOrdered), ..message(b"") };
        assert_eq!(udp.send(Time::ZERO, reliable), Err(SendRefused::NoDelivery("unreliable")));
        let elsewhere = Outgoing { channel: 1, ..message(b"") };
        assert_eq!(udp.send(Time::ZERO, elsewhere), Err(SendRefused::NoChannel { channel: 1, max: 0 }));
        let long = vec![0; DATAGRAM_MAX + 1];
        assert!(matches!(udp.send(Time::ZERO, message(&long)), Err(SendRefused::TooLong { .. })));
    }

    #[test]
    fn the_queue_has_a_bound() {
        let mut udp = open();
        let large = vec![0; DATAGRAM_MAX];
        let refused = (0..100).find_map(|_| udp.send(Time::ZERO, message(&large)).err());
        assert!(matches!(refused, Some(SendRefused::QueueFull { .. })));
        assert!(udp.queued <= QUEUE_BYTES_MAX);
    }
}
