//! Commands of the application to its connections.

use super::admission::NotAdmitted;
use super::config::Everyone;
use super::groups::Group;
use super::state::Endpoint;
use crate::channel::{MessageId, Submission};
use crate::connection::client_handshake::Request;
use crate::connection::event::{PeerId, code};
use crate::connection::{Connection, Context, Leaves, SendError};
use crate::path::Path;
use crate::security::Protection;
use crate::time::{Duration, Time};
use crate::wire::frame::TOKEN_BYTES_MAX;
use crate::wire::settings::Merging;
use bytes::Bytes;

/// The reason why no connection was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// The token is longer than 1,024 bytes.
    TokenTooLong,
    /// The endpoint has its maximum number of connections.
    Full,
    /// This stream already carries a connection.
    SocketInUse,
}

impl core::fmt::Display for ConnectError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            ConnectError::TokenTooLong => "a token has at most 1,024 bytes",
            ConnectError::Full => "the endpoint has as many connections as its configuration allows",
            ConnectError::SocketInUse => "a stream carries one connection, and this stream already has one",
        })
    }
}

impl core::error::Error for ConnectError {}

/// The rest of the smallest datagram that the settings may allow (256 bytes) after the overhead of a DTLS record.
const PACKET_BYTES_MIN: u16 = 219;

impl Endpoint {
    /// Begins a connection to the server at `path`, encrypted if the configuration has suites.
    /// [`Event::Connected`](crate::connection::event::Event::Connected) or
    /// [`Event::Closed`](crate::connection::event::Event::Closed) follows.
    ///
    /// # Errors
    /// The token is too long, the endpoint has its maximum number of connections, or the path's stream carries a
    /// connection.
    pub fn connect(&mut self, now: Time, path: Path, token: &[u8]) -> Result<PeerId, ConnectError> {
        let protection = self.config.suites.clone().map_or(Protection::Plain, Protection::Encrypted);
        self.connect_with(now, path, token, protection)
    }

    /// As [`Endpoint::connect`], with exactly this protection. On a carrier that encrypts it is always plain.
    ///
    /// # Errors
    /// As [`Endpoint::connect`].
    pub fn connect_with(
        &mut self,
        now: Time,
        path: Path,
        token: &[u8],
        protection: Protection,
    ) -> Result<PeerId, ConnectError> {
        let protection = if path.carrier.is_protected { Protection::Plain } else { protection };
        if token.len() > TOKEN_BYTES_MAX {
            return Err(ConnectError::TokenTooLong);
        }
        if !self.may_connect() {
            return Err(ConnectError::Full);
        }
        if self.is_taken(&path) {
            return Err(ConnectError::SocketInUse);
        }
        let peer = self.slots.reserve();
        let id = self.directory.ids.assign(&mut self.secrets.rng, peer.index);
        let nonce = self.secrets.rng.number();
        let token = Bytes::copy_from_slice(token);
        let request =
            Request { nonce, token, protection, limits: self.config.limits, timeout: self.config.handshake_timeout };
        let mut connection = Connection::new_client(now, peer, path, id, request);
        connection.set_congestion(self.config.congestion.clone());
        connection.set_packet_log(self.config.shard.index, self.config.packet_log.as_ref());
        if self.config.follows_server_time {
            connection.follow_server_time();
        }
        self.insert(connection);
        Ok(peer)
    }

    /// Accepts a client that requested a connection. False if the client is no longer waiting, or if every place, or
    /// every place of its network, has been taken meanwhile: then the client is refused with [`code::FULL`], and
    /// [`Event::Closed`](crate::connection::event::Event::Closed) follows.
    pub fn accept(&mut self, now: Time, peer: PeerId) -> bool {
        let waiting = self.slots.connection(peer).filter(|connection| connection.waits_to_be_accepted());
        let remote = waiting.map(|connection| connection.path().remote);
        if let Some(NotAdmitted { why, counted }) = remote.and_then(|remote| self.not_admitted(&remote)) {
            self.totals.past.drops.count(counted);
            self.refuse(now, peer, code::FULL, why);
            return false;
        }
        self.with(now, peer, |connection, cx| connection.accept(cx)).unwrap_or(false)
    }

