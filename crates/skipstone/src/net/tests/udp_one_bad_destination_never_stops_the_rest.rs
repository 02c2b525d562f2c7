//! An error of one datagram drops it, is counted by reason, and does not affect its neighbours.

use super::*;
use crate::net::udp::SendErrors;

#[test]
fn datagrams_next_to_undeliverable_ones_arrive() {
    for backend in [Backend::Native, Backend::Portable] {
        let (mut from, mut to) = (udp(loopback_v4(), backend), udp(loopback_v4(), backend));
        let target = to.local_addr().unwrap();
        let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let broadcast = SocketAddr::from((Ipv4Addr::BROADCAST, 9));
        let mut batch = SendBatch::new();
        for (bytes, to) in [
            (&b"first"[..], target),
            (b"to port zero", nobody),
            (b"second", target),
            (b"to everybody", broadcast),
            (b"wrong family", loopback_v6()),
            (b"third", target),
            (b"wrong family, last", loopback_v6()),
        ] {
            assert!(batch.push(bytes, to, None));
        }
        let outcome = send_all(&mut from, &mut batch);
        assert_eq!(outcome.datagrams, 3);
        let expected = SendErrors { other: 1, not_permitted: 1, unreachable: 2, ..SendErrors::default() };
        assert_eq!(outcome.errors, expected, "{backend:?}");
        let received = bytes_of(&receive_datagrams(&mut to, 3));
        assert_eq!(received, [b"first".to_vec(), b"second".to_vec(), b"third".to_vec()]);
    }
}

#[test]
fn a_closed_destination_port_is_harmless() {
    for backend in [Backend::Native, Backend::Portable] {
        let (mut from, mut to) = (udp(loopback_v4(), backend), udp(loopback_v4(), backend));
        let gone = udp(loopback_v4(), backend).local_addr().unwrap();
        let mut batch = SendBatch::new();
        for number in 0..30 {
            assert!(batch.push(&[number], if number % 3 == 0 { gone } else { to.local_addr().unwrap() }, None));
        }
        let outcome = send_all(&mut from, &mut batch);
        assert_eq!(outcome.datagrams + outcome.errors.refused, 30);
        assert_eq!(receive_datagrams(&mut to, 20).len(), 20);
        assert_eq!(from.receive_batch(&mut ReceiveBatch::new()).unwrap(), 0, "an ICMP error is not fatal");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_datagram_above_the_interface_mtu_is_too_large_unless_it_may_be_fragmented() {
    // The loopback interface carries 65,536 bytes, headers included: over IPv6 these are a few too many.
    let bytes = [0; crate::net::udp::TRANSMIT_BYTES_MAX];
    for (never_fragment, too_large) in [(true, 1), (false, 0)] {
        let options = UdpOptions { never_fragment, ..UdpOptions::client() };
        let mut from = UdpSocket::bind(loopback_v6(), &options).unwrap();
        let mut to = udp(loopback_v6(), Backend::Native);
        let mut batch = SendBatch::new();
        assert!(batch.push(&bytes, to.local_addr().unwrap(), None));
        assert!(batch.push(b"next", to.local_addr().unwrap(), None));
        let outcome = send_all(&mut from, &mut batch);
        assert_eq!(outcome.errors, SendErrors { too_large, ..SendErrors::default() });
        assert_eq!(receive_datagrams(&mut to, outcome.datagrams as usize).pop().unwrap().1, b"next");
    }
}
