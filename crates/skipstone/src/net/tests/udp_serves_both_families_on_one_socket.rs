//! `[::]` serves IPv4 and IPv6 peers; IPv4 peers look like IPv4 peers.

use super::*;

fn any_v6(only_v6: Option<bool>, backend: Backend) -> UdpSocket {
    let address = (Ipv6Addr::UNSPECIFIED, 0).into();
    UdpSocket::bind(address, &UdpOptions { only_v6, backend, ..UdpOptions::client() }).unwrap()
}

#[test]
fn peers_of_both_families_are_received_and_answered() {
    for backend in [Backend::Native, Backend::Portable] {
        let mut server = any_v6(None, backend);
        let port = server.local_addr().unwrap().port();
        let mut batch = SendBatch::new();
        let mut clients = [udp(loopback_v4(), backend), udp(loopback_v6(), backend)];
        for client in &mut clients {
            let server = SocketAddr::new(client.local_addr().unwrap().ip(), port);
            assert!(batch.push(b"hello", server, None));
            send_all(client, &mut batch);
        }
        let mut heard = receive_datagrams(&mut server, 2);
        heard.sort();
        let addresses: Vec<_> = heard.iter().map(|(from, _)| *from).collect();
        assert_eq!(addresses, clients.each_ref().map(|client| client.local_addr().unwrap()));
        for address in addresses {
            assert!(batch.push(b"welcome", address, None));
        }
        assert_eq!(send_all(&mut server, &mut batch).datagrams, 2);
        for client in &mut clients {
            let answer = receive_datagrams(client, 1);
            let server = SocketAddr::new(client.local_addr().unwrap().ip(), port);
            assert_eq!(answer, [(server, b"welcome".to_vec())]);
        }
    }
}

#[test]
fn an_ipv6_only_socket_refuses_ipv4_peers() {
    let mut server = any_v6(Some(true), Backend::Native);
    let mut batch = SendBatch::new();
    assert!(batch.push(b"hello", SocketAddr::from((Ipv4Addr::LOCALHOST, 9)), None));
    assert_eq!(send_all(&mut server, &mut batch).errors.unreachable, 1);
}

#[test]
fn shards_share_a_port_only_if_configured() {
    let shared = UdpOptions { reuse_port: true, ..UdpOptions::client() };
    let first = UdpSocket::bind(loopback_v4(), &shared).unwrap();
    let address = first.local_addr().unwrap();
    assert!(UdpSocket::bind(address, &UdpOptions::client()).is_err());
    if cfg!(unix) {
        UdpSocket::bind(address, &shared).unwrap();
    }
}
