//! Moves datagrams and messages from the sockets into the endpoint.

use super::carrier::{local_path, stream_carrier, udp_carrier};
use super::dtls_client::take_own;
use super::guests::Guests;
use super::impaired_paths::Arrival;
use super::peer_shards::{PeerShards, deliver};
use super::ready::MayBeOver;
use super::retry::Failing;
use super::round::{Class, Round};
use super::sockets::{Socket, StreamSocket, TOKEN_LISTENER};
use super::{Clock, Driver, TOKEN_WAKER};
use crate::net::udp::{AddressPair, ReceiveBatch, UdpSocket};
use crate::net::websocket::{Admission, WsAccept, WsCloseReason, WsReceive};
use mio::Token;
use skipstone_proto::Cost;
use skipstone_proto::Path;
use skipstone_proto::Time;
use skipstone_proto::{Endpoint, Lookahead, Step, code};
use std::io;
use std::time::{Duration, Instant};

/// A turn of a socket of datagrams, which many players may share.
const DATAGRAMS_TURN: Cost = Cost::micros(500);
/// A turn of a player's stream.
const PLAYER_TURN: Cost = Cost::micros(50);
/// A turn of a stream that carries no player.
const STRANGER_TURN: Cost = Cost::micros(15);
/// A turn without data.
const EMPTY_TURN: Cost = Cost::nanos(1_000);
/// A datagram that is received and handled.
const DATAGRAM: Cost = Cost::nanos(800);
/// A stream that is accepted, registered and counted.
const ACCEPT: Cost = Cost::micros(20);
/// Cost limit of a stream before it carries a connection: a TLS handshake, and ten times what a client sends.
const STRANGER_MAX: Cost = Cost::micros(1_000);
/// Delay before streams are accepted again after the process ran out of files, if no stream closes earlier.
const ACCEPT_AGAIN: Duration = Duration::from_millis(250);

impl Driver {
    /// Reads the sockets that the last wait reported and those that earlier rounds left unread, within the budget of a
    /// round.
    pub(super) fn receive(&mut self) {
        self.take_misrouted();
        let mut round = Round::begin();
        self.take_local_news();
        self.sockets.note_due_retries(self.clock.now());
        let events = core::mem::replace(&mut self.events, mio::Events::with_capacity(0));
        for event in &events {
            match event.token() {
                TOKEN_WAKER => {}
                TOKEN_LISTENER => self.sockets.is_listener_ready = true,
                Token(socket) => {
                    if event.is_writable() {
                        self.on_writable(socket as u32);
                    }
                    let may_be_over = event.is_read_closed() || event.is_write_closed() || event.is_error();
                    self.sockets.note_ready(socket as u32, MayBeOver(may_be_over));
                }
            }
        }
        self.events = events;
        self.read_ready(&mut round);
        let is_time = |again: Instant| Instant::now() >= again;
        if self.sockets.is_listener_ready || self.sockets.accept_again_at.is_some_and(is_time) {
            self.accept_streams(&mut round);
        }
        self.stats.note_round(&round, !self.sockets.ready.is_empty());
        self.take_arrivals();
        self.drop_stale_streams();
        self.release_sockets();
    }

    /// Prefetches a socket that is read soon, and its connection if one peer owns the socket.
    fn prefetch(&self, socket: usize, step: Step) {
        self.sockets.prefetch(socket, step);
        if let Some(owner) = self.sockets.owner(socket) {
            self.endpoint.prefetch(owner, step);
        }
    }

    /// Gives sockets their turns, until the round ends or nothing is left to read.
    fn read_ready(&mut self, round: &mut Round) {
        let mut ahead = Lookahead::default();
        for turns in 0..Step::ALL.len() {
            ahead.advance(self.sockets.ready.ahead(turns), |socket, step| self.prefetch(socket as usize, step));
        }
        while let Some((socket, end)) = self.sockets.ready.next(round) {
            let coming = self.sockets.ready.ahead(Step::ALL.len() - 1);
            ahead.advance(coming, |socket, step| self.prefetch(socket as usize, step));
            self.receive_from(socket, end, round);
        }
    }

