//! What an endpoint has to send.

use crate::path::Path;

/// Datagrams to send along one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub path: Path,
    /// Bytes of the buffer that were written.
    pub bytes: usize,
    /// They are several datagrams of so many bytes each, of which the last may be shorter.
    pub segment_bytes: usize,
}

/// What a connection that wrote has still to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    /// Messages, and what leaves with them.
    Messages,
    /// Anything: it wrote a packet that is none of its stream's.
    Any,
}
