//! DTLS records before decryption. dimpl keeps some hundred times a record's length, so invalid records must not reach
//! it. RFC 6347 section 4.1, RFC 9147 section 4.

/// Bytes in front of a record of DTLS 1.2, and of one in clear of 1.3.
const HEADER_BYTES: usize = 13;
const HANDSHAKE: u8 = 22;
const ALERT: u8 = 21;
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const CLIENT_KEY_EXCHANGE: u8 = 16;
/// Bytes in front of a handshake message or a fragment of one.
const MESSAGE_HEADER_BYTES: usize = 12;

/// One record.
#[derive(Clone, Copy, Debug)]
struct Record<'a> {
    bytes: &'a [u8],
    is_sealed: bool,
}

impl Record<'_> {
    /// Type of the handshake message at the start of the record, if the record is an unencrypted handshake message.
    fn message(&self) -> Option<u8> {
        let is_message =
            !self.is_sealed && self.bytes[0] == HANDSHAKE && self.bytes.len() >= HEADER_BYTES + MESSAGE_HEADER_BYTES;
        is_message.then(|| self.bytes[HEADER_BYTES])
    }
}

/// Iterates over the records of a datagram; yields an error if the rest does not begin with a complete record.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, ()>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0;
        let (length, is_sealed) = match *rest.first()? {
            flags @ 0b0010_0000..=0b0011_1111 => (sealed_length(flags, rest), true),
            20..=26 if rest.len() > HEADER_BYTES => {
                let content = u16::from_be_bytes([rest[11], rest[12]]);
                (Some(HEADER_BYTES + usize::from(content)), rest[3..5] != [0, 0])
            }
            _ => (None, false),
        };
        let Some((bytes, rest)) = length.and_then(|length| rest.split_at_checked(length)) else {
            self.0 = &[];
            return Some(Err(()));
        };
        self.0 = rest;
        Some(Ok(Record { bytes, is_sealed }))
    }
}

/// Length of a sealed record of 1.3; without a length field, the record is the rest of the datagram.
fn sealed_length(flags: u8, bytes: &[u8]) -> Option<usize> {
    let has_connection_id = flags & 0b1_0000 != 0;
    let header = if flags & 0b1000 != 0 { 3 } else { 2 };
    match (has_connection_id, flags & 0b100 != 0) {
        (true, _) => None,
        (false, false) => Some(bytes.len()),
        (false, true) => {
            let length = bytes.get(header..header + 2)?;
            Some(header + 2 + usize::from(u16::from_be_bytes([length[0], length[1]])))
        }
    }
}

/// Whether a datagram holds handshake records, `records_max` at most. Unencrypted alerts are refused, because any host
/// could have sent them.
pub(super) fn are_handshake(bytes: &[u8], records_max: usize) -> bool {
    let is_good =
        |record: Result<Record<'_>, ()>| record.is_ok_and(|record| record.is_sealed || record.bytes[0] != ALERT);
    !bytes.is_empty() && Records(bytes).count() <= records_max && Records(bytes).all(is_good)
}

/// The number of a client's ClientHello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hello {
    First,
    /// The ClientHello with the cookie.
    Second,
}

/// The ClientHello that a datagram is, or is a fragment of: a record and nothing after it.
pub(crate) fn client_hello(bytes: &[u8]) -> Option<Hello> {
    let mut records = Records(bytes);
    let record = records.next()?.ok()?;
    if record.message() != Some(CLIENT_HELLO) || records.next().is_some() {
        return None;
    }
    match record.bytes[HEADER_BYTES + 4..HEADER_BYTES + 6] {
        [0, 0] => Some(Hello::First),
        [0, 1] => Some(Hello::Second),
        _ => None,
    }
}

/// Whether a datagram holds sealed records only, and unencrypted ones before them.
pub(crate) fn is_sealed(bytes: &[u8]) -> bool {
    sealed(bytes).is_some()
}

/// The end of a datagram that consists of sealed records only; the unencrypted records before it are left out.
pub(super) fn sealed(bytes: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    for record in Records(bytes) {
        let record = record.ok()?;
        if record.is_sealed {
            let rest = &bytes[at..];
            return Records(rest).all(|record| record.is_ok_and(|record| record.is_sealed)).then_some(rest);
        }
        at += record.bytes.len();
    }
    None
}

/// The records of a datagram, one by one, up to the first that is cut short.
pub(super) fn each(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    Records(bytes).map_while(|record| record.ok().map(|record| record.bytes))
}

/// Whether a server's datagram shows that it accepted the client's cookie: it begins with a ServerHello other than a
/// HelloRetryRequest.
pub(super) fn is_after_cookie(bytes: &[u8]) -> bool {
    let Some(Ok(record)) = Records(bytes).next() else { return false };
    let random = record.bytes.get(RANDOM_AT..RANDOM_AT + RETRY_RANDOM.len());
    record.message() == Some(SERVER_HELLO) && random.is_some_and(|random| random != RETRY_RANDOM)
}

