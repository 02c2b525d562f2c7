//! The other shards of a server, as a driver sees them: how datagrams that came to the wrong one are handed on, and how
//! full the server is. A driver of a server without shards has none of this.
//!
//! Clients come to the shard that the kernel chose by address and port (SO_REUSEPORT), and get ids that name it. Whoever
//! moves comes to another; its datagrams go on to the one that knows it, which answers from its own socket, of the same
//! port. Nothing here is written unless a client moved or came or went.

use crate::driver_stats::MisroutedStats;
use crossbeam_queue::ArrayQueue;
use mio::Waker;
use skipstone_proto::KIND_OPEN;
use skipstone_proto::Path;
use skipstone_proto::Time;
use skipstone_proto::{Endpoint, Shard};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Where the others leave what came to them and is this shard's.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub(super) datagrams: ArrayQueue<Misrouted>,
    /// Buffers to be used again, so that a client that moved costs no allocations ever after.
    pub(super) free_list: ArrayQueue<Vec<u8>>,
    /// There is something that the shard has not been woken for.
    pub(super) is_rung: AtomicBool,
    waker: Arc<Waker>,
    /// The shard's connections.
    population: Population,
}

/// On a line of its own: it changes when clients come and go, and what lies beside it is read all the time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Population(AtomicU32);

/// A datagram that came to the wrong shard.
#[derive(Debug)]
pub(super) struct Misrouted {
    pub(super) from: SocketAddr,
    pub(super) bytes: Vec<u8>,
}

/// Datagrams that may wait for one shard: of a hundred clients that moved, what comes in a round or two.
pub(crate) const MISROUTED_MAX: usize = 1_024;
/// Larger buffers are not kept.
const FREE_BYTES_MAX: usize = 2_048;

impl Mailbox {
    /// The mailbox of a shard whose driver this wakes.
    pub(crate) fn new(waker: Arc<Waker>) -> Arc<Self> {
        Arc::new(Mailbox {
            datagrams: ArrayQueue::new(MISROUTED_MAX),
            free_list: ArrayQueue::new(MISROUTED_MAX),
            is_rung: AtomicBool::new(false),
            waker,
            population: Population::default(),
        })
    }

    /// Leaves a datagram here. False if there is no room.
    fn put(&self, from: SocketAddr, datagram: &[u8]) -> bool {
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
            // A driver that cannot be woken is gone, and its connections with it.
            let _ = self.waker.wake();
        }
    }

    /// Takes a buffer back.
    pub(super) fn keep(&self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= FREE_BYTES_MAX {
            bytes.clear();
            // Should there be enough of them, this one goes.
            let _ = self.free_list.push(bytes);
        }
    }
}

/// All shards of a server, and which of them this is.
#[derive(Debug)]
pub(crate) struct PeerShards {
    pub(super) own: u32,
    bits: u32,
    pub(super) mailboxes: Vec<Arc<Mailbox>>,
    /// Connections of all shards together.
    connections_max: u32,
    published: u32,
    stats: MisroutedStats,
}

impl PeerShards {
    pub(crate) fn new(own: Shard, mailboxes: Vec<Arc<Mailbox>>, connections_max: u32) -> Self {
        let Shard { index: own, bits } = own;
        PeerShards { own, bits, mailboxes, connections_max, published: 0, stats: MisroutedStats::default() }
    }

    /// Hands a datagram on if it is another shard's. False if it is to be looked at here: shards that there are not have
    /// no connections, and the endpoint counts that.
    pub(super) fn hand_on(&mut self, from: SocketAddr, datagram: &[u8]) -> bool {
        let Some(shard) = Shard::named_by(datagram, self.bits).filter(|shard| *shard != self.own) else { return false };
        let Some(mailbox) = self.mailboxes.get(shard as usize) else { return false };
        let counter = if mailbox.put(from, datagram) { &mut self.stats.handed_on } else { &mut self.stats.dropped };
        *counter += 1;
        true
    }

    /// Tells the others how many connections there are here.
    pub(super) fn publish(&mut self, connections: u32) {
        if connections != self.published {
            self.published = connections;
            self.mailboxes[self.own as usize].population.0.store(connections, Ordering::SeqCst);
        }
    }

    /// How many connections there may be here, for there to be no more than allowed in all. Two shards that each count the
    /// other's newcomer may both refuse the last place; neither goes beyond it.
    fn room(&mut self, connections: u32) -> u32 {
        self.publish(connections + 1);
        let populations = self.mailboxes.iter().map(|mailbox| mailbox.population.0.load(Ordering::SeqCst));
        let others = populations.fold(0, u32::saturating_add).saturating_sub(self.published);
        self.connections_max.saturating_sub(others)
    }

    pub(super) fn stats(&self) -> MisroutedStats {
        self.stats
    }
}

/// Gives the endpoint a datagram. Before one that may make a connection, heads are counted.
pub(super) fn deliver(
    endpoint: &mut Endpoint,
    peer_shards: &mut Option<Box<PeerShards>>,
    now: Time,
    path: Path,
    datagram: &mut [u8],
) {
    match peer_shards {
        Some(peer_shards) if datagram.first() == Some(&KIND_OPEN) => {
            let room = peer_shards.room(endpoint.connection_count() as u32);
            endpoint.set_connections_max(room);
            endpoint.handle_datagram(now, path, datagram);
            peer_shards.publish(endpoint.connection_count() as u32);
        }
        _ => endpoint.handle_datagram(now, path, datagram),
    }
}
