//! Whatever numbers a peer makes up, each datagram has room for its due frames or leaves them to the next: no side
//! panics or sends without end.

use crate::simulation::stranger::Stranger;
use crate::simulation::{World, glass, glazed, link, ms, seed_bytes, server_of};
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram::{self, Datagram, HEADER_BYTES};
use skipstone_proto::wire::frame;
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::{Config, DeliveryMode, Duration, Endpoint, Event, Settings, TOKEN_BYTES_MAX, Time};
use std::cell::Cell;
use std::rc::Rc;

/// A server has as much to acknowledge as possible: packets `step` apart that it recovered, each by a repair. With
/// `padding` the client continues from another port, by a packet with this much padding, which pays for short datagrams
/// only; `closes` lets it close.
fn recovered(settings: Settings, step: u64, count: u64, padding: Option<usize>, closes: bool) {
    let what = format!("{count} packets {step} apart, moves by {padding:?}, closes: {closes}");
    let mut server = Endpoint::new(Config::server(settings), seed_bytes(1)).expect("a good configuration");
    let now = Time::from_micros(1_000_000);
    let mut client = Stranger::join(&mut server, now, World::pair(1, link(1)).path_to_client(0));
    for at in 1..=count {
        client.number = at * step;
        client.recovery(&mut server, now);
    }
    let recovered = server.overview(client.peer).expect("it is there").stats.redundancy.packets_recovered;
    assert_eq!(recovered, count, "{what}");
    if let Some(padding) = padding {
        client.path.remote.set_port(client.path.remote.port() + 1);
        client.packet(&mut server, now, |writer| {
            frame::encode_ping(writer);
            writer.zeros(padding);
        });
    }
    if closes {
        client.packet(&mut server, now, |writer| frame::encode_close(writer, 5, "bye"));
    }
    let mut buffer = vec![0; 1 << 16];
    let mut transmits = 0;
    for _ in 0..3 {
        while server.poll_transmit(now, &mut buffer).is_some() {
            transmits += 1;
            assert!(transmits < 20, "{what}: it sends without end");
        }
        server.handle_timeout(now);
    }
    assert!(transmits > 0 || padding.is_some(), "{what}: it says nothing");
    assert!(server.poll_timeout() > now, "{what}: something is still due");
}

#[test]
fn acks_of_scattered_recovered_packets_leave_room_for_other_frames() {
    let short = Settings { datagram_bytes_max: 256, ..Settings::default() };
    for settings in [short, Settings::default()] {
        // The last step gives numbers in their longest form.
        for step in [4, 300, 20_000, 3 << 29] {
            for count in [1, 8, 20, 40] {
                for padding in [None, Some(0), Some(15), Some(30), Some(45), Some(60)] {
                    recovered(settings.clone(), step, count, padding, false);
                    recovered(settings.clone(), step, count, padding, true);
                }
            }
        }
    }
}

/// A client with the longest token, and a server with the encrypted suite that makes the client acknowledge packets
/// before it accepts the client.
#[test]
fn a_connect_frame_waits_for_a_datagram_with_room() {
    let mut world = World::new(3, glazed(server_of(DeliveryMode::ReliableOrdered), 3), &[link(10)]);
    world.clients[0].endpoint.close_all(world.now, 0, "", Duration::ZERO);
    let path = world.path_to_server(0);
    world.clients[0].endpoint.connect(world.now, path, &[7; TOKEN_BYTES_MAX]).expect("it may");
    let (id, connect_at) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(None)));
    let (seen, asked_at) = (id.clone(), connect_at.clone());
    world.tap = Some(Box::new(move |now, _, is_up, bytes| match datagram::decode(bytes) {
        Ok(Datagram::Hello(hello)) => seen.set(hello.source),
        Ok(Datagram::Packet { .. }) if is_up => asked_at.set(Some(now)),
        _ => {}
    }));
    world.accepts = false;
    world.run_for(ms(100));
    // They arrive just when CONNECT is due again.
    let again_at = connect_at.get().expect("it has asked, and again behind the last of the handshake") + ms(500);
    world.run_until(Time::from_micros(again_at.as_micros() - 1));
    world.now = again_at;
    for at in 1..=40 {
        let mut packet = vec![0; 100];
        let mut writer = Writer::new(&mut packet);
        datagram::encode_packet_header(&mut writer, id.get());
        let number = at << 27;
        writer.truncated(Truncated::new(number, 1 << 30));
        frame::encode_ping(&mut writer);
        let end = writer.len();
        let end = glass::seal().seal(&mut packet, HEADER_BYTES..end, number);
        world.clients[0].endpoint.handle_datagram(world.now, path, &mut packet[..end]);
    }
    world.run_for(ms(1_000));
    world.accepts = true;
    let asked = world.server.events.iter().find_map(|(_, event)| match event {
        Event::Requested { peer, token, .. } => Some((*peer, token.len())),
        _ => None,
    });
    let (peer, length) = asked.expect("its CONNECT has come");
    assert_eq!(length, TOKEN_BYTES_MAX);
    assert!(world.server.endpoint.accept(world.now, peer));
    // The server's own numbers are far below those that were made up in its name.
    let told = world.clients[0].endpoint.totals();
    assert_eq!(told.sent.datagrams, world.sent[0].0, "each datagram left once");
}