    /// Gives one socket its turn. A stream that may have ended is drained.
    fn receive_from(&mut self, number: u32, MayBeOver(may_be_over): MayBeOver, round: &mut Round) {
        round.charge(EMPTY_TURN);
        let clock = &self.clock;
        let (mut is_refused, mut is_elsewhere, mut is_unwelcome, mut is_broken) = (false, false, false, false);
        let more = match self.sockets.all.get_mut(number as usize) {
            None | Some(Socket::Dialing) => false,
            Some(Socket::Shared(shared)) => {
                let mut server = Serving {
                    endpoint: &mut self.endpoint,
                    peer_shards: &mut self.peer_shards,
                    guests: &mut self.guests,
                };
                let (denied, stats) = (&self.denied, &mut self.stats);
                let read = receive_datagrams(&mut shared.udp, &mut self.incoming, clock, round, |now, from, bytes| {
                    match &mut shared.paths {
                        _ if denied.has(from.remote.ip()) => stats.denied += 1,
                        Some(paths) => paths.send_up(now, from, bytes),
                        None => server.take(now, number, from, bytes),
                    }
                    server.guests.take_cost()
                });
                // No other port can replace the one that clients know.
                let _ = self.sockets.retries.after(number, clock.now(), &read);
                read.unwrap_or(false)
            }
            Some(Socket::Own(own)) => {
                let (own_path, remote, links) = (own.path(number), own.remote, &mut own.links);
                let read = receive_datagrams(&mut own.udp, &mut self.incoming, clock, round, |now, from, bytes| {
                    let path = Path { remote: from.remote, ..own_path };
                    match links {
                        Some(links) if from.remote == remote => links.send_down(now, bytes),
                        _ => take_own(&mut self.endpoint, &mut self.dial, &mut own.secured, now, path, bytes),
                    }
                    Cost::ZERO
                });
                is_refused = own.udp.take_refusal();
                is_broken = self.sockets.retries.after(number, clock.now(), &read) == Some(Failing::Lastingly);
                read.unwrap_or(false)
            }
            Some(Socket::Stream(stream)) => {
                let (now, endpoint, denied) = (clock.now(), &mut self.endpoint, &self.denied);
                let before = stream.ws.cost();
                let turn = if stream.class == Class::Player { PLAYER_TURN } else { STRANGER_TURN };
                stream.ws.on_ready_if(may_be_over, turn, &mut |admission, client| match admission {
                    Admission::Client => !denied.has(client.ip()),
                    Admission::Tls => {
                        let is_admitted = endpoint.admits_handshake(now, client);
                        if is_admitted {
                            endpoint.on_handshake_begun(client);
                            endpoint.on_signature();
                            round.charge(endpoint.handshake_cost());
                        }
                        is_admitted
                    }
                });
                let remote = stream.ws.peer_addr();
                let newcomers = &mut self.sockets.newcomers;
                is_elsewhere = stream.newcomer.is_some_and(|newcomer| newcomers.follow(newcomer, &remote));
                // A trusted proxy has named the client.
                let is_denied = stream.newcomer.is_some() && self.denied.has(remote.ip());
                let more = !is_denied
                    && receive_messages(
                        stream,
                        number,
                        clock.now(),
                        &mut self.endpoint,
                        &mut self.peer_shards,
                        &mut self.message,
                    );
                self.stats.denied += u64::from(is_denied);
                is_unwelcome = is_denied;
                round.charge(stream.ws.cost() - before);
                more
            }
            Some(Socket::Local(local)) => {
                let now = clock.now();
                local.stream.receive(|packet| {
                    round.charge(DATAGRAM);
                    deliver(&mut self.endpoint, &mut self.peer_shards, now, local_path(number), packet);
                })
            }
        };
        // WHY: before the verdict, because a stream that carries a connection must not be removed as if it carried
        // none.
        self.welcome(number);
        is_unwelcome |= self.is_too_dear(number);
        if is_unwelcome {
            return self.remove_stream(number);
        }
        if more {
            self.sockets.note_ready(number, MayBeOver(true));
        }
        if is_elsewhere {
            self.make_room_for(number);
        }
        if is_broken && let Some(owner) = self.sockets.owner(number as usize) {
            // If no other socket can be opened, this one is tried again.
            let _ = self.rebind(owner);
        }
        if is_refused {
            self.on_closed_port(number);
        }
        self.after_secured(number);
        self.after_stream(number);
    }

