//! Encoding and decoding of every kind of datagram, and malformed datagrams.

use super::*;
use crate::wire::cursor::Writer;

const NONCE: u64 = 0x0102_0304_0506_0708;
const COOKIE: [u8; COOKIE_BYTES] = *b"cookie cookie cookie";
/// Plain, version 1.
const OFFER: [u8; 4] = [SUITE_PLAIN, 1, 0, 1];
const OPEN_HEADER_BYTES: usize = OPEN_FIXED_BYTES + 1 + OFFER.len();

fn written(encode: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut buffer = [0xee; 1500];
    let mut writer = Writer::new(&mut buffer);
    encode(&mut writer);
    writer.written().to_vec()
}

/// The encoded bytes with their check.
fn written_and_checked(encode: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    checked_again(&[&written(encode)[..], &[0; CHECK_BYTES]].concat())
}

/// The same bytes with the correct check.
fn checked_again(datagram: &[u8]) -> Vec<u8> {
    let mut datagram = datagram.to_vec();
    let length = datagram.len() - CHECK_BYTES;
    assert_eq!(append_check(&mut datagram, length), datagram.len());
    datagram
}

fn hello() -> Vec<u8> {
    written(|w| encode_hello(w, 7, NONCE, &encode_offer(SUITE_PLAIN, &[1, 0x0203])))
}

fn challenge() -> Vec<u8> {
    let cookie = &COOKIE;
    let challenge = Challenge { to: 9, nonce: NONCE, version: 1, suite: SUITE_TLS_1_3, cookie };
    written(|w| encode_challenge(w, &challenge))
}

fn open() -> Vec<u8> {
    let cookie = &COOKIE;
    let offer = Offer::decode(&OFFER).unwrap();
    let open = Open { source: 9, nonce: NONCE, version: 1, suite: SUITE_PLAIN, cookie, offer };
    written_and_checked(|w| {
        encode_open_header(w, &open);
        w.bytes(b"sealed");
    })
}

fn crypto() -> Vec<u8> {
    written_and_checked(|w| {
        encode_crypto_header(w, 0xff_ffff, 2);
        w.bytes(b"flight");
    })
}

fn every_kind() -> [Vec<u8>; 10] {
    [
        written(|w| encode_packet_header(w, 5)),
        hello(),
        challenge(),
        open(),
        crypto(),
        written(|w| encode_versions(w, 3, NONCE, &[2, 3])),
        written(|w| encode_query(w, NONCE, 100)),
        written(|w| encode_answer(w, NONCE, &[2, 3], b"two players")),
        written(|w| encode_reset(w, 6)),
        written(|w| encode_refuse(w, 3, NONCE, 1005, "fůll")),
    ]
}

