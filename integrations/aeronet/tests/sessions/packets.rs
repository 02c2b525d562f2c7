//! Packets in both directions, by themselves and below aeronet's transport.

use crate::apps::{Pair, server_config};
use aeronet_io::Session;
use aeronet_skipstone::skipstone::netsim::{LinkConfig, Loss};
use aeronet_skipstone::skipstone::{Bytes, Impairment, ServerConfig};
use aeronet_skipstone::{MTU, PacketsRefused, SkipstoneClient};
use aeronet_transport::lane::{LaneIndex, LaneKind};
use aeronet_transport::{AeronetTransportPlugin, Transport};
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_platform::time::Instant;
use bevy_time::TimePlugin;
use std::time::Duration;

fn send(app: &mut App, entity: Entity, packet: Bytes) {
    app.world_mut().get_mut::<Session>(entity).expect("it is connected").send.push(packet);
}

fn received(app: &mut App, entity: Entity) -> Vec<Bytes> {
    let mut session = app.world_mut().get_mut::<Session>(entity).expect("it is connected");
    session.recv.drain(..).map(|packet| packet.payload).collect()
}

#[test]
fn packets_of_every_length_arrive_in_both_directions() {
    let mut pair = Pair::connected(server_config());
    for bytes in [0, 1, 11, MTU] {
        let packet = Bytes::from(vec![7; bytes]);
        send(&mut pair.at_client, pair.client, packet.clone());
        let mut at_server = Vec::new();
        pair.until("the server has it", |pair| {
            at_server.extend(received(&mut pair.at_server, pair.peer));
            !at_server.is_empty()
        });
        send(&mut pair.at_server, pair.peer, packet.clone());
        let mut at_client = Vec::new();
        pair.until("the client has it", |pair| {
            at_client.extend(received(&mut pair.at_client, pair.client));
            !at_client.is_empty()
        });
        assert_eq!((at_server, at_client), (vec![packet.clone()], vec![packet]));
    }
    let stats = pair.at_server.world().get::<Session>(pair.peer).expect("it is connected").stats;
    let counted = (stats.packets_recv.0, stats.packets_sent.0, stats.bytes_recv.0, stats.bytes_sent.0);
    assert_eq!(counted, (4, 4, 12 + MTU, 12 + MTU));
}

#[test]
fn a_packet_of_the_mtu_fits_into_one_datagram() {
    let mut pair = Pair::connected(server_config());
    assert_eq!(pair.at_client.world().get::<Session>(pair.client).expect("it is connected").mtu(), MTU);
    let datagrams = |pair: &Pair| {
        let io = pair.at_client.world().get::<SkipstoneClient>(pair.client).expect("it is connected");
        io.get().and_then(|client| client.overview()).map_or(0, |overview| overview.stats.sent.datagrams)
    };
    pair.until("statistics are published", |pair| datagrams(pair) > 0);
    let (before, packets) = (datagrams(&pair), 40);
    // One after the other: fragments of several would share datagrams.
    for _ in 0..packets {
        send(&mut pair.at_client, pair.client, Bytes::from(vec![7; MTU]));
        pair.until("it has arrived", |pair| !received(&mut pair.at_server, pair.peer).is_empty());
    }
    // A snapshot of the statistics is up to 50 ms old.
    std::thread::sleep(Duration::from_millis(200));
    // Acknowledgements and probes of the path leave as well.
    let sent = datagrams(&pair) - before;
    assert!((packets..packets * 3 / 2).contains(&sent), "{sent} datagrams for {packets} packets");
}

#[test]
fn a_packet_that_is_too_long_for_a_message_is_refused_and_counted() {
    let mut pair = Pair::connected(server_config());
    send(&mut pair.at_client, pair.client, Bytes::from(vec![7; 1 << 21]));
    pair.until("it is refused", |pair| {
        pair.at_client.world().get::<PacketsRefused>(pair.client) == Some(&PacketsRefused(1))
    });
}

const LANES: [LaneKind; 1] = [LaneKind::ReliableOrdered];
const LANE: LaneIndex = LaneIndex::new(0);
const MESSAGES: u32 = 300;

fn add_transport(app: &mut App, entity: Entity) {
    let session = app.world().get::<Session>(entity).expect("it is connected");
    let transport = Transport::new(session, LANES, LANES, Instant::now()).expect("the packets are long enough");
    app.world_mut().entity_mut(entity).insert(transport);
}

#[test]
fn aeronets_reliable_lanes_deliver_every_message_in_order_at_5_percent_loss() {
    let lossy = LinkConfig { loss: Loss::Random(0.05), ..LinkConfig::default() };
    let impairment = Some(Impairment { up: lossy.clone(), down: lossy, seed: 33 });
    let mut pair = Pair::connected(ServerConfig { impairment, ..server_config() });
    for app in [&mut pair.at_server, &mut pair.at_client] {
        app.add_plugins((TimePlugin, AeronetTransportPlugin));
    }
    add_transport(&mut pair.at_server, pair.peer);
    add_transport(&mut pair.at_client, pair.client);
    let (mut sent, mut arrived) = (0, Vec::new());
    pair.until("every message has arrived", |pair| {
        if sent < MESSAGES {
            let mut transport = pair.at_client.world_mut().get_mut::<Transport>(pair.client).expect("it is there");
            let message = Bytes::copy_from_slice(&sent.to_le_bytes());
            transport.send.push(LANE, message, Instant::now()).expect("there is room");
            sent += 1;
        }
        let mut transport = pair.at_server.world_mut().get_mut::<Transport>(pair.peer).expect("it is there");
        let messages = transport.recv.msgs.drain();
        arrived.extend(messages.map(|message| u32::from_le_bytes(message.payload[..].try_into().expect("four bytes"))));
        arrived.len() == MESSAGES as usize
    });
    assert_eq!(arrived, (0..MESSAGES).collect::<Vec<_>>());
}
