//! Once the keys of TLS are established, a packet allocates no memory.
//!
//! A process of its own: the counter of allocations is the global allocator of its program.

#![cfg(all(feature = "__tls", feature = "self-signed"))]

use allocation_counter::measure;
use skipstone::{Security, Trust};
use skipstone_proto::SUITE_TLS_1_3;
use skipstone_proto::Session;
use skipstone_proto::Time;

const NOW: Time = Time::from_micros(1_000_000);

fn talk(from: &mut dyn Session, to: &mut dyn Session) {
    let mut buffer = [0; 2_000];
    while let Some(length) = from.poll_handshake(&mut buffer) {
        assert!(to.handle_handshake(NOW, &buffer[..length]));
    }
}

#[test]
fn in_both_directions() {
    let security = Security::self_signed().expect("it is made");
    let pin = Trust::Pinned(security.fingerprint().expect("it has a certificate"));
    let client = pin.suites("localhost").expect("it is a pin").client(NOW, SUITE_TLS_1_3, b"transcript");
    let server = security.suites().expect("it encrypts").server(NOW, SUITE_TLS_1_3, b"transcript");
    let (mut client, mut server) = (client.expect("it is offered"), server.expect("it is offered"));
    for _ in 0..2 {
        talk(&mut *client, &mut *server);
        talk(&mut *server, &mut *client);
    }
    let mut datagram = [7; 1_200];
    let info = measure(|| {
        for _ in 0..1_000 {
            for is_up in [true, false] {
                let (from, to) = if is_up { (&mut client, &mut server) } else { (&mut server, &mut client) };
                let length = from.seal(&mut datagram, 4..1_180);
                assert!(to.open(&mut datagram[..length], 4).is_some());
            }
        }
    });
    assert_eq!(info.count_total, 0);
}
