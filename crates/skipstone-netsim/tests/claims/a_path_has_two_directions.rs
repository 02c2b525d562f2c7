//! A path is two links that do not touch each other; its next arrival is the earlier of theirs.

use core::time::Duration;

use skipstone_netsim::{Duplex, LinkConfig};

#[test]
fn the_next_arrival_is_the_earlier_of_both() {
    let with = |milliseconds| LinkConfig { delay: Duration::from_millis(milliseconds), ..LinkConfig::default() };
    let mut path = Duplex::new(with(10), with(30), 1).unwrap();
    let mut datagram = Vec::new();
    assert_eq!(path.next_arrival(), None);
    path.up.send(Duration::ZERO, b"up", 0);
    path.down.send(Duration::ZERO, b"down", 0);

    assert_eq!(path.next_arrival(), Some(Duration::from_millis(10)));
    path.up.receive(Duration::from_millis(10), &mut datagram).unwrap();
    assert_eq!(datagram, b"up");
    assert_eq!(path.next_arrival(), Some(Duration::from_millis(30)));
    path.down.receive(Duration::from_millis(30), &mut datagram).unwrap();
    assert_eq!(datagram, b"down");
    assert_eq!(path.next_arrival(), None);
}