    /// Whether a stream has cost more than it may without a connection; if so, it is counted.
    fn is_too_dear(&mut self, number: u32) -> bool {
        let Some(Socket::Stream(stream)) = self.sockets.all.get(number as usize) else { return false };
        let is_too_dear = stream.newcomer.is_some() && stream.ws.cost() > STRANGER_MAX && !stream.ws.is_echo();
        self.stats.streams.too_dear += u64::from(is_too_dear);
        is_too_dear
    }

    /// Handles an ICMP error: nothing listens at the address that this client's socket sends to.
    fn on_closed_port(&mut self, number: u32) {
        if self.on_attempt_failed(number, "no server listens there") {
            self.sockets.remove(number);
        } else if let Some(owner) = self.sockets.owner(number as usize) {
            let now = self.now();
            self.endpoint.handle_closed_port(now, owner);
        }
    }

    /// A stream that carries a connection now no longer counts as new, and one whose connection was accepted is a
    /// player's.
    fn welcome(&mut self, number: u32) {
        let owner = self.sockets.owner(number as usize);
        let Some(Socket::Stream(stream)) = self.sockets.all.get_mut(number as usize) else { return };
        if stream.class == Class::Player {
            return;
        }
        let peer = if stream.newcomer.is_some() { self.endpoint.peer_of_stream(number) } else { owner };
        let Some(peer) = peer else { return };
        if self.endpoint.is_player(peer) {
            stream.class = Class::Player;
        }
        if let Some(newcomer) = stream.newcomer.take() {
            self.sockets.newcomers.remove(newcomer);
            self.sockets.give(number, peer);
        }
    }

    /// Accepts the in-memory streams that other drivers offer. Those with new data wait for their turns.
    fn take_local_news(&mut self) {
        let mut ready = core::mem::take(&mut self.local_ready);
        let arrivals = self.local.take_news(&mut ready);
        if !arrivals.is_empty() {
            self.release_sockets();
            ready.extend(arrivals.into_iter().map(|stream| self.sockets.insert_local(stream).socket));
        }
        for socket in ready.drain(..) {
            // A stream that ended meanwhile may have left its number to a socket of another kind.
            if let Some(Socket::Local(_)) = self.sockets.all.get(socket as usize) {
                self.sockets.note_ready(socket, MayBeOver(false));
            }
        }
        self.local_ready = ready;
    }

    /// Updates the state of a stream that may have opened, filled up, drained or ended.
    pub(super) fn after_stream(&mut self, number: u32) {
        if let Some(Socket::Local(_)) = self.sockets.all.get(number as usize) {
            return self.after_local(number);
        }
        let Some(Socket::Stream(stream)) = self.sockets.all.get_mut(number as usize) else { return };
        if stream.ws.is_closed() {
            let reason = end_of(stream);
            let is_untrusted = stream.ws.tls_failure().is_some_and(|failure| failure.is_untrusted);
            self.stats.streams.note(stream);
            return self.lose_stream(number, &reason, is_untrusted);
        }
        if stream.is_opening && stream.ws.is_open() {
            stream.is_opening = false;
            let carrier = stream_carrier(stream.ws.kind());
            let path = Path { socket: number, local: None, remote: stream.ws.peer_addr(), carrier };
            if let Some(dial) = &mut self.dial {
                dial.on_answer(&mut self.endpoint, path);
            }
        }
        let is_blocked = !stream.ws.is_writable();
        if is_blocked != stream.is_blocked {
            stream.is_blocked = is_blocked;
            self.endpoint.set_writable(number, !is_blocked);
        }
    }

