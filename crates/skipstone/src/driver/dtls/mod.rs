//! A server's DTLS sessions: a client of any implementation begins with a ClientHello, and uses the protocol inside the
//! session. WIRE.md section 7.1.
//!
//! DTLS validates addresses by its own cookie, for which dimpl needs a session each, so unproven addresses have their
//! own table: a flood of spoofed ClientHellos can fill it and exclude new DTLS players, but no other clients. A session
//! ends with its connection, and the connection with its session.
//!
//! ```text
//! stranger ──cookie──> proven ──handshake──> established ──OPEN──> connected
//!   10 s                10 s                     5 s                 until its connection ends
//! ```

use super::carrier::{dtls_carrier, udp_carrier};
use super::outgoing::{DatagramQueue, Send};
use super::peer_shards::Deliver;
use super::places::{HANDSHAKE_LIFE, PlaceLimits, Places};
use super::session_table::SessionTable;
use crate::driver_stats::DtlsStats;
use crate::net::udp::AddressPair;
use crate::security::{DtlsServer, DtlsSession, Hello, client_hello, is_sealed};
use skipstone_proto::{Cost, Endpoint, Network, Path};
use skipstone_proto::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;

/// The sessions of a server's shared sockets.
#[derive(Debug)]
pub(super) struct DtlsGuests {
    server: DtlsServer,
    guests: BTreeMap<u32, Guest>,
    by_addresses: BTreeMap<(u32, AddressPair), AtAddress>,
    /// The next deadline of each guest, if there is one.
    due: BTreeSet<(Time, u32)>,
    places: Places,
    is_inviting: bool,
    next_number: u32,
    /// ClientHellos with their cookies, which wait for a round with budget for a signature, and their senders.
    waiting: VecDeque<(u32, Box<[u8]>)>,
    outgoing: DatagramQueue,
    /// The work of handshakes since [`DtlsGuests::take_cost`].
    spent: Cost,
    stats: DtlsStats,
}

/// The sessions of one address with one of the server's. A client that was restarted begins another while its old one
/// exists, and an attacker can do the same with its address: the old one is removed when the new one is established.
#[derive(Clone, Copy, Debug, Default)]
struct AtAddress {
    standing: Option<u32>,
    coming: Option<u32>,
}

#[derive(Debug)]
struct Guest {
    /// The shared UDP socket.
    socket: u32,
    addresses: AddressPair,
    session: DtlsSession,
    stage: Stage,
    until: Time,
    /// The entry in `due`.
    due: Time,
    /// Bytes that may be sent before the address is validated, IP and UDP headers included: as many as were received.
    credit: usize,
    /// The session was answered.
    has_spoken: bool,
    /// Datagrams received before the address is proven.
    hellos: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Stranger,
    Proven,
    Established,
    /// The protocol has answered it: it is a client, whatever the answer.
    Answered,
    Connected,
}

/// DTLS sessions have socket numbers from here on; a driver's own sockets have lower numbers.
const NUMBER_FIRST: u32 = 1 << 31;
/// Maximum number of datagrams from an unproven address, which may send a hello in pieces, and each piece again. dimpl
/// keeps each until the address is proven.
const HELLOS_MAX: u32 = 8;
/// Sessions without a connection.
const LIMITS: PlaceLimits = PlaceLimits { strangers: 256, proven: 256, network: 64 };
/// For this time an unproven session has exclusive use of its address.
const ALONE: Duration = Duration::from_secs(2);
/// Time limit of an established session without a connection.
const SILENT_LIFE: Duration = Duration::from_secs(5);
/// Beginning a session costs about 20 us: a flood of them gets at most a fiftieth of a core.
const BEGIN_INTERVAL: Duration = Duration::from_millis(1);

impl Guest {
    fn path(&self, number: u32) -> Path {
        let AddressPair { local, remote } = self.addresses;
        Path { socket: number, local, remote, carrier: dtls_carrier(&remote) }
    }

    /// The next deadline. An unproven session is answered once, without retransmissions.
    fn next(&self) -> Time {
        if self.stage == Stage::Stranger { self.until } else { self.until.min(self.session.poll_timeout()) }
    }

