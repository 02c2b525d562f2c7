//! Sessions that encrypt the protocol's datagrams, on a server's shared sockets: DTLS and WebTransport. The first byte
//! of a datagram identifies the carrier, and the number of a path's socket the table of its session.

use super::dtls::DtlsGuests;
use super::outgoing::Send;
use super::peer_shards::Deliver;
use super::quic::QuicGuests;
use super::session_table::SessionTable;
use crate::driver_stats::{DtlsStats, WebTransportStats};
use crate::net::udp::AddressPair;
use skipstone_proto::{Cost, Endpoint, Shard, Time};

/// The sessions of a server, a table for each carrier that it serves.
#[derive(Debug, Default)]
pub(super) struct Guests {
    pub(super) dtls: Option<Box<DtlsGuests>>,
    pub(super) quic: Option<Box<QuicGuests>>,
}

impl Guests {
    fn tables(&self) -> impl Iterator<Item = &dyn SessionTable> {
        let dtls = self.dtls.as_deref().map(|table| table as &dyn SessionTable);
        dtls.into_iter().chain(self.quic.as_deref().map(|table| table as &dyn SessionTable))
    }

    fn tables_mut(&mut self) -> impl Iterator<Item = &mut dyn SessionTable> {
        let dtls = self.dtls.as_deref_mut().map(|table| table as &mut dyn SessionTable);
        dtls.into_iter().chain(self.quic.as_deref_mut().map(|table| table as &mut dyn SessionTable))
    }

    /// The shard that a datagram names, if it names one; shards have this number of bits.
    pub(super) fn shard_of(&self, datagram: &[u8], bits: u32) -> Option<u32> {
        match self.tables().find(|table| table.is_its_datagram(datagram)) {
            Some(table) => table.shard_of(datagram, bits),
            None => Shard::named_by(datagram, bits),
        }
    }

    /// Handles a datagram of a session, or of a client that requests one. False if it belongs to no table.
    pub(super) fn handle(
        &mut self,
        now: Time,
        from: (u32, AddressPair),
        bytes: &[u8],
        endpoint: &mut Endpoint,
        deliver: Deliver<'_>,
    ) -> bool {
        let Some(table) = self.tables_mut().find(|table| table.is_its_datagram(bytes)) else { return false };
        table.handle(now, from, bytes, endpoint, deliver);
        true
    }

    /// The cost of session datagrams since the last call, in addition to the cost of any datagram.
    pub(super) fn take_cost(&mut self) -> Cost {
        self.tables_mut().fold(Cost::ZERO, |cost, table| cost + table.take_cost())
    }

    /// Begins no further session: clients repeat their requests, and the next process answers them.
    pub(super) fn stop_inviting(&mut self) {
        self.tables_mut().for_each(|table| table.stop_inviting());
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
        let Some(table) = self.tables_mut().find(|table| table.is_its_socket(number)) else { return false };
        table.send(now, number, bytes, segment_bytes, endpoint);
        true
    }

    /// Ends a session whose connection has ended. False if the path's socket is not a session.
    pub(super) fn close(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) -> bool {
        let Some(table) = self.tables_mut().find(|table| table.is_its_socket(number)) else { return false };
        table.close(now, number, endpoint);
        true
    }

    /// Handles timeouts. True if anything may have changed that only statistics show.
    pub(super) fn handle_timeout(&mut self, now: Time, endpoint: &mut Endpoint) -> bool {
        let mut is_changed = false;
        for table in self.tables_mut() {
            is_changed |= table.handle_timeout(now, endpoint);
        }
        is_changed
    }

    /// Whether a handshake waits for a round with budget for a signature.
    pub(super) fn has_waiting(&self) -> bool {
        self.tables().any(|table| table.has_waiting())
    }

    /// Time at which [`Guests::handle_timeout`] must be called next.
    pub(super) fn poll_timeout(&self) -> Time {
        self.tables().map(|table| table.poll_timeout()).min().unwrap_or(Time::NEVER)
    }

    /// Whether the datagrams that wait should be sent before more are read.
    pub(super) fn is_crowded(&self) -> bool {
        self.tables().any(|table| table.is_crowded())
    }

    /// Handles the events since the last call. Called before [`Guests::transmit`].
    pub(super) fn advance(&mut self, now: Time, endpoint: &mut Endpoint) {
        self.tables_mut().for_each(|table| table.advance(now, endpoint));
    }

    /// Passes all waiting datagrams to `send`.
    pub(super) fn transmit(&mut self, now: Time, send: Send<'_>) {
        self.tables_mut().for_each(|table| table.transmit(now, send));
    }

    /// Sessions without a connection.
    pub(super) fn handshake_count(&self) -> usize {
        self.tables().map(|table| table.handshake_count()).sum()
    }

    pub(super) fn stats(&self) -> (DtlsStats, WebTransportStats) {
        let dtls = self.dtls.as_ref().map(|dtls| dtls.stats()).unwrap_or_default();
        (dtls, self.quic.as_ref().map(|quic| quic.stats()).unwrap_or_default())
    }
}
