//! Datagrams and everything in them that is not sealed (WIRE.md section 2).

use crate::wire::Malformed;
use crate::wire::cursor::{self, Reader, Writer};
use crate::wire::varint;

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
        /// What the suite sent.
        bytes: &'a [u8],
    },
    /// No version that the client offered suits the server (section 2.5).
    Versions {
        /// The client's id.
        to: u32,
        /// The nonce of the HELLO.
        nonce: u64,
        /// What would suit the server, at least one.
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
}

/// HELLO (WIRE.md section 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello<'a> {
    /// The client's own connection id, not 0.
    pub source: u32,
    /// Random; every answer repeats it.
    pub nonce: u64,
    /// The suites offered, a bit set of [`SUITE_PLAIN`] and the others; bits without a meaning are to be ignored.
    pub suites: u8,
    /// The versions offered, best first, at least one.
    pub versions: Versions<'a>,
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
    /// The suite chosen: one of [`SUITE_PLAIN`], [`SUITE_DTLS_1_2`] and [`SUITE_DTLS_1_3`].
    pub suite: u8,
    /// Opaque to the client.
    pub cookie: &'a [u8; COOKIE_BYTES],
}

/// OPEN up to [`OPEN_HEADER_BYTES`] (WIRE.md section 2.3).
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
}

/// A list of versions, which is its own iterator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions<'a> {
    pairs: &'a [[u8; 2]],
}

impl Iterator for Versions<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let (&first, rest) = self.pairs.split_first()?;
        self.pairs = rest;
        Some(u16::from_be_bytes(first))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.pairs.len(), Some(self.pairs.len()))
    }
}

impl ExactSizeIterator for Versions<'_> {}

impl std::iter::FusedIterator for Versions<'_> {}

/// Decodes everything but what is sealed: of PACKET the header, of OPEN what lies before the sealed rest.
pub fn decode(datagram: &[u8]) -> Result<Datagram<'_>, Malformed> {
    let mut reader = Reader::new(datagram);
    let kind = reader.u8()?;
    let to = reader.u24()?;
    match kind {
        KIND_PACKET => Ok(Datagram::Packet { to }),
        KIND_HELLO if to == 0 && datagram.len() >= HELLO_BYTES_MIN => decode_hello(reader),
        KIND_CHALLENGE => decode_challenge(to, reader),
        KIND_OPEN if to == 0 => decode_open(reader),
        KIND_CRYPTO => {
            let from = source(&mut reader)?;
            Ok(Datagram::Crypto { to, from, bytes: reader.rest() })
        }
        KIND_VERSIONS => decode_versions(to, reader),
        KIND_REFUSE => decode_refuse(to, reader),
        _ => Err(Malformed),
    }
}

fn decode_hello(mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    if reader.array_ref()? != HELLO_MAGIC {
        return Err(Malformed);
    }
    // What follows the versions is padding, and for later versions to use.
    Ok(Datagram::Hello(Hello {
        source: source(&mut reader)?,
        nonce: reader.u64()?,
        suites: reader.u8()?,
        versions: versions(&mut reader)?,
    }))
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

fn decode_open(mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    Ok(Datagram::Open(Open {
        source: source(&mut reader)?,
        nonce: reader.u64()?,
        version: reader.u16()?,
        suite: suite(&mut reader)?,
        cookie: reader.array_ref()?,
    }))
}

fn decode_versions(to: u32, mut reader: Reader<'_>) -> Result<Datagram<'_>, Malformed> {
    let nonce = reader.u64()?;
    let versions = versions(&mut reader)?;
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
    matches!(suite, SUITE_PLAIN | SUITE_DTLS_1_2 | SUITE_DTLS_1_3)
}

fn versions<'a>(reader: &mut Reader<'a>) -> Result<Versions<'a>, Malformed> {
    let count = usize::from(reader.u8()?);
    let (pairs, _) = reader.take(2 * count)?.as_chunks();
    if pairs.is_empty() { Err(Malformed) } else { Ok(Versions { pairs }) }
}

/// Writes the header of a PACKET; the sealed packet follows (section 2.7).
pub fn encode_packet_header(writer: &mut Writer<'_>, to: u32) {
    header(writer, KIND_PACKET, to);
}

