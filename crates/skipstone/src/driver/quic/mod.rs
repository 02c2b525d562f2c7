//! A server's WebTransport sessions (WIRE.md section 7.2): QUIC and HTTP/3 on the shared UDP sockets, stepped by the
//! driver's own thread. Each datagram of the session carries one of the protocol's.
//!
//! Few unproven addresses begin a handshake at once; the others first prove their address, by a RETRY that costs no
//! memory (RFC 9000, section 8.1.2). A session ends with its connection, and the connection with its session.
//!
//! ```text
//! stranger ──handshake──> proven ──CONNECT──> open ──OPEN──> connected ──> closing
//!   10 s                  10 s                5 s         until its end       1 s
//! ```
//! `config` configures QUIC, `identifiers` are connection ids that name a shard, `session` is HTTP/3, `request` checks
//! a CONNECT, `capsules` reads what follows it, `pieces` orders a stream's bytes, `records` reads datagrams on streams.

mod capsules;
mod config;
#[cfg(feature = "unstable")]
pub mod fuzzed;
mod guest;
mod identifiers;
mod pieces;
mod records;
mod request;
mod session;

use super::outgoing::{DatagramQueue, Send};
use super::peer_shards::Deliver;
use super::places::{HANDSHAKE_LIFE, PlaceLimits, Places};
use super::session_table::SessionTable;
use crate::driver_stats::WebTransportStats;
use crate::net::udp::AddressPair;
use crate::security::QuicServer;
use bytes::{Bytes, BytesMut};
use guest::{Guest, Stage};
use identifiers::shard_of;
use quinn_proto::{
    ConnectionError, ConnectionHandle, DatagramEvent, EndpointEvent, Event, Incoming, StreamEvent, VarInt,
};
pub(super) use request::PageRules;
use session::{EXCESSIVE_LOAD, End, NO_ERROR, Session};
use skipstone_proto::{Allowance, Cost};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Endpoint, Network, Shard};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Instant;

/// The QUIC connections of a server's shared sockets.
#[derive(Debug)]
pub(super) struct QuicGuests {
    quic: quinn_proto::Endpoint,
    rules: PageRules,
    guests: BTreeMap<u32, Box<Guest>>,
    /// The guest of each connection, by QUIC's own number.
    by_handle: BTreeMap<ConnectionHandle, u32>,
    /// The next deadline of each guest.
    due: BTreeSet<(Time, u32)>,
    places: Places,
    /// Clients that have proven their address and wait for a round with budget for a signature, with their sockets.
    waiting: VecDeque<(u32, Incoming)>,
    is_inviting: bool,
    next_number: u32,
    /// Guests with new events since the last [`QuicGuests::transmit`], each once.
    unsettled: Vec<u32>,
    outgoing: DatagramQueue,
    /// The buffer into which QUIC writes datagrams.
    buffer: Vec<u8>,
    /// The cost of all clients since [`QuicGuests::take_cost`].
    spent: Cost,
    /// QUIC's clock at the protocol's time zero.
    began: Instant,
    stats: WebTransportStats,
}

/// WebTransport sessions are numbered from here up to [`NUMBER_END`], where the numbers of DTLS sessions begin. A
/// session's number is the socket of its path.
const NUMBER_FIRST: u32 = 1 << 30;
const NUMBER_END: u32 = 1 << 31;
/// Connections without a connection of the protocol. An unproven one is as large as any other.
const LIMITS: PlaceLimits = PlaceLimits { strangers: 32, proven: 256, network: 64 };
/// Share of a core for handshakes of unproven addresses; others use the share of their network.
const STRANGERS_PART: i64 = 50;
/// A client's first datagram, from which its keys are derived, and its answer.
const STRANGER_DATAGRAM: Cost = Cost::micros(10);
/// Limit for one network on attempts that wait for a round with budget for a signature.
const WAITING_OF_NETWORK_MAX: usize = config::WAITING_MAX / 4;
/// Time limit of a session without a connection.
const SILENT_LIFE: Duration = Duration::from_secs(5);
/// Time limit for the acknowledgement of a session's end.
const CLOSING_LIFE: Duration = Duration::from_secs(1);
/// Clients with new events, after which their acknowledgements leave.
const UNSETTLED_MAX: usize = 64;
/// Datagrams of one call to QUIC.
const SEGMENTS_MAX: usize = 16;

