//! Datagrams and everything in them that is not sealed (WIRE.md section 2).

mod encode;
mod offer;
mod versions;

use crate::checksum::crc32;
use crate::wire::Malformed;
use crate::wire::cursor::Reader;
pub use encode::{
    append_check, encode_answer, encode_challenge, encode_crypto_header, encode_hello, encode_open_header,
    encode_packet_header, encode_query, encode_refuse, encode_reset, encode_versions, hello_len, refuse_len,
    versions_len,
};
pub use offer::{Offer, encode_offer};
pub use versions::Versions;

/// A datagram, decoded as far as it can be without a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datagram<'a> {
    /// A sealed packet, which begins at [`HEADER_BYTES`] (section 2.7).
    Packet {
        /// The receiver's id.
        to: u32,
    },
    /// A client asks for a connection (section 2.1).
    Hello(Hello<'a>),
    /// A server hands out a cookie (section 2.2).
    Challenge(Challenge<'a>),
    /// A client brings the cookie back (section 2.3).
    Open(Open<'a>),
    /// Handshake bytes of an encrypted suite (section 2.4).
    Crypto {
        /// The receiver's id.
        to: u32,
        /// The sender's id, not 0.
        from: u32,
        /// Handshake bytes of the suite.
        bytes: &'a [u8],
    },
    /// No version that the client offered suits the server (section 2.5).
    Versions {
        /// The client's id.
        to: u32,
        /// The nonce of the HELLO.
        nonce: u64,
        /// The versions that the server supports, at least one.
        versions: Versions<'a>,
    },
    /// There will be no connection (section 2.6).
    Refuse {
        /// The client's id.
        to: u32,
        /// The nonce of the HELLO or OPEN.
        nonce: u64,
        /// A close code (section 8).
        code: u64,
        /// For people, [`REFUSE_REASON_BYTES_MAX`] at most.
        reason: &'a str,
    },
    /// The connection of a PACKET is unknown here (section 2.11).
    Reset {
        /// The receiver's id of that PACKET; 0 if the receiver does not know the carrier's session in which it arrived
        /// (section 7.1).
        id: u32,
    },
    /// A query about the server, without a connection (section 2.9).
    Query {
        /// Random; the answer repeats it.
        nonce: u64,
    },
    /// The server's information about itself (section 2.10).
    Answer {
        /// The nonce of the QUERY.
        nonce: u64,
        /// The versions that the server speaks, at least one.
        versions: Versions<'a>,
        /// The application's.
        payload: &'a [u8],
    },
}

/// HELLO (WIRE.md section 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello<'a> {
    /// The client's own connection id, not 0.
    pub source: u32,
    /// Random; every answer repeats it.
    pub nonce: u64,
    /// The offer from which the server chooses.
    pub offer: Offer<'a>,
}

/// CHALLENGE (WIRE.md section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge<'a> {
    /// The client's id.
    pub to: u32,
    /// The nonce of the HELLO.
    pub nonce: u64,
    /// The version chosen.
    pub version: u16,
    /// The suite chosen: [`SUITE_PLAIN`] or [`SUITE_TLS_1_3`].
    pub suite: u8,
    /// Opaque to the client.
    pub cookie: &'a [u8; COOKIE_BYTES],
}

/// OPEN up to its sealed rest (WIRE.md section 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open<'a> {
    /// The client's own connection id, not 0.
    pub source: u32,
    /// The nonce of the HELLO.
    pub nonce: u64,
    /// The version of the CHALLENGE.
    pub version: u16,
    /// The suite of the CHALLENGE.
    pub suite: u8,
    /// The cookie of the CHALLENGE.
    pub cookie: &'a [u8; COOKIE_BYTES],
    /// The offer of the HELLO.
    pub offer: Offer<'a>,
}

impl Open<'_> {
    /// Bytes before the sealed rest.
    pub fn header_bytes(&self) -> usize {
        OPEN_FIXED_BYTES + 1 + self.offer.bytes.len()
    }
}

/// The part of an OPEN before its sealed rest that the handshake covers: everything of HELLO and CHALLENGE that decides
/// something, as this side knows it (section 2.3).
pub fn transcript(open_header: &[u8]) -> &[u8] {
    &open_header[HEADER_BYTES..]
}

