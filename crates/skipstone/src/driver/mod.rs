//! Connects the protocol to the sockets: one thread, one poll, one endpoint.
//!
//! [`Driver::drive`] is one round: it waits for sockets or a deadline, receives, and sends what is due. Everything else
//! is a `command` between rounds. `thread` is the loop of a driver with its own thread. `sockets` opens and owns the
//! sockets, `receive` and `transmit` move datagrams, `dial` looks for an address that answers, `impair` and
//! `impaired_paths` simulate a bad network, `guests` holds a server's sessions of DTLS (`dtls`) and WebTransport
//! (`quic`), in a `session_table` each, `dtls_client` handles those of clients, `peer_shards` represents a server's
//! other shards, `gates` and `publish` report state to the application.

#[cfg(not(all(feature = "dtls", feature = "webtransport", feature = "__tls")))]
mod absent_sessions;
mod carrier;
#[cfg(all(
    test,
    feature = "simulate",
    feature = "self-signed",
    feature = "__tls",
    any(feature = "dtls", feature = "webtransport")
))]
mod chosen_losses;
pub(crate) mod command;
mod crowd;
mod dial;
#[cfg_attr(not(all(feature = "dtls", feature = "__tls")), path = "dtls/absent.rs")]
mod dtls;
mod dtls_client;
mod gates;
mod guests;
mod held;
#[cfg_attr(not(feature = "simulate"), path = "impair/absent.rs")]
pub(crate) mod impair;
mod impaired_paths;
pub(crate) mod impairment_error;
mod misrouted;
mod newcomers;
#[cfg_attr(
    not(all(any(feature = "dtls", feature = "webtransport"), feature = "__tls")),
    expect(dead_code, reason = "no session sends")
)]
mod outgoing;
pub(crate) mod peer_shards;
#[cfg(all(any(feature = "dtls", feature = "webtransport"), feature = "__tls"))]
mod places;
#[cfg(all(feature = "unstable", feature = "dtls", feature = "webtransport", feature = "websocket", feature = "__tls"))]
pub mod port_fuzzed;
mod protected;
mod publish;
mod publisher;
#[cfg_attr(not(all(feature = "webtransport", feature = "__tls")), path = "quic/absent.rs")]
mod quic;
mod ready;
mod receive;
mod retry;
mod round;
mod secured;
mod session_table;
pub(crate) mod sockets;
mod stream_ends;
pub(crate) mod thread;
mod transmit;

use crate::driver_stats::DriverStats;
use crate::listen_sockets::ShardSockets;
#[cfg(all(feature = "webtransport", feature = "__tls"))]
use crate::listener_rules::ListenerRules;
use crate::listener_rules::Streams;
use crate::net::local::{LocalListener, LocalStream};
use crate::net::network_list::NetworkList;
use crate::net::udp::{BufferGrants, ReceiveBatch, SendBatch};
use crate::net::wait;
#[cfg(all(feature = "dtls", feature = "__tls"))]
use crate::security::DtlsServer;
#[cfg(all(feature = "webtransport", feature = "__tls"))]
use crate::security::QuicServer;
use crate::server_time::CLOCK_FIRST;
use crate::statistics::Board;
use crate::url::Target;
pub(crate) use carrier::LOCAL_ADDRESS;
use dial::Dial;
pub(crate) use dial::DialConfig;
#[cfg(all(feature = "dtls", feature = "__tls"))]
use dtls::DtlsGuests;
use gates::Gates;
use guests::Guests;
use held::Held;
use impair::Impairment;
#[cfg(feature = "simulate")]
use impair::LinkStats;
use mio::{Events, Poll, Token, Waker};
use peer_shards::PeerShards;
pub(crate) use protected::{Beneath, Protected};
use publisher::Publisher;
#[cfg(all(feature = "webtransport", feature = "__tls"))]
use quic::PageRules;
#[cfg(all(feature = "webtransport", feature = "__tls"))]
use quic::QuicGuests;
#[cfg(all(feature = "unstable", feature = "webtransport", feature = "__tls"))]
pub use quic::fuzzed as http3_fuzzed;
use skipstone_proto::Protection;
use skipstone_proto::{Broadcast, BroadcastMessage, Config, ConfigError, ConnectError, Endpoint, Event, Group, PeerId};
use skipstone_proto::{Duration, Time};
use sockets::Sockets;
pub(crate) use sockets::{Binding, Sharing};
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
    /// Listener for in-memory streams that other drivers of this process offer.
    local: Arc<LocalListener>,
    /// Numbers of the in-memory streams with new data or state; empty between rounds.
    local_ready: Vec<u32>,
    sockets: Sockets,
    incoming: ReceiveBatch,
    /// Send batch for sockets without a batch of their own.
    outgoing: SendBatch,
    /// Copy of a received message, which the endpoint changes in place.
    message: Vec<u8>,
    /// Buffer into which the endpoint writes datagrams.
    buffer: Vec<u8>,
    /// Packet for a stream that waits for the next one, in another such buffer.
    held: Held,
    /// Consecutive broadcasts to one group that are not queued yet.
    broadcasts: (Group, Vec<BroadcastMessage>),
    broadcast: Broadcast,
    stats: DriverStats,
    publisher: Publisher,
    gates: Gates,
    /// A server's sessions of DTLS and WebTransport.
    guests: Guests,
    /// A server's other shards.
    peer_shards: Option<Box<PeerShards>>,
    /// Addresses that a server denies.
    denied: Arc<NetworkList>,
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

    /// The clock's last reading, for calls that may happen a million times a second.
    fn recent(&self) -> Time {
        self.read.get()
    }
}

