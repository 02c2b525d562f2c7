//! The interface of the tables of sessions that encrypt the protocol's datagrams, on a server's shared sockets.

use super::outgoing::Send;
use super::peer_shards::Deliver;
use crate::net::udp::AddressPair;
use skipstone_proto::{Cost, Endpoint, Shard, Time};

/// The sessions of one carrier on a server's shared sockets.
pub(super) trait SessionTable {
    /// Whether a datagram belongs to this carrier, by its first byte (RFC 9443).
    fn is_its_datagram(&self, datagram: &[u8]) -> bool;

    /// Whether the socket of a path is a session of this table.
    fn is_its_socket(&self, number: u32) -> bool;

    /// The shard that a datagram of this carrier names, if it names one; shards have this number of bits.
    fn shard_of(&self, datagram: &[u8], bits: u32) -> Option<u32> {
        Shard::named_by(datagram, bits)
    }

    /// Handles a datagram of a session, or of a client that requests one.
    fn handle(
        &mut self,
        now: Time,
        from: (u32, AddressPair),
        bytes: &[u8],
        endpoint: &mut Endpoint,
        deliver: Deliver<'_>,
    );

    /// Queues datagrams for a session, which [`SessionTable::transmit`] then sends.
    fn send(&mut self, now: Time, number: u32, bytes: &[u8], segment_bytes: usize, endpoint: &mut Endpoint);

    /// Ends a session whose connection has ended.
    fn close(&mut self, now: Time, number: u32, endpoint: &mut Endpoint);

    /// Handles timeouts. True if anything may have changed that only statistics show.
    fn handle_timeout(&mut self, now: Time, endpoint: &mut Endpoint) -> bool;

    /// Time at which [`SessionTable::handle_timeout`] must be called next.
    fn poll_timeout(&self) -> Time;

    /// Handles the events since the last call. Called before [`SessionTable::transmit`].
    fn advance(&mut self, _now: Time, _endpoint: &mut Endpoint) {}

    /// Passes all waiting datagrams to `send`.
    fn transmit(&mut self, now: Time, send: Send<'_>);

    /// Whether the datagrams that wait should be sent before more are read.
    fn is_crowded(&self) -> bool;

    /// Whether a handshake waits for a round with budget for a signature.
    fn has_waiting(&self) -> bool;

    /// The cost of handshakes and sessions since the last call, in addition to the cost of any datagram.
    fn take_cost(&mut self) -> Cost;

    /// Begins no further session: clients repeat their requests, and the next process answers them.
    fn stop_inviting(&mut self);

    /// Sessions without a connection.
    fn handshake_count(&self) -> usize;
}