/// Decodes everything except the sealed part: the header of a PACKET, and the part of an OPEN before its sealed rest.
///
/// The check of all other kinds is verified, and is not part of the result.
///
/// # Errors
/// The datagram is of no known kind, too short or too long for its kind, holds a value that its kind does not allow,
/// or its check does not fit.
pub fn decode(datagram: &[u8]) -> Result<Datagram<'_>, Malformed> {
    let mut reader = Reader::new(datagram);
    if datagram.first() != Some(&KIND_PACKET) {
        reader = Reader::new(checked(datagram)?);
    }
    let kind = reader.u8()?;
    let to = reader.u24()?;
    match kind {
        KIND_PACKET => Ok(Datagram::Packet { to }),
        KIND_HELLO if to == 0 && datagram.len() >= HELLO_BYTES_MIN => decode_hello(reader),
        KIND_CHALLENGE => decode_challenge(to, reader),
        KIND_OPEN if to == 0 => open(reader).map(Datagram::Open),
        KIND_CRYPTO => {
            let from = source(&mut reader)?;
            Ok(Datagram::Crypto { to, from, bytes: reader.rest() })
        }
        KIND_VERSIONS => decode_versions(to, reader),
        KIND_REFUSE => decode_refuse(to, reader),
        KIND_QUERY if to == 0 && datagram.len() >= QUERY_BYTES_MIN => decode_query(reader),
        KIND_ANSWER if to == 0 => decode_answer(reader),
        KIND_RESET => reader.end().map(|()| Datagram::Reset { id: to }),
        _ => Err(Malformed),
    }
}

/// The bytes before the check, if the check is right.
fn checked(datagram: &[u8]) -> Result<&[u8], Malformed> {
    let (content, check) = datagram.split_last_chunk().ok_or(Malformed)?;
    if *check == check_of(content) { Ok(content) } else { Err(Malformed) }
}

/// CRC-32 (IEEE 802.3).
fn check_of(content: &[u8]) -> [u8; CHECK_BYTES] {
    crc32(&[content]).to_be_bytes()
}

fn decode_hello(mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    if reader.array_ref()? != MAGIC {
        return Err(Malformed);
    }
    // The rest after the offer is padding.
    Ok(Datagram::Hello(Hello { source: source(&mut reader)?, nonce: reader.u64()?, offer: Offer::read(&mut reader)? }))
}

fn decode_challenge(to: u32, mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    let challenge = Challenge {
        to,
        nonce: reader.u64()?,
        version: reader.u16()?,
        suite: suite(&mut reader)?,
        cookie: reader.array_ref()?,
    };
    reader.end()?;
    Ok(Datagram::Challenge(challenge))
}

/// Decodes an OPEN of which the sealed rest and the check may be missing.
///
/// # Errors
/// The bytes are no such datagram, or the header is truncated.
pub fn decode_open(header: &[u8]) -> Result<Open<'_>, Malformed> {
    let mut reader = Reader::new(header);
    match (reader.u8()?, reader.u24()?) {
        (KIND_OPEN, 0) => open(reader),
        _ => Err(Malformed),
    }
}