impl QuicGuests {
    pub(super) fn new(server: &QuicServer, shard: Shard, idle_timeout: Duration, rules: PageRules) -> Self {
        QuicGuests {
            quic: config::endpoint(server, shard, idle_timeout),
            rules,
            guests: BTreeMap::new(),
            by_handle: BTreeMap::new(),
            due: BTreeSet::new(),
            places: Places::new(LIMITS),
            waiting: VecDeque::new(),
            is_inviting: true,
            next_number: NUMBER_FIRST,
            unsettled: Vec::new(),
            outgoing: DatagramQueue::default(),
            buffer: Vec::new(),
            spent: Cost::ZERO,
            began: Instant::now(),
            stats: WebTransportStats::default(),
        }
    }

    /// Queues the datagrams that QUIC wrote into the buffer.
    fn answer(&mut self, socket: u32, transmit: &quinn_proto::Transmit) {
        let bytes = &self.buffer[..transmit.size.min(self.buffer.len())];
        if !self.outgoing.push(socket, destination(transmit), bytes, transmit.segment_size) {
            self.stats.dropped += 1;
        }
    }

    /// Handles an attempt to connect: it begins, or the address must be proven first, or the attempt is ignored.
    fn meet(&mut self, now: Time, socket: u32, incoming: Incoming, endpoint: &mut Endpoint) {
        let (remote, is_proven) = (incoming.remote_address(), incoming.remote_address_validated());
        if !self.is_inviting || is_proven && !endpoint.admits_handshake(now, &remote) {
            self.stats.dropped += 1;
            return self.quic.ignore(incoming);
        }
        if is_proven && !endpoint.may_sign() {
            let network = Network::of(&remote);
            let of_network = self.waiting.iter().filter(|(_, it)| Network::of(&it.remote_address()) == network).count();
            match self.waiting.len() < config::WAITING_MAX && of_network < WAITING_OF_NETWORK_MAX {
                true => self.waiting.push_back((socket, incoming)),
                false => {
                    self.stats.dropped += 1;
                    self.quic.ignore(incoming);
                }
            }
            return;
        }
        let interval = Duration::from_nanos((endpoint.handshake_cost().as_nanos() * STRANGERS_PART) as u64);
        if !is_proven && (self.places.is_full() || !endpoint.may_sign() || !self.places.may_begin(now, interval)) {
            return self.retry(socket, incoming);
        }
        self.spent += endpoint.handshake_cost();
        self.begin(now, socket, incoming, endpoint);
    }

    /// Begins a handshake, which takes a signature.
    fn begin(&mut self, now: Time, socket: u32, incoming: Incoming, endpoint: &mut Endpoint) {
        let (remote, local) = (incoming.remote_address(), incoming.local_ip());
        let is_proven = incoming.remote_address_validated();
        endpoint.on_signature();
        self.buffer.clear();
        let (handle, quic) = match self.quic.accept(incoming, self.instant(now), &mut self.buffer, None) {
            Ok(begun) => begun,
            Err(error) => {
                self.stats.breaches += 1;
                error.response.iter().for_each(|transmit| self.answer(socket, transmit));
                return;
            }
        };
        let number = self.draw_number();
        let (session, until) = (Session::default(), now + HANDSHAKE_LIFE);
        let guest = Guest {
            socket,
            remote,
            local,
            handle,
            quic,
            session,
            stage: Stage::Stranger,
            until,
            due: Time::NEVER,
            packet_bytes: 0,
            newest_bytes: 0,
            is_unsettled: false,
            allowance: Allowance::default(),
            frames: 0,
            held_bytes: 0,
            is_drained: false,
        };
        self.guests.insert(number, Box::new(guest));
        self.by_handle.insert(handle, number);
        self.stats.begun += 1;
        if is_proven {
            self.on_proven(now, number, endpoint);
        } else {
            self.places.enter(number);
        }
        self.settle(now, number, endpoint);
    }

    /// Begins waiting attempts that are still allowed, as far as this round has budget for signatures.
    fn meet_waiting(&mut self, now: Time, endpoint: &mut Endpoint) {
        while endpoint.may_sign()
            && let Some((socket, incoming)) = self.waiting.pop_front()
        {
            if !endpoint.admits_handshake(now, &incoming.remote_address()) {
                self.stats.dropped += 1;
                self.quic.ignore(incoming);
                continue;
            }
            self.begin(now, socket, incoming, endpoint);
        }
    }

