//! A full queue follows the channel's policy: refuse, drop the oldest, or end the connection.

use crate::simulation::{World, link, ms, server_of};
use skipstone_proto::{ClosedBy, SendError, code};
use skipstone_proto::{DeliveryMode, Overflow};
use skipstone_proto::{GivenUp, MessageId};

fn world(overflow: Overflow) -> World {
    let mut config = server_of(DeliveryMode::ReliableOrdered);
    let rule = &mut config.settings.channels[0];
    (rule.overflow, rule.queue_messages_max, rule.queue_bytes_max) = (overflow, 5, 1_000);
    let mut world = World::new(1, config, &[link(10)]);
    world.connect();
    world
}

/// Sends messages of these lengths at once; returns whether each was accepted.
fn send(world: &mut World, lengths: &[usize]) -> Vec<Result<MessageId, SendError>> {
    let peer = world.clients[0].peer();
    lengths.iter().map(|length| world.clients[0].send_to(world.now, peer, 0, vec![*length as u8; *length])).collect()
}

fn lengths(world: &World) -> Vec<usize> {
    world.server.messages(0).iter().map(|message| message.len()).collect()
}

#[test]
fn refuse() {
    for lengths in [&[1, 2, 3, 4, 5, 6, 7][..], &[500, 400, 101, 100]] {
        let mut world = world(Overflow::Refuse);
        let taken = send(&mut world, lengths);
        let refused = taken.iter().filter(|taken| **taken == Err(SendError::QueueFull)).count();
        assert!(refused > 0 && refused < lengths.len());
        world.run_for(ms(100));
        let expected: Vec<usize> =
            lengths.iter().zip(&taken).filter(|(_, taken)| taken.is_ok()).map(|(l, _)| *l).collect();
        assert_eq!(self::lengths(&world), expected);
        assert_eq!(world.clients[0].overview().stats.queue_overflows, refused as u64);
        assert!(send(&mut world, &[1])[0].is_ok(), "there is room again");
    }
}

#[test]
fn drop_oldest() {
    let mut world = world(Overflow::DropOldest);
    assert!(send(&mut world, &[1, 2, 3, 4, 5, 6, 7, 990]).iter().all(Result::is_ok));
    world.run_for(ms(100));
    assert_eq!(lengths(&world), [7, 990]);
    let dropped = world.clients[0].fates().iter().filter(|(_, why)| *why == Some(GivenUp::Dropped)).count();
    assert_eq!(dropped, 6);
}

#[test]
fn drop_oldest_drops_nothing_unnecessarily() {
    let mut world = world(Overflow::DropOldest);
    assert_eq!(send(&mut world, &[1, 2, 1_001])[2], Err(SendError::TooLong { bytes_max: 1_000 }));
    world.run_for(ms(100));
    assert_eq!(lengths(&world), [1, 2]);
}

#[test]
fn messages_in_flight_are_not_dropped() {
    let mut world = world(Overflow::DropOldest);
    send(&mut world, &[1, 2, 3, 4, 5]);
    world.run_for(ms(5));
    assert_eq!(send(&mut world, &[6]), [Err(SendError::QueueFull)]);
    world.run_for(ms(100));
    assert_eq!(lengths(&world), [1, 2, 3, 4, 5]);
}

#[test]
fn disconnect() {
    let mut world = world(Overflow::Disconnect);
    assert_eq!(send(&mut world, &[1; 6])[5], Err(SendError::QueueFull));
    world.run_for(ms(1_000));
    let (ours, theirs) = (world.clients[0].closes()[0], world.server.closes()[0]);
    assert_eq!((ours.by, ours.code), (ClosedBy::Local, code::QUEUE_OVERFLOW));
    assert_eq!((theirs.by, theirs.code, &theirs.reason), (ClosedBy::Peer, code::QUEUE_OVERFLOW, &ours.reason));
    assert_eq!(ours.reason_text(), "the queue of channel 0 is full");
}
