//! Joins the protocol to the sockets: one thread, one poll, one endpoint.
//!
//! [`Driver::drive`] is one round: wait for sockets or a deadline, take what came, let what is due leave. Everything else
//! is a `command` between rounds. `thread` is the loop of a driver that has a thread of its own. `sockets` opens and owns,
//! `receive` and `transmit` move datagrams, `dial` and `dialing` look for an address that
//! answers, `impair` and `impaired_paths` simulate a bad network, `half_open` has the DTLS handshakes of other
//! implementations, `peer_shards` are a server's other shards, `gates` and `publish` tell the application how things stand.

mod carrier;
pub(crate) mod command;
mod dial;
mod dialing;
mod gates;
#[cfg_attr(not(all(feature = "dtls", feature = "__tls")), path = "half_open/absent.rs")]
mod half_open;
#[cfg_attr(not(feature = "simulate"), path = "impair/absent.rs")]
pub(crate) mod impair;
mod impaired_paths;
pub(crate) mod impairment_error;
mod misrouted;
mod newcomers;
pub(crate) mod peer_shards;
mod publish;
mod publisher;
mod receive;
pub(crate) mod sockets;
pub(crate) mod thread;
mod transmit;

use crate::driver_stats::DriverStats;
use crate::net::local::{LocalListener, LocalStream};
use crate::net::udp::{BufferGrants, ReceiveBatch, SendBatch};
use crate::net::wait;
#[cfg(all(feature = "dtls", feature = "__tls"))]
use crate::security::Identity;
use crate::server_time::CLOCK_FIRST;
use crate::statistics::Board;
use crate::url::Target;
use crate::websocket_rules::WebSocketRules;
use bytes::Bytes;
pub(crate) use carrier::LOCAL_ADDRESS;
use dial::Dial;
pub(crate) use dial::DialConfig;
use gates::Gates;
use half_open::HalfOpen;
use impair::Impairment;
#[cfg(feature = "simulate")]
use impair::LinkStats;
use mio::{Events, Poll, Token, Waker};
use peer_shards::PeerShards;
use publisher::Publisher;
use skipstone_proto::MessageId;
use skipstone_proto::Protection;
use skipstone_proto::{Broadcast, Config, ConfigError, ConnectError, Endpoint, Event, Group, PeerId};
use skipstone_proto::{Duration, Time};
pub(crate) use sockets::Sharing;
use sockets::Sockets;
use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// One endpoint and all its sockets.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) endpoint: Endpoint,
    clock: Clock,
    poll: Poll,
    events: Events,
    waker: Arc<Waker>,
    /// Where other drivers of this process offer streams in memory.
    local: Arc<LocalListener>,
    /// Which of those have news; empty between rounds.
    local_ready: Vec<u32>,
    sockets: Sockets,
    incoming: ReceiveBatch,
    /// Datagrams of sockets that have no batch of their own.
    outgoing: SendBatch,
    /// A stream's message on its way into the endpoint, which changes it.
    message: Vec<u8>,
    /// Where the endpoint writes datagrams.
    buffer: Vec<u8>,
    /// Broadcasts to one group that nothing has followed yet.
    broadcasts: (Group, Vec<(u16, Bytes, MessageId)>),
    broadcast: Broadcast,
    stats: DriverStats,
    publisher: Publisher,
    gates: Gates,
    /// Where other implementations' DTLS handshakes happen: a server's that encrypts.
    half_open: Option<Box<HalfOpen>>,
    /// A server's other shards.
    peer_shards: Option<Box<PeerShards>>,
    /// A client's search for an address of its server.
    dial: Option<Box<Dial>>,
}

/// The embedder's clock: microseconds since the driver began.
#[derive(Debug)]
pub(crate) struct Clock {
    began: Instant,
    read: Cell<Time>,
}

impl Clock {
    fn since(began: Instant) -> Self {
        Clock { began, read: Cell::new(Time::ZERO) }
    }

    pub(crate) fn now(&self) -> Time {
        self.read.set(self.at(Instant::now()));
        self.read.get()
    }

    fn at(&self, instant: Instant) -> Time {
        Time::from_micros(CLOCK_FIRST + instant.saturating_duration_since(self.began).as_micros() as u64)
    }

    /// The time as it was read last: for what may happen a million times a second.
    fn recent(&self) -> Time {
        self.read.get()
    }
}

const TOKEN_WAKER: Token = Token(usize::MAX);
/// Sockets that one round of a server takes from at most.
const READY_MAX: usize = 1_024;
/// Broadcasts that are queued together at most: their payloads stay in the processor's caches.
const BROADCASTS_MAX: usize = 64;
/// Members of a group for whom broadcasts are queued and sent, before it is the others' turn.
const MEMBERS_AT_ONCE: usize = 64;
/// How long a round may wait when nothing is due: so that streams that hang in their handshake are noticed.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// Why a driver could not be made.
#[derive(Debug)]
pub(crate) enum DriverError {
    Config(ConfigError),
    Io(io::Error),
}

