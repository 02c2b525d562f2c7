//! Queries of server browsers, answered without a connection and without any state. WIRE.md sections 2.9 and 2.10.
//!
//! No query is answered unless the application sets an answer, and never with more bytes than the query, so a server
//! cannot be used for amplification.

use super::answer::ANSWER_BYTES_BESIDE;
use super::state::Endpoint;
use crate::connection::stats::DropReason;
use crate::mtu::BASE_BYTES;
use crate::path::Path;
use crate::wire::cursor::Writer;
pub use crate::wire::datagram::QUERY_BYTES_MIN;
use crate::wire::datagram::{self, Datagram};
use bytes::Bytes;

/// Maximum bytes of an application's answer: a query of 1,200 bytes is long enough for it.
pub const QUERY_PAYLOAD_BYTES_MAX: usize = BASE_BYTES as usize - ANSWER_BYTES_BESIDE;

/// An answer to queries is longer than [`QUERY_PAYLOAD_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryPayloadTooLong {
    /// Its length in bytes.
    pub bytes: usize,
}

impl core::fmt::Display for QueryPayloadTooLong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let bytes = self.bytes;
        write!(f, "an answer to queries has {bytes} bytes, and at most {QUERY_PAYLOAD_BYTES_MAX} fit into a datagram")
    }
}

impl core::error::Error for QueryPayloadTooLong {}

/// A server's answer to a query, decoded from its datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedAnswer<'a> {
    /// Nonce of the query.
    pub nonce: u64,
    /// Protocol versions that the server supports.
    pub versions: Vec<u16>,
    /// The application's answer.
    pub payload: &'a [u8],
}

impl<'a> DecodedAnswer<'a> {
    /// Decodes an ANSWER; `None` for any other datagram.
    pub fn decode(datagram: &'a [u8]) -> Option<Self> {
        match datagram::decode(datagram) {
            Ok(Datagram::Answer { nonce, versions, payload }) => {
                Some(DecodedAnswer { nonce, versions: versions.collect(), payload })
            }
            _ => None,
        }
    }
}

/// Fills the buffer with a QUERY, which requests an answer no longer than itself.
///
/// # Panics
/// If the buffer is shorter than [`QUERY_BYTES_MIN`].
pub fn encode_question(buffer: &mut [u8], nonce: u64) {
    let bytes = buffer.len();
    datagram::encode_query(&mut Writer::new(buffer), nonce, bytes);
}

impl Endpoint {
    /// Sets the answer to queries; `None` stops answering. [`Endpoint::poll_transmit`] then needs buffers of at least
    /// 1,200 bytes: an answer that does not fit is dropped.
    ///
    /// # Errors
    /// The answer is longer than [`QUERY_PAYLOAD_BYTES_MAX`]; the previous answer stays.
    pub fn set_query_answer(&mut self, payload: Option<Bytes>) -> Result<(), QueryPayloadTooLong> {
        let bytes = payload.as_ref().map_or(0, Bytes::len);
        if bytes > QUERY_PAYLOAD_BYTES_MAX {
            return Err(QueryPayloadTooLong { bytes });
        }
        self.replies.set_query_answer(payload);
        Ok(())
    }

    pub(super) fn handle_query(&mut self, path: Path, nonce: u64, length: usize) -> Result<(), DropReason> {
        // A server browser has no use for a stream without a connection, which would have to be closed.
        let is_wanted = self.is_server() && !path.carrier.is_bound;
        if !is_wanted || !self.replies.can_answer(length) {
            return Err(DropReason::UnansweredQuery);
        }
        if self.replies.push_answer(path, nonce) { Ok(()) } else { Err(DropReason::TooManyReplies) }
    }
}