    /// Removes a stream that has ended, or is given up.
    fn lose_stream(&mut self, number: u32, reason: &str, is_untrusted: bool) {
        let now = self.clock.now();
        if is_untrusted && let Some(dial) = &mut self.dial {
            dial.on_untrusted(number);
        }
        let owner = self.sockets.owner(number as usize).filter(|_| is_untrusted);
        match owner {
            _ if self.on_attempt_failed(number, reason) => {}
            Some(owner) => self.endpoint.handle_unreachable(now, owner, code::SECURITY, reason),
            None => self.endpoint.handle_carrier_lost(now, number, reason),
        }
        self.remove_stream(number);
    }

    /// Removes a stream. A TLS handshake that led to no connection counts against its host, like a handshake of any
    /// other carrier.
    fn remove_stream(&mut self, number: u32) {
        if let Some(Socket::Stream(stream)) = self.sockets.all.get(number as usize)
            && stream.newcomer.is_some()
            && stream.ws.has_wasted_tls()
        {
            self.endpoint.on_handshake_failed(&stream.ws.peer_addr());
        }
        self.sockets.remove(number);
    }

    fn after_local(&mut self, number: u32) {
        let Some(Socket::Local(local)) = self.sockets.all.get_mut(number as usize) else { return };
        if local.stream.is_closed() {
            let now = self.clock.now();
            self.endpoint.handle_carrier_lost(now, number, "the other end of the local connection is gone");
            self.sockets.remove(number);
            return;
        }
        let is_blocked = !local.stream.is_writable();
        if is_blocked != local.is_blocked {
            local.is_blocked = is_blocked;
            self.endpoint.set_writable(number, !is_blocked);
        }
    }

    /// Accepts several streams, which wait for their turns like others.
    fn accept_streams(&mut self, round: &mut Round) {
        self.release_sockets();
        let Some(listener) = &mut self.sockets.listener else { return };
        let (all, registry) = (&mut self.sockets.all, self.poll.registry());
        let (newcomers, now) = (&mut self.sockets.newcomers, Instant::now());
        let mut fresh = Vec::new();
        let denied = &self.denied;
        let outcome = listener.accept_ready(|mut ws| {
            if denied.has(ws.peer_addr().ip()) {
                self.stats.denied += 1;
                return;
            }
            let entry = all.vacant_entry();
            if ws.register(registry, Token(entry.key())).is_ok() {
                fresh.push(entry.key() as u32);
                self.stats.streams.accepted += 1;
                let newcomer = Some(newcomers.add(entry.key() as u32, &ws.peer_addr(), now));
                let class = Class::Stranger;
                let stream =
                    StreamSocket { ws, is_unflushed: false, is_blocked: false, is_opening: false, newcomer, class };
                entry.insert(Socket::Stream(Box::new(stream)));
            }
        });
        self.sockets.is_listener_ready = outcome == WsAccept::More;
        // Waiting clients cause no further event: they are accepted when a stream closes, or when this time is over.
        self.sockets.accept_again_at = (outcome == WsAccept::OutOfFiles).then(|| now + ACCEPT_AGAIN);
        for socket in fresh {
            round.charge_to(Class::Stranger, ACCEPT);
            self.make_room_for(socket);
            self.sockets.note_ready(socket, MayBeOver(true));
        }
    }

    /// Called for a new stream. If its network, or all networks together, have too many streams without a connection,
    /// the oldest one is closed.
    fn make_room_for(&mut self, number: u32) {
        let Some(Socket::Stream(stream)) = self.sockets.all.get(number as usize) else { return };
        let crowded = stream.newcomer.and_then(|newcomer| self.sockets.newcomers.crowded(newcomer));
        if let Some(oldest) = crowded {
            self.stats.streams.displaced += 1;
            self.remove_stream(oldest);
        }
    }

