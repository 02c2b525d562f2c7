//! The other shards of a server, from the view of one driver: forwarding of datagrams that arrived at the wrong shard,
//! and the number of connections of all shards. The driver of a server without shards has none of this.
//!
//! The kernel assigns a client to a shard by address and port (SO_REUSEPORT), and the client's connection ids name that
//! shard. After a migration, the client's datagrams may arrive at another shard, which forwards them to the shard that
//! has the connection. That shard answers from its own socket, which has the same port. Shared memory is written only
//! when a client has migrated, connected or disconnected.

use crate::driver_stats::MisroutedStats;
use crate::net::udp::AddressPair;
use crossbeam_queue::ArrayQueue;
use mio::Waker;
use skipstone_proto::KIND_OPEN;
use skipstone_proto::Path;
use skipstone_proto::PeerId;
use skipstone_proto::Time;
use skipstone_proto::{Endpoint, Shard};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Mailbox for this shard's datagrams that arrived at other shards.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub(super) datagrams: ArrayQueue<Misrouted>,
    /// Buffers for reuse, so that a migrated client causes no further allocations.
    pub(super) free_list: ArrayQueue<Vec<u8>>,
    /// The shard was woken, and has not read the mailbox since.
    pub(super) is_rung: AtomicBool,
    waker: Arc<Waker>,
    /// Number of the shard's connections.
    population: Population,
}

/// A counter in its own cache line: it changes when clients join and leave, while the neighbouring fields are read all
/// the time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Population(AtomicU32);

/// A datagram that arrived at the wrong shard.
#[derive(Debug)]
pub(super) struct Misrouted {
    pub(super) from: AddressPair,
    pub(super) bytes: Vec<u8>,
}

/// Datagrams that may wait for one shard: about as many as a hundred migrated clients send in one or two rounds.
pub(crate) const MISROUTED_MAX: usize = 1_024;
/// Buffers with a larger capacity are not reused.
const FREE_BYTES_MAX: usize = 2_048;

impl Mailbox {
    /// Creates the mailbox of a shard whose driver this waker wakes.
    pub(crate) fn new(waker: Arc<Waker>) -> Arc<Self> {
        Arc::new(Mailbox {
            datagrams: ArrayQueue::new(MISROUTED_MAX),
            free_list: ArrayQueue::new(MISROUTED_MAX),
            is_rung: AtomicBool::new(false),
            waker,
            population: Population::default(),
        })
    }

    /// Queues a datagram. False if the mailbox is full.
    fn put(&self, from: AddressPair, datagram: &[u8]) -> bool {
        if self.datagrams.is_full() {
            return false;
        }
        let mut bytes = self.free_list.pop().unwrap_or_default();
        bytes.extend_from_slice(datagram);
        let has_room = self.datagrams.push(Misrouted { from, bytes }).is_ok();
        self.ring();
        has_room
    }

    pub(super) fn ring(&self) {
        if !self.is_rung.swap(true, Ordering::SeqCst) {
            // A driver that cannot be woken is gone, and so are its connections.
            let _ = self.waker.wake();
        }
    }

    /// Takes a buffer back for reuse.
    pub(super) fn keep(&self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= FREE_BYTES_MAX {
            bytes.clear();
            // If the free list is full, the buffer is dropped.
            let _ = self.free_list.push(bytes);
        }
    }
}

/// All shards of a server, and the index of this one.
#[derive(Debug)]
pub(crate) struct PeerShards {
    pub(super) own: u32,
    pub(super) bits: u32,
    pub(super) mailboxes: Vec<Arc<Mailbox>>,
    /// Limit on the connections of all shards together.
    connections_max: u32,
    published: u32,
    stats: MisroutedStats,
}

impl PeerShards {
    pub(crate) fn new(own: Shard, mailboxes: Vec<Arc<Mailbox>>, connections_max: u32) -> Self {
        let Shard { index: own, bits } = own;
        PeerShards { own, bits, mailboxes, connections_max, published: 0, stats: MisroutedStats::default() }
    }

    /// Forwards a datagram to the shard that its id names, if that is another shard. False if this shard must handle
    /// the datagram: an id of a shard that does not exist has no connection, and the endpoint counts it.
    pub(super) fn hand_on(&mut self, shard: u32, from: AddressPair, datagram: &[u8]) -> bool {
        let Some(mailbox) = self.mailboxes.get(shard as usize).filter(|_| shard != self.own) else { return false };
        let counter = if mailbox.put(from, datagram) { &mut self.stats.handed_on } else { &mut self.stats.dropped };
        *counter += 1;
        true
    }

    /// Publishes this shard's number of players to the other shards.
    pub(super) fn publish(&mut self, players: u32) {
        if players != self.published {
            self.published = players;
            self.mailboxes[self.own as usize].population.0.store(players, Ordering::SeqCst);
        }
    }

    /// Limit on this shard's players that keeps all shards together within their limit. Two shards that claim the last
    /// place at once may both refuse it; neither exceeds the limit.
    pub(super) fn room(&self) -> u32 {
        let populations = self.mailboxes.iter().map(|mailbox| mailbox.population.0.load(Ordering::SeqCst));
        let others = populations.fold(0, u32::saturating_add).saturating_sub(self.published);
        self.connections_max.saturating_sub(others)
    }

    pub(super) fn stats(&self) -> MisroutedStats {
        self.stats
    }
}

/// A receiver for the content of a session's datagrams: the path is the session's.
pub(super) type Deliver<'a> = &'a mut dyn FnMut(&mut Endpoint, Path, &mut [u8]);

/// Accepts a client if all shards together have a place for it.
pub(super) fn accept(endpoint: &mut Endpoint, peer_shards: &mut Option<Box<PeerShards>>, now: Time, peer: PeerId) {
    let Some(peer_shards) = peer_shards else {
        endpoint.accept(now, peer);
        return;
    };
    let players = endpoint.player_count() as u32;
    // Claimed before the others are counted.
    peer_shards.publish(players + 1);
    endpoint.set_connections_max(peer_shards.room());
    endpoint.accept(now, peer);
    peer_shards.publish(endpoint.player_count() as u32);
}

/// Passes a datagram to the endpoint. Before one that may open a connection, the players of all shards are counted; it
/// takes no place itself.
pub(super) fn deliver(
    endpoint: &mut Endpoint,
    peer_shards: &mut Option<Box<PeerShards>>,
    now: Time,
    path: Path,
    datagram: &mut [u8],
) {
    if let Some(peer_shards) = peer_shards
        && datagram.first() == Some(&KIND_OPEN)
    {
        endpoint.set_connections_max(peer_shards.room());
    }
    endpoint.handle_datagram(now, path, datagram);
}
