//! An endpoint: all connections behind one or more sockets, clients' and servers' alike.
//!
//! The contract: any call, in any order, with a time that does not go back. After any `handle_*` or command, poll
//! [`Endpoint::poll_transmit`] and [`Endpoint::poll_event`] until they are empty, and call
//! [`Endpoint::handle_timeout`] when [`Endpoint::poll_timeout`] says so. Only connections that have work are touched.
//!
//! `commands` is what the application asks, `datagram` takes what comes in, `overview` is for whoever watches, `wheel`
//! wakes, `ids` finds, `unfinished` limits handshakes, `roaming` follows clients whose address changes.

mod ahead;
mod broadcast;
mod commands;
mod config;
mod datagram;
mod groups;
mod ids;
mod overview;
mod replies;
mod roaming;
mod slots;
mod unfinished;
mod wheel;

pub use crate::connection::event::{Close, ClosedBy, Event, PeerId, code};
pub use crate::connection::stats::{Drop, Drops, Flow, Stats};
pub use crate::connection::{Overview, SendError, Side};
pub use commands::ConnectError;
pub use config::{Config, ConfigError};
pub use groups::Group;
pub use ids::Shard;

use crate::connection::events::Events;
use crate::connection::{Connection, Context, Scratch};
use crate::path::Path;
use crate::security::cookie::CookieJar;
use crate::security::mint::Mint;
use crate::time::{Duration, Time};
use crate::wire::settings::Settings;
pub use broadcast::Broadcast;
use groups::Groups;
use ids::IdTable;
use replies::Replies;
use skipstone_prefetch::prefetch;
use slots::Slots;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use unfinished::Unfinished;
use wheel::Wheel;

/// All connections behind one or more sockets.
#[derive(Debug)]
pub struct Endpoint {
    config: Config,
    settings: Arc<Settings>,
    mint: Mint,
    jar: CookieJar,
    slots: Slots,
    ids: IdTable,
    /// Servers' connections by the client's id and the address that it opened from, so that a repeated OPEN finds its own.
    opened: BTreeMap<(core::net::SocketAddr, u32), Opened>,
    /// Handshakes of encrypted suites that are under way.
    unfinished: Unfinished,
    /// Connections on reliable carriers, by socket.
    by_socket: BTreeMap<u32, u32>,
    /// Sockets whose connection is over.
    released: VecDeque<u32>,
    groups: Groups,
    /// Connections that may have something to send.
    active: VecDeque<u32>,
    /// Connections with messages that wait for a flush.
    unflushed: Vec<u32>,
    broadcast: Broadcast,
    wheel: Wheel,
    replies: Replies,
    events: Events,
    scratch: Scratch,
    /// Counters of connections that are gone, and of datagrams that belong to none.
    past: Stats,
    work: Work,
}

/// Which connection came of an OPEN.
#[derive(Clone, Copy, Debug)]
struct Opened {
    index: u32,
    nonce: u64,
}

/// How often connections were touched: what an idle one must not cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Timers that came up, in vain or not.
    pub entries: u64,
    /// Connections that had something to do in [`Endpoint::handle_timeout`].
    pub timeouts: u64,
    /// Connections that [`Endpoint::poll_transmit`] asked for something to send.
    pub transmits: u64,
    /// Timers that wait now.
    pub timers: usize,
}

/// A stream that takes nothing is looked after so often, for the sake of what is due without sending.
const BLOCKED_SPAN: Duration = Duration::from_millis(20);

/// Datagrams to send along one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub path: Path,
    /// Bytes of the buffer that were written.
    pub bytes: usize,
    /// They are several datagrams of so many bytes each, of which the last may be shorter.
    pub segment_bytes: usize,
}

impl Endpoint {
    /// An endpoint whose every random choice follows from `seed`, which outside of tests comes from the system's
    /// entropy. Shards of one server share its first half, the secret of cookies, and nothing of the second.
    pub fn new(config: Config, seed: [u8; 32]) -> Result<Self, ConfigError> {
        config.check()?;
        let half = |from: usize| seed[from..from + 16].try_into().expect("half of 32 bytes");
        let settings = Arc::new(config.settings.clone());
        Ok(Endpoint {
            jar: CookieJar::new(half(0)),
            mint: Mint::new(half(16)),
            slots: Slots::default(),
            ids: IdTable::new(config.shard),
            opened: BTreeMap::new(),
            unfinished: Unfinished::default(),
            by_socket: BTreeMap::new(),
            released: VecDeque::new(),
            groups: Groups::default(),
            active: VecDeque::new(),
            unflushed: Vec::new(),
            broadcast: Broadcast::default(),
            wheel: Wheel::default(),
            replies: Replies::default(),
            events: Events::default(),
            scratch: Scratch::default(),
            past: Stats::default(),
            work: Work::default(),
            settings,
            config,
        })
    }

    /// A stream broke, or was closed by the peer. Its connection, if there is one, ends.
    pub fn handle_carrier_lost(&mut self, now: Time, socket: u32, reason: &str) {
        let Some(peer) = self.by_socket.get(&socket).and_then(|index| self.slots.peer_at(*index)) else { return };
        let code = code::CARRIER_LOST;
        self.with(now, peer, |connection, cx| connection.handle_carrier_lost(cx, code, reason));
    }