impl From<io::Error> for DriverError {
    fn from(error: io::Error) -> Self {
        DriverError::Io(error)
    }
}

/// What all shards of a server have in common: the time, and the secret by which they know cookies as their own.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    began: Instant,
    secret: [u8; 16],
}

impl Origin {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Origin { began: Instant::now(), secret: random()? })
    }
}

fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

impl Driver {
    /// That of clients, each of which has a socket of its own; one round takes from so many of them at most.
    pub(crate) fn of_clients(config: Config, ready_max: usize) -> Result<Self, DriverError> {
        Driver::with_ready(ready_max, &Origin::new()?, config)
    }

    /// A server's, or one of several that know each other's cookies.
    pub(crate) fn born_of(origin: &Origin, config: Config) -> Result<Self, DriverError> {
        Driver::with_ready(READY_MAX, origin, config)
    }

    fn with_ready(ready_max: usize, origin: &Origin, config: Config) -> Result<Self, DriverError> {
        let mut seed = [0; 32];
        seed[..16].copy_from_slice(&origin.secret);
        seed[16..].copy_from_slice(&random()?);
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), TOKEN_WAKER)?);
        Ok(Driver {
            endpoint: Endpoint::new(config, seed).map_err(DriverError::Config)?,
            clock: Clock::since(origin.began),
            local: LocalListener::new(waker.clone()),
            local_ready: Vec::new(),
            waker,
            poll,
            events: Events::with_capacity(ready_max),
            sockets: Sockets::default(),
            incoming: ReceiveBatch::new(),
            outgoing: SendBatch::with_capacity(64, 256 << 10),
            message: Vec::new(),
            buffer: Vec::new(),
            broadcasts: (Group::EVERYONE, Vec::new()),
            broadcast: Broadcast::default(),
            stats: DriverStats::default(),
            publisher: Publisher::default(),
            gates: Gates::default(),
            half_open: None,
            peer_shards: None,
            dial: None,
        })
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// When its clock began, that of all shards.
    pub(crate) fn began(&self) -> Instant {
        self.clock.began
    }

    /// Where it publishes its statistics.
    pub(crate) fn board(&self) -> Arc<Board> {
        self.publisher.board()
    }

    pub(crate) fn waker(&self) -> Arc<Waker> {
        self.waker.clone()
    }

    /// One round, which waits for `wait_max` at most.
    pub(crate) fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.stats.rounds += 1;
        self.queue_broadcasts();
        self.transmit();
        let timeout = self.time_left().min(wait_max);
        wait::wait(&mut self.poll, &mut self.events, Some(timeout))?;
        self.receive();
        let now = self.now();
        // Before the endpoint notices the same timeout, of which it knows less.
        self.go_on_dialing(now);
        self.endpoint.handle_timeout(now);
        if let Some(half_open) = &mut self.half_open {
            half_open.handle_timeout(now);
        }
        self.publish_population();
        self.transmit();
        self.gates.publish(now, &mut self.endpoint);
        self.publish();
        Ok(())
    }

    /// Lets other implementations shake hands by DTLS with whoever this is.
    #[cfg(all(feature = "dtls", feature = "__tls"))]
    pub(crate) fn shake_hands_as(&mut self, identity: Arc<Identity>) {
        self.half_open = Some(Box::new(HalfOpen::new(identity)));
    }

    /// Tells it who the other shards are.
    pub(crate) fn meet(&mut self, peer_shards: PeerShards) {
        self.peer_shards = Some(Box::new(peer_shards));
    }

    /// Begins a connection, with a socket of its own.
    pub(crate) fn connect(
        &mut self,
        target: &Target,
        address: SocketAddr,
        token: &[u8],
        impairment: Option<&Impairment>,
        protection: Protection,
    ) -> Result<PeerId, io::Error> {
        self.release_sockets();
        let path = self.sockets.open(self.poll.registry(), target, address, impairment)?;
        let now = self.now();
        let peer = self.endpoint.connect_with(now, path, token, protection).map_err(|error| match error {
            ConnectError::TokenTooLong => io::Error::new(io::ErrorKind::InvalidInput, error.to_string()),
            error => io::Error::other(error.to_string()),
        })?;
        self.sockets.give(path.socket, peer);
        if path.carrier.is_reliable {
            // Until its own handshake is done, the stream takes nothing.
            self.endpoint.set_writable(path.socket, false);
        }
        Ok(peer)
    }

    /// Where clients of this process offer their streams to this driver.
    pub(crate) fn local_listener(&self) -> Arc<LocalListener> {
        self.local.clone()
    }

    /// Begins a connection in memory, to the driver that this listener belongs to.
    pub(crate) fn connect_local(&mut self, server: &Arc<LocalListener>, token: &[u8]) -> Result<PeerId, ConnectError> {
        let (own, theirs) = LocalStream::pair(&self.local, server);
        self.release_sockets();
        let path = self.sockets.insert_local(own);
        let peer = self.endpoint.connect_with(self.clock.now(), path, token, Protection::Plain)?;
        self.sockets.give(path.socket, peer);
        server.offer(theirs);
        Ok(peer)
    }

    /// Gives a client another socket, and so another port, as a phone does that changes networks. False if the client does
    /// not stand, or is on a stream.
    pub(crate) fn rebind(&mut self, peer: PeerId) -> io::Result<bool> {
        let now = self.now();
        let Some(path) = self.endpoint.overview(peer).map(|overview| overview.path) else { return Ok(false) };
        if !self.endpoint.set_path(now, peer, path) {
            return Ok(false);
        }
        self.sockets.rebind(self.poll.registry(), path.socket)?;
        Ok(true)
    }

    /// Listens for native clients and for WebSockets on one number. With port 0 the system chooses.
    pub(crate) fn listen(
        &mut self,
        address: SocketAddr,
        websocket: Option<&WebSocketRules>,
        sharing: Sharing,
    ) -> io::Result<SocketAddr> {
        self.sockets.listen(self.poll.registry(), address, websocket, sharing)
    }

    /// Plays a bad network around a server's socket, for each client's address on its own. Its seed is this shard's.
    pub(crate) fn impair(&mut self, impairment: &Impairment, shard: u32) {
        self.sockets.impair_shared(impairment, shard);
    }

    /// What the kernel granted a UDP socket.
    pub(crate) fn buffer_grants(&self) -> Option<BufferGrants> {
        self.sockets.buffer_grants()
    }

    /// The next event.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.endpoint.poll_event(self.clock.recent())
    }

    /// A message to a group. Those that follow each other are queued together, before anything else is done.
    pub(crate) fn broadcast(&mut self, group: Group, message: (u16, Bytes, MessageId)) {
        if self.broadcasts.0 != group || self.broadcasts.1.len() >= BROADCASTS_MAX {
            self.queue_broadcasts();
        }
        self.broadcasts.0 = group;
        self.broadcasts.1.push(message);
    }

    pub(crate) fn queue_broadcasts(&mut self) {
        if !self.broadcasts.1.is_empty() {
            let (group, messages) = &mut self.broadcasts;
            self.endpoint.broadcast_all(self.clock.now(), *group, messages);
            messages.clear();
        }
    }

    /// Lets everything leave that waits for a flush: broadcasts to some members at a time, so that what was queued for one of
    /// them is in the caches still when it is sent.
    pub(crate) fn flush(&mut self) {
        // What else waits for members whose turn has not come shares their packets.
        if self.broadcasts.1.is_empty() || self.endpoint.has_work() {
            self.queue_broadcasts();
            return self.endpoint.flush(self.clock.now());
        }
        let (mut broadcast, group) = (core::mem::take(&mut self.broadcast), self.broadcasts.0);
        broadcast.fill(&self.broadcasts.1);
        self.broadcasts.1.clear();
        let mut from = 0;
        loop {
            let now = self.now();
            self.endpoint.broadcast_some(now, group, &broadcast, &mut from, MEMBERS_AT_ONCE);
            self.endpoint.flush(now);
            if !self.endpoint.has_member_from(group, from) {
                break;
            }
            self.transmit();
        }
        broadcast.clear();
        self.broadcast = broadcast;
    }

    /// What the played networks did, towards the server and towards the clients.
    #[cfg(feature = "simulate")]
    pub(crate) fn link_stats(&self) -> (LinkStats, LinkStats) {
        self.sockets.link_stats()
    }

    pub(crate) fn stats(&self) -> DriverStats {
        let half_open = self.half_open.as_ref().map(|half_open| half_open.stats()).unwrap_or_default();
        let misrouted = self.peer_shards.as_ref().map(|peer_shards| peer_shards.stats()).unwrap_or_default();
        DriverStats { sockets: self.sockets.stats(), half_open, misrouted, ..self.stats }
    }

    /// Until the next deadline of the protocol or of a played network.
    fn time_left(&self) -> Duration {
        let now = self.now();
        let strangers = self.half_open.as_ref().map_or(Time::NEVER, |half_open| half_open.poll_timeout());
        let due = self.endpoint.poll_timeout().min(self.sockets.next_arrival()).min(strangers).min(self.publish_due());
        let due = self.dial.as_ref().map_or(due, |dial| due.min(dial.due()));
        due.since(now).min(WAIT_MAX)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A stream that nobody takes any more ends, and its client hears of it.
        self.local.close();
    }
}