/// Writes a HELLO, padded to [`HELLO_BYTES_MIN`] (section 2.1). `versions` are 1 to 255, best first.
pub fn encode_hello(writer: &mut Writer<'_>, source: u32, nonce: u64, suites: u8, versions: &[u16]) {
    assert!(source != 0, "a connection id is not 0");
    let end = writer.len() + hello_len(versions.len());
    header(writer, KIND_HELLO, 0);
    writer.bytes(HELLO_MAGIC);
    writer.u24(source);
    writer.u64(nonce);
    writer.u8(suites);
    write_versions(writer, versions);
    writer.zeros(end - writer.len());
}

/// Bytes of a HELLO with so many versions, its padding included.
pub const fn hello_len(versions: usize) -> usize {
    let unpadded = HELLO_FIXED_BYTES + 2 * versions;
    if unpadded < HELLO_BYTES_MIN { HELLO_BYTES_MIN } else { unpadded }
}

/// Writes a CHALLENGE, [`CHALLENGE_BYTES`] long (section 2.2).
pub fn encode_challenge(writer: &mut Writer<'_>, challenge: &Challenge<'_>) {
    assert!(is_suite(challenge.suite), "a CHALLENGE chooses one suite");
    header(writer, KIND_CHALLENGE, challenge.to);
    writer.u64(challenge.nonce);
    writer.u16(challenge.version);
    writer.u8(challenge.suite);
    writer.bytes(challenge.cookie);
}

/// Writes an OPEN up to [`OPEN_HEADER_BYTES`]; the sealed packet or the handshake bytes follow (section 2.3).
pub fn encode_open_header(writer: &mut Writer<'_>, open: &Open<'_>) {
    assert!(open.source != 0, "a connection id is not 0");
    assert!(is_suite(open.suite), "an OPEN repeats the one suite of the CHALLENGE");
    header(writer, KIND_OPEN, 0);
    writer.u24(open.source);
    writer.u64(open.nonce);
    writer.u16(open.version);
    writer.u8(open.suite);
    writer.bytes(open.cookie);
}

/// Writes a CRYPTO up to [`CRYPTO_HEADER_BYTES`]; the handshake bytes follow (section 2.4).
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
}

/// Bytes of a VERSIONS with so many versions.
pub const fn versions_len(versions: usize) -> usize {
    HEADER_BYTES + NONCE_BYTES + 1 + 2 * versions
}

/// Writes a REFUSE (section 2.6).
pub fn encode_refuse(writer: &mut Writer<'_>, to: u32, nonce: u64, code: u64, reason: &str) {
    assert!(reason.len() <= REFUSE_REASON_BYTES_MAX, "the reason of a REFUSE has a limit");
    header(writer, KIND_REFUSE, to);
    writer.u64(nonce);
    writer.varint(code);
    writer.prefixed(reason.as_bytes());
}

