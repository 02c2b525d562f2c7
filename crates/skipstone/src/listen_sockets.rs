//! Sockets that a server takes over instead of opening them: from the previous process, or from a supervisor such as
//! systemd. Datagrams and streams that arrive between two processes then wait in the kernel instead of finding a closed
//! port.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;

/// The sockets of a server that pass from one process to the next: one of UDP for each shard, and one of TCP if the
/// server serves streams. [`Server::listen_sockets`](crate::Server::listen_sockets) returns those of a running server,
/// [`ServerConfig::sockets`](crate::ServerConfig::sockets) accepts them. They close when the last clone is dropped and
/// no server uses them.
#[derive(Clone, Debug)]
pub struct ListenSockets(Arc<Vec<ShardSockets>>);

/// The sockets of one shard.
#[derive(Debug)]
pub(crate) struct ShardSockets {
    pub(crate) udp: UdpSocket,
    pub(crate) tcp: Option<TcpListener>,
}

impl ShardSockets {
    pub(crate) fn try_clone(&self) -> io::Result<ShardSockets> {
        let tcp = self.tcp.as_ref().map(TcpListener::try_clone).transpose()?;
        Ok(ShardSockets { udp: self.udp.try_clone()?, tcp })
    }
}

impl ListenSockets {
    /// Joins sockets of UDP and of TCP by shard, in their order.
    ///
    /// # Errors
    /// There is no UDP socket; there are TCP sockets, but not as many as UDP sockets; or the sockets are not on one
    /// port.
    pub fn new(udp: Vec<UdpSocket>, tcp: Vec<TcpListener>) -> io::Result<Self> {
        let wrong = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        let (shards, streams) = (udp.len(), tcp.len());
        if shards == 0 {
            return Err(wrong("a server needs a socket of UDP".into()));
        }
        if streams != 0 && streams != shards {
            return Err(wrong(format!("{shards} sockets of UDP and {streams} of TCP: a shard has one of each")));
        }
        let mut ports = Vec::new();
        for address in udp.iter().map(UdpSocket::local_addr).chain(tcp.iter().map(TcpListener::local_addr)) {
            ports.push(address?.port());
        }
        if let Some(other) = ports.iter().find(|port| **port != ports[0]) {
            return Err(wrong(format!("sockets on the ports {} and {other}: a server has one port", ports[0])));
        }
        let mut tcp = tcp.into_iter();
        Ok(ListenSockets::of(udp.into_iter().map(|udp| ShardSockets { udp, tcp: tcp.next() }).collect()))
    }

    pub(crate) fn of(shards: Vec<ShardSockets>) -> Self {
        ListenSockets(Arc::new(shards))
    }

    pub(crate) fn shards(&self) -> &[ShardSockets] {
        &self.0
    }

    /// The address of the first socket.
    ///
    /// # Errors
    /// The system does not report the address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0[0].udp.local_addr()
    }

    /// The sockets of UDP, by shard.
    pub fn udp(&self) -> impl Iterator<Item = &UdpSocket> {
        self.0.iter().map(|shard| &shard.udp)
    }

    /// The sockets of TCP, by shard; none if the server serves no streams.
    pub fn tcp(&self) -> impl Iterator<Item = &TcpListener> {
        self.0.iter().filter_map(|shard| shard.tcp.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").expect("a port")
    }

    #[test]
    fn unsuitable_sockets_are_refused_with_the_reason() {
        let refused = |udp, tcp| ListenSockets::new(udp, tcp).expect_err("no server has these").to_string();
        let tcp = || TcpListener::bind("127.0.0.1:0").expect("a port");
        assert!(refused(Vec::new(), Vec::new()).contains("needs a socket of UDP"));
        assert!(refused(vec![udp()], vec![tcp(), tcp()]).contains("2 of TCP"));
        assert!(refused(vec![udp(), udp()], Vec::new()).contains("one port"));
    }
}
