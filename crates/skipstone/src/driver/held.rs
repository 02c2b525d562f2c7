//! A packet that waits for the next one, so that the processor has time to fetch what writing it needs.

/// A packet for a stream that is not written yet.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Where the endpoint wrote it, behind the room for its frame's head.
    pub(super) buffer: Vec<u8>,
    /// Number of the socket, and bytes of the packet.
    pub(super) packet: Option<(u32, usize)>,
}