    /// Whether a datagram of this many bytes may go to the address.
    fn affords(&mut self, bytes: usize) -> bool {
        let cost = bytes_on_the_wire(&self.addresses.remote, bytes);
        let is_affordable = self.session.is_proven() || cost <= self.credit;
        self.credit = self.credit.saturating_sub(cost);
        is_affordable
    }
}

impl DtlsGuests {
    pub(super) fn new(server: DtlsServer) -> Self {
        DtlsGuests {
            server,
            guests: BTreeMap::new(),
            by_addresses: BTreeMap::new(),
            due: BTreeSet::new(),
            places: Places::new(LIMITS),
            is_inviting: true,
            next_number: NUMBER_FIRST,
            waiting: VecDeque::new(),
            outgoing: DatagramQueue::default(),
            spent: Cost::ZERO,
            stats: DtlsStats::default(),
        }
    }

    /// Removes an unproven session of this address whose exclusive time has ended: the first hello is now from another
    /// client, or from the same one, which never received its cookie.
    fn forget_unheard(&mut self, now: Time, socket: u32, addresses: AddressPair) {
        let coming = self.by_addresses.get(&(socket, addresses)).and_then(|at| at.coming);
        let is_old = |guest: &Guest| guest.stage == Stage::Stranger && guest.until <= now + (HANDSHAKE_LIFE - ALONE);
        if let Some(number) = coming.filter(|number| self.guests.get(number).is_some_and(is_old)) {
            self.remove(number);
        }
    }

    /// Passes a datagram to a session. False if the session ignores it.
    fn feed(
        &mut self,
        now: Time,
        number: u32,
        bytes: &[u8],
        is_hello: bool,
        endpoint: &mut Endpoint,
        deliver: Deliver<'_>,
    ) -> bool {
        let Some(guest) = self.guests.get_mut(&number) else { return false };
        let is_stranger = guest.stage == Stage::Stranger;
        if is_stranger && (!is_hello || guest.hellos >= HELLOS_MAX) {
            return false;
        }
        // A hello with the cookie begins the expensive part.
        let is_costly = is_hello && guest.stage == Stage::Stranger && guest.has_spoken;
        if is_costly && !endpoint.admits_handshake(now, &guest.addresses.remote) {
            return false;
        }
        guest.hellos += u32::from(is_stranger);
        if is_costly && !endpoint.may_sign() {
            return self.put_off(number, bytes);
        }
        self.hand_over(now, number, bytes, endpoint, deliver)
    }

    /// Lets a session handle a datagram. The first hello with a good cookie takes a signature.
    fn hand_over(
        &mut self,
        now: Time,
        number: u32,
        bytes: &[u8],
        endpoint: &mut Endpoint,
        deliver: Deliver<'_>,
    ) -> bool {
        let Some(guest) = self.guests.get_mut(&number) else { return false };
        let was_proven = guest.session.is_proven();
        guest.credit += bytes_on_the_wire(&guest.addresses.remote, bytes.len());
        let path = guest.path(number);
        let is_taken = guest.session.handle_datagram(now, bytes, &mut |content| deliver(endpoint, path, content));
        if guest.session.is_proven() && !was_proven {
            endpoint.on_signature();
            self.spent += endpoint.handshake_cost();
        }
        self.settle(now, number, endpoint);
        is_taken
    }

    /// Queues a ClientHello. False if too many wait.
    fn put_off(&mut self, number: u32, bytes: &[u8]) -> bool {
        let has_room = self.waiting.len() < LIMITS.strangers;
        if has_room {
            self.waiting.push_back((number, bytes.into()));
        }
        has_room
    }

    /// Handles waiting ClientHellos, as far as this round has budget for signatures.
    fn meet_waiting(&mut self, now: Time, endpoint: &mut Endpoint) {
        while endpoint.may_sign()
            && let Some((number, bytes)) = self.waiting.pop_front()
        {
            // Before the address is proven, a session has no content.
            let is_taken = self.hand_over(now, number, &bytes, endpoint, &mut |_, _, _| {});
            self.stats.dropped += u64::from(!is_taken);
        }
    }

