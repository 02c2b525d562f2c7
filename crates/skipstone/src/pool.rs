//! Many clients in one thread, each with its own socket, for a stress generator.

use crate::client::protection;
use crate::driver::impair::Impairment;
use crate::driver::{Driver, Protected};
use crate::driver_stats::DriverStats;
use crate::handle::reason_of;
use crate::net::udp::BufferGrants;
use crate::pool_moves::{PoolDial, PoolMoves};
use crate::security::{DtlsVersion, Fingerprint, Trust};
use crate::send_error::{PeerError, SendError, SendRefusal};
use crate::server_time::ServerTime;
use crate::start_error::StartError;
use crate::statistics::Overview;
use crate::url::{Scheme, Target, reachable};
use bytes::Bytes;
use skipstone_netsim::LinkStats;
use skipstone_proto::Congestion;
use skipstone_proto::Duration;
use skipstone_proto::Merging;
use skipstone_proto::{Config, ConfigError, Event, PeerId, Stats};
use skipstone_proto::{MessageId, PacketLog, Submission};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Configuration of a pool's clients.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// When the clients send queued messages, and thus which messages share a datagram; `None` for the server's
    /// setting.
    pub merging: Option<Merging>,
    /// Time limit of a handshake.
    pub handshake_timeout: Duration,
    /// Congestion controller, which limits the bytes that each client has in flight.
    pub congestion: Congestion,
    /// Greatest rate at which each client sends, in bytes per second, IP headers included; at least 1,000, `None`
    /// without a limit.
    pub bandwidth_max_per_client: Option<u64>,
    /// The same limit for all clients of the pool together.
    pub bandwidth_max: Option<u64>,
    /// Which servers to trust, if a URL begins with `skip://`, `skip+dtls://` or `wss://` and has no fingerprint.
    pub trust: Trust,
    /// The version of DTLS that `skip+dtls://` URLs mean.
    pub dtls_version: DtlsVersion,
    /// Greatest number of clients whose sockets one [`Pool::drive`] reads, 1 to 65,536. With a few dozen, received data
    /// is processed while the processor's caches still hold it, but one round then does not empty all sockets, and more
    /// rounds must follow.
    pub sockets_at_once: usize,
    /// Whether each client queries the server's time, for [`Pool::server_time`]; off by default.
    pub follows_server_time: bool,
    /// Whether clients follow their server's moves to other servers (WIRE.md section 8.2), as a
    /// [`Client`](crate::Client) that reconnects does; off by default. A client keeps its id. A destination that is a
    /// name is looked up while all clients wait.
    pub follows_moves: bool,
    /// Like [`ServerConfig::packet_log`](crate::ServerConfig::packet_log).
    pub packet_log: Option<Arc<dyn PacketLog>>,
}

impl Default for PoolConfig {
    fn default() -> Self {
        PoolConfig {
            merging: None,
            handshake_timeout: Duration::from_secs(10),
            congestion: Congestion::default(),
            bandwidth_max_per_client: None,
            bandwidth_max: None,
            trust: Trust::default(),
            dtls_version: DtlsVersion::default(),
            sockets_at_once: 1_024,
            follows_server_time: false,
            follows_moves: false,
            packet_log: None,
        }
    }
}

/// Many clients, stepped by hand.
#[derive(Debug)]
pub struct Pool {
    driver: Driver,
    /// Why driving failed, if it did.
    failure: Option<String>,
    next_id: u64,
    trust: Trust,
    dtls_version: DtlsVersion,
    /// Packet protection per scheme, host and fingerprint, created on first use. `trust` is the same for all.
    protections: BTreeMap<(Scheme, String, Option<Fingerprint>), Protected>,
    /// Present if clients follow moves.
    moves: Option<PoolMoves>,
}

impl Pool {
    /// A pool without clients.
    ///
    /// # Errors
    /// A field of the configuration is out of range, or the system refuses a poll, most often because too many files
    /// are open.
    pub fn new(config: PoolConfig) -> Result<Self, StartError> {
        if !(1..=SOCKETS_AT_ONCE_MAX).contains(&config.sockets_at_once) {
            let error = ConfigError::out_of_range("sockets_at_once", config.sockets_at_once, "1 to 65,536");
            return Err(StartError::Config(error));
        }
        StartError::check_bandwidth("bandwidth_max_per_client", config.bandwidth_max_per_client, 1)?;
        let clients = Config {
            merging: config.merging,
            handshake_timeout: config.handshake_timeout,
            congestion: config.congestion,
            bandwidth_max_per_peer: config.bandwidth_max_per_client,
            bandwidth_max: config.bandwidth_max,
            follows_server_time: config.follows_server_time,
            packet_log: config.packet_log,
            ..Config::client()
        };
        let driver = Driver::of_clients(clients, config.sockets_at_once)?;
        Ok(Pool {
            driver,
            failure: None,
            next_id: 0,
            trust: config.trust,
            dtls_version: config.dtls_version,
            protections: BTreeMap::new(),
            moves: config.follows_moves.then(PoolMoves::default),
        })
    }

