//! A socket on all addresses reports the destination of each datagram, and answers from there.

use super::*;
use std::net::IpAddr;

/// The outcome of a request.
struct Asked {
    /// The address at which the server says that it was asked.
    local: Option<IpAddr>,
    /// The source addresses of its answers.
    answered_from: Vec<IpAddr>,
    /// The system reports the destinations of datagrams.
    knows_local: bool,
}

/// Asks a socket on all addresses at this one.
fn ask(any: IpAddr, asked: IpAddr, backend: Backend) -> Asked {
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
    let answered_from = answers.into_iter().map(|(from, _)| from.ip()).collect();
    Asked { local: from.local, answered_from, knows_local: server.local_remedy().is_none() }
}

fn assert_answers_from_there(any: IpAddr, asked: IpAddr, backend: Backend) {
    let Asked { local, answered_from, knows_local } = ask(any, asked, backend);
    // Wine refuses the option, and such a system has one address of each kind on its loopback.
    assert!(knows_local || cfg!(windows), "{backend:?}");
    let expected = (knows_local.then_some(asked), vec![asked; 4]);
    assert_eq!((local, answered_from), expected, "{any}, {backend:?}");
}

#[test]
fn each_answer_leaves_from_the_requested_address() {
    let [v4, v6]: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let all = [[127, 0, 0, 1], [127, 0, 0, 2], [127, 9, 9, 9]].map(IpAddr::from);
    // On other systems, the loopback has one IPv4 address.
    let loopback = if cfg!(target_os = "linux") { &all[..] } else { &all[..1] };
    for backend in [Backend::Native, Backend::Portable] {
        for asked in loopback.iter().copied() {
            for any in [v4, v6] {
                assert_answers_from_there(any, asked, backend);
            }
        }
        assert_answers_from_there(v6, Ipv6Addr::LOCALHOST.into(), backend);
    }
}

#[test]
fn a_socket_bound_to_one_address_reports_none() {
    for backend in [Backend::Native, Backend::Portable] {
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(ask(local, local, backend).local, None);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_from_a_removed_address_leaves_from_another() {
    for backend in [Backend::Native, Backend::Portable] {
        let (mut server, mut client) = (udp((Ipv4Addr::UNSPECIFIED, 0).into(), backend), udp(loopback_v4(), backend));
        let (mut batch, remote) = (SendBatch::new(), client.local_addr().expect("it is bound"));
        let gone = AddressPair { local: Some(Ipv4Addr::new(192, 0, 2, 77).into()), remote };
        assert!(batch.push(b"welcome", gone, None));
        assert_eq!(send_all(&mut server, &mut batch).errors.total(), 0);
        assert_eq!(receive_datagrams(&mut client, 1).len(), 1);
    }
}
