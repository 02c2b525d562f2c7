//! The first connection, and why there is none.

use crate::common::{bus, server};
use skipstone_fleet::bus::{Bus, BusSettings, BusState};

#[test]
fn a_connected_bus_knows_its_server() {
    let server = server();
    let bus = bus(&server);
    assert_eq!(bus.state(), BusState::Connected);
    let info = bus.server().unwrap();
    assert!(info.version.starts_with("2."), "{info:?}");
    assert!(info.has_jetstream && info.payload_bytes_max == 1 << 20 && info.cluster.is_none(), "{info:?}");
}

#[test]
fn an_address_where_nobody_listens_is_refused_at_once() {
    let mut server = server();
    let url = server.url();
    server.kill();
    let error = Bus::connect(BusSettings::new(url.parse().unwrap())).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("NATS at {url}: nobody listens there; start nats-server on that machine, or correct the address")
    );
}
