//! A server that supports none of a client's versions reports which it supports; the client believes only a plausible
//! answer.

use crate::simulation::{World, check_again, link, ms};
use skipstone_proto::{ClosedBy, DropReason, code};

/// HELLO offers this version instead of 1, and VERSIONS lists that one.
fn world(offered: u8, named: u8) -> World {
    let mut world = World::pair(1, link(10));
    world.tap = Some(Box::new(move |_, _, _, bytes| {
        match bytes[0] {
            0x81 => bytes[23] = offered,
            0x85 => bytes[14] = named,
            _ => return,
        }
        check_again(bytes);
    }));
    world.run_for(ms(2_000));
    world
}

#[test]
fn without_a_common_version_the_client_gives_up_with_the_reason() {
    let mut world = world(9, 9);
    let close = world.clients[0].closes()[0].clone();
    assert_eq!((close.by, close.code), (ClosedBy::Nobody, code::NO_COMMON_VERSION));
    assert_eq!(close.reason_text(), "this client speaks version [1], the server [9]");
    assert_eq!(world.server.drops(DropReason::NoCommonVersion), 1);
    assert_eq!(world.server.endpoint.connection_count(), 0);
}

#[test]
fn a_version_list_with_the_clients_own_version_is_ignored() {
    let world = world(9, 1);
    assert_eq!(world.clients[0].closes().len(), 0, "it goes on trying");
}

#[test]
fn with_a_common_version_the_client_connects() {
    world(1, 1).clients[0].peer();
}
