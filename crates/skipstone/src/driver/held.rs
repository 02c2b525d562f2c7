//! A packet that waits for the next one, so that the processor has time to prefetch the data for writing it.

/// A packet for a stream that is not written yet.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The endpoint's buffer, with the packet after the space for its frame's head.
    pub(super) buffer: Vec<u8>,
    /// Number of the socket, and bytes of the packet.
    pub(super) packet: Option<(u32, usize)>,
}