/// Where the random of a hello is in its record: after both headers and the version.
const RANDOM_AT: usize = HEADER_BYTES + MESSAGE_HEADER_BYTES + 2;
/// The first bytes of the random of a HelloRetryRequest (RFC 8446, section 4.1.3).
const RETRY_RANDOM: &[u8] = &[0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11];

/// Whether a datagram looks like the last flight of a client of 1.2: an unencrypted key exchange, and a sealed record
/// at the end.
pub(super) fn is_last_flight_1_2(bytes: &[u8]) -> bool {
    let first = Records(bytes).next();
    let is_exchange = matches!(first, Some(Ok(record)) if record.message() == Some(CLIENT_KEY_EXCHANGE));
    is_exchange && sealed(bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(kind: u8, content: &[u8]) -> Vec<u8> {
        let mut record = vec![kind, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 1, 0, content.len() as u8];
        record.extend(content);
        record
    }

    fn sealed_1_2(kind: u8, content: &[u8]) -> Vec<u8> {
        let mut record = plain(kind, content);
        record[4] = 1;
        record
    }

    fn message(kind: u8, sequence: u16) -> Vec<u8> {
        let mut message = vec![kind, 0, 0, 0];
        message.extend(sequence.to_be_bytes());
        message.extend([0; 6]);
        plain(22, &message)
    }

    #[test]
    fn plaintext_alerts_garbage_and_too_many_records_fail_the_handshake() {
        let alert = plain(21, &[2, 40]);
        let mut hello = plain(22, &[1, 2, 3]);
        assert!(are_handshake(&hello, 1) && !are_handshake(&alert, 9) && !are_handshake(&[], 9));
        assert!(are_handshake(&sealed_1_2(21, &[0; 26]), 9));
        hello.extend(&alert);
        assert!(!are_handshake(&hello, 9), "behind something else, too");
        assert!(!are_handshake(&hello[..15], 9) && !are_handshake(b"\x80abc", 9) && are_handshake(&[0x2B, 1, 2], 9));
        let two = [message(20, 0), message(20, 0)].concat();
        assert!(are_handshake(&two, 2) && !are_handshake(&two, 1));
        let lengths = [[0x2F, 0, 0, 0, 1, 9].as_slice(), &[0x2F, 0, 0, 0, 1, 9]].concat();
        assert!(are_handshake(&lengths, 2) && !are_handshake(&lengths, 1) && !are_handshake(&lengths[..11], 9));
    }

    #[test]
    fn only_a_single_hello_is_a_hello() {
        assert_eq!(client_hello(&message(1, 0)), Some(Hello::First));
        assert_eq!(client_hello(&message(1, 1)), Some(Hello::Second));
        let two = [message(1, 0), message(1, 0)].concat();
        let others = [message(1, 2), message(1, 256), message(2, 0), plain(22, &[1, 0, 0]), sealed_1_2(22, &[1; 20])];
        for other in others.iter().chain([&two]) {
            assert_eq!(client_hello(other), None, "{other:?}");
        }
    }

    #[test]
    fn plaintext_before_sealed_records_is_skipped() {
        let (clear, record) = (message(16, 1), sealed_1_2(22, &[7; 30]));
        let both = [clear.clone(), record.clone()].concat();
        assert_eq!(sealed(&both), Some(&record[..]));
        assert_eq!(sealed(&record), Some(&record[..]));
        assert_eq!(sealed(&clear), None);
        assert_eq!(sealed(&[record.clone(), clear.clone()].concat()), None, "in clear behind a sealed one");
        assert_eq!(sealed(&[]), None);
        assert!(is_last_flight_1_2(&both) && !is_last_flight_1_2(&record) && !is_last_flight_1_2(&clear));
        assert!(!is_last_flight_1_2(&[message(20, 1), record].concat()));
    }

    #[test]
    fn a_server_hello_confirms_the_cookie_and_a_retry_does_not() {
        let hello = |kind: u8, random: &[u8]| {
            let message = [&[kind, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xFE, 0xFD], random, &[0; 24]].concat();
            plain(22, &message)
        };
        assert!(is_after_cookie(&hello(2, &[7; 8])));
        assert!(!is_after_cookie(&hello(2, RETRY_RANDOM)) && !is_after_cookie(&hello(3, &[7; 8])));
        assert!(!is_after_cookie(&hello(2, &[7; 8])[..30]) && !is_after_cookie(&[]));
    }

    #[test]
    fn records_are_parsed_one_by_one_up_to_a_truncated_one() {
        let two = [sealed_1_2(23, &[1; 30]), sealed_1_2(23, &[2; 40])].concat();
        assert_eq!(each(&two).map(<[u8]>::len).collect::<Vec<_>>(), [43, 53]);
        assert_eq!(each(&two[..60]).count(), 1);
    }
}