    /// Handles datagrams that have left the simulated networks.
    fn take_arrivals(&mut self) {
        if self.sockets.impaired.is_empty() {
            return;
        }
        let now = self.now();
        // WHY: from the last to the first, since a socket whose session fails here leaves the list.
        for at in (0..self.sockets.impaired.len()).rev() {
            let Some(number) = self.sockets.impaired.get(at).copied() else { continue };
            if let Some(Socket::Shared(_)) = self.sockets.all.get(number as usize) {
                self.take_arrivals_of_server(number);
                continue;
            }
            let Some(Socket::Own(own)) = self.sockets.all.get_mut(number as usize) else { continue };
            let path = own.path(number);
            let Some(links) = &mut own.links else { continue };
            while links.receive_down(now, &mut self.message) {
                take_own(&mut self.endpoint, &mut self.dial, &mut own.secured, now, path, &mut self.message);
            }
            while links.receive_up(now, &mut self.message) {
                self.outgoing.push(&self.message, own.remote, None);
                if self.outgoing.is_full() {
                    let outcome = own.udp.send_batch(&mut self.outgoing);
                    self.stats.note(&outcome, &mut self.outgoing);
                }
            }
            if !self.outgoing.is_empty() {
                let outcome = own.udp.send_batch(&mut self.outgoing);
                self.stats.note(&outcome, &mut self.outgoing);
            }
            self.after_secured(number);
        }
    }

    /// Handles datagrams that have left the simulated network of a server's socket.
    fn take_arrivals_of_server(&mut self, number: u32) {
        let now = self.now();
        let mut datagram = core::mem::take(&mut self.message);
        while let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(number as usize)
            && let Some(arrival) = shared.paths.as_mut().and_then(|paths| paths.receive(now, &mut datagram))
        {
            match arrival {
                Arrival::FromClient(from) => {
                    let mut server = Serving {
                        endpoint: &mut self.endpoint,
                        peer_shards: &mut self.peer_shards,
                        guests: &mut self.guests,
                    };
                    server.take(now, number, from, &mut datagram);
                }
                Arrival::ToClient(to) => self.send_shared(number, to, &datagram, None),
            }
        }
        self.message = datagram;
    }

    /// Closes streams whose handshake or closing takes too long, and streams that open no connection in time.
    fn drop_stale_streams(&mut self) {
        let now = Instant::now();
        while let Some(overdue) = self.sockets.newcomers.overdue(now) {
            self.drop_stale(overdue);
        }
        if now < self.sockets.stale_check_at {
            return;
        }
        self.sockets.stale_check_at = now + super::WAIT_MAX;
        let is_stale = |(_, socket): &(usize, &Socket)| match socket {
            Socket::Stream(stream) => stream.ws.is_stale(now),
            _ => false,
        };
        let stale: Vec<u32> = self.sockets.all.iter().filter(is_stale).map(|(number, _)| number as u32).collect();
        stale.into_iter().for_each(|number| self.drop_stale(number));
    }

    fn drop_stale(&mut self, number: u32) {
        self.stats.streams.timed_out += 1;
        // No other event would have it published.
        self.publisher.is_stale = true;
        self.lose_stream(number, "the handshake of the stream took too long", false);
    }

    /// Releases sockets whose connection has ended. Also called before a socket is opened: the new socket may get the
    /// number of a removed one, and a release that was meant for the removed socket would close the new one.
    pub(super) fn release_sockets(&mut self) {
        while let Some(socket) = self.endpoint.poll_released() {
            self.release(socket);
        }
    }

    /// Releases the socket of a connection that has ended: a client's own socket is closed, a stream first sends a
    /// Close frame.
    fn release(&mut self, number: u32) {
        if self.guests.close(self.clock.now(), number, &mut self.endpoint) {
            return;
        }
        match self.sockets.all.get_mut(number as usize) {
            Some(Socket::Stream(stream)) => {
                stream.class = Class::Stranger;
                stream.ws.close(1000, "");
                stream.ws.flush();
                if stream.ws.is_closed() {
                    self.stats.streams.note(stream);
                    self.sockets.remove(number);
                }
            }
            Some(Socket::Own(_)) => {
                self.close_secured(number);
                self.sockets.remove(number);
            }
            Some(Socket::Local(_)) => self.sockets.remove(number),
            Some(Socket::Dialing) => self.abandon_dial(),
            Some(Socket::Shared(_)) | None => {}
        }
    }
}