    /// Starts a session for an address that sent a ClientHello, if the limits allow.
    fn begin(&mut self, now: Time, socket: u32, addresses: AddressPair) -> bool {
        if !self.is_inviting || !self.places.may_begin(now, BEGIN_INTERVAL) {
            return false;
        }
        if let Some(oldest) = self.places.begin(self.next_number) {
            self.stats.displaced += 1;
            self.remove(oldest);
        }
        let number = self.next_number;
        while self.guests.contains_key(&self.next_number) || self.next_number == number {
            self.next_number = self.next_number.checked_add(1).unwrap_or(NUMBER_FIRST);
        }
        let guest = Guest {
            socket,
            addresses,
            session: self.server.session(now),
            stage: Stage::Stranger,
            until: now + HANDSHAKE_LIFE,
            due: Time::NEVER,
            credit: 0,
            has_spoken: false,
            hellos: 0,
        };
        self.guests.insert(number, guest);
        self.by_addresses.entry((socket, addresses)).or_default().coming = Some(number);
        self.stats.begun += 1;
        true
    }

    /// Takes the output of a session, and handles its state changes.
    fn settle(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        while let Some(bytes) = guest.session.poll_datagram() {
            guest.has_spoken = true;
            let has_room = self.outgoing.has_room(bytes.len());
            if !has_room
                || !guest.affords(bytes.len())
                || !self.outgoing.push(guest.socket, guest.addresses, &bytes, None)
            {
                self.stats.dropped += 1;
            }
        }
        if guest.session.failure().is_some() {
            return self.end(now, number, endpoint);
        }
        if guest.stage == Stage::Stranger && guest.session.is_proven() && !self.on_proven(now, number, endpoint) {
            return;
        }
        let Some(guest) = self.guests.get_mut(&number) else { return };
        if guest.stage == Stage::Proven && guest.session.is_established() {
            self.on_established(now, number, endpoint);
        }
        let Some(guest) = self.guests.get_mut(&number) else { return };
        if matches!(guest.stage, Stage::Established | Stage::Answered) && endpoint.peer_of_stream(number).is_some() {
            (guest.stage, guest.until) = (Stage::Connected, Time::NEVER);
            self.places.leave(number);
        }
        self.schedule(number);
    }

    /// The client has proven its address. False if there is no place for it.
    fn on_proven(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) -> bool {
        let Some(guest) = self.guests.get_mut(&number) else { return false };
        (guest.stage, guest.until) = (Stage::Proven, now + HANDSHAKE_LIFE);
        endpoint.on_handshake_begun(&guest.addresses.remote);
        if let Some(crowded) = self.places.prove(number, Network::of(&guest.addresses.remote)) {
            self.stats.displaced += 1;
            self.end(now, crowded, endpoint);
        }
        self.guests.contains_key(&number)
    }

    fn on_established(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        (guest.stage, guest.until) = (Stage::Established, now + SILENT_LIFE);
        self.stats.established += 1;
        let at = self.by_addresses.entry((guest.socket, guest.addresses)).or_default();
        let before = at.standing.replace(number);
        at.coming = None;
        if let Some(before) = before {
            self.close(now, before, endpoint);
        }
    }

    pub(super) fn stats(&self) -> DtlsStats {
        DtlsStats { open: self.guests.len() as u64, ..self.stats }
    }

    fn schedule(&mut self, number: u32) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        let next = guest.next();
        let before = core::mem::replace(&mut guest.due, next);
        if before != next {
            self.due.remove(&(before, number));
            if next < Time::NEVER {
                self.due.insert((next, number));
            }
        }
    }

    /// Ends a session, and its connection if it has one.
    fn end(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        let Some(guest) = self.remove(number) else { return };
        if matches!(guest.stage, Stage::Proven | Stage::Established) {
            endpoint.on_handshake_failed(&guest.addresses.remote);
        }
        let reason = guest.session.failure().map_or("the DTLS session is over", |failure| &failure.reason);
        endpoint.handle_carrier_lost(now, number, reason);
    }

    fn remove(&mut self, number: u32) -> Option<Guest> {
        let guest = self.guests.remove(&number)?;
        self.due.remove(&(guest.due, number));
        self.places.leave(number);
        let key = (guest.socket, guest.addresses);
        if let Some(at) = self.by_addresses.get_mut(&key) {
            at.coming = at.coming.filter(|coming| *coming != number);
            at.standing = at.standing.filter(|standing| *standing != number);
            if at.coming.is_none() && at.standing.is_none() {
                self.by_addresses.remove(&key);
            }
        }
        Some(guest)
    }
}

