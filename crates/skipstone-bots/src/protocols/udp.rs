//! Raw UDP: a message is a datagram. There is no handshake: a bot is connected at once, and notices that no program
//! listens by the system's answer (ICMP) alone. The shortest protocol: a new one may begin as its copy.

use super::lifecycle::Lifecycle;
use super::limits::{Limits, queue_cost};
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{Cause, Delivery, Event, Outgoing, Protocol, ProtocolFigures, SendRefused, SocketEnd};
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
    lifecycle: Lifecycle,
    outgoing: VecDeque<Bytes>,
    queued: usize,
}

impl Udp {
    fn create(_: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        Ok(Box::new(Udp::default()))
    }
}

impl Protocol for Udp {
    fn handle_open(&mut self, _now: Time) {
        self.lifecycle.open();
    }

    fn handle_receive(&mut self, _now: Time, bytes: &[u8]) {
        self.lifecycle.message(0, Bytes::copy_from_slice(bytes));
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        let Some(datagram) = self.outgoing.pop_front() else { return false };
        self.queued -= queue_cost(&datagram);
        out.extend_from_slice(&datagram);
        true
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        let limits = Limits {
            is_open: self.lifecycle.is_open(),
            channel_max: 0,
            delivery: Some(Delivery::Unreliable),
            message_bytes_max: DATAGRAM_MAX,
            queued: self.queued,
        };
        limits.check(&message)?;
        self.queued += queue_cost(message.data);
        self.outgoing.push_back(Bytes::copy_from_slice(message.data));
        Ok(())
    }

    fn close(&mut self, _now: Time) {
        self.lifecycle.end(Cause::Closed, "closed by the bot");
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
    use crate::protocol::{Ending, QUEUE_BYTES_MAX};

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
        for (data, attempts) in [(&large[..], 100), (b"", 100_000)] {
            let refused = (0..attempts).find_map(|_| udp.send(Time::ZERO, message(data)).err());
            assert!(matches!(refused, Some(SendRefused::QueueFull { .. })));
            assert!(udp.queued <= QUEUE_BYTES_MAX + queue_cost(data));
            let mut out = Vec::new();
            while udp.poll_transmit(Time::ZERO, &mut out) {}
            assert_eq!(udp.queued, 0);
        }
    }
}
