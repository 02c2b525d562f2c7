//! A socket on all addresses says where each datagram was sent to, and answers from there.

use super::*;
use std::net::IpAddr;

/// Asks a socket on all addresses at this one, and returns where it says that it was asked, and where its answers came from.
fn ask(any: IpAddr, asked: IpAddr, backend: Backend) -> (Option<IpAddr>, Vec<IpAddr>) {
    let options = UdpOptions { reports_local: true, backend, ..UdpOptions::client() };
    let mut server = UdpSocket::bind((any, 0).into(), &options).expect("all addresses can be bound");
    let port = server.local_addr().expect("it is bound").port();
    let own = if asked.is_ipv4() { loopback_v4() } else { loopback_v6() };
    let mut client = udp(own, Backend::Portable);
    let mut batch = SendBatch::new();
    assert!(batch.push(b"hello", SocketAddr::new(asked, port), None));
    send_all(&mut client, &mut batch);
    let (mut received, end) = (ReceiveBatch::new(), Instant::now() + Duration::from_secs(5));
    while server.receive_batch(&mut received).expect("it receives") == 0 {
        assert!(Instant::now() < end, "{asked} is one of this machine's addresses");
        std::thread::yield_now();
    }
    let from = received.datagrams().next().expect("it came").addresses();
    // One datagram, and three in one call.
    assert!(batch.push(b"welcome", from, None));
    assert!(batch.push(&[7; 300], from, Some(100)));
    assert_eq!(send_all(&mut server, &mut batch).datagrams, 4);
    let answers = receive_datagrams(&mut client, 4);
    assert!(answers.iter().all(|(from, _)| from.port() == port));
    (from.local, answers.into_iter().map(|(from, _)| from.ip()).collect())
}

#[test]
fn each_answer_comes_from_the_address_that_was_asked() {
    let [v4, v6]: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let all = [[127, 0, 0, 1], [127, 0, 0, 2], [127, 9, 9, 9]].map(IpAddr::from);
    // Elsewhere, the loopback has one address of IPv4.
    let loopback = if cfg!(target_os = "linux") { &all[..] } else { &all[..1] };
    for backend in [Backend::Native, Backend::Portable] {
        for asked in loopback.iter().copied() {
            for any in [v4, v6] {
                assert_eq!(ask(any, asked, backend), (Some(asked), vec![asked; 4]), "{any}, {backend:?}");
            }
        }
        let asked = Ipv6Addr::LOCALHOST.into();
        assert_eq!(ask(v6, asked, backend), (Some(asked), vec![asked; 4]), "{backend:?}");
    }
}

#[test]
fn a_socket_on_one_address_says_nothing() {
    for backend in [Backend::Native, Backend::Portable] {
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(ask(local, local, backend).0, None);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_from_an_address_that_is_gone_leaves_from_another() {
    for backend in [Backend::Native, Backend::Portable] {
        let (mut server, mut client) = (udp((Ipv4Addr::UNSPECIFIED, 0).into(), backend), udp(loopback_v4(), backend));
        let (mut batch, remote) = (SendBatch::new(), client.local_addr().expect("it is bound"));
        let gone = AddressPair { local: Some(Ipv4Addr::new(192, 0, 2, 77).into()), remote };
        assert!(batch.push(b"welcome", gone, None));
        assert_eq!(send_all(&mut server, &mut batch).errors.total(), 0);
        assert_eq!(receive_datagrams(&mut client, 1).len(), 1);
    }
}