    /// Requests a proof of the client's address. No state is kept.
    fn retry(&mut self, socket: u32, incoming: Incoming) {
        self.buffer.clear();
        match self.quic.retry(incoming, &mut self.buffer) {
            Ok(transmit) => {
                self.stats.retries += 1;
                self.answer(socket, &transmit);
            }
            Err(error) => {
                self.stats.dropped += 1;
                self.quic.ignore(error.into_incoming());
            }
        }
    }

    fn draw_number(&mut self) -> u32 {
        let number = self.next_number;
        while self.guests.contains_key(&self.next_number) || self.next_number == number {
            let next = self.next_number + 1;
            self.next_number = if next < NUMBER_END { next } else { NUMBER_FIRST };
        }
        number
    }

    /// The client has proven its address.
    fn on_proven(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        (guest.stage, guest.until) = (Stage::Proven, now + HANDSHAKE_LIFE);
        endpoint.on_handshake_begun(&guest.remote);
        if let Some(crowded) = self.places.prove(number, Network::of(&guest.remote)) {
            self.displace(now, crowded, endpoint);
        }
    }

    fn displace(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        self.stats.displaced += 1;
        self.end(now, number, EXCESSIVE_LOAD, "too many handshakes", endpoint);
    }

    /// Handles the events of a connection, and queues its output.
    fn settle(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        let ending = self.handle_events(now, number, endpoint);
        self.finish(now, number, ending, endpoint);
        self.advance_session(now, number, endpoint);
        self.queue_of(now, number);
        self.schedule(number);
    }