    /// Refuses a client that requested a connection, with a code and a reason that the client receives.
    pub fn refuse(&mut self, now: Time, peer: PeerId, code: u64, reason: &str) -> bool {
        self.close(now, peer, code, reason, Duration::ZERO)
    }

    /// Ends a connection. Queued reliable messages have `linger` to arrive first;
    /// [`Event::Closed`](crate::connection::event::Event::Closed) follows when the peer confirms the close, or does not
    /// answer in time. A code above 2^62-1 is sent as 2^62-1. False if there is no such connection.
    pub fn close(&mut self, now: Time, peer: PeerId, code: u64, reason: &str, linger: Duration) -> bool {
        let reason = Bytes::copy_from_slice(reason.as_bytes());
        self.with(now, peer, |connection, cx| connection.close(cx, code, reason, linger)).is_some()
    }

    /// Asks for [`Event::Settled`](crate::Event::Settled), once no reliable message of an established connection waits
    /// for an acknowledgement.
    /// Messages that are sent meanwhile delay it; a connection that ends has `Closed` in its place.
    pub fn settle(&mut self, now: Time, peer: PeerId) {
        self.with(now, peer, |connection, cx| connection.await_settled(cx));
    }

    /// Whether this endpoint has, or had, a connection with this id.
    pub fn knew(&self, peer: PeerId) -> bool {
        self.slots.was(peer)
    }

    /// Ends every connection, as [`Endpoint::close`] does.
    pub fn close_all(&mut self, now: Time, code: u64, reason: &str, linger: Duration) {
        for index in 0..self.slots.count() {
            if let Some(peer) = self.slots.peer_at(index) {
                self.close(now, peer, code, reason, linger);
            }
        }
    }

    /// Queues a message. `id` is the caller's id for it, echoed in receipts.
    ///
    /// # Errors
    /// There is no such peer, its connection is not established, no rule covers the channel, the message is too long,
    /// or the channel's queue is full. Nothing is queued then. If the channel's rule is to disconnect, a full queue
    /// also ends the connection.
    pub fn send(
        &mut self,
        now: Time,
        peer: PeerId,
        channel: u16,
        payload: Bytes,
        id: MessageId,
    ) -> Result<(), SendError> {
        self.submit(now, peer, channel, Submission { payload, id, age: Duration::ZERO })
    }

    /// As [`Endpoint::send`], for a message that is already late: an answer to a message that had this age in
    /// [`Event::Message`](crate::connection::event::Event::Message), or the forwarded message itself. Late messages are
    /// sent in copies, so that they are not lost again.
    ///
    /// # Errors
    /// As [`Endpoint::send`].
    pub fn submit(&mut self, now: Time, peer: PeerId, channel: u16, message: Submission) -> Result<(), SendError> {
        if self.slots.find(peer).is_none() {
            return Err(if self.slots.was(peer) { SendError::NotConnected } else { SendError::UnknownPeer });
        }
        self.act_on(now, peer.index, |connection, cx| Ok((connection.send(cx, channel, message)?, ())))
    }

    /// As [`Endpoint::submit`], for a message that was already reported to the application as accepted. A message that
    /// does not fit is given up with an event, if its channel is reliable or has receipts. A message whose connection
    /// has ended is dropped.
    pub fn submit_accepted(&mut self, now: Time, peer: PeerId, channel: u16, message: Submission) {
        if self.slots.find(peer).is_some() {
            let messages = core::iter::once(message);
            let _ = self.act_on(now, peer.index, |connection, cx| connection.send_all(cx, channel, messages));
        }
    }

    /// Sends all messages that wait for a flush.
    pub fn flush(&mut self, now: Time) {
        for at in 0..self.ready.unflushed.len() {
            let index = self.ready.unflushed[at];
            let Some(slot) = self.slots.at(index) else { continue };
            slot.is_unflushed = false;
            if let Some(connection) = &mut slot.connection {
                connection.flush(now);
                self.activate(index);
            }
        }
        self.ready.unflushed.clear();
    }

