//! Both ends know how much of a long message has arrived: the receiver from its first fragment on, the sender from
//! acknowledgements.

use crate::simulation::{World, bare_server_of, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::DeliveryMode;
use skipstone_proto::{OutgoingTransfer, TRANSFERS_MAX};

const LONG: usize = 400_000;
const LONG_MIN: usize = 10_000;

#[test]
fn progress_only_grows_and_completes_despite_losses() {
    let modes = [DeliveryMode::ReliableOrdered, DeliveryMode::ReliableUnordered, DeliveryMode::ReliableSequenced];
    for (seed, mode) in (1..).zip(modes) {
        let lossy = LinkConfig { loss: Loss::Random(0.05), rate_bits_per_second: Some(4_000_000), ..link(20) };
        let server = if seed == 1 { server_of(mode) } else { bare_server_of(mode) };
        let mut world = World::new(seed, server, &[lossy]);
        world.connect();
        let (to, from) = (world.clients[0].peer(), world.server.peer());
        let id = world.clients[0].send(world.now, 3, vec![7; LONG]);
        world.clients[0].send(world.now, 4, vec![7; 500]);
        let (mut acknowledged, mut received, mut looks) = (0, 0, 0);
        while world.server.messages(3).is_empty() {
            world.run_for(ms(10));
            let sending = world.clients[0].endpoint.transfers(to, LONG_MIN).expect("it is there");
            let receiving = world.server.endpoint.transfers(from, LONG_MIN).expect("it is there");
            assert!(sending.incoming.is_empty() && receiving.outgoing.is_empty());
            if let Some(transfer) = sending.find(id) {
                assert_eq!((transfer.channel, transfer.total_bytes), (3, LONG as u32));
                assert!(transfer.acknowledged_bytes >= acknowledged, "it never shrinks");
                acknowledged = transfer.acknowledged_bytes;
            }
            assert!(sending.outgoing.len() <= 1, "short messages are not listed");
            if let [transfer] = receiving.incoming[..] {
                assert_eq!((transfer.channel, transfer.total_bytes), (3, LONG as u32));
                assert!(transfer.received_bytes >= received && transfer.received_bytes >= acknowledged);
                (received, looks) = (transfer.received_bytes, looks + 1);
            }
        }
        assert!(looks > 50, "{mode:?}: {looks} looks");
        assert!(acknowledged > LONG as u32 / 2 && received > LONG as u32 / 2, "{mode:?}: {acknowledged} {received}");
        world.run_for(ms(500));
        let sending = world.clients[0].endpoint.transfers(to, LONG_MIN).expect("it is there");
        let receiving = world.server.endpoint.transfers(from, LONG_MIN).expect("it is there");
        assert!(sending.outgoing.is_empty() && receiving.incoming.is_empty(), "{mode:?}: it is over at both ends");
    }
}

#[test]
fn queued_messages_are_listed_with_zero_progress_up_to_a_limit() {
    let mut world = World::new(1, server_of(DeliveryMode::ReliableOrdered), &[link(20)]);
    world.connect();
    let peer = world.clients[0].peer();
    let ids: Vec<_> = (0..100).map(|_| world.clients[0].send(world.now, 1, vec![1; LONG_MIN])).collect();
    let listed = world.clients[0].endpoint.transfers(peer, LONG_MIN).expect("it is there").outgoing;
    let waits = |of: &OutgoingTransfer| (of.channel, of.acknowledged_bytes, of.total_bytes) == (1, 0, 10_000);
    assert!(listed.iter().all(waits), "{listed:?}");
    assert_eq!(listed.iter().map(|of| of.id).collect::<Vec<_>>(), ids[..TRANSFERS_MAX]);
    assert!(world.clients[0].endpoint.transfers(peer, LONG_MIN + 1).expect("it is there").outgoing.is_empty());
    world.run_for(ms(10_000));
    assert!(world.clients[0].endpoint.transfers(peer, 1).expect("it is there").outgoing.is_empty());
    assert_eq!(world.server.messages(1).len(), 100);
}

#[test]
fn a_long_broadcast_is_listed_for_each_member_by_name() {
    let mut world = World::new(1, server_of(DeliveryMode::ReliableUnordered), &[link(20), link(40)]);
    world.connect();
    let peers: Vec<_> = world.asked.iter().map(|(peer, _)| *peer).collect();
    let (now, id) = (world.now, skipstone_proto::MessageId(77));
    let group = skipstone_proto::Group::EVERYONE;
    world.server.endpoint.broadcast(now, group, 2, &vec![5; LONG].into(), id);
    for peer in peers {
        let transfers = world.server.endpoint.transfers(peer, LONG_MIN).expect("it is there");
        assert_eq!(transfers.find(id).map(|transfer| transfer.total_bytes), Some(LONG as u32));
    }
}
