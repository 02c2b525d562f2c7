//! An endpoint: all connections behind one or more sockets, clients' and servers' alike.
//!
//! The contract: any call, in any order, with a time that does not go back. After any `handle_*` or command, poll
//! [`Endpoint::poll_transmit`] and [`Endpoint::poll_event`] until they are empty, and call
//! [`Endpoint::handle_timeout`] when [`Endpoint::poll_timeout`] says so. Only connections that have work are touched.
//!
//! `commands` is what the application asks, `datagram` takes what comes in, `overview` is for whoever watches, `wheel`
//! wakes, `ids` finds, `pending_handshakes` limits handshakes, `roaming` follows clients whose address changes,
//! `dialing` finds the one of a server's addresses that answers, `query` answers server
//! browsers.

mod answer;
mod broadcast;
mod commands;
mod config;
mod config_check;
mod config_error;
mod datagram;
mod dialing;
mod directory;
mod groups;
mod ids;
mod overview;
mod pending_handshakes;
mod query;
mod ready;
mod replies;
mod roaming;
mod secrets;
mod share;
mod slots;
mod totals;
mod transmit;
mod turns;
mod wheel;

use crate::connection::event::{Event, PeerId, code};
use crate::connection::stats::{DropReason, Stats};
use crate::connection::{Overview, SendError, ServerTime, Side};
pub use commands::ConnectError;
pub use config::{Config, Everyone};
pub use config_error::ConfigError;
pub use groups::Group;
pub use ids::Shard;

use crate::connection::events::Events;
use crate::connection::{Connection, Context, Scratch};
use crate::path::Path;
use crate::time::{Duration, Time};
use crate::wire::settings::Settings;
pub use broadcast::Broadcast;
use bytes::Bytes;
use directory::Directory;
use groups::Groups;
use ids::IdTable;
use pending_handshakes::PendingHandshakes;
pub use query::{DecodedAnswer, QUERY_BYTES_MIN, QUERY_PAYLOAD_BYTES_MAX, QueryPayloadTooLong, encode_question};
use ready::Ready;
use replies::Replies;
use secrets::Secrets;
use share::{Share, Turn};
use skipstone_prefetch::{Lookahead, Step};
use slots::Slots;
use std::sync::Arc;
use totals::Totals;
pub use totals::Work;
pub use transmit::Transmit;
use wheel::Wheel;

/// All connections behind one or more sockets.
#[derive(Debug)]
pub struct Endpoint {
    config: Config,
    settings: Arc<Settings>,
    secrets: Secrets,
    slots: Slots,
    directory: Directory,
    /// Handshakes of encrypted suites that are under way.
    pending_handshakes: PendingHandshakes,
    groups: Groups,
    ready: Ready,
    /// The cap on what all connections send together, if there is one.
    share: Option<Box<Share>>,
    broadcast: Broadcast,
    wheel: Wheel,
    replies: Replies,
    query_answer: Option<Bytes>,
    events: Events,
    scratch: Scratch,
    totals: Totals,
}

/// A stream that takes nothing is looked after so often, for the sake of what is due without sending.
const BLOCKED_SPAN: Duration = Duration::from_millis(20);

impl Endpoint {
    /// An endpoint whose every random choice follows from `seed`, which outside of tests comes from the system's
    /// entropy. Shards of one server share its first half, the secret of cookies, and nothing of the second.
    ///
    /// # Errors
    /// As [`Config::check`].
    pub fn new(config: Config, seed: [u8; 32]) -> Result<Self, ConfigError> {
        config.check()?;
        let settings = Arc::new(config.settings.clone());
        Ok(Endpoint {
            secrets: Secrets::new(&seed),
            slots: Slots::default(),
            directory: Directory::new(IdTable::new(config.shard)),
            pending_handshakes: PendingHandshakes::default(),
            groups: Groups::default(),
            ready: Ready::default(),
            share: config.bandwidth_max.map(|rate| Box::new(Share::new(rate))),
            broadcast: Broadcast::default(),
            wheel: Wheel::default(),
            replies: Replies::default(),
            query_answer: None,
            events: Events::default(),
            scratch: Scratch::default(),
            totals: Totals::default(),
            settings,
            config,
        })
    }

