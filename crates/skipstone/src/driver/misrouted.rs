//! The driver's part in a server with shards: it publishes its number of players, and handles its datagrams that
//! arrived at other shards.

use super::Driver;
use super::peer_shards::{MISROUTED_MAX, Misrouted};
use super::receive::Serving;
use std::sync::atomic::Ordering;

impl Driver {
    /// Publishes the current number of players to the other shards.
    pub(super) fn publish_population(&mut self) {
        if let Some(peer_shards) = &mut self.peer_shards {
            peer_shards.publish(self.endpoint.player_count() as u32);
        }
    }

    /// Counts the players of all shards before waiting work is handled, because that may open connections.
    pub(super) fn count_players(&mut self) {
        if let Some(peer_shards) = self.peer_shards.as_ref().filter(|_| self.endpoint.has_waiting()) {
            self.endpoint.set_connections_max(peer_shards.room());
        }
    }

    /// Handles this shard's datagrams that arrived at other shards.
    pub(super) fn take_misrouted(&mut self) {
        let Some(peer_shards) = &self.peer_shards else { return };
        let mailbox = &peer_shards.mailboxes[peer_shards.own as usize];
        if !mailbox.is_rung.load(Ordering::SeqCst) {
            return;
        }
        let mailbox = mailbox.clone();
        // Reset before a datagram is taken out, so that a later datagram wakes this shard again.
        mailbox.is_rung.store(false, Ordering::SeqCst);
        let now = self.clock.now();
        let Some(socket) = self.sockets.shared.first().copied() else { return };
        for _ in 0..MISROUTED_MAX {
            let Some(Misrouted { from, mut bytes }) = mailbox.datagrams.pop() else { return };
            let mut server =
                Serving { endpoint: &mut self.endpoint, peer_shards: &mut self.peer_shards, guests: &mut self.guests };
            server.take_own(now, socket, from, &mut bytes);
            mailbox.keep(bytes);
        }
        // More datagrams may have arrived meanwhile; the sockets have their turn first.
        mailbox.ring();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::carrier::udp_carrier;
    use super::super::peer_shards::{Mailbox, PeerShards};
    use super::*;
    use crate::driver::{Binding, Origin, Sharing, TOKEN_WAKER};
    use crate::driver_stats::MisroutedStats;
    use skipstone_proto::Config;
    use skipstone_proto::Duration;
    use skipstone_proto::KIND_PACKET;
    use skipstone_proto::Path;
    use skipstone_proto::Settings;
    use skipstone_proto::{Endpoint, Shard};
    use std::net::SocketAddr;
    use std::net::UdpSocket;

    /// Two shards, which the test drives itself.
    fn two_shards() -> ([Driver; 2], SocketAddr) {
        let origin = Origin::new().expect("a secret");
        let shard = |index| {
            let config = Config { shard: Shard { index, bits: 1 }, ..Config::server(Settings::default()) };
            Driver::born_of(&origin, config).expect("it is made")
        };
        let mut drivers = [shard(0), shard(1)];
        let mut local = "127.0.0.1:0".parse().expect("an address");
        for driver in &mut drivers {
            local = driver.listen(Binding::Address(local, Sharing::Shards), None).expect("a port is free");
        }
        let mailboxes: Vec<_> = drivers.iter().map(|driver| Mailbox::new(driver.waker())).collect();
        for (index, driver) in (0..).zip(&mut drivers) {
            driver.meet(PeerShards::new(Shard { index, bits: 1 }, mailboxes.clone(), 100));
        }
        (drivers, local)
    }

    #[test]
    fn datagrams_beyond_a_full_mailbox_are_dropped_and_counted() {
        let ([mut first, mut second], server) = two_shards();
        // A datagram for the second shard, from a port that the kernel assigns to the first.
        let strayed = [KIND_PACKET, 0x80, 0, 1, 9, 9, 9];
        let socket = (0..64).find_map(|_| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
            socket.send_to(&strayed, server).expect("it sends");
            first.drive(Duration::from_millis(20)).expect("it drives");
            (first.stats().misrouted.handed_on == 1).then_some(socket)
        });
        let socket = socket.expect("one port in two leads there");
        second.drive(Duration::ZERO).expect("it drives");
        let before = second.endpoint.totals().drops;
        let sent = MISROUTED_MAX as u64 + 100;
        for _ in 0..sent {
            socket.send_to(&strayed, server).expect("it sends");
            first.drive(Duration::ZERO).expect("it drives");
        }
        while first.stats().misrouted.handed_on + first.stats().misrouted.dropped < 1 + sent {
            first.drive(Duration::from_millis(1)).expect("it drives");
        }
        assert_eq!(first.stats().misrouted, MisroutedStats { handed_on: 1 + MISROUTED_MAX as u64, dropped: 100 });
        // The second shard is woken, takes the datagrams, and counts them as unknown: they belong to no connection.
        second.drive(Duration::from_secs(5)).expect("it drives");
        assert!(second.events.iter().any(|event| event.token() == TOKEN_WAKER), "it was woken for them");
        let unknown = |drops: skipstone_proto::Drops| drops.iter().map(|(_, count)| count).sum::<u64>();
        assert_eq!(unknown(second.endpoint.totals().drops) - unknown(before), MISROUTED_MAX as u64);
        // Then the mailbox has room again, in reused buffers.
        assert_eq!(first.peer_shards.as_ref().map(|all| all.mailboxes[1].free_list.len()), Some(MISROUTED_MAX));
        socket.send_to(&strayed, server).expect("it sends");
        first.drive(Duration::from_millis(20)).expect("it drives");
        assert_eq!(first.stats().misrouted.handed_on, 2 + MISROUTED_MAX as u64);
    }

    #[test]
    fn a_handshake_begun_at_one_shard_continues_at_another() {
        let ([mut first, mut second], server) = two_shards();
        let mut client = Endpoint::new(Config::client(), [5; 32]).expect("it is good");
        let path = Path { socket: 0, local: None, remote: server, carrier: udp_carrier(&server) };
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
    fn datagrams_with_ids_of_missing_shards_are_not_forwarded() {
        let ([driver, _], _) = two_shards();
        let mailbox = Mailbox::new(driver.waker());
        let mut peer_shards = PeerShards::new(Shard { index: 0, bits: 2 }, vec![mailbox.clone(); 3], 100);
        let from = "192.0.2.1:9".parse::<SocketAddr>().expect("an address").into();
        let mut hand_on = |shard: u8| peer_shards.hand_on(shard.into(), from, &[KIND_PACKET, shard << 6, 0, 1, 9]);
        assert!(!hand_on(0), "its own");
        assert!(hand_on(2));
        assert!(!hand_on(3), "there are three");
        assert_eq!(mailbox.datagrams.len(), 1);
    }
}
