//! The server: all players, whatever carries them, through one port and one event queue.

use crate::driver::{Driver, DriverStats};
use crate::handle::{Command, Mode as Threading, QueueFull, Wake};
use crate::net::udp::BufferGrants;
use crate::security::{Fingerprint, Identity, Security};
use crate::shards::{self, Shards};
use crate::start_error::StartError;
use crate::url::{Scheme, Target};
use bytes::Bytes;
use skipstone_proto::channel::{MessageId, Submission};
use skipstone_proto::congestion::Algorithm;
use skipstone_proto::endpoint::{Config, Event, Group, Overview, PeerId, Stats};
use skipstone_proto::time::Duration;
use skipstone_proto::wire::settings::{Merging, Settings};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How a server listens.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Address of UDP and TCP; `[::]` serves IPv4 too, port 0 lets the system choose.
    pub listen: SocketAddr,
    /// Whether WebSocket clients are served, on the TCP port of the same number.
    pub websocket: bool,
    /// What the server and all its clients keep to.
    pub settings: Settings,
    /// How the server's own messages are put together. [`Merging::Flush`] sends at each [`Server::flush`].
    pub merging: Merging,
    /// How long a handshake may take, the application's decision included.
    pub handshake_timeout: Duration,
    /// Players at once; further ones are told that the server is full.
    pub connections_max: u32,
    /// Who drives.
    pub threading: Threading,
    /// How many drivers, each with a thread, sockets and a share of the clients of its own: as many as there are cores to
    /// carry them. One, or 2 to 256 on Linux in the background.
    pub shards: u32,
    /// What decides how much the server may have in flight towards each native client.
    pub congestion: Algorithm,
    /// How native clients are protected; `None` for encryption with a certificate made for this run, of which
    /// [`Server::url`] tells the fingerprint.
    pub security: Option<Security>,
}

impl ServerConfig {
    /// A server at this address, WebSocket included, encrypted, that merges what is sent between two flushes.
    pub fn new(listen: SocketAddr) -> Self {
        ServerConfig {
            listen,
            websocket: true,
            settings: Settings::default(),
            merging: Merging::Flush,
            handshake_timeout: Duration::from_secs(10),
            connections_max: 65_536,
            threading: Threading::default(),
            shards: 1,
            congestion: Algorithm::default(),
            security: None,
        }
    }
}

/// A running server. Dropping it closes its sockets at once; [`Server::shutdown`] says goodbye first.
#[derive(Debug)]
pub struct Server {
    shards: Shards,
    local: SocketAddr,
    merging: Merging,
    fingerprint: Option<Fingerprint>,
    buffers: Option<BufferGrants>,
}

impl Server {
    /// Opens the sockets and begins to serve.
    pub fn start(config: ServerConfig) -> Result<Self, StartError> {
        shards::check(config.shards, config.threading).map_err(StartError::Shards)?;
        let security = match config.security {
            Some(security) => security,
            None => Security::with(Identity::self_signed().map_err(StartError::Identity)?),
        };
        let endpoint = Config {
            allows_plain: security.allows_plain(),
            merging: Some(config.merging),
            handshake_timeout: config.handshake_timeout,
            connections_max: config.connections_max,
            congestion: config.congestion,
            ..Config::server(config.settings)
        };
        let (drivers, local) = shards::listen(config.shards, config.listen, config.websocket, &security, &endpoint)?;
        let buffers = drivers[0].buffer_grants();
        let (shards, fingerprint) = (Shards::start(drivers, config.threading)?, security.fingerprint());
        Ok(Server { shards, local, merging: config.merging, fingerprint, buffers })
    }

    /// What the kernel granted of the socket buffers that were asked for: [`BufferGrants::remedy`] says what to do if it is
    /// less.
    pub fn buffer_grants(&self) -> Option<BufferGrants> {
        self.buffers
    }

