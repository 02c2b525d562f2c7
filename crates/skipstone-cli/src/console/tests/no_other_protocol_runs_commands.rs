//! Openings of other protocols that contain a line chosen by an attacker: no command runs. Without
//! sockets.

use std::sync::Arc;
use std::time::Instant;

use crate::console::tests::client::{Notes, TOKEN};
use crate::console::tests::random::Random;
use crate::console::tests::session::session_of;
use crate::door::Secret;

/// A TLS 1.2 client resumes the session whose id another server chose.
const CLIENT_HELLO: &[u8] = b"\x16\x03\x01\x00\x6d\x01\x00\x00\x69\x03\x030123456789abcdef0123456789abcdef\
    \x20\xff\xf8drain 192.0.2.1:7777\nwho\nxxx\n\x00\x04\x13\x01\xc0\x2f\x01\x00";

const OTHERS: [&[u8]; 12] = [
    CLIENT_HELLO,
    b"SSH-2.0-OpenSSH_9.2\r\n\0\0\x05\xdc\x0a\x14\nwho\n",
    b"\0\0\0\xa4\xffSMBr\0\0\0\0\nwho\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\nwho\r\n",
    b"GET /who HTTP/1.0\r\n\r\nwho\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nwho\n",
    b"EHLO example\r\nwho\r\n",
    b"dr\0ain\nwho\n",
    b"drain\xff\xf8who\n",
    b"x\xff\xf7who\n",
    b"\xff\xf3who\n",
    b"\xc3\nwho\n",
];

#[test]
fn openings_of_other_protocols_run_no_command_at_any_split() {
    for bytes in OTHERS.map(<[u8]>::to_vec).into_iter().chain([long_path()]) {
        for cut in 0..bytes.len().min(200) {
            assert_eq!(ran(&[&bytes[..cut], &bytes[cut..]], None), Vec::<String>::new(), "{cut} of {bytes:?}");
        }
    }
}

#[test]
fn the_same_holds_when_a_token_is_required() {
    for bytes in OTHERS {
        let with_token = [bytes, b"\n", TOKEN.as_bytes(), b"\nwho\n"].concat();
        assert_eq!(ran(&[&with_token], Secret::new(TOKEN).ok()), Vec::<String>::new(), "{bytes:?}");
    }
    assert_eq!(ran(&[TOKEN.as_bytes(), b"\nwho\n"], Secret::new(TOKEN).ok()), ["who"]);
}

#[test]
fn binary_input_runs_no_command_after_it() {
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let mut bytes: Vec<u8> = (0..random.below(100)).map(|_| 0x20 + random.below(0x5f) as u8).collect();
        let at = random.below(bytes.len() + 1);
        bytes.insert(at, [0x00, 0x01, 0x0b, 0x16, 0x1b, 0x7f][random.below(6)]);
        bytes.extend(b"\xff\xf8\nwho\nwho\n");
        assert_eq!(ran(&[&bytes], None), Vec::<String>::new(), "seed {seed}");
    }
}

/// A first byte of TLS ends the session at once, and not after the time for the first command.
#[test]
fn a_tls_client_gets_an_answer_at_once() {
    let now = Instant::now();
    let mut session = session_of(Arc::new(Notes::default()), None, now);
    session.handle_bytes(&CLIENT_HELLO[..1]);
    session.process(now);
    assert!(session.is_over());
}

/// A path so long that the end of the first line, which reveals HTTP, exceeds the longest line.
fn long_path() -> Vec<u8> {
    format!("POST /{} HTTP/1.1\r\nwho\r\n", "a".repeat(8 << 10)).into_bytes()
}

/// The commands that ran.
fn ran(pieces: &[&[u8]], secret: Option<Secret>) -> Vec<String> {
    let (notes, now) = (Arc::new(Notes::default()), Instant::now());
    let mut session = session_of(Arc::clone(&notes) as _, secret, now);
    for piece in pieces {
        if session.wants_bytes() {
            session.handle_bytes(piece);
            session.process(now);
        }
    }
    session.handle_end_of_input();
    session.process(now);
    notes.taken()
}