    /// Adds a client and begins to connect it. The caller has resolved the target's address, once for all clients.
    ///
    /// # Errors
    /// The system refuses a socket, most often because too many files are open; the trust cannot be set up; the
    /// target's carrier cannot have an impairment; the token is too long; or the driver has failed.
    pub fn add(
        &mut self,
        target: &Target,
        address: SocketAddr,
        token: &[u8],
        impairment: Option<&Impairment>,
    ) -> Result<PeerId, StartError> {
        if let Some(failure) = &self.failure {
            return Err(StartError::Io("add a client".into(), io::Error::other(failure.clone())));
        }
        StartError::check_token(token)?;
        if let Some(impairment) = impairment {
            impairment.check_for(target.scheme).map_err(StartError::Impairment)?;
        }
        let peer = self.connect(target, address, token, impairment)?;
        Ok(match &mut self.moves {
            Some(moves) => moves.add(peer, target.clone(), impairment),
            None => peer,
        })
    }

    fn connect(
        &mut self,
        target: &Target,
        address: SocketAddr,
        token: &[u8],
        impairment: Option<&Impairment>,
    ) -> Result<PeerId, StartError> {
        let (wanted, address) = (format!("open a socket to {}", target.url), reachable(address));
        let key = (target.scheme, target.host.clone(), target.pin);
        let protection = match self.protections.get(&key) {
            Some(known) => known.clone(),
            None => {
                let new = protection(target, &self.trust, self.dtls_version)?;
                self.protections.insert(key, new.clone());
                new
            }
        };
        self.driver.connect(target, address, token, impairment, protection).map_err(StartError::io(wanted))
    }

