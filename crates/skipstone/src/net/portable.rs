//! UDP by one system call per datagram: macOS, Windows, and wherever [`Backend::Portable`](super::udp::Backend) was
//! requested. It has the same results as `linux`, only slower. quinn-udp makes the system calls with control messages;
//! a system that refuses one of its options (Wine does) uses the calls of `std`, without local addresses and without
//! "don't fragment".

use std::io::{self, IoSliceMut};

use mio::net::UdpSocket;
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};

use super::address::Family;
use super::receive_batch::{ReceiveBatch, Slot};
use super::send_batch::SendBatch;

/// The abilities of a socket.
#[derive(Debug)]
pub(super) struct Portable {
    /// The system's error if it refuses an option that quinn-udp sets.
    state: io::Result<UdpSocketState>,
    /// Local addresses are reported.
    reports_local: bool,
}

/// Whether quinn-udp can, on this system, read the destination of a datagram and send the answer from there.
const KNOWS_LOCAL: bool = cfg!(any(
    windows,
    target_vendor = "apple",
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "openbsd",
    target_os = "netbsd",
));

impl Portable {
    /// Sets the options of a bound socket: "don't fragment", local addresses of received datagrams.
    pub(super) fn new(socket: &UdpSocket, reports_local: bool) -> Portable {
        Portable { state: UdpSocketState::new(UdpSockRef::from(socket)), reports_local }
    }

    /// Whether the socket reports the destination of a datagram.
    pub(super) fn knows_local(&self) -> bool {
        KNOWS_LOCAL && self.state.is_ok()
    }

    /// A sentence with the problem, if the system refuses the socket's options or may fragment its datagrams.
    pub(super) fn remedy(&self) -> Option<String> {
        remedy(self.state.as_ref().map(UdpSocketState::may_fragment))
    }

    /// Sends the first datagram that waits. The number of pieces sent (one), or the error of that piece.
    pub(super) fn send(&self, socket: &UdpSocket, family: Family, batch: &SendBatch) -> io::Result<usize> {
        let Some(piece) = batch.pieces(false).next() else {
            return Ok(0);
        };
        let Some(destination) = family.to_kernel(piece.to.remote) else {
            return Err(io::ErrorKind::NetworkUnreachable.into());
        };
        let (contents, src_ip) = (piece.bytes, piece.to.local);
        let transmit = Transmit { destination, ecn: None, contents, segment_size: None, src_ip };
        match &self.state {
            Ok(state) => state.try_send(UdpSockRef::from(socket), &transmit)?,
            Err(_) => drop(socket.send_to(contents, destination)?),
        }
        Ok(1)
    }

    /// Fills the batch until the socket is drained or an error occurs; an error counts only if no datagram was received
    /// before it.
    pub(super) fn receive(&self, socket: &UdpSocket, batch: &mut ReceiveBatch) -> io::Result<usize> {
        let (buffers, slots) = batch.fill();
        for buffer in buffers {
            match self.receive_one(socket, buffer) {
                Ok(RecvMeta { addr: from, len, stride, dst_ip, .. }) => {
                    let local = dst_ip.filter(|ip| self.reports_local && !ip.is_multicast());
                    let segment_bytes = Some(stride).filter(|stride| (1..len).contains(stride));
                    slots.push(Slot { len, from, local, segment_bytes });
                }
                Err(error) if slots.is_empty() => return Err(error),
                // The error comes again at the next call, which must happen: only zero datagrams mean "drained".
                Err(_) => break,
            }
        }
        Ok(slots.len())
    }

    fn receive_one(&self, socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<RecvMeta> {
        let mut meta = [RecvMeta::default()];
        match &self.state {
            Ok(state) => drop(state.recv(UdpSockRef::from(socket), &mut [IoSliceMut::new(buffer)], &mut meta)?),
            Err(_) => {
                let (len, addr) = socket.recv_from(buffer)?;
                (meta[0].len, meta[0].stride, meta[0].addr) = (len, len, addr);
            }
        }
        let [meta] = meta;
        Ok(meta)
    }
}

/// A sentence about a system that may fragment datagrams, or refuses an option.
fn remedy(may_fragment: Result<bool, &io::Error>) -> Option<String> {
    let why = match may_fragment {
        Ok(false) => return None,
        Ok(true) => "it has no option against it".to_owned(),
        Err(error) => format!("it refuses an option of the socket: {error}"),
    };
    Some(format!(
        "this system may split datagrams that are longer than the path carries, of which a part that is lost loses the \
         whole ({why}). Remedy: none on this system; connections work"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_may_fragment_datagrams_is_reported() {
        assert_eq!(remedy(Ok(false)), None);
        let refused = io::Error::from(io::ErrorKind::Unsupported);
        assert!(remedy(Err(&refused)).is_some_and(|sentence| sentence.contains(&refused.to_string())));
        assert!(remedy(Ok(true)).is_some_and(|sentence| sentence.contains("no option")));
    }
}
