//! The other shards of a server, as a driver sees them: how datagrams that came to the wrong one are handed on, and how
//! full the server is. A driver of a server without shards has none of this.
//!
//! Clients come to the shard that the kernel chose by address and port (SO_REUSEPORT), and get ids that name it. Whoever
//! moves comes to another; its datagrams go on to the one that knows it, which answers from its own socket, of the same
//! port. Nothing here is written unless a client moved or came or went.

use super::Driver;
use super::sockets::udp_carrier;
use crossbeam_queue::ArrayQueue;
use mio::Waker;
use skipstone_proto::endpoint::{Endpoint, Shard};
use skipstone_proto::path::Path;
use skipstone_proto::time::Time;
use skipstone_proto::wire::datagram::KIND_OPEN;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Where the others leave what came to them and is this shard's.
#[derive(Debug)]
pub(crate) struct Mailbox {
    datagrams: ArrayQueue<Strayed>,
    /// Buffers to be used again, so that a client that moved costs no allocations ever after.
    spare: ArrayQueue<Vec<u8>>,
    /// There is something that the shard has not been woken for.
    is_rung: AtomicBool,
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
struct Strayed {
    from: SocketAddr,
    bytes: Vec<u8>,
}

/// Datagrams that may wait for one shard: of a hundred clients that moved, what comes in a round or two.
pub(crate) const STRAYED_MAX: usize = 1_024;
/// Larger buffers are not kept.
const SPARE_BYTES_MAX: usize = 2_048;

impl Mailbox {
    pub(crate) fn of(driver: &Driver) -> Arc<Self> {
        Arc::new(Mailbox {
            datagrams: ArrayQueue::new(STRAYED_MAX),
            spare: ArrayQueue::new(STRAYED_MAX),
            is_rung: AtomicBool::new(false),
            waker: driver.waker(),
            population: Population::default(),
        })
    }