    /// A stream broke, or was closed by the peer. Its connection, if there is one, ends.
    pub fn handle_carrier_lost(&mut self, now: Time, socket: u32, reason: &str) {
        let Some(peer) = self.directory.by_socket.get(&socket).and_then(|index| self.slots.peer_at(*index)) else {
            return;
        };
        let code = code::CARRIER_LOST;
        self.with(now, peer, |connection, cx| connection.handle_carrier_lost(cx, code, reason));
    }

    /// Does what is due by now.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some((index, tick)) = self.wheel.pop_due(now) {
            self.totals.work.entries += 1;
            let Some(slot) = self.slots.at(index) else { continue };
            if !slot.on_entry(tick) {
                continue;
            }
            let Some(connection) = &mut slot.connection else { continue };
            if connection.poll_timeout() > now {
                self.rearm(index);
                continue;
            }
            self.totals.work.timeouts += 1;
            let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
            connection.handle_timeout(cx);
            self.after(index);
        }
    }

    /// When to call [`Endpoint::handle_timeout`], or [`Endpoint::poll_transmit`] again: in the past if there is work
    /// right now.
    pub fn poll_timeout(&self) -> Time {
        let is_idle = self.ready.active.is_empty() && self.replies.is_empty();
        if is_idle { self.wheel.next().min(self.share_due()) } else { Time::ZERO }
    }

    /// Writes datagrams that are due into `buffer`, which holds at least one of the largest; `None` if none is.
    pub fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<Transmit> {
        if let Some(reply) = self.replies.pop(buffer) {
            self.totals.past.sent.datagrams += 1;
            self.totals.past.sent.datagram_bytes += reply.bytes as u64;
            self.totals.past.sent.ip_bytes += reply.bytes as u64 + u64::from(reply.path.carrier.overhead_bytes);
            self.charge_share(now, &reply);
            return Some(reply);
        }
        let turn_bytes = self.turn_bytes();
        while let Some(Turn { index, held_until }) = self.next_turn(now) {
            let has_share = self.share.is_some();
            let Some(slot) = self.slots.at(index) else { continue };
            let is_blocked = slot.is_blocked;
            let Some(connection) = &mut slot.connection else { continue };
            self.totals.work.transmits += 1;
            if has_share {
                connection.hold_until(held_until);
            }
            if let Some((path, bytes)) = connection.poll_control_packet(now, buffer) {
                let transmit = Transmit { path, bytes, segment_bytes: bytes };
                self.activate(index);
                self.charge_share(now, &transmit);
                return Some(transmit);
            }
            let room = turn_bytes.max(usize::from(connection.datagram_bytes())).min(buffer.len());
            let segments = if is_blocked { None } else { connection.poll_transmit(now, &mut buffer[..room]) };
            let (path, is_held) = (*connection.path(), connection.is_held());
            let Some(segments) = segments else {
                if is_held {
                    self.wait_for_share(index);
                }
                // What is due and cannot leave must not make time stand still.
                let earliest = if is_blocked { now + BLOCKED_SPAN } else { Time::ZERO };
                self.rearm_from(index, earliest);
                continue;
            };
            if segments.is_all {
                self.rearm(index)
            } else if has_share && held_until == Time::ZERO {
                self.wait_for_share(index);
                self.rearm(index);
            } else {
                self.activate(index)
            }
            let transmit = Transmit { path, bytes: segments.bytes, segment_bytes: segments.segment_bytes };
            self.charge_share(now, &transmit);
            return Some(transmit);
        }
        None
    }

    /// A hint: it is this connection's turn soon, in a round through many. Nothing depends on it but how soon its memory is in
    /// the processor's caches.
    pub fn prefetch(&self, peer: PeerId, step: Step) {
        self.slots.prefetch(peer.index, step);
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self, now: Time) -> Option<Event> {
        if let Some(run) = self.events.unfinished_run() {
            return run.next();
        }
        let mut freed = 0;
        let event = self.events.pop(&mut freed);
        match &event {
            Some(Event::Message { peer, .. }) if freed > 0 => {
                let has_news = self.slots.connection(*peer).is_some_and(|it| it.on_polled(now, freed));
                if has_news {
                    self.activate(peer.index);
                }
            }
            // It may have ended meanwhile, and its place be another's.
            Some(Event::Connected { peer, .. })
                if self.config.everyone == Everyone::ByEvent && self.slots.find(*peer).is_some() =>
            {
                self.groups.join(Group::EVERYONE, peer.index);
            }
            Some(Event::Closed { peer, .. }) if self.slots.find(*peer).is_some() => {
                self.groups.leave(Group::EVERYONE, peer.index);
            }
            _ => {}
        }
        event
    }

    /// Whether a connection may have something to send, or messages that wait for a flush.
    pub fn has_work(&self) -> bool {
        !self.ready.active.is_empty() || !self.ready.unflushed.is_empty()
    }

    /// Whether [`Endpoint::poll_event`] will change who gets a broadcast to everyone.
    pub fn is_someone_coming_or_going(&self) -> bool {
        matches!(self.events.front(), Some(Event::Connected { .. } | Event::Closed { .. }))
    }

    /// A socket whose one connection is over and which can be closed: a stream, or a client's own.
    pub fn poll_released(&mut self) -> Option<u32> {
        self.ready.released.pop_front()
    }

    fn is_full(&self) -> bool {
        self.slots.len() >= self.directory.ids.capacity().min(self.config.connections_max as usize)
    }

    /// Whether the path is a stream that carries a connection.
    fn is_taken(&self, path: &Path) -> bool {
        path.carrier.is_reliable && self.directory.by_socket.contains_key(&path.socket)
    }

    /// Puts a new connection where its id and its path find it.
    fn insert(&mut self, mut connection: Connection) {
        let (index, path) = (connection.peer().index, *connection.path());
        if let Some(merging) = self.config.merging {
            connection.set_merging(merging);
        }
        connection.set_bandwidth(self.config.bandwidth_max_per_peer);
        if path.carrier.is_reliable {
            self.directory.by_socket.insert(path.socket, index);
        }
        self.slots.fill(connection);
        self.activate(index);
    }

    fn with<T>(
        &mut self,
        now: Time,
        peer: PeerId,
        act: impl FnOnce(&mut Connection, &mut Context<'_>) -> T,
    ) -> Option<T> {
        let connection = self.slots.connection(peer)?;
        let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
        let result = act(connection, cx);
        self.after(peer.index);
        Some(result)
    }

    /// After anything happened to a connection: it may have something to send, or be over.
    fn after(&mut self, index: u32) {
        let Some(connection) = self.slots.at(index).and_then(|slot| slot.connection.as_ref()) else { return };
        if connection.is_dead() { self.remove(index) } else { self.activate(index) }
    }

    fn activate(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        if let Some(peer) = slot.touch(index) {
            self.ready.touched.push(peer);
        }
        if !core::mem::replace(&mut slot.is_active, true) {
            self.ready.active.push_back(index);
        }
    }

    /// Sees to it that the connection is woken in time. A wake-up that has become too early is left as it is.
    fn rearm(&mut self, index: u32) {
        self.rearm_from(index, Time::ZERO);
    }

    /// As `rearm`, and not before `earliest`.
    fn rearm_from(&mut self, index: u32, earliest: Time) {
        let Some(slot) = self.slots.at(index) else { return };
        let Some(connection) = &slot.connection else { return };
        let at = connection.poll_timeout().max(earliest);
        if slot.wants_entry(at) {
            self.wheel.arm(index, at);
        }
    }

    fn remove(&mut self, index: u32) {
        if let Some(peer) = self.slots.at(index).and_then(|slot| slot.touch(index)) {
            self.ready.touched.push(peer);
        }
        let Some(mut connection) = self.slots.empty(index) else { return };
        self.totals.past.add(connection.stats_mut());
        let (path, ids) = (*connection.path(), connection.ids());
        self.directory.ids.release(ids.local);
        let opened = (connection.opened_from(), ids.remote);
        if self.directory.opened.get(&opened).is_some_and(|opened| opened.index == index) {
            self.directory.opened.remove(&opened);
        }
        if path.carrier.is_reliable && self.directory.by_socket.get(&path.socket) == Some(&index) {
            self.directory.by_socket.remove(&path.socket);
        }
        if path.carrier.is_reliable || connection.side() == Side::Client {
            self.ready.released.push_back(path.socket);
        }
        for group in self.slots.take_groups(index) {
            self.groups.leave(group, index);
        }
        self.groups.leave(Group::EVERYONE, index);
    }
}