    /// SHA-256 of its certificate; `None` if it serves in clear only.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint
    }

    /// The URL by which native clients on this machine reach it, fingerprint included.
    pub fn url(&self) -> String {
        let host = match self.local.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.to_string(),
            ip => ip.to_string(),
        };
        match self.fingerprint {
            Some(pin) => Target::new(Scheme::Encrypted, &host, self.local.port()).pinned(pin).url,
            None => Target::new(Scheme::Plain, &host, self.local.port()).url,
        }
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.shards.poll_event()
    }

    /// Waits until there is an event, for `span` at most.
    pub fn wait(&mut self, span: Duration) {
        self.shards.wait(span);
    }

    /// One round of a stepped server, waiting for its sockets for `wait_max` at most.
    ///
    /// # Errors
    /// The system refuses to wait for the sockets; there is no going on.
    pub fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.shards.drive(wait_max)
    }

    /// Lets a client in that asked.
    pub fn accept(&mut self, peer: PeerId) {
        let (shard, peer) = self.shards.of(peer);
        shard.insist(Command::Accept(peer));
    }

    /// Turns a client away that asked.
    pub fn refuse(&mut self, peer: PeerId, code: u64, reason: &str) {
        self.close(peer, code, reason, Duration::ZERO);
    }

    /// Ends a connection. What is queued and reliable has `linger` to arrive first; [`Event::Closed`] follows.
    pub fn close(&mut self, peer: PeerId, code: u64, reason: &str, linger: Duration) {
        let (shard, peer) = self.shards.of(peer);
        shard.insist(Command::Close { peer, code, reason: reason.into(), linger });
    }

    /// Sends a message to one peer. What becomes of it says a receipt, if the channel has them.
    pub fn send(&mut self, peer: PeerId, channel: u16, payload: impl Into<Bytes>) -> Result<MessageId, QueueFull> {
        self.send_aged(peer, channel, payload, Duration::ZERO)
    }

    /// As [`Server::send`], for a message that answers, or passes on, one that came with this age in
    /// [`Event::Message`]: what is late already goes out in copies, so that it is not lost a second time.
    pub fn send_aged(
        &mut self,
        peer: PeerId,
        channel: u16,
        payload: impl Into<Bytes>,
        age: Duration,
    ) -> Result<MessageId, QueueFull> {
        let (id, wake) = (self.shards.next_id(), self.wake());
        let message = Submission { payload: payload.into(), id, age };
        let (shard, peer) = self.shards.of(peer);
        shard.command(Command::Send { peer, channel, message }, wake)?;
        Ok(id)
    }

    /// Sends one message to every member of a group; they share its bytes.
    pub fn broadcast(&mut self, group: Group, channel: u16, payload: impl Into<Bytes>) -> Result<MessageId, QueueFull> {
        let (id, wake) = (self.shards.next_id(), self.wake());
        self.shards.broadcast(group, channel, payload.into(), id, wake)?;
        Ok(id)
    }

    /// Lets everything leave that was sent since the last flush.
    pub fn flush(&mut self) {
        self.shards.insist_all(|| Command::Flush);
    }

    /// Adds a peer to a group.
    pub fn join(&mut self, peer: PeerId, group: Group) {
        let (shard, peer) = self.shards.of(peer);
        shard.insist(Command::Join(peer, group));
    }

    /// Takes a peer out of a group.
    pub fn leave(&mut self, peer: PeerId, group: Group) {
        let (shard, peer) = self.shards.of(peer);
        shard.insist(Command::Leave(peer, group));
    }

    /// Sets how the messages to one peer are put together.
    pub fn set_merging(&mut self, peer: PeerId, merging: Merging) {
        let (shard, peer) = self.shards.of(peer);
        shard.insist(Command::Merging(peer, merging));
    }

    /// Counters of all connections, past and present. `None` if the driver is gone.
    pub fn stats(&mut self) -> Option<Stats> {
        let mut totals = Stats::default();
        self.shards.ask_all(|driver| driver.endpoint.totals())?.iter().for_each(|shard| totals.add(shard));
        Some(totals)
    }

    /// What the driver and its sockets count; all drivers, if there are shards.
    pub fn driver_stats(&mut self) -> Option<DriverStats> {
        let all = self.shards.ask_all(|driver| driver.stats())?;
        all.into_iter().reduce(|mut sum, shard| {
            sum.add(&shard);
            sum
        })
    }

    /// What each shard carries, in their order; nothing if a driver is gone. One that carries much more than the others
    /// is a matter of chance, or of clients behind few addresses.
    pub fn shards(&mut self) -> Vec<ShardOverview> {
        let overview = |driver: &mut Driver| ShardOverview {
            clients: driver.endpoint.peers().count(),
            stats: driver.endpoint.totals(),
            driver: driver.stats(),
        };
        self.shards.ask_all(overview).unwrap_or_default()
    }

    /// What one connection is doing.
    pub fn overview(&mut self, peer: PeerId) -> Option<Overview> {
        let (shard, peer) = self.shards.of(peer);
        shard.ask(move |driver| driver.endpoint.overview(peer)).flatten()
    }

    /// What every connection is doing. The cost grows with their number: for people, not for every tick.
    pub fn overviews(&mut self) -> Vec<(PeerId, Overview)> {
        self.shards.ask_of_peers(|driver| {
            let peers: Vec<PeerId> = driver.endpoint.peers().collect();
            peers.into_iter().filter_map(|peer| Some((peer, driver.endpoint.overview(peer)?))).collect()
        })
    }

    /// Why the driver gave up, if it did.
    pub fn failure(&self) -> Option<String> {
        self.shards.failure()
    }

    /// Ends every connection and the server. What is queued and reliable has `linger` to arrive; all together takes
    /// little longer.
    pub fn shutdown(mut self, code: u64, reason: &str, linger: Duration) {
        self.shards.close_all(code, reason, linger, linger + GOODBYE_MAX);
    }

    fn wake(&self) -> Wake {
        if self.merging == Merging::Flush { Wake::Later } else { Wake::Now }
    }
}

/// What one shard of a server carries.
#[derive(Clone, Copy, Debug)]
pub struct ShardOverview {
    /// Connections that stand.
    pub clients: usize,
    /// Counters of its connections, past and present.
    pub stats: Stats,
    /// What its driver and its sockets count.
    pub driver: DriverStats,
}

/// How long peers have to say that they know.
const GOODBYE_MAX: Duration = Duration::from_millis(700);