    /// A client may have many datagrams in one round of a driver. Their common work is done once, before
    /// [`QuicGuests::transmit`]: stages, acknowledgements, timers.
    fn settle_later(&mut self, number: u32) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        if !core::mem::replace(&mut guest.is_unsettled, true) {
            self.unsettled.push(number);
        }
    }

    /// Handles the events. Returns the one that ends the session or the connection, for [`QuicGuests::finish`].
    fn handle_events(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) -> Ending {
        let mut ending = Ending::default();
        if self.guests.get(&number).is_some_and(|guest| guest.is_in_pieces()) {
            self.stats.breaches += 1;
            ending.connection = Some((EXCESSIVE_LOAD, "a handshake in too many pieces".into()));
            return ending;
        }
        while let Some(guest) = self.guests.get_mut(&number)
            && let Some(event) = guest.quic.poll()
        {
            let (session, quic) = (&mut guest.session, &mut guest.quic);
            let handled = match event {
                Event::Connected => {
                    self.stats.established += 1;
                    session.begin(quic);
                    if guest.stage == Stage::Stranger {
                        self.on_proven(now, number, endpoint);
                    }
                    Ok(())
                }
                Event::ConnectionLost { reason } => {
                    self.stats.breaches += u64::from(matches!(reason, ConnectionError::TransportError(_)));
                    ending.connection = Some((NO_ERROR, reason.to_string()));
                    return ending;
                }
                Event::Stream(StreamEvent::Opened { dir }) => session.on_opened(now, quic, dir, &self.rules),
                Event::Stream(StreamEvent::Readable { id }) => session.on_readable(quic, id, &self.rules),
                Event::Stream(StreamEvent::Finished { id }) if session.is_connect(id) => {
                    ending.connection = Some((NO_ERROR, "the session is over".into()));
                    return ending;
                }
                Event::Stream(StreamEvent::Stopped { id, .. }) if session.is_connect(id) => {
                    Err(End::Closed(String::new()))
                }
                Event::Stream(_) | Event::HandshakeDataReady | Event::DatagramReceived | Event::DatagramsUnblocked => {
                    Ok(())
                }
            };
            match handled {
                Ok(()) => {}
                Err(End::Closed(reason)) => drop(ending.session.get_or_insert(reason)),
                Err(End::Breach(code, reason)) => {
                    self.stats.breaches += 1;
                    ending.connection = Some((code, reason.into()));
                    return ending;
                }
            }
        }
        ending
    }

    /// Ends the session or the connection. Earlier datagrams were delivered.
    fn finish(&mut self, now: Time, number: u32, ending: Ending, endpoint: &mut Endpoint) {
        if let Some(reason) = ending.session {
            let text = if reason.is_empty() { "the peer closed the session" } else { &reason };
            self.close_session(now, number, endpoint);
            endpoint.handle_carrier_lost(now, number, text);
        }
        if let Some((code, reason)) = ending.connection {
            self.end(now, number, code, &reason, endpoint);
        }
    }

    /// Passes the datagrams of the session to the protocol.
    fn take_datagrams(&mut self, number: u32, endpoint: &mut Endpoint, deliver: Deliver<'_>) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        let path = guest.path(number);
        while let Some(datagram) = guest.quic.datagrams().recv() {
            let prefix = guest.session.prefix();
            if prefix.is_empty() || !datagram.starts_with(prefix) || guest.stage >= Stage::Closing {
                self.stats.dropped += 1;
                continue;
            }
            // The packet's own memory, unless the packet holds other datagrams, too.
            let mut content = datagram.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
            deliver(endpoint, path, &mut content[prefix.len()..]);
        }
        for mut datagram in core::mem::take(&mut guest.session.came) {
            if guest.stage >= Stage::Closing {
                self.stats.dropped += 1;
                continue;
            }
            deliver(endpoint, path, &mut datagram);
        }
    }

    /// Advances a client to its next stage, and reports the packet limit to the protocol.
    fn advance_session(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        if guest.session.due() <= now {
            guest.session.refuse_stale(now, &mut guest.quic);
        }
        self.stats.refused += core::mem::take(&mut guest.session.refused);
        if guest.stage == Stage::Proven && guest.session.is_open() {
            (guest.stage, guest.until) = (Stage::Open, now + SILENT_LIFE);
            self.stats.sessions += 1;
        }
        if matches!(guest.stage, Stage::Open | Stage::Answered) && endpoint.peer_of_stream(number).is_some() {
            (guest.stage, guest.until) = (Stage::Connected, Time::NEVER);
            self.places.leave(number);
        }
        if guest.stage == Stage::Connected
            && !guest.session.is_player
            && endpoint.peer_of_stream(number).is_some_and(|peer| endpoint.is_player(peer))
        {
            guest.session.is_player = true;
            guest.quic.set_receive_window(VarInt::from_u32(config::PLAYERS_BYTES_MAX));
        }
        let held_bytes = guest.session.held_bytes();
        if guest.stage == Stage::Connected && held_bytes != guest.held_bytes {
            guest.held_bytes = held_bytes;
            endpoint.set_carrier_bytes(number, held_bytes as u32);
        }
        if guest.stage == Stage::Connected
            && let Some(bytes) = guest.packet_bytes()
            && bytes != guest.packet_bytes
        {
            guest.packet_bytes = bytes;
            endpoint.set_packet_bytes_max(number, bytes);
        }
    }

    /// Queues the output of a connection.
    fn queue_of(&mut self, now: Time, number: u32) {
        let (mut outgoing, mut dropped) = (core::mem::take(&mut self.outgoing), 0);
        self.transmit_of(now, number, &mut |socket, to, bytes, segment_bytes| {
            dropped += u64::from(!outgoing.push(socket, to, bytes, segment_bytes));
        });
        self.outgoing = outgoing;
        self.stats.dropped += dropped;
    }

    /// Takes the output of a connection, and its events for QUIC's endpoint.
    fn transmit_of(&mut self, now: Time, number: u32, send: Send<'_>) {
        let instant = self.instant(now);
        let Some(guest) = self.guests.get_mut(&number) else { return };
        while let Some(event) = guest.quic.poll_endpoint_events() {
            guest.is_drained |= event.is_drained();
            if let Some(event) = self.quic.handle_event(guest.handle, event) {
                guest.quic.handle_event(event);
            }
        }
        guest.newest_bytes = 0;
        loop {
            self.buffer.clear();
            let Some(transmit) = guest.quic.poll_transmit(instant, SEGMENTS_MAX, &mut self.buffer) else { break };
            send(guest.socket, destination(&transmit), &self.buffer[..transmit.size], transmit.segment_size);
        }
    }

    /// QUIC would put short datagrams into one packet, and then one loss would take a message and its repair.
    fn send_one(&mut self, now: Time, number: u32, datagram: Bytes) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        let datagrams = guest.quic.datagrams();
        let bytes_max = datagrams.max_size().unwrap_or(0);
        let would_share = guest.newest_bytes > 0 && guest.newest_bytes + datagram.len() <= bytes_max;
        if would_share || datagrams.send_buffer_space() < datagram.len() {
            self.queue_of(now, number);
        }
        let Some(guest) = self.guests.get_mut(&number) else { return };
        let is_open = guest.session.is_open();
        guest.newest_bytes = datagram.len();
        let mut datagrams = guest.quic.datagrams();
        // The oldest datagram makes room for the newest: waiting data is stale.
        let is_crowded = datagrams.send_buffer_space() < datagram.len();
        let is_taken = is_open && datagrams.send(datagram, true).is_ok();
        self.stats.dropped += u64::from(is_crowded || !is_taken);
    }

    /// Announces the end of the session, and waits for the acknowledgement.
    fn close_session(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        if guest.stage == Stage::Closing {
            return;
        }
        if !guest.session.close(&mut guest.quic) {
            return self.end(now, number, NO_ERROR, "", endpoint);
        }
        if guest.stage < Stage::Answered {
            endpoint.on_handshake_failed(&guest.remote);
        }
        (guest.stage, guest.until) = (Stage::Closing, now + CLOSING_LIFE);
        self.places.leave(number);
    }

    pub(super) fn stats(&self) -> WebTransportStats {
        WebTransportStats { open: self.guests.len() as u64, ..self.stats }
    }

    /// A deadline that moves later is detected when the entry expires.
    fn schedule(&mut self, number: u32) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        // QUIC's times are finer than the protocol's.
        let time = |at: Instant| Time::ZERO + at.saturating_duration_since(self.began) + Duration::from_micros(1);
        let next = guest.until.min(guest.quic.poll_timeout().map_or(Time::NEVER, time)).min(guest.session.due());
        if next < guest.due {
            self.due.remove(&(guest.due, number));
            self.due.insert((next, number));
            guest.due = next;
        }
    }

    /// Ends QUIC's connection with this code, and the protocol's if there is one.
    fn end(&mut self, now: Time, number: u32, code: u32, reason: &str, endpoint: &mut Endpoint) {
        let instant = self.instant(now);
        let Some(guest) = self.guests.get_mut(&number) else { return };
        guest.quic.close(instant, VarInt::from_u32(code), Bytes::copy_from_slice(reason.as_bytes()));
        self.queue_of(now, number);
        let Some(guest) = self.remove(number) else { return };
        if matches!(guest.stage, Stage::Proven | Stage::Open) {
            endpoint.on_handshake_failed(&guest.remote);
        }
        endpoint.handle_carrier_lost(now, number, &format!("the WebTransport session is over: {reason}"));
    }

    fn remove(&mut self, number: u32) -> Option<Box<Guest>> {
        let guest = self.guests.remove(&number)?;
        self.due.remove(&(guest.due, number));
        self.by_handle.remove(&guest.handle);
        self.places.leave(number);
        self.stats.refused += guest.session.refused;
        // QUIC would keep the connection for three probe timeouts, to answer late packets: a stateless reset serves for
        // that.
        if !guest.is_drained {
            self.quic.handle_event(guest.handle, EndpointEvent::drained());
        }
        Some(guest)
    }

    fn instant(&self, time: Time) -> Instant {
        self.began + Duration::from_micros(time.as_micros())
    }
}

