//! One segmented transmit arrives as several datagrams, no matter which side splits and coalesces them.

use super::*;
use crate::net::udp::SEGMENTS_MAX;

fn socket(gso: bool, gro: bool) -> UdpSocket {
    UdpSocket::bind(loopback_v4(), &UdpOptions { gso, gro, ..UdpOptions::client() }).unwrap()
}

#[test]
fn with_and_without_kernel_support() {
    let bytes = Random(3).bytes(1_200 * 20 + 5);
    let expected: Vec<_> = bytes.chunks(1_200).map(<[u8]>::to_vec).collect();
    for gso in [false, true] {
        for gro in [false, true] {
            let (mut from, mut to) = (socket(gso, gro), socket(gso, gro));
            let mut batch = SendBatch::new();
            assert!(batch.push(&bytes, to.local_addr().unwrap(), Some(1_200)));
            let outcome = send_all(&mut from, &mut batch);
            // On systems other than Linux each datagram is a call.
            let calls = if cfg!(target_os = "linux") { 1 } else { 21 };
            assert_eq!((outcome.datagrams, outcome.calls), (21, calls));
            assert!(bytes_of(&receive_datagrams(&mut to, 21)) == expected, "gso {gso}, gro {gro}");
        }
    }
}

#[test]
fn with_the_maximum_number_of_one_byte_segments() {
    let (mut from, mut to) = (socket(true, true), socket(true, true));
    let mut batch = SendBatch::new();
    assert!(batch.push(&[5; SEGMENTS_MAX], to.local_addr().unwrap(), Some(1)));
    assert_eq!(send_all(&mut from, &mut batch).datagrams, 64);
    assert_eq!(receive_datagrams(&mut to, 64).len(), 64);
}

#[test]
fn a_segment_size_above_the_length_sends_one_datagram() {
    let (mut from, mut to) = (socket(true, true), socket(true, true));
    let mut batch = SendBatch::new();
    assert!(batch.push(b"short", to.local_addr().unwrap(), Some(1_200)));
    assert_eq!(send_all(&mut from, &mut batch).datagrams, 1);
    assert_eq!(bytes_of(&receive_datagrams(&mut to, 1)), [b"short".to_vec()]);
}

#[test]
#[cfg(target_os = "linux")]
fn segmentation_is_disabled_after_repeated_refusals() {
    let (mut from, mut to) = (socket(true, true), socket(true, true));
    assert!(from.uses_gso());
    // The kernel reports port 0 as invalid, as it does unusable segments.
    let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut batch = SendBatch::new();
    for _ in 0..7 {
        assert!(batch.push(&[0; 20], nobody, Some(10)));
    }
    assert!(batch.push(&[1; 20], to.local_addr().unwrap(), Some(10)));
    let outcome = send_all(&mut from, &mut batch);
    assert_eq!((outcome.datagrams, outcome.errors.other), (2, 14));
    assert!(from.uses_gso(), "it works elsewhere");
    for _ in 0..8 {
        assert!(batch.push(&[0; 20], nobody, Some(10)));
    }
    assert!(batch.push(&[2; 20], to.local_addr().unwrap(), Some(10)));
    let outcome = send_all(&mut from, &mut batch);
    assert_eq!((outcome.datagrams, outcome.errors.other), (2, 16));
    assert!(!from.uses_gso());
    assert_eq!(receive_datagrams(&mut to, 4).len(), 4);
}
