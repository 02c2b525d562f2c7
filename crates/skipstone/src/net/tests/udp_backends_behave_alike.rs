//! With any sending and any receiving backend, the same datagrams arrive.

use super::*;

#[test]
fn every_sender_to_every_receiver_over_both_families() {
    let backends = [Backend::Native, Backend::Portable];
    for address in [loopback_v4(), loopback_v6()] {
        for sender in backends {
            for receiver in backends {
                exchange(address, sender, receiver);
            }
        }
    }
}

fn exchange(address: SocketAddr, sender: Backend, receiver: Backend) {
    let (mut from, mut to) = (udp(address, sender), udp(address, receiver));
    let target = to.local_addr().unwrap();
    let mut random = Random(7);
    let mut batch = SendBatch::new();
    let mut expected = Vec::new();
    for len in [1, 100, 1_200, 1_472, 9_000, 40_000] {
        let bytes = random.bytes(len);
        assert!(batch.push(&bytes, target, None));
        expected.push(bytes);
    }
    let segmented = random.bytes(10 * 300 + 17);
    assert!(batch.push(&segmented, target, Some(300)));
    expected.extend(segmented.chunks(300).map(<[u8]>::to_vec));

    let outcome = send_all(&mut from, &mut batch);
    assert_eq!(outcome.datagrams as usize, expected.len());
    assert_eq!(outcome.bytes as usize, expected.iter().map(Vec::len).sum::<usize>());
    assert_eq!(outcome.errors.total(), 0);

    let received = receive_datagrams(&mut to, expected.len());
    assert!(bytes_of(&received) == expected, "{sender:?} to {receiver:?} over {address}");
    assert!(received.iter().all(|(sender, _)| *sender == from.local_addr().unwrap()));
}

#[test]
fn empty_datagrams_are_sent_and_skipped_on_receive() {
    for backend in [Backend::Native, Backend::Portable] {
        let (mut from, mut to) = (udp(loopback_v4(), backend), udp(loopback_v4(), backend));
        let target = to.local_addr().unwrap();
        let mut batch = SendBatch::new();
        for bytes in [&b"before"[..], b"", b"after"] {
            assert!(batch.push(bytes, target, None));
        }
        assert_eq!(send_all(&mut from, &mut batch).datagrams, 3);
        assert_eq!(bytes_of(&receive_datagrams(&mut to, 2)), [b"before".to_vec(), b"after".to_vec()]);
    }
}

#[test]
fn a_socket_reports_its_backend() {
    assert_eq!(udp(loopback_v4(), Backend::Native).backend() == Backend::Native, cfg!(target_os = "linux"));
    assert_eq!(udp(loopback_v4(), Backend::Portable).backend(), Backend::Portable);
}

#[test]
fn a_drained_socket_returns_zero() {
    for backend in [Backend::Native, Backend::Portable] {
        let mut socket = udp(loopback_v4(), backend);
        assert_eq!(socket.receive_batch(&mut ReceiveBatch::with_buffers(1)).unwrap(), 0);
    }
}

#[test]
fn more_datagrams_than_buffers_arrive_in_several_batches() {
    for backend in [Backend::Native, Backend::Portable] {
        let (mut from, mut to) = (udp(loopback_v4(), Backend::Portable), udp(loopback_v4(), backend));
        let target = to.local_addr().unwrap();
        let mut batch = SendBatch::new();
        for number in 0..10 {
            assert!(batch.push(&[number], target, None));
        }
        send_all(&mut from, &mut batch);
        let mut received = ReceiveBatch::with_buffers(4);
        let mut numbers = Vec::new();
        while to.receive_batch(&mut received).unwrap() > 0 {
            numbers.extend(received.datagrams().map(|datagram| datagram.bytes[0]));
        }
        assert_eq!(numbers, (0..10).collect::<Vec<u8>>());
    }
}

#[test]
fn the_granted_buffer_size_is_reported() {
    let socket = udp(loopback_v4(), Backend::Native);
    let grants = socket.buffer_grants();
    assert_eq!(grants.receive_asked, 512 << 10);
    assert!(grants.receive_granted > 0 && grants.send_granted > 0);
    let huge = UdpOptions { receive_buffer_bytes: 1 << 30, ..UdpOptions::client() };
    let grants = UdpSocket::bind(loopback_v4(), &huge).unwrap().buffer_grants();
    assert_eq!(grants.is_short(), grants.receive_granted < 1 << 30);
}

#[test]
#[cfg(target_os = "linux")]
fn datagrams_beyond_the_receive_buffer_are_counted() {
    let (mut from, to) = (udp(loopback_v4(), Backend::Native), udp(loopback_v4(), Backend::Native));
    assert_eq!(to.receive_drops(), Some(0));
    let target = to.local_addr().unwrap();
    let mut batch = SendBatch::with_capacity(64, 1 << 21);
    for _ in 0..64 {
        assert!(batch.push(&[0; 30_000], target, None));
    }
    send_all(&mut from, &mut batch);
    assert!(to.receive_drops() > Some(0), "2 MB do not fit into 512 KB");
}
