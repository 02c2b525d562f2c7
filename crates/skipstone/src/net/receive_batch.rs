//! Buffers for one `recvmmsg`, and the datagrams in them. Nothing here calls the kernel; `udp` does.

use std::net::{IpAddr, SocketAddr};

use super::address::{AddressPair, plain};

/// Buffers for [`UdpSocket::receive_batch`](super::udp::UdpSocket::receive_batch), shared by all sockets of a driver:
/// each holds 64 KiB, as much as the kernel coalesces (GRO), of which only touched pages cost memory.
///
/// ```text
/// while socket.receive_batch(&mut batch)? > 0 { for received in batch.datagrams() { … } }
/// ```
#[derive(Debug)]
pub struct ReceiveBatch {
    arena: Box<[u8]>,
    slots: Vec<Slot>,
    capacity: usize,
    /// The last receive found fewer datagrams than it had buffers for.
    is_short: bool,
}

/// Contents of one buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) len: usize,
    pub(super) from: SocketAddr,
    /// The address at which it arrived, if the socket reports that.
    pub(super) local: Option<IpAddr>,
    /// The size of each datagram in the buffer, if the kernel coalesced several.
    pub(super) segment_bytes: Option<usize>,
}

/// One datagram.
#[derive(Debug)]
pub struct Received<'a> {
    /// The sender's address; an IPv4 sender is V4 on a dual-stack socket too.
    pub from: SocketAddr,
    /// This host's address to which it was sent, if the socket [reports](super::udp::UdpOptions::reports_local) that.
    pub local: Option<IpAddr>,
    /// The payload, writable so that it can be decrypted in place.
    pub bytes: &'a mut [u8],
}

impl Received<'_> {
    /// Both addresses: an answer goes there.
    pub fn addresses(&self) -> AddressPair {
        AddressPair { local: self.local, remote: self.from }
    }
}

impl ReceiveBatch {
    /// 64 buffers, one full `recvmmsg`.
    pub fn new() -> ReceiveBatch {
        ReceiveBatch::with_buffers(64)
    }

    /// `buffers` buffers of 64 KiB each, at most 64 of which one system call fills.
    ///
    /// # Panics
    /// If `buffers` is 0.
    pub fn with_buffers(buffers: usize) -> ReceiveBatch {
        assert!(buffers > 0, "a receive batch must have a buffer");
        ReceiveBatch {
            arena: vec![0; buffers * BUFFER_BYTES].into_boxed_slice(),
            slots: Vec::with_capacity(buffers),
            capacity: buffers,
            is_short: false,
        }
    }

    /// The datagrams of the last receive, coalesced ones split. Empty datagrams carry nothing and are left out, as are
    /// those from port 0, which cannot be answered.
    pub fn datagrams(&mut self) -> impl Iterator<Item = Received<'_>> {
        let buffers = self.arena.chunks_exact_mut(BUFFER_BYTES);
        let answerable = buffers.zip(&self.slots).filter(|(_, slot)| slot.from.port() != 0);
        answerable.flat_map(|(buffer, slot)| {
            let bytes = &mut buffer[..slot.len];
            let datagram_bytes = slot.segment_bytes.unwrap_or(slot.len).max(1);
            let (from, local) = (plain(slot.from), slot.local.map(|ip| ip.to_canonical()));
            bytes.chunks_mut(datagram_bytes).map(move |bytes| Received { from, local, bytes })
        })
    }

    /// Whether the last receive emptied the socket, so that another receive would find nothing: readiness is reported
    /// again when a datagram arrives.
    pub fn is_short(&self) -> bool {
        self.is_short
    }

    /// Notes how many buffers a receive had.
    #[cfg(target_os = "linux")]
    pub(super) fn note_buffers(&mut self, buffers: usize) {
        self.is_short = self.slots.len() < buffers;
    }

    /// Number of buffers worth preparing: twice the last number of received ones, since preparing all 64 costs as much
    /// as a system call, and most receives find a few datagrams or none.
    #[cfg(target_os = "linux")]
    pub(super) fn likely(&self) -> usize {
        (2 * self.slots.len()).max(LIKELY_MIN)
    }

    /// Removes the results of the last receive and lends all buffers, with the places for their contents.
    pub(super) fn fill(&mut self) -> (impl Iterator<Item = &mut [u8]>, &mut Vec<Slot>) {
        self.slots.clear();
        self.is_short = false;
        let buffers = self.arena.chunks_exact_mut(BUFFER_BYTES).take(self.capacity);
        (buffers, &mut self.slots)
    }
}

impl Default for ReceiveBatch {
    fn default() -> ReceiveBatch {
        ReceiveBatch::new()
    }
}

const BUFFER_BYTES: usize = 64 << 10;
/// Buffers prepared after a receive that found nothing.
#[cfg(target_os = "linux")]
const LIKELY_MIN: usize = 2;
