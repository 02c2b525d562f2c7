//! UDP through plain sockets, one system call per datagram: macOS, Windows, and wherever
//! [`Backend::Portable`](super::udp::Backend) was asked for. Same results as `linux`, only slower.

use std::io;

use mio::net::UdpSocket;

use super::address::Family;
use super::receive_batch::{ReceiveBatch, Slot};
use super::send_batch::SendBatch;

/// Sends the first datagram that waits. The number of pieces sent (one), or the error of that piece.
pub(super) fn send(socket: &UdpSocket, family: Family, batch: &SendBatch) -> io::Result<usize> {
    let Some(piece) = batch.pieces(false).next() else {
        return Ok(0);
    };
    let Some(to) = family.to_kernel(piece.to) else {
        return Err(io::ErrorKind::NetworkUnreachable.into());
    };
    socket.send_to(piece.bytes, to)?;
    Ok(1)
}

/// Fills the batch until the socket is drained or an error comes; an error counts only if nothing came before it.
pub(super) fn receive(socket: &UdpSocket, batch: &mut ReceiveBatch) -> io::Result<usize> {
    let (buffers, slots) = batch.fill();
    for buffer in buffers {
        match socket.recv_from(buffer) {
            Ok((len, from)) => slots.push(Slot { len, from, segment_bytes: None }),
            Err(error) if slots.is_empty() => return Err(error),
            // The error comes again at the next call, which must happen: only zero datagrams mean "drained".
            Err(_) => break,
        }
    }
    Ok(slots.len())
}
