//! A server's inbound rules apply to clients' messages: direction, length and rate, per channel and client. A breach is
//! a counted drop on an unreliable channel, or the end of the connection with a reason that names the channel and the
//! rule.

use crate::simulation::{World, link, ms};
use skipstone_proto::Carrier;
use skipstone_proto::{ChannelRule, DeliveryMode, Settings};
use skipstone_proto::{Config, Direction, DropReason, InboundRule, MessageRate, SendError, Violation, code};

const RELIABLE: u16 = 1;
const UNRELIABLE: u16 = 2;
const SEQUENCED: u16 = 3;
const FREE: u16 = 4;

/// Two clients and a server with this rule for all channels but the last.
fn world(carrier: Carrier, rule: InboundRule) -> World {
    let channels = vec![
        ChannelRule::new(RELIABLE..=RELIABLE, DeliveryMode::ReliableOrdered),
        ChannelRule::new(UNRELIABLE..=UNRELIABLE, DeliveryMode::Unreliable),
        ChannelRule::new(SEQUENCED..=SEQUENCED, DeliveryMode::UnreliableSequenced),
        ChannelRule::new(FREE..=FREE, DeliveryMode::ReliableOrdered),
    ];
    let rules = match rule.violation {
        Violation::Close => vec![InboundRule { first: RELIABLE, last: SEQUENCED, ..rule }],
        Violation::Drop => vec![InboundRule { first: UNRELIABLE, last: SEQUENCED, ..rule }],
    };
    let settings = Settings { channels, message_bytes_max: 10_000, ..Settings::default() };
    let config = Config { inbound: rules.into(), ..Config::server(settings) };
    let mut world = World::on(carrier, 1, config, &[link(10), link(10)]);
    world.connect();
    world
}

fn rules() -> [InboundRule; 3] {
    let any = InboundRule::new(0..=0);
    [
        InboundRule { direction: Direction::ServerToClient, ..any.clone() },
        InboundRule { message_bytes_max: Some(100), ..any.clone() },
        InboundRule { rate: Some(MessageRate { per_second: 10, burst: 5 }), ..any },
    ]
}

/// Sends messages that break each of the rules: long ones, and many.
fn break_rule(world: &mut World, channel: u16) {
    for number in 0..10 {
        world.clients[0].send(world.now, channel, vec![number; 101]);
    }
    // The rule applies to fragmented messages, too.
    world.clients[0].send(world.now, channel, vec![77; 5_000]);
    world.run_for(ms(1_000));
}

#[test]
fn a_breach_ends_the_connection_with_a_reason() {
    let reasons =
        ["only the server may send", "101 bytes, of at most 100", "more than 10 messages per second and 5 at once"];
    for carrier in [Carrier::UDP, Carrier::WEBSOCKET] {
        for (rule, reason) in rules().into_iter().zip(reasons) {
            for channel in [RELIABLE, UNRELIABLE, SEQUENCED] {
                let mut world = world(carrier, rule.clone());
                break_rule(&mut world, channel);
                let closes = world.clients[0].closes();
                assert_eq!((closes.len(), closes[0].code), (1, code::PROTOCOL), "{rule:?}");
                let text = String::from_utf8_lossy(&closes[0].reason);
                assert!(text.contains(reason) && text.contains(&format!("channel {channel}")), "{text}");
                assert_eq!(world.server.closes().len(), 1, "the other client stays");
                assert!(world.clients[1].closes().is_empty());
                let delivered = world.server.messages(channel).len();
                assert_eq!(delivered, if rule.rate.is_some() { 5 } else { 0 }, "{rule:?}");
            }
        }
    }
}

#[test]
fn a_breach_on_an_unreliable_channel_can_be_a_counted_drop() {
    for carrier in [Carrier::UDP, Carrier::WEBSOCKET] {
        for rule in rules() {
            for channel in [UNRELIABLE, SEQUENCED] {
                let mut world = world(carrier, InboundRule { violation: Violation::Drop, ..rule.clone() });
                break_rule(&mut world, channel);
                assert!(world.clients[0].closes().is_empty() && world.server.closes().is_empty());
                let delivered = world.server.messages(channel).len() as u64;
                assert_eq!(delivered, if rule.rate.is_some() { 5 } else { 0 }, "{rule:?}");
                assert!(world.server.drops(DropReason::InboundRule) >= 11 - delivered, "{rule:?}");
                // A message that keeps to the rule arrives again.
                world.clients[0].send(world.now, channel, vec![9; 100]);
                world.run_for(ms(100));
                let is_allowed = rule.direction == Direction::Both;
                assert_eq!(world.server.messages(channel).len() as u64, delivered + u64::from(is_allowed), "{rule:?}");
            }
        }
    }
}

#[test]
fn unrestricted_channels_are_unaffected() {
    for carrier in [Carrier::UDP, Carrier::WEBSOCKET] {
        for rule in rules() {
            let mut world = world(carrier, rule.clone());
            for number in 0..50 {
                world.clients[0].send(world.now, FREE, vec![number; 5_000]);
            }
            let peers: Vec<_> = world.asked.iter().map(|(peer, _)| *peer).collect();
            for channel in [RELIABLE, UNRELIABLE, SEQUENCED] {
                for peer in &peers {
                    world.server.send_to(world.now, *peer, channel, vec![1; 3_000]).expect("the server may");
                }
            }
            world.run_for(ms(2_000));
            assert_eq!(world.server.messages(FREE).len(), 50);
            for channel in [RELIABLE, UNRELIABLE, SEQUENCED] {
                assert!(world.clients.iter().all(|client| client.messages(channel).len() == 1), "{channel}");
            }
            assert_eq!((world.server.closes().len(), world.server.drops(DropReason::InboundRule)), (0, 0));
        }
    }
}

#[test]
fn a_server_does_not_send_on_client_only_channels() {
    let direction = Direction::ClientToServer;
    let mut world = world(Carrier::UDP, InboundRule { direction, ..InboundRule::new(0..=0) });
    let peer = world.asked[0].0;
    for channel in [RELIABLE, UNRELIABLE, SEQUENCED] {
        let refused = world.server.send_to(world.now, peer, channel, vec![1]);
        assert_eq!(refused.map(|_| ()), Err(SendError::WrongDirection));
        world.clients[0].send(world.now, channel, vec![1]);
    }
    world.server.send_to(world.now, peer, FREE, vec![1]).expect("it may");
    world.run_for(ms(200));
    let delivered = [RELIABLE, UNRELIABLE, SEQUENCED].map(|channel| world.server.messages(channel).len());
    assert_eq!(delivered, [1, 1, 1]);
}

/// 10 messages a second for half a minute, through loss: retransmissions and copies count once.
#[test]
fn a_client_within_its_rate_is_never_in_breach() {
    let rate = Some(MessageRate { per_second: 10, burst: 5 });
    let mut world = world(Carrier::UDP, InboundRule { rate, ..InboundRule::new(0..=0) });
    let lossy = skipstone_netsim::LinkConfig { loss: skipstone_netsim::Loss::Random(0.1), ..link(10) };
    world.relink(&lossy);
    for number in 0..300_u32 {
        world.clients[0].send(world.now, RELIABLE, number.to_be_bytes().to_vec());
        world.run_for(ms(100));
    }
    world.run_for(ms(500));
    assert_eq!((world.server.messages(RELIABLE).len(), world.server.closes().len()), (300, 0));
}
