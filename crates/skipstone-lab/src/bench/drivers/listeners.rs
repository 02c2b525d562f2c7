//! Sockets of all drivers: non-blocking, with the buffer sizes that Skipstone requests, so that no transport
//! loses more in a burst than another.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use crate::socket_error::text;

/// How long a TCP connection may take; on one machine it takes microseconds.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// As Skipstone's servers and clients.
const SERVER_BYTES: usize = 4 << 20;
const CLIENT_BYTES: usize = 512 << 10;

#[cfg_attr(not(feature = "peers"), expect(dead_code, reason = "for the peers over UDP"))]
pub(super) fn udp_server(listen: SocketAddr) -> Result<(UdpSocket, SocketAddr), String> {
    let socket = udp(listen, SERVER_BYTES).map_err(text("listen"))?;
    let address = socket.local_addr().map_err(text("listen"))?;
    Ok((socket, address))
}

/// A client's socket, with its own port.
pub(super) fn udp_client(server: SocketAddr) -> io::Result<UdpSocket> {
    udp(any(server), CLIENT_BYTES)
}

/// Any address of the family of this one.
pub(super) fn any(like: SocketAddr) -> SocketAddr {
    match like {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

fn udp(address: SocketAddr, buffer_bytes: usize) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    socket.set_nonblocking(true)?;
    let _ = socket.set_recv_buffer_size(buffer_bytes);
    let _ = socket.set_send_buffer_size(buffer_bytes);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

pub(super) fn tcp_server(listen: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(listen), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.bind(&listen.into())?;
    socket.listen(4_096)?;
    Ok(socket.into())
}

/// A connected stream; the server's kernel accepted it.
pub(super) fn tcp_client(server: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&server, CONNECT_MAX)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}