    /// Leaves a datagram here. False if there is no room.
    fn put(&self, from: SocketAddr, datagram: &[u8]) -> bool {
        if self.datagrams.is_full() {
            return false;
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.extend_from_slice(datagram);
        let has_room = self.datagrams.push(Strayed { from, bytes }).is_ok();
        self.ring();
        has_room
    }

    fn ring(&self) {
        if !self.is_rung.swap(true, Ordering::SeqCst) {
            // A driver that cannot be woken is gone, and its connections with it.
            let _ = self.waker.wake();
        }
    }

    /// Takes a buffer back.
    fn keep(&self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= SPARE_BYTES_MAX {
            bytes.clear();
            // Should there be enough of them, this one goes.
            let _ = self.spare.push(bytes);
        }
    }
}

/// All shards of a server, and which of them this is.
#[derive(Debug)]
pub(crate) struct Siblings {
    own: u32,
    bits: u32,
    mailboxes: Vec<Arc<Mailbox>>,
    /// Connections of all shards together.
    connections_max: u32,
    published: u32,
    stats: StrayStats,
}

/// What became of datagrams that came to the wrong shard: those of clients that moved, and forged ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrayStats {
    /// Handed on to the shard that they named.
    pub handed_on: u64,
    /// Dropped, because too many waited for that shard already.
    pub dropped: u64,
}

impl StrayStats {
    pub(super) fn add(&mut self, other: &StrayStats) {
        self.handed_on += other.handed_on;
        self.dropped += other.dropped;
    }
}

impl Siblings {
    pub(crate) fn new(own: Shard, mailboxes: Vec<Arc<Mailbox>>, connections_max: u32) -> Self {
        let Shard { index: own, bits } = own;
        Siblings { own, bits, mailboxes, connections_max, published: 0, stats: StrayStats::default() }
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
    fn publish(&mut self, connections: u32) {
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

    pub(super) fn stats(&self) -> StrayStats {
        self.stats
    }
}

/// Gives the endpoint a datagram. Before one that may make a connection, heads are counted.
pub(super) fn deliver(
    endpoint: &mut Endpoint,
    siblings: &mut Option<Box<Siblings>>,
    now: Time,
    path: Path,
    datagram: &mut [u8],
) {
    match siblings {
        Some(siblings) if datagram.first() == Some(&KIND_OPEN) => {
            let room = siblings.room(endpoint.connection_count() as u32);
            endpoint.set_connections_max(room);
            endpoint.handle_datagram(now, path, datagram);
            siblings.publish(endpoint.connection_count() as u32);
        }
        _ => endpoint.handle_datagram(now, path, datagram),
    }
}

impl Driver {
    /// Tells the other shards how many connections there are now.
    pub(super) fn publish_population(&mut self) {
        if let Some(siblings) = &mut self.siblings {
            siblings.publish(self.endpoint.connection_count() as u32);
        }
    }

    /// Takes what came to other shards and is this one's.
    pub(super) fn take_strays(&mut self) {
        let Some(siblings) = &self.siblings else { return };
        let mailbox = &siblings.mailboxes[siblings.own as usize];
        if !mailbox.is_rung.load(Ordering::SeqCst) {
            return;
        }
        let mailbox = mailbox.clone();
        // Before anything is taken out: who comes later rings again.
        mailbox.is_rung.store(false, Ordering::SeqCst);
        let now = self.clock.now();
        let Some(socket) = self.sockets.shared.first().copied() else { return };
        for _ in 0..STRAYED_MAX {
            let Some(Strayed { from, mut bytes }) = mailbox.datagrams.pop() else { return };
            let path = Path { socket, remote: from, carrier: udp_carrier(&from) };
            self.endpoint.handle_datagram(now, path, &mut bytes);
            mailbox.keep(bytes);
        }
        // It may be that more came meanwhile: the sockets have their turn first.
        mailbox.ring();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Origin, Sharing, TOKEN_WAKER};
    use skipstone_proto::endpoint::Config;
    use skipstone_proto::time::Duration;
    use skipstone_proto::wire::datagram::KIND_PACKET;
    use skipstone_proto::wire::settings::Settings;
    use std::net::UdpSocket;

    /// Two shards, which are driven by hand.
    fn two_shards() -> ([Driver; 2], SocketAddr) {
        let origin = Origin::new().expect("a secret");
        let shard = |index| {
            let config = Config { shard: Shard { index, bits: 1 }, ..Config::server(Settings::default()) };
            Driver::born_of(&origin, config).expect("it is made")
        };
        let mut drivers = [shard(0), shard(1)];
        let mut local = "127.0.0.1:0".parse().expect("an address");
        for driver in &mut drivers {
            local = driver.listen(local, false, Sharing::Shards).expect("a port is free");
        }
        let mailboxes: Vec<_> = drivers.iter().map(Mailbox::of).collect();
        for (index, driver) in (0..).zip(&mut drivers) {
            driver.meet(Siblings::new(Shard { index, bits: 1 }, mailboxes.clone(), 100));
        }
        (drivers, local)
    }

    #[test]
    fn beyond_a_full_mailbox_datagrams_are_dropped_and_counted_and_the_rest_arrives() {
        let ([mut first, mut second], server) = two_shards();
        // From a port that leads to the first, for the second.
        let strayed = [KIND_PACKET, 0x80, 0, 1, 9, 9, 9];
        let socket = (0..64).find_map(|_| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
            socket.send_to(&strayed, server).expect("it sends");
            first.drive(Duration::from_millis(20)).expect("it drives");
            (first.stats().strays.handed_on == 1).then_some(socket)
        });
        let socket = socket.expect("one port in two leads there");
        second.drive(Duration::ZERO).expect("it drives");
        let before = second.endpoint.totals().drops;
        let sent = STRAYED_MAX as u64 + 100;
        for _ in 0..sent {
            socket.send_to(&strayed, server).expect("it sends");
            first.drive(Duration::ZERO).expect("it drives");
        }
        while first.stats().strays.handed_on + first.stats().strays.dropped < 1 + sent {
            first.drive(Duration::from_millis(1)).expect("it drives");
        }
        assert_eq!(first.stats().strays, StrayStats { handed_on: 1 + STRAYED_MAX as u64, dropped: 100 });
        // The one that was woken finds them, and says what they are: of no connection.
        second.drive(Duration::from_secs(5)).expect("it drives");
        assert!(second.events.iter().any(|event| event.token() == TOKEN_WAKER), "it was woken for them");
        let unknown = |drops: skipstone_proto::endpoint::Drops| drops.iter().map(|(_, count)| count).sum::<u64>();
        assert_eq!(unknown(second.endpoint.totals().drops) - unknown(before), STRAYED_MAX as u64);
        // And then there is room again, in buffers that were used before.
        assert_eq!(first.siblings.as_ref().map(|all| all.mailboxes[1].spare.len()), Some(STRAYED_MAX));
        socket.send_to(&strayed, server).expect("it sends");
        first.drive(Duration::from_millis(20)).expect("it drives");
        assert_eq!(first.stats().strays.handed_on, 2 + STRAYED_MAX as u64);
    }

    #[test]
    fn a_handshake_that_began_at_one_shard_goes_on_at_another() {
        let ([mut first, mut second], server) = two_shards();
        let mut client = Endpoint::new(Config::client(), [5; 32]).expect("it is good");
        let path = Path { socket: 0, remote: server, carrier: udp_carrier(&server) };
        let now = first.now();
        client.connect(now, path, b"").expect("there is room");
        let mut buffer = vec![0; 2_048];
        let mut pass = |from: &mut Endpoint, to: &mut Endpoint| {
            let transmit = from.poll_transmit(now, &mut buffer).expect("it has something to say");
            to.handle_datagram(now, path, &mut buffer[..transmit.bytes]);
        };
        pass(&mut client, &mut first.endpoint);
        pass(&mut first.endpoint, &mut client);
        pass(&mut client, &mut second.endpoint);
        assert_eq!((first.endpoint.connection_count(), second.endpoint.connection_count()), (0, 1));
    }

    #[test]
    fn ids_of_shards_that_there_are_not_stay_where_they_arrive() {
        let ([driver, _], _) = two_shards();
        let mailbox = Mailbox::of(&driver);
        let mut siblings = Siblings::new(Shard { index: 0, bits: 2 }, vec![mailbox.clone(); 3], 100);
        let from = "192.0.2.1:9".parse().expect("an address");
        let of_shard = |shard: u8| [KIND_PACKET, shard << 6, 0, 1, 9];
        assert!(!siblings.hand_on(from, &of_shard(0)), "its own");
        assert!(siblings.hand_on(from, &of_shard(2)));
        assert!(!siblings.hand_on(from, &of_shard(3)), "there are three");
        assert_eq!(mailbox.datagrams.len(), 1);
    }
}
