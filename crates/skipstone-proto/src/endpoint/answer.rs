//! The datagram that answers a query. WIRE.md section 2.10.

use crate::connection::client_handshake::VERSIONS;
use crate::wire::cursor::Writer;
use crate::wire::datagram::{self, ANSWER_OVERHEAD_BYTES};

/// Header, nonce, versions and check.
pub(super) const ANSWER_BYTES_BESIDE: usize = ANSWER_OVERHEAD_BYTES + 2 * (VERSIONS.len() - 1);

/// Bytes of the datagram with this answer.
pub(super) fn answer_len(payload: &[u8]) -> usize {
    ANSWER_BYTES_BESIDE + payload.len()
}

/// Writes the answer to a query.
pub(super) fn write_answer(writer: &mut Writer<'_>, nonce: u64, payload: &[u8]) {
    datagram::encode_answer(writer, nonce, &VERSIONS, payload);
}