    /// Waits for sockets or a deadline for `wait_max` at most, and handles received data of at most
    /// [`PoolConfig::sockets_at_once`] clients.
    ///
    /// # Errors
    /// The system refuses to wait for the sockets; the driver cannot continue.
    pub fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        if let Some(failure) = &self.failure {
            return Err(io::Error::other(failure.clone()));
        }
        let is_moving = self.moves.as_ref().is_some_and(PoolMoves::is_moving);
        let result = self.driver.drive_through(if is_moving { wait_max.min(MOVE_STEP) } else { wait_max });
        if let Err(error) = &result {
            self.failure = Some(format!("the system refuses to wait for the sockets: {error}"));
        }
        result
    }

    /// Why the driver failed, if it did: no further event arrives.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.moves.is_none() {
            return self.driver.poll_event();
        }
        loop {
            let Some(moves) = &mut self.moves else { return None };
            if let Some(event) = moves.poll_event() {
                return Some(event);
            }
            let Some(event) = self.driver.poll_event() else {
                self.follow_moves();
                // What was held back, and what a finished move brings.
                return self.moves.as_mut().and_then(PoolMoves::poll_event);
            };
            if let Some(event) = moves.on_event(event, &mut self.driver) {
                return Some(event);
            }
        }
    }

    /// Sends a message from one client to its server. Delivery of an accepted message is reported as with
    /// [`Client::send`](crate::Client::send).
    ///
    /// # Errors
    /// No such client or channel, not connected, message too long, the channel's queue is full, or the driver has
    /// failed. The error returns the message with the reason.
    pub fn send(&mut self, peer: PeerId, channel: u16, payload: impl Into<Bytes>) -> Result<MessageId, SendError> {
        self.next_id += 1;
        let (id, payload) = (MessageId(self.next_id), payload.into());
        if self.failure.is_some() {
            return Err(SendError::new(SendRefusal::DriverGone, payload));
        }
        let message = Submission { payload: payload.clone(), id, age: Duration::ZERO };
        if let Some(moves) = &mut self.moves {
            return moves.send(&mut self.driver, peer, channel, message).map(|()| id);
        }
        let sent = self.driver.send(peer, channel, message);
        sent.map(|()| id).map_err(|error| SendError::new(reason_of(error, channel, payload.len()), payload))
    }

    /// Gives one client a new socket, and thus another port; the connection stays. False if the connection is not
    /// established, or is on a stream.
    ///
    /// # Errors
    /// The system refuses a socket; the old socket stays in use.
    pub fn rebind(&mut self, peer: PeerId) -> io::Result<bool> {
        if let Some(there) = self.there(peer) {
            // If it fails, that connection ends by itself, and the move with it.
            let _ = self.driver.rebind(there);
        }
        self.driver.rebind(self.here(peer))
    }

    /// Sends all messages that wait for a flush.
    pub fn flush(&mut self) {
        let now = self.driver.now();
        self.driver.endpoint.flush(now);
    }

    /// Ends one client's connection. The server receives the code and up to 512 bytes of the reason; the rest is cut
    /// off.
    ///
    /// # Errors
    /// There is no such client, or its connection has ended; the code is above 2^62-1; or the driver has failed.
    pub fn close(&mut self, peer: PeerId, code: u64, reason: &str, linger: Duration) -> Result<(), PeerError> {
        if self.failure.is_some() {
            return Err(PeerError::DriverGone);
        }
        PeerError::check_code(code)?;
        let now = self.driver.now();
        if let Some(there) = self.there(peer) {
            self.driver.endpoint.close(now, there, code, reason, linger);
        }
        let peer = self.here(peer);
        match self.driver.endpoint.close(now, peer, code, reason, linger) {
            true => Ok(()),
            false if self.driver.endpoint.knew(peer) => Err(PeerError::Over),
            false => Err(PeerError::UnknownPeer),
        }
    }

    /// Ends every connection; their `Closed` events follow. A code above 2^62-1 is sent as 2^62-1.
    pub fn close_all(&mut self, code: u64, reason: &str, linger: Duration) {
        let now = self.driver.now();
        self.driver.endpoint.close_all(now, code, reason, linger);
    }

    /// Connections without a `Closed` event yet.
    pub fn open_count(&mut self) -> usize {
        self.driver.endpoint.open_count()
    }

    /// Counters of all connections, past and present.
    pub fn stats(&mut self) -> Stats {
        self.driver.endpoint.totals()
    }

    /// State and counters of one connection, up to 50 ms old. The counters include those of connections that a client
    /// had before it was moved, up to when it chose the next.
    pub fn overview(&self, peer: PeerId) -> Option<Overview> {
        let mut overview = self.driver.board().overview(self.here(peer))?;
        if let Some(former) = self.moves.as_ref().and_then(|moves| moves.former(peer)) {
            overview.stats.add(former);
        }
        Some(overview)
    }

    /// One client's estimate of the server's clock now, as [`Client::server_time`](crate::Client::server_time); `None`
    /// without [`PoolConfig::follows_server_time`].
    pub fn server_time(&self, peer: PeerId) -> Option<ServerTime> {
        self.driver.board().server_time(self.here(peer))
    }

    /// Lets one client ask for the server's time again, eight times within a second: the first estimates were made
    /// while all clients connected.
    pub fn ask_server_time(&mut self, peer: PeerId) {
        let now = self.driver.now();
        let peer = self.here(peer);
        self.driver.endpoint.ask_server_time(now, peer);
    }

    /// Counters of the driver and its sockets.
    pub fn driver_stats(&self) -> DriverStats {
        self.driver.stats()
    }

    /// Socket buffers that the kernel granted to a native client; `None` while there is none.
    pub fn buffer_grants(&self) -> Option<BufferGrants> {
        self.driver.buffer_grants()
    }

    /// Counters of the simulated links: towards the server, towards the clients.
    pub fn link_stats(&self) -> (LinkStats, LinkStats) {
        self.driver.link_stats()
    }

    /// The present connection of a client.
    fn here(&self, peer: PeerId) -> PeerId {
        self.moves.as_ref().map_or(peer, |moves| moves.here(peer))
    }

    /// The other connection of a client that is being moved.
    fn there(&self, peer: PeerId) -> Option<PeerId> {
        self.moves.as_ref()?.there(peer)
    }

    /// Does what moves need, and opens the connections that they need.
    fn follow_moves(&mut self) {
        while let Some(dial) = self.moves.as_mut().and_then(PoolMoves::poll_dial) {
            let there = self.dial(&dial);
            self.moves.iter_mut().for_each(|moves| moves.connecting(&dial, there));
        }
        self.moves.iter_mut().for_each(|moves| moves.advance(&mut self.driver));
    }

    fn dial(&mut self, dial: &PoolDial) -> Option<PeerId> {
        let address = dial.target.resolve().ok()?;
        self.connect(&dial.target, address, &dial.token, dial.impairment.as_ref()).ok()
    }
}

/// How long a pool waits at most while a client is being moved, whose deadlines are not the driver's.
const MOVE_STEP: Duration = Duration::from_millis(5);
/// The number of ports that the sockets of one address have.
const SOCKETS_AT_ONCE_MAX: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_with_equal_text_are_still_authenticated_separately() {
        let mut pool =
            Pool::new(PoolConfig { trust: Trust::DangerouslyAnything, ..PoolConfig::default() }).expect("it may");
        let address = "127.0.0.1:9".parse().expect("an address");
        let same_text = |scheme, pin| Target { scheme, pin, ..Target::new(Scheme::Encrypted, "localhost", 9) };
        let targets = [
            same_text(Scheme::Plain, None),
            same_text(Scheme::Encrypted, None),
            same_text(Scheme::Encrypted, Some(Fingerprint([7; 32]))),
            same_text(Scheme::Encrypted, Some(Fingerprint([8; 32]))),
        ];
        for target in &targets {
            pool.add(target, address, b"", None).expect("a socket");
            pool.add(target, address, b"", None).expect("a socket");
        }
        assert_eq!(pool.protections.len(), targets.len());
        assert!(pool.add(&same_text(Scheme::Plain, Some(Fingerprint([7; 32]))), address, b"", None).is_err());
    }
}