const TOKEN_WAKER: Token = Token(usize::MAX);
/// Maximum number of socket events in one round of a server.
const READY_MAX: usize = 1_024;
/// Limit on broadcasts that are queued together: their payloads stay in the processor's caches.
const BROADCASTS_MAX: usize = 64;
/// Members of a group for which broadcasts are queued and sent before the next members have their turn.
const MEMBERS_AT_ONCE: usize = 64;
/// Maximum number of rounds in one call of a stepped driver.
const ROUNDS_MAX: usize = 8;
/// Limit on the wait of a round in which nothing is due, so that streams with a stalled handshake are noticed.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// Why a driver could not be created.
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

/// State that all shards of a server share: the start of their clock, and the secret by which they recognize each
/// other's cookies.
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
    /// A driver for clients, each with its own socket; one round reads at most `ready_max` of them.
    pub(crate) fn of_clients(config: Config, ready_max: usize) -> Result<Self, DriverError> {
        Driver::with_ready(ready_max, &Origin::new()?, config)
    }

    /// A driver for a server, or for one of several shards that recognize each other's cookies.
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
            held: Held::default(),
            broadcasts: (Group::EVERYONE, Vec::new()),
            broadcast: Broadcast::default(),
            stats: DriverStats::default(),
            publisher: Publisher::default(),
            gates: Gates::default(),
            guests: Guests::default(),
            peer_shards: None,
            denied: Arc::default(),
            dial: None,
        })
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Start of the driver's clock, which all shards share.
    pub(crate) fn began(&self) -> Instant {
        self.clock.began
    }

    /// The board on which the driver publishes its statistics.
    pub(crate) fn board(&self) -> Arc<Board> {
        self.publisher.board()
    }

    pub(crate) fn waker(&self) -> Arc<Waker> {
        self.waker.clone()
    }

    /// Runs one round, which waits for `wait_max` at most.
    pub(crate) fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.stats.rounds += 1;
        self.queue_broadcasts();
        self.transmit();
        let timeout = self.time_left().min(wait_max);
        wait::wait(&mut self.poll, &mut self.events, Some(timeout))?;
        self.receive();
        let now = self.now();
        // Called before the endpoint handles the same timeout, because the endpoint knows less about the reason.
        self.go_on_dialing(now);
        self.count_players();
        self.endpoint.handle_timeout(now);
        self.publisher.is_stale |= self.guests.handle_timeout(now, &mut self.endpoint);
        self.wake_dtls_clients(now);
        // Sockets whose connection has ended notify their peers now.
        self.release_sockets();
        self.publish_population();
        self.transmit();
        self.gates.publish(now, &mut self.endpoint);
        self.publish();
        Ok(())
    }

    /// Runs rounds until all received data is handled, [`ROUNDS_MAX`] at most: for an application that calls between
    /// other work.
    pub(crate) fn drive_through(&mut self, wait_max: Duration) -> io::Result<()> {
        self.drive(wait_max)?;
        for _ in 1..ROUNDS_MAX {
            if self.sockets.ready.is_empty() && !self.endpoint.has_waiting() && !self.guests.has_waiting() {
                break;
            }
            self.drive(Duration::ZERO)?;
        }
        Ok(())
    }

    /// Accepts DTLS sessions.
    #[cfg(all(feature = "dtls", feature = "__tls"))]
    pub(crate) fn accept_dtls(&mut self, server: DtlsServer) {
        self.guests.dtls = Some(Box::new(DtlsGuests::new(server)));
    }

    /// Accepts WebTransport sessions, by these rules for pages.
    #[cfg(all(feature = "webtransport", feature = "__tls"))]
    pub(crate) fn accept_webtransport(&mut self, server: &QuicServer, config: &Config, rules: &ListenerRules) {
        let (idle_timeout, rules) = (config.settings.idle_timeout, PageRules::new(&rules.origins, &rules.hosts));
        self.guests.quic = Some(Box::new(QuicGuests::new(server, config.shard, idle_timeout, rules)));
    }

    /// Sets the other shards of this server.
    pub(crate) fn meet(&mut self, peer_shards: PeerShards) {
        self.peer_shards = Some(Box::new(peer_shards));
    }

    /// Starts a connection with its own socket.
    pub(crate) fn connect(
        &mut self,
        target: &Target,
        address: SocketAddr,
        token: &[u8],
        impairment: Option<&Impairment>,
        protection: Protected,
    ) -> Result<PeerId, io::Error> {
        self.release_sockets();
        let now = self.now();
        let Protected { protection, beneath } = protection;
        let path = self.sockets.open(self.poll.registry(), target, address, impairment, (now, &beneath))?;
        let peer = self.endpoint.connect_with(now, path, token, protection).map_err(|error| match error {
            ConnectError::TokenTooLong => io::Error::new(io::ErrorKind::InvalidInput, error.to_string()),
            error => io::Error::other(error.to_string()),
        })?;
        self.sockets.give(path.socket, peer);
        if path.carrier.is_bound {
            // A stream and a session accept no packets until their own handshake is done.
            self.endpoint.set_writable(path.socket, false);
        }
        self.after_secured(path.socket);
        Ok(peer)
    }

    /// Listener to which clients of this process offer their streams.
    pub(crate) fn local_listener(&self) -> Arc<LocalListener> {
        self.local.clone()
    }

    /// Starts an in-memory connection to the driver of this listener.
    pub(crate) fn connect_local(&mut self, server: &Arc<LocalListener>, token: &[u8]) -> Result<PeerId, ConnectError> {
        let (own, theirs) = LocalStream::pair(&self.local, server);
        self.release_sockets();
        let path = self.sockets.insert_local(own);
        let peer = self.endpoint.connect_with(self.clock.now(), path, token, Protection::Plain)?;
        self.sockets.give(path.socket, peer);
        server.offer(theirs);
        Ok(peer)
    }

    /// Gives a client a new socket, and thus a new port, like a phone that changes networks. False if the client's
    /// connection is not established, or uses a stream.
    pub(crate) fn rebind(&mut self, peer: PeerId) -> io::Result<bool> {
        let now = self.now();
        let Some(path) = self.endpoint.overview(peer).map(|overview| overview.path) else { return Ok(false) };
        if !self.endpoint.set_path(now, peer, path) {
            return Ok(false);
        }
        self.sockets.rebind(self.poll.registry(), path.socket)?;
        Ok(true)
    }

    /// Listens for native clients and for streams on the same port number. With port 0 the system chooses the
    /// number.
    pub(crate) fn listen(&mut self, binding: Binding, streams: Option<&Streams>) -> io::Result<SocketAddr> {
        self.sockets.listen(self.poll.registry(), binding, streams)
    }

    /// Accepts no further handshake; those in progress continue.
    pub(crate) fn stop_inviting(&mut self) {
        self.endpoint.stop_inviting();
        self.guests.stop_inviting();
        self.sockets.stop_accepting(self.poll.registry());
    }

    /// Duplicated handles of a server's sockets; `None` if it has none.
    pub(crate) fn duplicate_sockets(&self) -> io::Result<Option<ShardSockets>> {
        self.sockets.duplicate()
    }

    /// Simulates a bad network around a server's socket, with separate links for each client address. Each shard has
    /// its own seeds.
    pub(crate) fn impair(&mut self, impairment: &Impairment, shard: u32) {
        self.sockets.impair_shared(impairment, shard);
    }

    /// The problems of a server's socket and their remedies.
    pub(crate) fn remedies(&self) -> Vec<String> {
        self.sockets.remedies()
    }

    /// Buffer sizes that the kernel granted a UDP socket.
    pub(crate) fn buffer_grants(&self) -> Option<BufferGrants> {
        self.sockets.buffer_grants()
    }

    /// The next event.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.endpoint.poll_event(self.clock.recent())
    }

    /// Broadcasts a message to a group. Consecutive broadcasts are queued together, before anything else is done.
    pub(crate) fn broadcast(&mut self, group: Group, message: BroadcastMessage) {
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

    /// Sends everything that waits for a flush. Broadcasts go to some members at a time, so that the data queued for a
    /// member is still in the processor's caches when it is sent.
    pub(crate) fn flush(&mut self) {
        // Other messages that wait for later members must share packets with the broadcasts.
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

    /// Counters of the simulated networks, towards the server and towards the clients.
    #[cfg(feature = "simulate")]
    pub(crate) fn link_stats(&self) -> (LinkStats, LinkStats) {
        self.sockets.link_stats()
    }

    pub(crate) fn stats(&self) -> DriverStats {
        let (dtls, webtransport) = self.guests.stats();
        let misrouted = self.peer_shards.as_ref().map(|peer_shards| peer_shards.stats()).unwrap_or_default();
        DriverStats { sockets: self.sockets.stats(), dtls, webtransport, misrouted, ..self.stats }
    }

    /// Time until the next deadline of the driver, [`WAIT_MAX`] at most.
    fn time_left(&self) -> Duration {
        let now = self.now();
        let sessions = self.guests.poll_timeout().min(self.sockets.dtls_due());
        let due = self.endpoint.poll_timeout().min(self.sockets.next_arrival()).min(sessions).min(self.publish_due());
        let due = self.dial.as_ref().map_or(due, |dial| due.min(dial.due()));
        due.since(now).min(WAIT_MAX)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Offered streams that can no longer be accepted end, and their clients are notified.
        self.local.close();
    }
}
