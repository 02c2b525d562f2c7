//! A packet log gets every packet, as often as the statistics count it, and no event twice; the same packets leave with
//! and without it.

use crate::simulation::{World, encrypted, link, ms};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::{
    Config, LoggedConnection, LoggedFrame, LossTrigger, PacketEvent, PacketLog, PeerId, Side, Stats, Time,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

#[derive(Debug, Default)]
struct Counted {
    handshake: u64,
    sent: BTreeSet<u64>,
    received: BTreeSet<u64>,
    recovered: BTreeSet<u64>,
    lost: u64,
    lost_and_repaired: u64,
    spurious: u64,
    dropped: u64,
    sent_bytes: u64,
    received_bytes: u64,
    /// Messages of received packets, including recovered ones.
    messages: u64,
    /// The greatest packet that the peer acknowledged.
    acknowledged: Option<u64>,
    metrics: u64,
    closed: u64,
    removed: u64,
    last: Time,
}

/// The client's, and the server's.
#[derive(Debug, Default)]
struct Both([Mutex<Counted>; 2]);

impl PacketLog for Both {
    fn on_event(&self, now: Time, connection: &LoggedConnection<'_>, event: &PacketEvent<'_>) {
        let mut counted = self.0[connection.side as usize].lock().expect("not poisoned");
        assert!(now >= counted.last, "events come in order");
        counted.last = now;
        match *event {
            PacketEvent::HandshakeSent { bytes, .. } => {
                counted.handshake += 1;
                counted.sent_bytes += bytes as u64;
            }
            PacketEvent::Sent { number, bytes, .. } => {
                assert!(counted.sent.insert(number), "packet {number} is told twice");
                counted.sent_bytes += bytes as u64;
            }
            PacketEvent::Received { number, bytes, frames } => {
                assert!(counted.received.insert(number), "packet {number} came twice");
                counted.received_bytes += bytes as u64;
                frames.iter().for_each(|frame| counted.take(&frame));
            }
            PacketEvent::Recovered { number, frames } => {
                assert!(counted.recovered.insert(number), "packet {number} is recovered twice");
                frames.iter().for_each(|frame| counted.take(&frame));
            }
            PacketEvent::Lost { trigger, .. } => {
                counted.lost += 1;
                counted.lost_and_repaired += u64::from(trigger == LossTrigger::RepairedByPeer);
            }
            PacketEvent::Spurious { packets } => counted.spurious += u64::from(packets),
            PacketEvent::Dropped { .. } => counted.dropped += 1,
            PacketEvent::Metrics(_) => counted.metrics += 1,
            PacketEvent::Closed { .. } => counted.closed += 1,
            _ => {}
        }
    }

    fn on_removed(&self, _: u32, _: PeerId) {
        // The endpoints have one connection each, and this does not record whose it is.
        self.0[0].lock().expect("not poisoned").removed += 1;
    }
}

impl Counted {
    fn take(&mut self, frame: &LoggedFrame<'_>) {
        match frame {
            LoggedFrame::Messages { count, .. } => self.messages += u64::from(*count),
            LoggedFrame::Ack { ranges, .. } => {
                self.acknowledged = self.acknowledged.max(ranges.first().map(|range| *range.end()));
            }
            _ => {}
        }
    }

    fn agrees_with(&self, stats: &Stats) {
        assert_eq!(self.handshake + self.sent.len() as u64, stats.sent.datagrams);
        assert_eq!(self.sent_bytes, stats.sent.datagram_bytes);
        assert_eq!(self.received.len() as u64, stats.received.datagrams);
        assert_eq!(self.received_bytes, stats.received.datagram_bytes);
        assert_eq!(self.recovered.len() as u64, stats.redundancy.packets_recovered);
        assert_eq!((self.lost, self.spurious), (stats.packets_lost, stats.packets_spurious));
        assert_eq!(self.lost_and_repaired, stats.redundancy.packets_recovered_by_peer);
        assert!(self.messages >= stats.received.messages, "{} of {}", self.messages, stats.received.messages);
        assert!(self.lost >= 20 && self.metrics > 100, "{self:?}");
        assert!(self.acknowledged <= self.sent.last().copied(), "what was never sent is not acknowledged");
    }
}

fn play(log: Option<Arc<Both>>, is_encrypted: bool) -> World {
    let config = Config::server(Default::default());
    let config = if is_encrypted { encrypted(config, 7) } else { config };
    let packet_log = log.map(|log| log as Arc<dyn PacketLog>);
    let lossy = LinkConfig { loss: Loss::Random(0.05), jitter: ms(3), duplicate: 0.01, ..link(10) };
    let mut world = World::new(3, Config { packet_log, ..config }, &[lossy]);
    world.connect();
    for number in 0..600_usize {
        for _ in 0..5 {
            world.clients[0].send(world.now, 0, vec![1; 60]);
        }
        world.server.send(world.now, 0, vec![1; number]);
        world.run_for(ms(10));
    }
    world.run_for(ms(2_000));
    world
}

#[test]
fn every_counter_agrees_on_a_lossy_path() {
    for is_encrypted in [false, true] {
        let log = Arc::new(Both::default());
        let mut world = play(Some(log.clone()), is_encrypted);
        let peer = world.clients[0].peer();
        world.clients[0].endpoint.close(world.now, peer, 7, "enough", ms(0));
        world.run_for(ms(5_000));
        let [client, server] = &log.0;
        let (client, server) = (client.lock().expect("not poisoned"), server.lock().expect("not poisoned"));
        client.agrees_with(&world.clients[0].endpoint.totals());
        // Answers to unknown hosts belong to no connection.
        let mut totals = world.server.endpoint.totals();
        let answers = totals.sent.datagrams - server.handshake - server.sent.len() as u64;
        let answer_bytes = totals.sent.datagram_bytes - server.sent_bytes;
        assert!(answers <= 3 && answer_bytes <= 64 * answers, "{answers} answers, {answer_bytes} bytes");
        totals.sent.datagrams -= answers;
        totals.sent.datagram_bytes -= answer_bytes;
        server.agrees_with(&totals);
        assert_eq!((client.closed, server.closed, client.removed), (1, 1, 2));
        assert_eq!(Side::Client as usize, 0, "the first is the client's");
    }
}

#[test]
fn logging_changes_no_behaviour() {
    let (mut with, mut without) = (play(Some(Arc::default()), false), play(None, false));
    assert_eq!(with.clients[0].endpoint.totals(), without.clients[0].endpoint.totals());
    assert_eq!(with.server.endpoint.totals(), without.server.endpoint.totals());
}
