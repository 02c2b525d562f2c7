//! With repairs, every message of a burst of which one packet is lost arrives after the one-way delay, whichever packet
//! it is. The sender does not retransmit the packet, and counts it as lost by the path.

use crate::simulation::clear::Eavesdropper;
use crate::simulation::{BEGINNING, World, link, ms, server_of};
use skipstone_proto::DeliveryMode;
use skipstone_proto::Event;

const DELAY_MS: u64 = 40;
const MESSAGES: usize = 25;

#[test]
fn a_lost_packet_is_recovered_without_a_round_trip() {
    for lost in 0..3 {
        let mut world = World::new(lost, server_of(DeliveryMode::ReliableOrdered), &[link(DELAY_MS)]);
        let mut eavesdropper = Eavesdropper::default();
        let from = BEGINNING + ms(2_000);
        let mut packets = 0;
        world.tap = Some(Box::new(move |now, _, is_up, bytes| {
            let has_messages = eavesdropper.see(bytes).is_some_and(|seen| seen.messages > 0);
            if is_up && has_messages && now >= from {
                if packets == lost {
                    bytes.clear();
                }
                packets += 1;
            }
        }));
        world.connect();
        // Sent while the path is assumed to lose a little, which is the initial assumption.
        while world.now < from {
            for _ in 0..MESSAGES {
                world.clients[0].send(world.now, 1, vec![1; 55]);
            }
            world.run_for(ms(50));
        }
        let (sent_at, before) = (world.now, world.clients[0].overview());
        for _ in 0..MESSAGES {
            world.clients[0].send(world.now, 1, vec![2; 55]);
        }
        world.run_for(ms(400));
        let is_one = |event: &Event| matches!(event, Event::Message { payload, .. } if payload[0] == 2);
        let times: Vec<_> = world.server.events.iter().filter(|(_, event)| is_one(event)).map(|(at, _)| *at).collect();
        assert_eq!(times.len(), MESSAGES);
        let latest = times.last().expect("they came").since(sent_at);
        assert!(latest < ms(DELAY_MS + 6), "packet {lost} lost: {latest:?}");

        let (after, theirs) = (world.clients[0].overview(), world.server.overview().stats);
        assert_eq!(theirs.redundancy.packets_recovered, 1);
        let (old, new) = (before.stats, after.stats);
        assert_eq!(new.redundancy.packets_recovered_by_peer, 1);
        assert_eq!(new.packets_lost - old.packets_lost, 1, "the path lost it all the same");
        assert_eq!((new.resent, new.probes), (old.resent, old.probes), "nothing was sent again");
        assert_eq!((after.depth.messages, after.bytes_in_flight), (0, 0), "nothing is waited for");
    }
}