impl SessionTable for DtlsGuests {
    fn is_its_datagram(&self, datagram: &[u8]) -> bool {
        matches!(datagram.first(), Some(20..=63))
    }

    fn is_its_socket(&self, number: u32) -> bool {
        number >= NUMBER_FIRST
    }

    fn handle(
        &mut self,
        now: Time,
        (socket, addresses): (u32, AddressPair),
        bytes: &[u8],
        endpoint: &mut Endpoint,
        deliver: Deliver<'_>,
    ) {
        let hello = client_hello(bytes);
        if hello == Some(Hello::First) {
            self.forget_unheard(now, socket, addresses);
        }
        let at = self.by_addresses.get(&(socket, addresses)).copied().unwrap_or_default();
        let is_hello = hello.is_some();
        let mut is_taken = false;
        if at.coming.is_none() && at.standing.is_none() && is_sealed(bytes) {
            let AddressPair { local, remote } = addresses;
            let below = Path { socket, local, remote, carrier: udp_carrier(&remote) };
            endpoint.handle_unknown_session(below, bytes.len());
        }
        for number in [at.coming, at.standing].into_iter().flatten() {
            is_taken |= self.feed(now, number, bytes, is_hello, endpoint, deliver);
        }
        if at.coming.is_none() && is_hello && self.begin(now, socket, addresses) {
            let coming = self.by_addresses.get(&(socket, addresses)).and_then(|at| at.coming);
            is_taken = coming.is_some_and(|number| self.feed(now, number, bytes, is_hello, endpoint, deliver));
        }
        self.stats.dropped += u64::from(!is_taken);
    }

    fn send(&mut self, now: Time, number: u32, bytes: &[u8], segment_bytes: usize, endpoint: &mut Endpoint) {
        let Some(guest) = self.guests.get_mut(&number) else { return };
        guest.stage = guest.stage.max(Stage::Answered);
        for datagram in bytes.chunks(segment_bytes.max(1)) {
            guest.session.send(now, datagram);
        }
        self.settle(now, number, endpoint);
    }

    fn close(&mut self, now: Time, number: u32, endpoint: &mut Endpoint) {
        if let Some(guest) = self.guests.get_mut(&number) {
            guest.session.close(now);
            self.settle(now, number, endpoint);
        }
    }

    fn handle_timeout(&mut self, now: Time, endpoint: &mut Endpoint) -> bool {
        self.meet_waiting(now, endpoint);
        while let Some((_, number)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            let Some(guest) = self.guests.get_mut(&number) else {
                self.due.pop_first();
                continue;
            };
            if guest.until <= now {
                self.close(now, number, endpoint);
            } else {
                guest.session.handle_timeout(now);
                self.settle(now, number, endpoint);
            }
        }
        false
    }

    fn poll_timeout(&self) -> Time {
        if self.has_waiting() {
            return Time::ZERO;
        }
        self.due.first().map_or(Time::NEVER, |(due, _)| *due)
    }

    fn transmit(&mut self, _: Time, send: Send<'_>) {
        self.outgoing.drain(send);
    }

    fn is_crowded(&self) -> bool {
        self.outgoing.is_long()
    }

    fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn take_cost(&mut self) -> Cost {
        core::mem::take(&mut self.spent)
    }

    fn stop_inviting(&mut self) {
        self.is_inviting = false;
    }

    fn handshake_count(&self) -> usize {
        self.places.count()
    }
}

/// Bytes of a datagram, IP and UDP headers included.
fn bytes_on_the_wire(remote: &SocketAddr, bytes: usize) -> usize {
    bytes + usize::from(udp_carrier(remote).overhead_bytes)
}

#[cfg(all(test, feature = "simulate"))]
mod tests;
