//! A datagram that is longer than the settings allow is dropped before room is kept for it.

use crate::simulation::{self, World, encrypted, link, server_of};
use skipstone_proto::{Config, DropReason};
use skipstone_proto::{DeliveryMode, Settings};

#[test]
fn a_long_datagram_is_dropped_on_both_sides() {
    for config in [server_of(DeliveryMode::ReliableOrdered), encrypted(server_of(DeliveryMode::ReliableOrdered), 3)] {
        let mut world = World::new(3, config, &[link(20)]);
        world.connect();
        let (to_client, to_server) = (world.path_to_client(0), world.path_to_server(0));
        // Sealed under no key, with the id of the connection and without: any host can send these.
        let id_of = |bytes: &[u8]| [bytes[1], bytes[2], bytes[3]];
        let ids = std::rc::Rc::new(std::cell::RefCell::new([[0; 3]; 2]));
        let inside = ids.clone();
        world.tap = Some(Box::new(move |_, _, is_up, bytes| {
            if bytes.first() == Some(&0x80) {
                inside.borrow_mut()[usize::from(is_up)] = id_of(bytes);
            }
        }));
        let now = world.now;
        world.clients[0].send(now, 0, "hello");
        world.run_for(simulation::ms(200));
        let [of_client, of_server] = *ids.borrow();
        for length in [1_501, 60_000] {
            let mut garbage = vec![0x2F; length];
            garbage[0] = 0x80;
            garbage[1..4].copy_from_slice(&of_server);
            world.server.endpoint.handle_datagram(now, to_client, &mut garbage.clone());
            garbage[1..4].copy_from_slice(&of_client);
            world.clients[0].endpoint.handle_datagram(now, to_server, &mut garbage);
            let mut other = vec![0; length];
            other[0] = 0x84;
            world.server.endpoint.handle_datagram(now, to_client, &mut other);
        }
        assert_eq!(world.server.drops(DropReason::TooLong), 4);
        assert_eq!(world.clients[0].drops(DropReason::TooLong), 2);
    }
}

#[test]
fn a_datagram_within_the_settings_is_accepted() {
    let settings = Settings { datagram_bytes_max: 9_000, ..Settings::default() };
    let mut world = World::new(3, Config::server(settings), &[link(20)]);
    world.connect();
    for _ in 0..200 {
        let now = world.now;
        world.clients[0].send(now, 0, vec![7; 20_000]);
        world.server.send(now, 0, vec![7; 20_000]);
        world.run_for(simulation::ms(50));
    }
    world.run_for(simulation::ms(2_000));
    assert_eq!((world.server.messages(0).len(), world.clients[0].messages(0).len()), (200, 200));
    let overview = world.server.overview();
    assert!(overview.datagram_bytes > 8_900, "{}", overview.datagram_bytes);
    assert_eq!(world.server.drops(DropReason::TooLong) + world.clients[0].drops(DropReason::TooLong), 0);
}
