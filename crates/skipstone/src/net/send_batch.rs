//! Datagrams that wait for one `sendmmsg`: an arena that the caller writes into, and a queue of transmits in the arena.
//! Nothing here calls the kernel; `udp` does.

use super::address::AddressPair;

/// The longest transmit, and the longest datagram that IPv4 can carry.
pub const TRANSMIT_BYTES_MAX: usize = 65_507;
/// The most datagrams in one transmit: the kernel's `UDP_MAX_SEGMENTS` of its first years.
pub const SEGMENTS_MAX: usize = 64;

/// Transmits that wait for [`UdpSocket::send_batch`](super::udp::UdpSocket::send_batch): a fixed arena and a fixed
/// number of places, so the batch never allocates after its creation. Use one batch per socket, since datagrams that
/// would block stay in the batch.
///
/// ```text
/// space(n) -> &mut [u8], write, commit(len, to, segment)   until is_full(), then socket.send_batch(&mut batch)
/// ```
#[derive(Debug)]
pub struct SendBatch {
    arena: Box<[u8]>,
    used_bytes: usize,
    /// Bytes that `space` handed out; `commit` must not exceed them.
    reserved_bytes: usize,
    transmits: Vec<Transmit>,
    first: usize,
}

/// One queued transmit; `start` moves on when a part of it was sent.
#[derive(Clone, Copy, Debug)]
struct Transmit {
    start: usize,
    len: usize,
    to: AddressPair,
    segment_bytes: Option<u16>,
    /// The kernel refused this transmit as a whole.
    one_by_one: bool,
}

/// One entry of a system call: a datagram, or several of `segment_bytes` each (the last may be shorter).
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) to: AddressPair,
    pub(super) segment_bytes: Option<u16>,
}

impl Piece<'_> {
    pub(super) fn datagrams(&self) -> u64 {
        match self.segment_bytes {
            Some(segment) => self.bytes.len().div_ceil(usize::from(segment)) as u64,
            None => 1,
        }
    }
}

impl SendBatch {
    /// 64 transmits in 1 MiB: one full `sendmmsg`, and about what a tick of 700 full packets needs.
    pub fn new() -> SendBatch {
        SendBatch::with_capacity(64, 1 << 20)
    }

    /// Room for `transmits` of together `bytes`. A batch can hold any number; each system call takes up to 64 of them.
    ///
    /// # Panics
    /// If `transmits` is 0.
    pub fn with_capacity(transmits: usize, bytes: usize) -> SendBatch {
        assert!(transmits > 0, "a send batch must hold at least one transmit");
        SendBatch {
            arena: vec![0; bytes].into_boxed_slice(),
            used_bytes: 0,
            reserved_bytes: 0,
            transmits: Vec::with_capacity(transmits),
            first: 0,
        }
    }

    /// `bytes_max` bytes to write a transmit into, or `None` if they (or a place) are not free: then send first.
    /// Without a [`commit`](Self::commit) the space is simply handed out again.
    pub fn space(&mut self, bytes_max: usize) -> Option<&mut [u8]> {
        let free = self.arena.len() - self.used_bytes;
        if self.is_full() || bytes_max > free {
            return None;
        }
        self.reserved_bytes = bytes_max;
        Some(&mut self.arena[self.used_bytes..][..bytes_max])
    }

    /// Queues the first `len` bytes of the last [`space`](Self::space) for `to`, from the local address if it names
    /// one. With `segment_bytes` they are several datagrams of that size, the last one maybe shorter: one GSO call
    /// where the kernel can, else one by one.
    ///
    /// # Panics
    /// If `len` exceeds the space or [`TRANSMIT_BYTES_MAX`], or if there are more than [`SEGMENTS_MAX`] segments.
    pub fn commit(&mut self, len: usize, to: impl Into<AddressPair>, segment_bytes: Option<usize>) {
        assert!(len <= self.reserved_bytes, "commit of more bytes than space() gave");
        assert!(len <= TRANSMIT_BYTES_MAX, "a transmit must fit into one UDP call");
        let segment_bytes = segment_bytes.filter(|segment| *segment < len);
        if let Some(segment) = segment_bytes {
            assert!(segment > 0, "a segment must have bytes");
            assert!(len.div_ceil(segment) <= SEGMENTS_MAX, "too many segments in one transmit");
        }
        self.transmits.push(Transmit {
            start: self.used_bytes,
            len,
            to: to.into(),
            segment_bytes: segment_bytes.map(|segment| segment as u16),
            one_by_one: false,
        });
        self.used_bytes += len;
        self.reserved_bytes = 0;
    }

    /// Copies `bytes` in as one transmit; `false` if there is no room.
    ///
    /// # Panics
    /// As [`commit`](Self::commit): if `bytes` has more than [`TRANSMIT_BYTES_MAX`], or more than [`SEGMENTS_MAX`]
    /// segments.
    pub fn push(&mut self, bytes: &[u8], to: impl Into<AddressPair>, segment_bytes: Option<usize>) -> bool {
        let Some(space) = self.space(bytes.len()) else {
            return false;
        };
        space.copy_from_slice(bytes);
        self.commit(bytes.len(), to, segment_bytes);
        true
    }

    /// Whether every place for a transmit is taken (the arena may be exhausted earlier: see [`space`](Self::space)).
    pub fn is_full(&self) -> bool {
        self.transmits.len() == self.transmits.capacity()
    }

    /// Whether no transmit waits.
    pub fn is_empty(&self) -> bool {
        self.first == self.transmits.len()
    }

    /// Transmits that wait.
    pub fn len(&self) -> usize {
        self.transmits.len() - self.first
    }

    /// Removes all transmits.
    pub fn clear(&mut self) {
        self.transmits.clear();
        self.used_bytes = 0;
        self.first = 0;
    }

    /// The waiting datagrams, in order, as entries for system calls; segmented transmits stay whole only `with_gso`.
    pub(super) fn pieces(&self, with_gso: bool) -> impl Iterator<Item = Piece<'_>> {
        self.transmits[self.first..].iter().flat_map(move |transmit| {
            let bytes = &self.arena[transmit.start..][..transmit.len];
            let whole = with_gso && !transmit.one_by_one;
            let (piece_bytes, segment_bytes) = match transmit.segment_bytes {
                Some(segment) if !whole => (usize::from(segment), None),
                // A remainder of one segment needs no splitting by the kernel.
                segment => (bytes.len(), segment.filter(|s| usize::from(*s) < bytes.len())),
            };
            // An empty datagram is valid: `chunks` would yield none.
            let empty = bytes.is_empty().then_some(bytes);
            let chunks = bytes.chunks(piece_bytes.max(1)).chain(empty);
            chunks.map(move |bytes| Piece { bytes, to: transmit.to, segment_bytes })
        })
    }

    /// Removes `bytes` at the front, which must be one piece of [`pieces`](Self::pieces).
    pub(super) fn advance(&mut self, bytes: usize) {
        let transmit = &mut self.transmits[self.first];
        transmit.start += bytes;
        transmit.len -= bytes;
        if transmit.len == 0 {
            self.first += 1;
        }
        if self.is_empty() {
            self.clear();
        }
    }

    /// The front transmit goes one datagram at a time from here on.
    pub(super) fn split_front(&mut self) {
        self.transmits[self.first].one_by_one = true;
    }

    /// The front transmit leaves from the address that the system chooses.
    pub(super) fn free_front(&mut self) {
        self.transmits[self.first].to.local = None;
    }
}

impl Default for SendBatch {
    fn default() -> SendBatch {
        SendBatch::new()
    }
}