#[test]
fn every_kind_round_trips() {
    let [packet, hello, challenge, open, crypto, versions, query, answer, reset, refuse] = every_kind();
    assert_eq!(decode(&reset), Ok(Datagram::Reset { id: 6 }));
    assert_eq!(decode(&packet), Ok(Datagram::Packet { to: 5 }));

    let Ok(Datagram::Hello(decoded)) = decode(&hello) else { panic!("not a HELLO") };
    assert_eq!((decoded.source, decoded.nonce, decoded.offer.suites), (7, NONCE, 1));
    assert_eq!(decoded.offer.versions.len(), 2);
    assert_eq!(decoded.offer.versions.collect::<Vec<_>>(), [1, 0x0203]);

    let Ok(Datagram::Challenge(decoded)) = decode(&challenge) else { panic!("no CHALLENGE") };
    assert_eq!((decoded.to, decoded.version, decoded.suite), (9, 1, 8));
    assert_eq!((decoded.nonce, decoded.cookie), (NONCE, &COOKIE));

    let Ok(Datagram::Open(decoded)) = decode(&open) else { panic!("not an OPEN") };
    assert_eq!((decoded.source, decoded.version, decoded.suite), (9, 1, 1));
    assert_eq!((decoded.nonce, decoded.cookie, decoded.offer.bytes), (NONCE, &COOKIE, &OFFER[..]));
    assert_eq!((decoded.header_bytes(), decode_open(&open[..OPEN_HEADER_BYTES])), (OPEN_HEADER_BYTES, Ok(decoded)));
    assert_eq!(transcript(&open[..OPEN_HEADER_BYTES]), &open[4..OPEN_HEADER_BYTES]);
    assert_eq!(&open[OPEN_HEADER_BYTES..open.len() - CHECK_BYTES], b"sealed");

    let bytes = b"flight";
    assert_eq!(decode(&crypto), Ok(Datagram::Crypto { to: 0xff_ffff, from: 2, bytes }));
    assert_eq!(&crypto[CRYPTO_HEADER_BYTES..crypto.len() - CHECK_BYTES], bytes);

    let Ok(Datagram::Versions { to: 3, nonce: NONCE, versions }) = decode(&versions) else { panic!("not a VERSIONS") };
    assert_eq!(versions.collect::<Vec<_>>(), [2, 3]);

    assert_eq!(decode(&query), Ok(Datagram::Query { nonce: NONCE }));
    let Ok(Datagram::Answer { nonce: NONCE, versions, payload }) = decode(&answer) else { panic!("not an ANSWER") };
    assert_eq!((versions.collect::<Vec<_>>(), payload), (vec![2, 3], &b"two players"[..]));

    let expected = Datagram::Refuse { to: 3, nonce: NONCE, code: 1005, reason: "fůll" };
    assert_eq!(decode(&refuse), Ok(expected));
}

#[test]
fn encoded_lengths_match_the_declared_ones() {
    let [packet, hello, challenge, open, crypto, versions, query, answer, reset, refuse] = every_kind();
    assert_eq!(reset.len(), RESET_BYTES);
    assert_eq!((query.len(), answer.len()), (100, ANSWER_OVERHEAD_BYTES + 2 + b"two players".len()));
    assert_eq!(packet.len(), HEADER_BYTES);
    assert_eq!(hello.len(), hello_len(&encode_offer(1, &[1, 2])));
    assert_eq!(challenge.len(), CHALLENGE_BYTES);
    assert_eq!(open.len(), OPEN_HEADER_BYTES + 6 + CHECK_BYTES);
    assert_eq!(crypto.len(), CRYPTO_HEADER_BYTES + 6 + CHECK_BYTES);
    assert_eq!(versions.len(), versions_len(2));
    assert_eq!(refuse.len(), refuse_len(1005, "fůll"));
}

#[test]
fn a_hello_is_padded_to_exactly_64_bytes() {
    assert_eq!(hello().len(), HELLO_BYTES_MIN);
    assert!(hello()[26..60].iter().all(|&byte| byte == 0));
    let offer = |versions: usize| encode_offer(1, &vec![5; versions]);
    assert_eq!([18, 19, 126].map(|versions| hello_len(&offer(versions))), [64, 64, 278]);
    let many = written(|w| encode_hello(w, 7, NONCE, &offer(126)));
    assert_eq!(many.len(), hello_len(&offer(126)));
    let Ok(Datagram::Hello(decoded)) = decode(&many) else { panic!("not a HELLO") };
    assert_eq!(decoded.offer.versions.len(), 126);
}

#[test]
fn a_challenge_is_shorter_than_its_hello() {
    const { assert!(CHALLENGE_BYTES < HELLO_BYTES_MIN && CHALLENGE_BYTES < OPEN_HEADER_BYTES + CHECK_BYTES) }
}

#[test]
fn the_padding_of_a_hello_is_ignored() {
    let mut padded = hello();
    padded.extend([0xaa; 100]);
    assert!(decode(&checked_again(&padded)).is_ok());
}

