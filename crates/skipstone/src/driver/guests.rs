//! Sessions that encrypt the protocol's datagrams, on a server's shared sockets: DTLS and WebTransport. The first byte
//! of a datagram identifies the carrier, and the number of a path's socket the table of its session.

use super::dtls::DtlsGuests;
use super::outgoing::Send;
use super::peer_shards::Deliver;
use super::quic::QuicGuests;
use crate::driver_stats::{DtlsStats, WebTransportStats};
use crate::net::udp::AddressPair;
use skipstone_proto::{Cost, Endpoint, Shard, Time};

/// The sessions of a server, of each carrier that it serves.
#[derive(Debug, Default)]
pub(super) struct Guests {
    pub(super) dtls: Option<Box<DtlsGuests>>,
    pub(super) quic: Option<Box<QuicGuests>>,
}

impl Guests {
    /// The shard that a datagram names, if it names one; shards have this number of bits.
    pub(super) fn shard_of(&self, datagram: &[u8], bits: u32) -> Option<u32> {
        let is_quic = self.quic.is_some() && QuicGuests::is_quic(datagram);
        if is_quic { QuicGuests::shard_of(datagram, bits) } else { Shard::named_by(datagram, bits) }
    }

    /// Handles a datagram of a session, or of a client that requests one. False if it belongs to neither carrier.
    pub(super) fn handle(
        &mut self,
        now: Time,
        from: (u32, AddressPair),
        bytes: &[u8],
        endpoint: &mut Endpoint,
        deliver: Deliver<'_>,
    ) -> bool {
        if let Some(dtls) = self.dtls.as_mut().filter(|_| DtlsGuests::is_dtls(bytes)) {
            dtls.handle(now, from, bytes, endpoint, deliver);
        } else if let Some(quic) = self.quic.as_mut().filter(|_| QuicGuests::is_quic(bytes)) {
            quic.handle(now, from, bytes, endpoint, deliver);
        } else {
            return false;
        }
        true
    }

    /// The additional cost of datagrams of sessions since the last call, beyond that of any datagram.
    pub(super) fn take_cost(&mut self) -> Cost {
        let dtls = self.dtls.as_mut().map_or(Cost::ZERO, |dtls| dtls.take_cost());
        dtls + self.quic.as_mut().map_or(Cost::ZERO, |quic| quic.take_cost())
    }

    /// Begins no further session: clients repeat their requests, and the next process answers them.
    pub(super) fn stop_inviting(&mut self) {
        self.dtls.iter_mut().for_each(|dtls| dtls.stop_inviting());
        self.quic.iter_mut().for_each(|quic| quic.stop_inviting());
    }

    /// Queues datagrams for a session, which [`Guests::transmit`] then sends. False if the path's socket is not a
    /// session.
    pub(super) fn send(
        &mut self,
        now: Time,
        number: u32,
        bytes: &[u8],
        segment_bytes: usize,
        endpoint: &mut Endpoint,
    ) -> bool {
        if let Some(dtls) = self.dtls.as_mut().filter(|_| DtlsGuests::is_session(number)) {
            dtls.send(now, number, bytes, segment_bytes, endpoint);
        } else if let Some(quic) = self.quic.as_mut().filter(|_| QuicGuests::is_session(number)) {
            quic.send(now, number, bytes, segment_bytes);
        } else {
            return false;
        }
        true
    }

    /// Ends a session whose connection has ended. False if the path's socket is not a session.
    pub(super) fn close(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) -> bool {
        if let Some(dtls) = self.dtls.as_mut().filter(|_| DtlsGuests::is_session(number)) {
            dtls.close(now, number, endpoint);
        } else if let Some(quic) = self.quic.as_mut().filter(|_| QuicGuests::is_session(number)) {
            quic.close(now, number, endpoint);
        } else {
            return false;
        }
        true
    }

    /// Handles timeouts. True if anything may have changed that only statistics show.
    pub(super) fn handle_timeout(&mut self, now: Time, endpoint: &mut Endpoint) -> bool {
        if let Some(dtls) = &mut self.dtls {
            dtls.handle_timeout(now, endpoint);
        }
        let due = self.quic.as_mut().filter(|quic| quic.poll_timeout() <= now);
        let is_due = due.is_some();
        due.into_iter().for_each(|quic| quic.handle_timeout(now, endpoint));
        is_due
    }

    /// Whether a handshake waits for a round with budget for a signature.
    pub(super) fn has_waiting(&self) -> bool {
        self.dtls.as_ref().is_some_and(|dtls| dtls.has_waiting())
            || self.quic.as_ref().is_some_and(|quic| quic.has_waiting())
    }

    /// Time at which [`Guests::handle_timeout`] must be called next.
    pub(super) fn poll_timeout(&self) -> Time {
        let dtls = self.dtls.as_ref().map_or(Time::NEVER, |dtls| dtls.poll_timeout());
        dtls.min(self.quic.as_ref().map_or(Time::NEVER, |quic| quic.poll_timeout()))
    }

    /// Whether so many datagrams wait that they should leave before more are read.
    pub(super) fn is_crowded(&self) -> bool {
        self.dtls.as_ref().is_some_and(|dtls| dtls.is_crowded())
            || self.quic.as_ref().is_some_and(|quic| quic.is_crowded())
    }

    /// Handles the events since the last call. Called before [`Guests::transmit`].
    pub(super) fn advance(&mut self, now: Time, endpoint: &mut Endpoint) {
        self.quic.iter_mut().for_each(|quic| quic.advance_all(now, endpoint));
    }

    /// Passes all waiting datagrams to `send`.
    pub(super) fn transmit(&mut self, now: Time, send: Send<'_>) {
        self.dtls.iter_mut().for_each(|dtls| dtls.transmit(send));
        self.quic.iter_mut().for_each(|quic| quic.transmit(now, send));
    }

    /// Sessions without a connection.
    pub(super) fn handshake_count(&self) -> usize {
        let dtls = self.dtls.as_ref().map_or(0, |dtls| dtls.handshake_count());
        dtls + self.quic.as_ref().map_or(0, |quic| quic.handshake_count())
    }

    pub(super) fn stats(&self) -> (DtlsStats, WebTransportStats) {
        let dtls = self.dtls.as_ref().map(|dtls| dtls.stats()).unwrap_or_default();
        (dtls, self.quic.as_ref().map(|quic| quic.stats()).unwrap_or_default())
    }
}