/// Bytes of a REFUSE.
pub const fn refuse_len(code: u64, reason: &str) -> usize {
    HEADER_BYTES + NONCE_BYTES + varint::len(code) + cursor::prefixed_len(reason.len())
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

/// The suite without encryption.
pub const SUITE_PLAIN: u8 = 1;
/// The suite DTLS 1.2.
pub const SUITE_DTLS_1_2: u8 = 2;
/// The suite DTLS 1.3.
pub const SUITE_DTLS_1_3: u8 = 4;

/// Kind and receiver's id, which every datagram begins with.
pub const HEADER_BYTES: usize = 4;
/// A HELLO is at least so long, that no answer to it is longer.
pub const HELLO_BYTES_MIN: usize = 64;
/// Bytes of a cookie.
pub const COOKIE_BYTES: usize = 20;
/// Bytes of a CHALLENGE.
pub const CHALLENGE_BYTES: usize = HEADER_BYTES + NONCE_BYTES + 2 + 1 + COOKIE_BYTES;
/// Bytes of an OPEN before its sealed rest.
pub const OPEN_HEADER_BYTES: usize = HEADER_BYTES + 3 + NONCE_BYTES + 2 + 1 + COOKIE_BYTES;
/// Bytes of a CRYPTO before its handshake bytes.
pub const CRYPTO_HEADER_BYTES: usize = HEADER_BYTES + 3;
/// Bytes of the reason in a REFUSE, at most.
pub const REFUSE_REASON_BYTES_MAX: usize = 512;

const HELLO_MAGIC: &[u8; 4] = b"SKIP";
const NONCE_BYTES: usize = 8;
const HELLO_FIXED_BYTES: usize = HEADER_BYTES + HELLO_MAGIC.len() + 3 + NONCE_BYTES + 1 + 1;

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: u64 = 0x0102_0304_0506_0708;
    const COOKIE: [u8; COOKIE_BYTES] = *b"cookie cookie cookie";

    fn written(encode: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut buffer = [0xee; 1500];
        let mut writer = Writer::new(&mut buffer);
        encode(&mut writer);
        writer.written().to_vec()
    }

    fn hello() -> Vec<u8> {
        written(|w| encode_hello(w, 7, NONCE, SUITE_PLAIN, &[1, 0x0203]))
    }

    fn challenge() -> Vec<u8> {
        let cookie = &COOKIE;
        let challenge = Challenge { to: 9, nonce: NONCE, version: 1, suite: SUITE_DTLS_1_3, cookie };
        written(|w| encode_challenge(w, &challenge))
    }

    fn open() -> Vec<u8> {
        let cookie = &COOKIE;
        let open = Open { source: 9, nonce: NONCE, version: 1, suite: SUITE_PLAIN, cookie };
        written(|w| {
            encode_open_header(w, &open);
            w.bytes(b"sealed");
        })
    }

    fn crypto() -> Vec<u8> {
        written(|w| {
            encode_crypto_header(w, 0xff_ffff, 2);
            w.bytes(b"flight");
        })
    }

    fn every_kind() -> [Vec<u8>; 7] {
        [
            written(|w| encode_packet_header(w, 5)),
            hello(),
            challenge(),
            open(),
            crypto(),
            written(|w| encode_versions(w, 3, NONCE, &[2, 3])),
            written(|w| encode_refuse(w, 3, NONCE, 1005, "fůll")),
        ]
    }

    #[test]
    fn every_kind_round_trips() {
        let [packet, hello, challenge, open, crypto, versions, refuse] = every_kind();
        assert_eq!(decode(&packet), Ok(Datagram::Packet { to: 5 }));

        let Ok(Datagram::Hello(decoded)) = decode(&hello) else { panic!("not a HELLO") };
        assert_eq!((decoded.source, decoded.nonce, decoded.suites), (7, NONCE, 1));
        assert_eq!(decoded.versions.len(), 2);
        assert_eq!(decoded.versions.collect::<Vec<_>>(), [1, 0x0203]);

        let Ok(Datagram::Challenge(decoded)) = decode(&challenge) else { panic!("no CHALLENGE") };
        assert_eq!((decoded.to, decoded.version, decoded.suite), (9, 1, 4));
        assert_eq!((decoded.nonce, decoded.cookie), (NONCE, &COOKIE));

        let Ok(Datagram::Open(decoded)) = decode(&open) else { panic!("not an OPEN") };
        assert_eq!((decoded.source, decoded.version, decoded.suite), (9, 1, 1));
        assert_eq!((decoded.nonce, decoded.cookie), (NONCE, &COOKIE));
        assert_eq!(&open[OPEN_HEADER_BYTES..], b"sealed");

        let bytes = b"flight";
        assert_eq!(decode(&crypto), Ok(Datagram::Crypto { to: 0xff_ffff, from: 2, bytes }));
        assert_eq!(&crypto[CRYPTO_HEADER_BYTES..], bytes);

        let Ok(Datagram::Versions { to: 3, nonce: NONCE, versions }) = decode(&versions) else {
            panic!("not a VERSIONS")
        };
        assert_eq!(versions.collect::<Vec<_>>(), [2, 3]);

        let expected = Datagram::Refuse { to: 3, nonce: NONCE, code: 1005, reason: "fůll" };
        assert_eq!(decode(&refuse), Ok(expected));
    }

    #[test]
    fn lengths_are_those_that_were_announced() {
        let [packet, hello, challenge, open, crypto, versions, refuse] = every_kind();
        assert_eq!(packet.len(), HEADER_BYTES);
        assert_eq!(hello.len(), hello_len(2));
        assert_eq!(challenge.len(), CHALLENGE_BYTES);
        assert_eq!(open.len(), OPEN_HEADER_BYTES + 6);
        assert_eq!(crypto.len(), CRYPTO_HEADER_BYTES + 6);
        assert_eq!(versions.len(), versions_len(2));
        assert_eq!(refuse.len(), refuse_len(1005, "fůll"));
    }

    #[test]
    fn a_hello_is_padded_to_64_bytes_and_no_further() {
        assert_eq!(hello().len(), HELLO_BYTES_MIN);
        assert!(hello()[25..].iter().all(|&byte| byte == 0));
        assert_eq!((hello_len(21), hello_len(22), hello_len(255)), (64, 65, 531));
        let many = written(|w| encode_hello(w, 7, NONCE, 1, &[5; 255]));
        assert_eq!(many.len(), hello_len(255));
        let Ok(Datagram::Hello(decoded)) = decode(&many) else { panic!("not a HELLO") };
        assert_eq!(decoded.versions.len(), 255);
    }

    #[test]
    fn a_challenge_is_shorter_than_what_it_answers() {
        const { assert!(CHALLENGE_BYTES < HELLO_BYTES_MIN && CHALLENGE_BYTES < OPEN_HEADER_BYTES) }
    }

    #[test]
    fn what_pads_a_hello_is_ignored() {
        let mut padded = hello();
        padded.extend([0xaa; 100]);
        assert!(decode(&padded).is_ok());
    }

    #[test]
    fn a_hello_below_64_bytes_is_malformed() {
        let hello = hello();
        assert_eq!(decode(&hello[..63]), Err(Malformed));
    }

    /// Each of these bytes, changed so, makes a datagram malformed that was not.
    fn assert_malformed_with(mut datagram: Vec<u8>, at: usize, byte: u8) {
        assert!(decode(&datagram).is_ok());
        datagram[at] = byte;
        assert_eq!(decode(&datagram), Err(Malformed), "byte {at} as {byte:#04x}");
    }

    #[test]
    fn unknown_kinds_and_empty_datagrams_are_malformed() {
        assert_eq!(decode(&[]), Err(Malformed));
        for kind in (0..=0x7f).chain(0x87..=0xff) {
            assert_malformed_with(hello(), 0, kind);
        }
    }

    #[test]
    fn a_hello_with_an_id_a_wrong_word_no_source_or_no_version_is_malformed() {
        assert_malformed_with(hello(), 3, 1);
        assert_malformed_with(hello(), 4, b's');
        assert_malformed_with(hello(), 10, 0);
        assert_malformed_with(hello(), 20, 0);
        assert_malformed_with(hello(), 20, 22);
    }

    #[test]
    fn a_suite_that_is_not_exactly_one_is_malformed() {
        for suite in (0..=0xff).filter(|suite| ![1, 2, 4].contains(suite)) {
            assert_malformed_with(challenge(), 14, suite);
            assert_malformed_with(open(), 17, suite);
        }
    }

    #[test]
    fn an_open_or_crypto_without_a_source_is_malformed() {
        assert_malformed_with(open(), 3, 1);
        assert_malformed_with(open(), 6, 0);
        assert_malformed_with(crypto(), 6, 0);
    }

    #[test]
    fn a_reason_that_is_too_long_or_not_utf8_is_malformed() {
        let [.., refuse] = every_kind();
        assert_malformed_with(refuse.clone(), refuse.len() - 1, 0xff);
        let refuse = |length: usize| {
            let mut refuse = written(|w| encode_refuse(w, 3, NONCE, 0, &"x".repeat(512)));
            refuse.truncate(13);
            refuse.extend([0x40 | (length >> 8) as u8, length as u8]);
            refuse.resize(refuse.len() + length, b'x');
            refuse
        };
        assert!(decode(&refuse(512)).is_ok());
        assert_eq!(decode(&refuse(513)), Err(Malformed));
    }

    #[test]
    fn every_cut_is_malformed_but_in_what_is_open_ended() {
        for datagram in every_kind() {
            let fixed = match datagram[0] {
                KIND_OPEN => OPEN_HEADER_BYTES,
                KIND_CRYPTO => CRYPTO_HEADER_BYTES,
                _ => datagram.len(),
            };
            for cut in 0..fixed {
                assert_eq!(decode(&datagram[..cut]), Err(Malformed));
            }
        }
    }

    #[test]
    fn trailing_bytes_are_malformed_where_nothing_may_follow() {
        for datagram in every_kind() {
            let open_ended = [KIND_PACKET, KIND_HELLO, KIND_OPEN, KIND_CRYPTO];
            let longer = [&datagram[..], &[0]].concat();
            assert_eq!(decode(&longer).is_ok(), open_ended.contains(&datagram[0]));
        }
    }
}
