//! Datagrams that an endpoint has to send.

use crate::path::Path;

/// Datagrams to send along one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The path to send along.
    pub path: Path,
    /// Bytes of the buffer that were written.
    pub bytes: usize,
    /// Size of each datagram in the buffer; the last one may be shorter.
    pub segment_bytes: usize,
}

/// Data that a connection still has to send after it wrote datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    /// Messages, and frames that leave with them.
    Messages,
    /// Possibly more: the connection wrote only a control packet.
    Any,
}