impl SessionTable for QuicGuests {
    fn is_its_datagram(&self, datagram: &[u8]) -> bool {
        matches!(datagram.first(), Some(64..=127 | 192..=255))
    }

    fn is_its_socket(&self, number: u32) -> bool {
        (NUMBER_FIRST..NUMBER_END).contains(&number)
    }

    fn shard_of(&self, datagram: &[u8], bits: u32) -> Option<u32> {
        shard_of(datagram, bits)
    }

    fn handle(
        &mut self,
        now: Time,
        (socket, from): (u32, AddressPair),
        bytes: &[u8],
        endpoint: &mut Endpoint,
        deliver: Deliver<'_>,
    ) {
        self.buffer.clear();
        let datagram = BytesMut::from(bytes);
        match self.quic.handle(self.instant(now), from.remote, from.local, None, datagram, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                let Some(number) = self.by_handle.get(&handle).copied() else { return };
                let Some(guest) = self.guests.get_mut(&number) else { return };
                if !guest.may_be_heard(now) {
                    self.stats.dropped += 1;
                    return;
                }
                guest.quic.handle_event(event);
                self.spent += guest.charge();
                let ending = self.handle_events(now, number, endpoint);
                self.take_datagrams(number, endpoint, deliver);
                self.finish(now, number, ending, endpoint);
                self.settle_later(number);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.spent += STRANGER_DATAGRAM;
                self.meet(now, socket, incoming, endpoint);
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.spent += STRANGER_DATAGRAM;
                self.answer(socket, &transmit);
            }
            None => self.stats.dropped += 1,
        }
    }

    fn send(&mut self, now: Time, number: u32, bytes: &[u8], segment_bytes: usize, _: &mut Endpoint) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        guest.stage = guest.stage.max(Stage::Answered);
        let (prefix, segment_bytes) = (guest.session.prefix(), segment_bytes.max(1));
        // All datagrams share one allocation.
        let mut all = BytesMut::with_capacity(bytes.len() + bytes.len().div_ceil(segment_bytes) * prefix.len());
        let datagrams: Vec<Bytes> =
            bytes.chunks(segment_bytes).map(|content| datagram(&mut all, prefix, content)).collect();
        for datagram in datagrams {
            self.send_one(now, number, datagram);
        }
        self.settle_later(number);
    }

    fn close(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        self.close_session(now, number, endpoint);
        self.settle(now, number, endpoint);
    }

    fn handle_timeout(&mut self, now: Time, endpoint: &mut Endpoint) -> bool {
        if self.poll_timeout() > now {
            return false;
        }
        self.meet_waiting(now, endpoint);
        let instant = self.instant(now);
        while let Some((due, number)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            self.due.remove(&(due, number));
            let Some(guest) = self.guests.get_mut(&number) else { continue };
            guest.due = Time::NEVER;
            if guest.until > now {
                guest.quic.handle_timeout(instant);
                self.settle(now, number, endpoint);
                continue;
            }
            match guest.stage {
                Stage::Open | Stage::Answered => self.close(now, number, endpoint),
                Stage::Closing => self.end(now, number, NO_ERROR, "the session is over", endpoint),
                _ => self.end(now, number, NO_ERROR, "the handshake took too long", endpoint),
            }
        }
        true
    }

    fn poll_timeout(&self) -> Time {
        if !self.waiting.is_empty() {
            return Time::ZERO;
        }
        self.due.first().map_or(Time::NEVER, |(due, _)| *due)
    }

    fn advance(&mut self, now: Time, endpoint: &mut Endpoint) {
        for at in 0..self.unsettled.len() {
            self.advance_session(now, self.unsettled[at], endpoint);
        }
    }

    fn transmit(&mut self, now: Time, send: Send<'_>) {
        self.outgoing.drain(send);
        let mut unsettled = core::mem::take(&mut self.unsettled);
        for number in unsettled.drain(..) {
            self.transmit_of(now, number, send);
            self.schedule(number);
            self.guests.get_mut(&number).into_iter().for_each(|guest| guest.is_unsettled = false);
        }
        self.unsettled = unsettled;
    }

    fn is_crowded(&self) -> bool {
        self.outgoing.is_long() || self.unsettled.len() >= UNSETTLED_MAX
    }

    fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn take_cost(&mut self) -> Cost {
        core::mem::take(&mut self.spent)
    }

    fn stop_inviting(&mut self) {
        self.is_inviting = false;
        self.waiting.drain(..).for_each(|(_, incoming)| self.quic.ignore(incoming));
    }

    fn handshake_count(&self) -> usize {
        self.places.count()
    }
}

/// How events end a session and its connection.
#[derive(Debug, Default)]
struct Ending {
    /// The client has closed the session, with this reason.
    session: Option<String>,
    /// QUIC's connection has ended, or must end with this code, for this reason.
    connection: Option<(u32, String)>,
}

/// Destination and source of a QUIC datagram.
fn destination(transmit: &quinn_proto::Transmit) -> AddressPair {
    AddressPair { local: transmit.src_ip, remote: transmit.destination }
}

/// A datagram of a session, in their shared memory.
fn datagram(all: &mut BytesMut, prefix: &[u8], content: &[u8]) -> Bytes {
    all.extend_from_slice(prefix);
    all.extend_from_slice(content);
    all.split().freeze()
}

#[cfg(all(test, feature = "simulate", feature = "self-signed"))]
mod tests;
