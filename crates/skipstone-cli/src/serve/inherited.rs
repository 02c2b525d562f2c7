//! Inherited sockets: of the previous server, or of systemd's socket activation. Both
//! hand them over by the variable LISTEN_FDS.

use skipstone::ListenSockets;
use std::net::{SocketAddr, TcpListener};

/// The sockets by their use.
#[derive(Debug, Default)]
pub(super) struct Inherited {
    pub(super) game: Option<ListenSockets>,
    pub(super) console: Option<TcpListener>,
    pub(super) dashboard: Option<TcpListener>,
}

/// Where this server would listen.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(unix), allow(dead_code, reason = "sockets are handed over on Unix alone"))]
pub(super) struct Addresses {
    pub(super) game: SocketAddr,
    pub(super) console: Option<SocketAddr>,
    pub(super) dashboard: Option<SocketAddr>,
}

impl Inherited {
    /// Takes the sockets that were handed over, if there are any. The error is a sentence with the remedy.
    #[cfg(unix)]
    pub(super) fn take(addresses: Addresses) -> Result<Self, String> {
        let mut handed = listenfd::ListenFd::from_env();
        let (mut udp, mut tcp) = (Vec::new(), Vec::new());
        for place in 0..handed.len() {
            // Each socket is queried for its kind: an error means the other kind.
            if let Ok(Some(socket)) = handed.take_udp_socket(place) {
                udp.push(socket);
            } else if let Ok(Some(listener)) = handed.take_tcp_listener(place) {
                tcp.push(listener);
            } else {
                return Err(format!("socket {place} of LISTEN_FDS is neither UDP nor TCP: hand over only those"));
            }
        }
        if udp.is_empty() && tcp.is_empty() {
            return Ok(Inherited::default());
        }
        sort(udp, tcp, addresses)
    }

    /// Nothing is handed over.
    #[cfg(not(unix))]
    pub(super) fn take(_: Addresses) -> Result<Self, String> {
        Ok(Inherited::default())
    }
}

/// Distinguishes the game's sockets from the console's and the dashboard's by their ports.
#[cfg(unix)]
fn sort(udp: Vec<std::net::UdpSocket>, tcp: Vec<TcpListener>, addresses: Addresses) -> Result<Inherited, String> {
    let text = |error: std::io::Error| format!("a socket that was handed over has no address: {error}");
    let Some(port) = udp.first().map(|first| first.local_addr()).transpose().map_err(text)?.map(|at| at.port()) else {
        return Err("LISTEN_FDS contains no UDP socket: hand over the socket of --listen, too".into());
    };
    if addresses.game.port() != 0 && addresses.game.port() != port {
        let game = addresses.game;
        return Err(format!("the sockets that were handed over use port {port}, but --listen is {game}: use one port"));
    }
    let (mut game, mut inherited) = (Vec::new(), Inherited::default());
    for listener in tcp {
        let at = listener.local_addr().map_err(text)?;
        let is_of = |address: Option<SocketAddr>| address.is_some_and(|address| address.port() == at.port());
        let may_be_any = |address: Option<SocketAddr>| address.is_some_and(|address| address.port() == 0);
        if at.port() == port {
            game.push(listener);
        } else if is_of(addresses.console) || may_be_any(addresses.console) && inherited.console.is_none() {
            inherited.console = Some(listener);
        } else if is_of(addresses.dashboard) || may_be_any(addresses.dashboard) {
            inherited.dashboard = Some(listener);
        } else {
            return Err(format!(
                "no listener of this server uses {at}, which was handed over: see --console and --dashboard"
            ));
        }
    }
    let sockets =
        ListenSockets::new(udp, game).map_err(|error| format!("the sockets that were handed over: {error}"))?;
    Ok(Inherited { game: Some(sockets), ..inherited })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    fn port(of: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], of))
    }

    fn listener() -> TcpListener {
        TcpListener::bind(port(0)).expect("a port")
    }

    /// UDP and TCP on one port. If the port that the system chose for UDP is in use for TCP, another port is tried.
    fn one_port() -> (UdpSocket, TcpListener) {
        let both = || {
            let udp = UdpSocket::bind(port(0)).expect("a port");
            TcpListener::bind(udp.local_addr().expect("an address")).ok().map(|tcp| (udp, tcp))
        };
        (0..20).find_map(|_| both()).expect("a port that is free for UDP and for TCP")
    }

    #[test]
    fn sockets_find_their_use_by_their_ports() {
        let ((udp, tcp), console) = (one_port(), listener());
        let at = udp.local_addr().expect("an address");
        let console_at = console.local_addr().expect("an address");
        let addresses = Addresses { game: at, console: Some(console_at), dashboard: None };
        let sorted = sort(vec![udp], vec![console, tcp], addresses).expect("each has its use");
        let game = sorted.game.expect("there are some");
        assert_eq!((game.local_addr().expect("an address"), game.tcp().count()), (at, 1));
        assert_eq!(sorted.console.map(|console| console.local_addr().expect("an address")), Some(console_at));
    }

    #[test]
    fn sockets_without_a_use_are_named() {
        let udp = || UdpSocket::bind(port(0)).expect("a port");
        let none = Addresses { game: port(0), console: None, dashboard: None };
        let error = sort(vec![udp()], vec![listener()], none).expect_err("no listener is there");
        assert!(error.contains("--console"), "{error}");
        let error = sort(Vec::new(), vec![listener()], none).expect_err("no game without UDP");
        assert!(error.contains("no UDP socket"), "{error}");
        let error = sort(vec![udp()], Vec::new(), Addresses { game: port(1), ..none }).expect_err("another port");
        assert!(error.contains("use one port"), "{error}");
    }
}
