//! Writing datagrams: headers, and those that are whole.

use super::{
    CHECK_BYTES, Challenge, HEADER_BYTES, HELLO_BYTES_MIN, HELLO_FIXED_BYTES, KIND_ANSWER, KIND_CHALLENGE, KIND_CRYPTO,
    KIND_HELLO, KIND_OPEN, KIND_PACKET, KIND_QUERY, KIND_REFUSE, KIND_RESET, KIND_VERSIONS, MAGIC, NONCE_BYTES, Open,
    QUERY_BYTES_MIN, REFUSE_REASON_BYTES_MAX, check_of, is_suite,
};
use crate::wire::cursor::{self, Writer};
use crate::wire::varint;

/// Writes the header of a PACKET; the sealed packet follows (section 2.7).
pub fn encode_packet_header(writer: &mut Writer<'_>, to: u32) {
    header(writer, KIND_PACKET, to);
}

/// Writes a HELLO with [an offer](super::encode_offer), padded to [`HELLO_BYTES_MIN`] (section 2.1).
///
/// # Panics
/// If `source` is 0, the offer is longer than 255 bytes, or there is no room.
pub fn encode_hello(writer: &mut Writer<'_>, source: u32, nonce: u64, offer: &[u8]) {
    assert!(source != 0, "a connection id is not 0");
    let end = hello_len(offer);
    header(writer, KIND_HELLO, 0);
    writer.bytes(MAGIC);
    writer.u24(source);
    writer.u64(nonce);
    write_offer(writer, offer);
    writer.zeros(end - CHECK_BYTES - writer.len());
    write_check(writer);
}

/// Bytes of a HELLO with this offer, its padding included.
pub const fn hello_len(offer: &[u8]) -> usize {
    let unpadded = HELLO_FIXED_BYTES + 1 + offer.len() + CHECK_BYTES;
    if unpadded < HELLO_BYTES_MIN { HELLO_BYTES_MIN } else { unpadded }
}

/// Writes a CHALLENGE, [`CHALLENGE_BYTES`](super::CHALLENGE_BYTES) long (section 2.2).
///
/// # Panics
/// If `suite` is not exactly one suite, or there is no room.
pub fn encode_challenge(writer: &mut Writer<'_>, challenge: &Challenge<'_>) {
    assert!(is_suite(challenge.suite), "a CHALLENGE chooses one suite");
    header(writer, KIND_CHALLENGE, challenge.to);
    writer.u64(challenge.nonce);
    writer.u16(challenge.version);
    writer.u8(challenge.suite);
    writer.bytes(challenge.cookie);
    write_check(writer);
}

/// Writes an OPEN up to its sealed rest: the packet or the handshake bytes follow, then [the check](append_check)
/// (section 2.3).
///
/// # Panics
/// If `source` is 0, `suite` is not exactly one suite, or there is no room.
pub fn encode_open_header(writer: &mut Writer<'_>, open: &Open<'_>) {
    assert!(open.source != 0, "a connection id is not 0");
    assert!(is_suite(open.suite), "an OPEN repeats the one suite of the CHALLENGE");
    header(writer, KIND_OPEN, 0);
    writer.u24(open.source);
    writer.u64(open.nonce);
    writer.u16(open.version);
    writer.u8(open.suite);
    writer.bytes(open.cookie);
    write_offer(writer, open.offer.bytes);
}

/// Writes a CRYPTO up to [`CRYPTO_HEADER_BYTES`](super::CRYPTO_HEADER_BYTES); the handshake bytes
/// follow, then [the check](append_check) (section 2.4).
///
/// # Panics
/// If `from` is 0, or there is no room.
pub fn encode_crypto_header(writer: &mut Writer<'_>, to: u32, from: u32) {
    assert!(from != 0, "a connection id is not 0");
    header(writer, KIND_CRYPTO, to);
    writer.u24(from);
}

