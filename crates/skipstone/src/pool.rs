//! Many clients in one thread, each with a socket of its own: what a stress generator needs.

use crate::client::protection;
use crate::driver::impair::Impairment;
use crate::driver::{Driver, DriverStats};
use crate::net::udp::BufferGrants;
use crate::security::{Fingerprint, Suite, Trust};
use crate::start_error::StartError;
use crate::url::{Scheme, Target};
use bytes::Bytes;
use skipstone_netsim::LinkStats;
use skipstone_proto::channel::MessageId;
use skipstone_proto::congestion::Algorithm;
use skipstone_proto::endpoint::{Config, Event, Overview, PeerId, SendError, Stats};
use skipstone_proto::security::Protection;
use skipstone_proto::time::Duration;
use skipstone_proto::wire::settings::Merging;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

/// How the clients of a pool connect.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// How their messages are put together; `None` for what the server says.
    pub merging: Option<Merging>,
    /// How long a handshake may take.
    pub handshake_timeout: Duration,
    /// What decides how much each client may have in flight.
    pub congestion: Algorithm,
    /// Which servers to trust, if a URL begins with `skip://` and has no fingerprint.
    pub trust: Trust,
    /// The one suite to offer; `None` for all.
    pub suite: Option<Suite>,
    /// Clients whose sockets one [`Pool::drive`] takes from at most. With a few dozen, what they get is heard while the
    /// processor's caches still have it; but then one round does not empty all sockets, and more must follow.
    pub sockets_at_once: usize,
}

impl Default for PoolConfig {
    fn default() -> Self {
        PoolConfig {
            merging: None,
            handshake_timeout: Duration::from_secs(10),
            congestion: Algorithm::default(),
            trust: Trust::default(),
            suite: None,
            sockets_at_once: 1_024,
        }
    }
}

/// Many clients, stepped by hand.
#[derive(Debug)]
pub struct Pool {
    driver: Driver,
    next_id: u64,
    trust: Trust,
    suite: Option<Suite>,
    /// What was demanded so far of servers of this scheme, host and fingerprint. Whom else to trust is the same for all.
    protections: BTreeMap<(Scheme, String, Option<Fingerprint>), Protection>,
}

impl Pool {
    /// A pool without clients.
    pub fn new(config: PoolConfig) -> Result<Self, StartError> {
        let clients = Config {
            merging: config.merging,
            handshake_timeout: config.handshake_timeout,
            congestion: config.congestion,
            ..Config::client()
        };
        let driver = Driver::of_clients(clients, config.sockets_at_once.max(1))?;
        Ok(Pool { driver, next_id: 0, trust: config.trust, suite: config.suite, protections: BTreeMap::new() })
    }

    /// Adds a client and begins to connect it. The address was resolved from the target once for all.
    ///
    /// # Errors
    /// The system has no socket to give, most often because too many files are open; or nobody can be trusted as asked.
    pub fn add(
        &mut self,
        target: &Target,
        address: SocketAddr,
        token: &[u8],
        impairment: Option<&Impairment>,
    ) -> Result<PeerId, StartError> {
        let wanted = format!("open a socket to {}", target.url);
        let key = (target.scheme, target.host.clone(), target.pin);
        let protection = match self.protections.get(&key) {
            Some(known) => known.clone(),
            None => {
                let new = protection(target, &self.trust, self.suite)?;
                self.protections.insert(key, new.clone());
                new
            }
        };
        self.driver.connect(target, address, token, impairment, protection).map_err(StartError::io(wanted))
    }

    /// One round: waits for sockets or a deadline for `wait_max` at most, and takes what has come for
    /// [`PoolConfig::sockets_at_once`] clients at most.
    ///
    /// # Errors
    /// The system refuses to wait for the sockets; there is no going on.
    pub fn drive(&mut self, wait_max: Duration) -> io::Result<()> {
        self.driver.drive(wait_max)
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.driver.poll_event()
    }

    /// Sends a message from one client to its server.
    pub fn send(&mut self, peer: PeerId, channel: u16, payload: impl Into<Bytes>) -> Result<MessageId, SendError> {
        self.next_id += 1;
        let (id, now) = (MessageId(self.next_id), self.driver.now());
        self.driver.endpoint.send(now, peer, channel, payload.into(), id).map(|()| id)
    }

    /// Gives one client a new socket, and so another port; its connection stays. False if it does not stand, or is on a
    /// stream.
    ///
    /// # Errors
    /// The system has no socket to give; the old one is still there.
    pub fn rebind(&mut self, peer: PeerId) -> io::Result<bool> {
        self.driver.rebind(peer)
    }

    /// Lets everything leave that waits for a flush.
    pub fn flush(&mut self) {
        let now = self.driver.now();
        self.driver.endpoint.flush(now);
    }

    /// Ends one client's connection.
    pub fn close(&mut self, peer: PeerId, code: u64, reason: &str, linger: Duration) {
        let now = self.driver.now();
        self.driver.endpoint.close(now, peer, code, reason, linger);
    }

    /// Ends every connection; their `Closed` events follow.
    pub fn close_all(&mut self, code: u64, reason: &str, linger: Duration) {
        let now = self.driver.now();
        self.driver.endpoint.close_all(now, code, reason, linger);
    }

    /// Connections whose `Closed` event has not come.
    pub fn open_count(&mut self) -> usize {
        self.driver.endpoint.open_count()
    }

    /// Counters of all connections, past and present.
    pub fn stats(&mut self) -> Stats {
        self.driver.endpoint.totals()
    }

    /// What one connection is doing.
    pub fn overview(&mut self, peer: PeerId) -> Option<Overview> {
        self.driver.endpoint.overview(peer)
    }

    /// What the driver and its sockets count.
    pub fn driver_stats(&self) -> DriverStats {
        self.driver.stats()
    }

    /// What the kernel granted a native client's socket; `None` while there is none.
    pub fn buffer_grants(&self) -> Option<BufferGrants> {
        self.driver.buffer_grants()
    }

    /// What the played networks did: towards the server, towards the clients.
    pub fn link_stats(&self) -> (LinkStats, LinkStats) {
        self.driver.link_stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_that_differ_in_anything_but_their_text_are_protected_each_in_its_way() {
        let mut pool =
            Pool::new(PoolConfig { trust: Trust::DangerouslyAnything, ..PoolConfig::default() }).expect("it may");
        let address = "127.0.0.1:9".parse().expect("an address");
        let same_text = |scheme, pin| Target { scheme, pin, ..Target::new(Scheme::Encrypted, "localhost", 9) };
        let targets = [
            same_text(Scheme::Plain, None),
            same_text(Scheme::Encrypted, None),
            same_text(Scheme::Encrypted, Some([7; 32])),
            same_text(Scheme::Encrypted, Some([8; 32])),
        ];
        for target in &targets {
            pool.add(target, address, b"", None).expect("a socket");
            pool.add(target, address, b"", None).expect("a socket");
        }
        assert_eq!(pool.protections.len(), targets.len());
        assert!(pool.add(&same_text(Scheme::Plain, Some([7; 32])), address, b"", None).is_err());
    }
}