    /// Does what is due by now.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some((index, tick)) = self.wheel.pop_due(now) {
            self.work.entries += 1;
            let Some(slot) = self.slots.at(index) else { continue };
            if !slot.on_entry(tick) {
                continue;
            }
            let Some(connection) = &mut slot.connection else { continue };
            if connection.poll_timeout() > now {
                self.rearm(index);
                continue;
            }
            self.work.timeouts += 1;
            let cx = &mut Context { now, events: &mut self.events, scratch: &mut self.scratch };
            connection.handle_timeout(cx);
            self.after(index);
        }
    }

    /// When to call [`Endpoint::handle_timeout`], or [`Endpoint::poll_transmit`] again: in the past if there is work
    /// right now.
    pub fn poll_timeout(&self) -> Time {
        if self.active.is_empty() && self.replies.is_empty() { self.wheel.next() } else { Time::ZERO }
    }

    /// Writes datagrams that are due into `buffer`, which holds at least one of the largest; `None` if none is.
    pub fn poll_transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<Transmit> {
        if let Some(reply) = self.replies.pop(buffer) {
            self.past.sent.datagrams += 1;
            self.past.sent.datagram_bytes += reply.bytes as u64;
            self.past.sent.ip_bytes += reply.bytes as u64 + u64::from(reply.path.carrier.overhead_bytes);
            return Some(reply);
        }
        while let Some(index) = self.active.pop_front() {
            let Some(slot) = self.slots.at(index) else { continue };
            slot.is_active = false;
            let is_blocked = slot.is_blocked;
            let Some(connection) = &mut slot.connection else { continue };
            self.work.transmits += 1;
            if let Some((path, bytes)) = connection.poll_alone(now, buffer) {
                self.activate(index);
                return Some(Transmit { path, bytes, segment_bytes: bytes });
            }
            let segments = if is_blocked { None } else { connection.poll_transmit(now, buffer) };
            let path = *connection.path();
            let Some(segments) = segments else {
                // What is due and cannot leave must not make time stand still.
                let earliest = if is_blocked { now + BLOCKED_SPAN } else { Time::ZERO };
                self.rearm_from(index, earliest);
                continue;
            };
            if segments.is_all {
                self.rearm(index)
            } else {
                self.activate(index)
            }
            return Some(Transmit { path, bytes: segments.bytes, segment_bytes: segments.segment_bytes });
        }
        None
    }

    /// A hint: something is done soon with this connection, to which others are served before; `turns` is how many, of which
    /// 2, 1 and 0 are told in turn. Nothing depends on it but how soon its memory is in the processor's caches.
    pub fn prefetch(&self, peer: PeerId, turns: usize) {
        let Some(connection) = self.slots.peek(peer.index) else { return };
        match turns {
            2 => prefetch(connection),
            turns => connection.prefetch(turns == 0),
        }
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self, now: Time) -> Option<Event> {
        if let Some(row) = self.events.row_that_goes_on() {
            return row.next();
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
            Some(Event::Connected { peer }) if self.slots.find(*peer).is_some() => {
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
        !self.active.is_empty() || !self.unflushed.is_empty()
    }

    /// Whether [`Endpoint::poll_event`] will change who gets a broadcast to everyone.
    pub fn is_someone_coming_or_going(&self) -> bool {
        matches!(self.events.front(), Some(Event::Connected { .. } | Event::Closed { .. }))
    }

    /// A socket whose one connection is over and which can be closed: a stream, or a client's own.
    pub fn poll_released(&mut self) -> Option<u32> {
        self.released.pop_front()
    }

    fn is_full(&self) -> bool {
        self.slots.len() >= self.ids.capacity().min(self.config.connections_max as usize)
    }

    /// Whether the path is a stream that carries a connection.
    fn is_taken(&self, path: &Path) -> bool {
        path.carrier.is_reliable && self.by_socket.contains_key(&path.socket)
    }

    /// Puts a new connection where its id and its path find it.
    fn adopt(&mut self, mut connection: Connection) {
        let (index, path) = (connection.peer().index, *connection.path());
        if let Some(merging) = self.config.merging {
            connection.set_merging(merging);
        }
        if path.carrier.is_reliable {
            self.by_socket.insert(path.socket, index);
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
        if connection.is_dead() { self.bury(index) } else { self.activate(index) }
    }

    fn activate(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        if !core::mem::replace(&mut slot.is_active, true) {
            self.active.push_back(index);
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

    fn bury(&mut self, index: u32) {
        let Some(mut connection) = self.slots.empty(index) else { return };
        self.past.add(connection.stats_mut());
        let (path, ids) = (*connection.path(), connection.ids());
        self.ids.release(ids.local);
        let opened = (connection.opened_from(), ids.remote);
        if self.opened.get(&opened).is_some_and(|opened| opened.index == index) {
            self.opened.remove(&opened);
        }
        if path.carrier.is_reliable && self.by_socket.get(&path.socket) == Some(&index) {
            self.by_socket.remove(&path.socket);
        }
        if path.carrier.is_reliable || connection.side() == Side::Client {
            self.released.push_back(path.socket);
        }
        for group in self.slots.take_groups(index) {
            self.groups.leave(group, index);
        }
        self.groups.leave(Group::EVERYONE, index);
    }
}