fn open(mut reader: Reader<'_>) -> Result<Open<'_>, Malformed> {
    Ok(Open {
        source: source(&mut reader)?,
        nonce: reader.u64()?,
        version: reader.u16()?,
        suite: suite(&mut reader)?,
        cookie: reader.array_ref()?,
        offer: Offer::read(&mut reader)?,
    })
}

fn decode_versions(to: u32, mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    let nonce = reader.u64()?;
    let versions = Versions::read(&mut reader)?;
    reader.end()?;
    Ok(Datagram::Versions { to, nonce, versions })
}

fn decode_refuse(to: u32, mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    let nonce = reader.u64()?;
    let code = reader.varint()?;
    let reason = reader.prefixed_str(REFUSE_REASON_BYTES_MAX)?;
    reader.end()?;
    Ok(Datagram::Refuse { to, nonce, code, reason })
}

fn decode_query(mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    if reader.array_ref()? != MAGIC {
        return Err(Malformed);
    }
    // The rest is padding, and free for later versions.
    Ok(Datagram::Query { nonce: reader.u64()? })
}

fn decode_answer(mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    let nonce = reader.u64()?;
    Ok(Datagram::Answer { nonce, versions: Versions::read(&mut reader)?, payload: reader.rest() })
}

fn source(reader: &mut Reader<'_>) -> Result<u32, Malformed> {
    match reader.u24()? {
        0 => Err(Malformed),
        id => Ok(id),
    }
}

fn suite(reader: &mut Reader<'_>) -> Result<u8, Malformed> {
    let suite = reader.u8()?;
    if is_suite(suite) { Ok(suite) } else { Err(Malformed) }
}

const fn is_suite(suite: u8) -> bool {
    matches!(suite, SUITE_PLAIN | SUITE_TLS_1_3)
}

/// First byte of a PACKET.
pub const KIND_PACKET: u8 = 0x80;
/// First byte of a HELLO.
pub const KIND_HELLO: u8 = 0x81;
/// First byte of a CHALLENGE.
pub const KIND_CHALLENGE: u8 = 0x82;
/// First byte of an OPEN.
pub const KIND_OPEN: u8 = 0x83;
/// First byte of a CRYPTO.
pub const KIND_CRYPTO: u8 = 0x84;
/// First byte of a VERSIONS.
pub const KIND_VERSIONS: u8 = 0x85;
/// First byte of a REFUSE.
pub const KIND_REFUSE: u8 = 0x86;
/// First byte of a QUERY.
pub const KIND_QUERY: u8 = 0x87;
/// First byte of an ANSWER.
pub const KIND_ANSWER: u8 = 0x88;
/// First byte of a RESET.
pub const KIND_RESET: u8 = 0x89;

/// The suite without encryption.
pub const SUITE_PLAIN: u8 = 1;
/// The suite TLS 1.3, with packets of this protocol's own.
pub const SUITE_TLS_1_3: u8 = 8;

/// Kind and receiver's id, which every datagram begins with.
pub const HEADER_BYTES: usize = 4;
/// The minimum length of a HELLO, so that no answer is longer than the HELLO.
pub const HELLO_BYTES_MIN: usize = 64;
/// The minimum length of a QUERY; its answer is no longer than the QUERY.
pub const QUERY_BYTES_MIN: usize = 64;
/// Bytes of an ANSWER with one version, its payload aside.
pub const ANSWER_OVERHEAD_BYTES: usize = HEADER_BYTES + NONCE_BYTES + 1 + 2 + CHECK_BYTES;
/// Bytes of the check at the end of every datagram that is no PACKET.
pub const CHECK_BYTES: usize = 4;
/// Bytes of a cookie.
pub const COOKIE_BYTES: usize = 20;
/// Bytes of a RESET: fewer than any PACKET has.
pub const RESET_BYTES: usize = HEADER_BYTES + CHECK_BYTES;
/// Bytes of a CHALLENGE.
pub const CHALLENGE_BYTES: usize = HEADER_BYTES + NONCE_BYTES + 2 + 1 + COOKIE_BYTES + CHECK_BYTES;
/// Bytes of an OPEN before its offer.
const OPEN_FIXED_BYTES: usize = HEADER_BYTES + 3 + NONCE_BYTES + 2 + 1 + COOKIE_BYTES;
/// Bytes of an OPEN before its sealed rest, at most.
pub const OPEN_HEADER_BYTES_MAX: usize = OPEN_FIXED_BYTES + 1 + u8::MAX as usize;
/// Bytes of a CRYPTO before its handshake bytes.
pub const CRYPTO_HEADER_BYTES: usize = HEADER_BYTES + 3;
/// Bytes of the reason in a REFUSE, at most.
pub const REFUSE_REASON_BYTES_MAX: usize = 512;

/// Marks the datagrams with which an unknown host begins.
const MAGIC: &[u8; 4] = b"SKIP";
const NONCE_BYTES: usize = 8;
const HELLO_FIXED_BYTES: usize = HEADER_BYTES + MAGIC.len() + 3 + NONCE_BYTES;

#[cfg(test)]
mod tests;