#[test]
fn a_hello_below_64_bytes_is_malformed() {
    let hello = hello();
    assert_eq!(decode(&checked_again(&hello[..63])), Err(Malformed));
}

/// Each of these bytes, changed in this way, makes a valid datagram malformed.
fn assert_malformed_with(mut datagram: Vec<u8>, at: usize, byte: u8) {
    assert!(decode(&datagram).is_ok());
    datagram[at] = byte;
    assert_eq!(decode(&checked_again(&datagram)), Err(Malformed), "byte {at} as {byte:#04x}");
}

#[test]
fn unknown_kinds_and_empty_datagrams_are_malformed() {
    assert_eq!(decode(&[]), Err(Malformed));
    for kind in (0..=0x7f).chain(0x8a..=0xff) {
        assert_malformed_with(hello(), 0, kind);
    }
}

#[test]
fn a_hello_with_an_id_wrong_magic_no_source_or_no_version_is_malformed() {
    assert_malformed_with(hello(), 3, 1);
    assert_malformed_with(hello(), 4, b's');
    assert_malformed_with(hello(), 10, 0);
    assert_malformed_with(hello(), 19, 5);
    assert_malformed_with(hello(), 21, 0);
    assert_malformed_with(hello(), 21, 3);
}

#[test]
fn anything_but_exactly_one_suite_is_malformed() {
    for suite in (0..=0xff).filter(|suite| ![1, 2, 4, 8].contains(suite)) {
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
    assert_malformed_with(refuse.clone(), refuse.len() - 1 - CHECK_BYTES, 0xff);
    let refuse = |length: usize| {
        let mut refuse = written(|w| encode_refuse(w, 3, NONCE, 0, &"x".repeat(512)));
        refuse.truncate(13);
        refuse.extend([0x40 | (length >> 8) as u8, length as u8]);
        refuse.resize(refuse.len() + length + CHECK_BYTES, b'x');
        checked_again(&refuse)
    };
    assert!(decode(&refuse(512)).is_ok());
    assert_eq!(decode(&refuse(513)), Err(Malformed));
}

#[test]
fn every_truncated_datagram_is_malformed_unless_open_ended() {
    for datagram in every_kind() {
        let fixed = match datagram[0] {
            KIND_OPEN => OPEN_HEADER_BYTES + CHECK_BYTES,
            KIND_CRYPTO => CRYPTO_HEADER_BYTES + CHECK_BYTES,
            KIND_QUERY => QUERY_BYTES_MIN,
            KIND_ANSWER => ANSWER_OVERHEAD_BYTES + 2,
            _ => datagram.len(),
        };
        for cut in 0..fixed {
            assert_eq!(decode(&datagram[..cut]), Err(Malformed));
            if datagram[0] != KIND_PACKET && cut >= CHECK_BYTES {
                assert_eq!(decode(&checked_again(&datagram[..cut])), Err(Malformed));
            }
        }
    }
}

#[test]
fn unexpected_trailing_bytes_are_malformed() {
    for datagram in every_kind() {
        let open_ended = [KIND_PACKET, KIND_HELLO, KIND_OPEN, KIND_CRYPTO, KIND_QUERY, KIND_ANSWER];
        let mut longer = [&datagram[..], &[0]].concat();
        if datagram[0] != KIND_PACKET {
            longer = checked_again(&longer);
        }
        assert_eq!(decode(&longer).is_ok(), open_ended.contains(&datagram[0]));
    }
}

#[test]
fn every_flipped_bit_outside_of_encryption_is_detected() {
    for datagram in every_kind().iter().filter(|datagram| datagram[0] != KIND_PACKET) {
        for bit in 0..8 * datagram.len() {
            let mut damaged = datagram.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if damaged[0] == KIND_PACKET {
                // Its tag cannot be right.
                continue;
            }
            assert_eq!(decode(&damaged), Err(Malformed), "bit {bit} of {datagram:02x?}");
        }
    }
}