/// Writes a VERSIONS (section 2.5). `versions` are 1 to 255.
pub fn encode_versions(writer: &mut Writer<'_>, to: u32, nonce: u64, versions: &[u16]) {
    header(writer, KIND_VERSIONS, to);
    writer.u64(nonce);
    write_versions(writer, versions);
    write_check(writer);
}

/// Length of a VERSIONS that lists `versions` versions.
pub const fn versions_len(versions: usize) -> usize {
    HEADER_BYTES + NONCE_BYTES + 1 + 2 * versions + CHECK_BYTES
}

/// Writes a REFUSE (section 2.6).
///
/// # Panics
/// If the reason has more than `REFUSE_REASON_BYTES_MAX` bytes, or there is no room.
pub fn encode_refuse(writer: &mut Writer<'_>, to: u32, nonce: u64, code: u64, reason: &str) {
    assert!(reason.len() <= REFUSE_REASON_BYTES_MAX, "the reason of a REFUSE has a limit");
    header(writer, KIND_REFUSE, to);
    writer.u64(nonce);
    writer.varint(code);
    writer.prefixed(reason.as_bytes());
    write_check(writer);
}

/// Writes a RESET, [`RESET_BYTES`](super::RESET_BYTES) long (section 2.11). The id is 0 if a carrier's session is
/// unknown.
///
/// # Panics
/// If there is no room.
pub fn encode_reset(writer: &mut Writer<'_>, id: u32) {
    header(writer, KIND_RESET, id);
    write_check(writer);
}

/// Bytes of a REFUSE.
pub const fn refuse_len(code: u64, reason: &str) -> usize {
    HEADER_BYTES + NONCE_BYTES + varint::len(code) + cursor::prefixed_len(reason.len()) + CHECK_BYTES
}

/// Writes a QUERY of `bytes` bytes, at least [`QUERY_BYTES_MIN`](super::QUERY_BYTES_MIN) (section 2.9).
///
/// # Panics
/// If `bytes` is below [`QUERY_BYTES_MIN`](super::QUERY_BYTES_MIN), or there is no room.
pub fn encode_query(writer: &mut Writer<'_>, nonce: u64, bytes: usize) {
    assert!(bytes >= QUERY_BYTES_MIN, "a QUERY has a least length");
    let end = writer.len() + bytes - CHECK_BYTES;
    header(writer, KIND_QUERY, 0);
    writer.bytes(MAGIC);
    writer.u64(nonce);
    writer.zeros(end - writer.len());
    write_check(writer);
}

/// Writes an ANSWER (section 2.10). `versions` are 1 to 255.
pub fn encode_answer(writer: &mut Writer<'_>, nonce: u64, versions: &[u16], payload: &[u8]) {
    header(writer, KIND_ANSWER, 0);
    writer.u64(nonce);
    write_versions(writer, versions);
    writer.bytes(payload);
    write_check(writer);
}

/// Ends a datagram other than a PACKET, whose first `length` bytes are in `buffer`; returns its final length
/// (section 2).
pub fn append_check(buffer: &mut [u8], length: usize) -> usize {
    let (content, rest) = buffer.split_at_mut(length);
    rest[..CHECK_BYTES].copy_from_slice(&check_of(content));
    length + CHECK_BYTES
}

fn write_check(writer: &mut Writer<'_>) {
    let check = check_of(writer.written());
    writer.bytes(&check);
}

fn write_offer(writer: &mut Writer<'_>, offer: &[u8]) {
    writer.u8(u8::try_from(offer.len()).expect("an offer is at most 255 bytes long"));
    writer.bytes(offer);
}

fn header(writer: &mut Writer<'_>, kind: u8, to: u32) {
    writer.u8(kind);
    writer.u24(to);
}

fn write_versions(writer: &mut Writer<'_>, versions: &[u16]) {
    assert!(!versions.is_empty(), "there is at least one version");
    let count = u8::try_from(versions.len()).expect("there are at most 255 versions");
    writer.u8(count);
    for &version in versions {
        writer.u16(version);
    }
}