/// Destinations of the datagrams that a server receives.
pub(super) struct Serving<'a> {
    pub(super) endpoint: &'a mut Endpoint,
    pub(super) peer_shards: &'a mut Option<Box<PeerShards>>,
    pub(super) guests: &'a mut Guests,
}

impl Serving<'_> {
    fn take(&mut self, now: Time, number: u32, from: AddressPair, bytes: &mut [u8]) {
        let guests = &*self.guests;
        let is_misrouted = |peer_shards: &mut Box<PeerShards>| {
            let shard = guests.shard_of(bytes, peer_shards.bits);
            shard.is_some_and(|shard| peer_shards.hand_on(shard, from, bytes))
        };
        if !self.peer_shards.as_mut().is_some_and(is_misrouted) {
            self.take_own(now, number, from, bytes);
        }
    }

    /// Handles a datagram for this shard, or for no shard.
    pub(super) fn take_own(&mut self, now: Time, number: u32, from: AddressPair, bytes: &mut [u8]) {
        let peer_shards = &mut *self.peer_shards;
        let mut deliver_content = |endpoint: &mut Endpoint, path: Path, content: &mut [u8]| {
            deliver(endpoint, peer_shards, now, path, content);
        };
        if self.guests.handle(now, (number, from), bytes, self.endpoint, &mut deliver_content) {
            return;
        }
        let AddressPair { local, remote } = from;
        let path = Path { socket: number, local, remote, carrier: udp_carrier(&remote) };
        deliver_content(self.endpoint, path, bytes);
    }
}

/// Passes received datagrams to `take`, which returns a datagram's cost in addition to the cost of any datagram. True
/// if more may wait; an error if the socket cannot be read.
fn receive_datagrams(
    udp: &mut UdpSocket,
    batch: &mut ReceiveBatch,
    clock: &Clock,
    round: &mut Round,
    mut take: impl FnMut(Time, AddressPair, &mut [u8]) -> Cost,
) -> io::Result<bool> {
    let mut left = DATAGRAMS_TURN;
    while left.is_left() {
        if udp.receive_batch(batch)? == 0 {
            return Ok(false);
        }
        // Read after the call, so that no datagram is handled at a time before it arrived.
        let now = clock.now();
        let cost = batch.datagrams().map(|it| DATAGRAM + take(now, it.addresses(), it.bytes)).sum();
        left -= cost;
        round.charge(cost);
        if batch.is_short() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Passes a stream's messages on. True if more may wait.
fn receive_messages(
    stream: &mut StreamSocket,
    number: u32,
    now: Time,
    endpoint: &mut Endpoint,
    peer_shards: &mut Option<Box<PeerShards>>,
    scratch: &mut Vec<u8>,
) -> bool {
    let carrier = stream_carrier(stream.ws.kind());
    let path = Path { socket: number, local: None, remote: stream.ws.peer_addr(), carrier };
    loop {
        match stream.ws.receive() {
            WsReceive::Message(bytes) => {
                scratch.clear();
                scratch.extend_from_slice(&bytes);
                deliver(endpoint, peer_shards, now, path, scratch);
            }
            WsReceive::More => return true,
            WsReceive::Empty => return false,
        }
    }
}

/// Text with the reason why a stream ended.
fn end_of(stream: &StreamSocket) -> String {
    let peer = stream.ws.peer_addr();
    if let Some(failure) = stream.ws.tls_failure() {
        return failure.reason.to_string();
    }
    match (stream.is_opening, stream.ws.close_reason(), stream.ws.peer_close()) {
        (_, _, Some(close)) if !close.reason.is_empty() => format!("the WebSocket was closed: {}", close.reason),
        (true, Some(WsCloseReason::Lost) | None, _) => {
            format!("{peer} refused the connection or ended it at once: is a server listening there?")
        }
        (true, Some(reason), _) => format!("no WebSocket handshake with {peer} ({})", reason.name()),
        (false, Some(WsCloseReason::Lost) | None, _) => "the WebSocket ended without a goodbye".into(),
        (false, Some(reason), _) => format!("the WebSocket ended ({})", reason.name()),
    }
}