    /// Adds a peer to a group. False if there is no such connection, or it was a member already.
    /// [`Group::EVERYONE`](super::Group::EVERYONE) accepts peers only if the configuration says so.
    pub fn join(&mut self, peer: PeerId, group: Group) -> bool {
        let Some(slot) = self.slots.find(peer) else { return false };
        if group == Group::EVERYONE && self.config.everyone == Everyone::ByCommand {
            let is_over = slot.connection.as_ref().is_none_or(|connection| connection.is_over());
            return !is_over && self.groups.join(group, peer.index);
        }
        let is_new = group != Group::EVERYONE && self.groups.join(group, peer.index);
        if is_new {
            slot.groups.push(group);
        }
        is_new
    }

    /// Removes a peer from a group.
    pub fn leave(&mut self, peer: PeerId, group: Group) {
        let Some(slot) = self.slots.find(peer) else { return };
        if group != Group::EVERYONE {
            slot.groups.retain(|joined| *joined != group);
            self.groups.leave(group, peer.index);
        }
    }

    /// Sets the merging of one connection's messages.
    pub fn set_merging(&mut self, peer: PeerId, merging: Merging) {
        if let Some(connection) = self.slots.connection(peer) {
            connection.set_merging(merging);
            self.activate(peer.index);
        }
    }

    /// Tells the endpoint that a stream accepts no more bytes for now, or accepts them again. Queued messages wait in
    /// their channels meanwhile.
    pub fn set_writable(&mut self, socket: u32, is_writable: bool) {
        let Some(index) = self.directory.by_socket.get(&socket).copied() else { return };
        let Some(slot) = self.slots.at(index) else { return };
        slot.is_blocked = !is_writable;
        if is_writable {
            self.activate(index);
        }
    }

    /// Sets the maximum datagram length of the session with this number from now on: WebTransport's `maxDatagramSize`.
    /// Longer packets would be lost. At least 219 bytes, which is the least setting less the longest record.
    pub fn set_packet_bytes_max(&mut self, socket: u32, bytes: u16) {
        let Some(index) = self.directory.by_socket.get(&socket).copied() else { return };
        let Some(connection) = self.slots.at(index).and_then(|slot| slot.connection.as_mut()) else { return };
        connection.set_packet_bytes_max(bytes.max(PACKET_BYTES_MIN));
        self.activate(index);
    }

    /// Changes the maximum number of players. Existing connections stay.
    pub fn set_connections_max(&mut self, connections_max: u32) {
        self.config.connections_max = connections_max;
    }

    /// Accepts no further clients; existing connections stay.
    pub fn stop_listening(&mut self) {
        self.config.is_server = false;
    }

    /// Accepts no further handshake on unbound paths: a HELLO is dropped, so that the client repeats it. A client with
    /// a cookie may still connect, because the next server would not know the cookie.
    pub fn stop_inviting(&mut self) {
        self.is_inviting = false;
    }

    /// Encrypted handshakes of clients in progress, which [`Endpoint::stop_inviting`] allows to complete.
    pub fn handshake_count(&self) -> usize {
        self.pending_handshakes.count()
    }

    /// Lets a connection queue messages, and schedules their sending.
    pub(super) fn act_on<T>(
        &mut self,
        now: Time,
        index: u32,
        act: impl FnOnce(&mut Connection, &mut Context<'_>) -> Result<(Leaves, T), SendError>,
    ) -> Result<T, SendError> {
        let connection = self.slots.at(index).and_then(|slot| slot.connection.as_mut());
        let connection = connection.ok_or(SendError::NotConnected)?;
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        match act(connection, cx) {
            Ok((leaves, result)) => {
                match leaves {
                    Leaves::Now => self.activate(index),
                    Leaves::Later => {
                        self.note_unflushed(index);
                        self.rearm(index);
                    }
                    Leaves::AtFlush => self.note_unflushed(index),
                }
                Ok(result)
            }
            Err(error) => {
                self.after(index);
                Err(error)
            }
        }
    }

    /// Notes that messages of this connection wait for a flush.
    fn note_unflushed(&mut self, index: u32) {
        let slot = self.slots.at(index).expect("a message was just queued there");
        if !core::mem::replace(&mut slot.is_unflushed, true) {
            self.ready.unflushed.push(index);
        }
    }
}
