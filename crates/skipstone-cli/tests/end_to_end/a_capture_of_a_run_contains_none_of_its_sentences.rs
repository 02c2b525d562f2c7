//! An observer of every datagram of a run learns none of its content; of an unencrypted run he reads all, which shows
//! that he looks in the right place.

use crate::common::guest::Guest;
use crate::common::relay::Relay;
use crate::common::result::{assert_all_delivered, read};
use crate::common::{Running, Served, fresh_file};
use std::collections::HashSet;

/// Bytes in a row by which a sentence is recognised: chance finds eight given ones in a megabyte once in 10^13 times.
type Piece = [u8; 8];

/// Of the pieces of the sentences that were said, how many the datagrams show, and how many there are; and whether they
/// show a client's token.
struct Found {
    pieces: usize,
    of: usize,
    token: bool,
}

/// A run through a relay, with another process that listens and is not a client.
fn capture(native: &str, flags: &[&str]) -> Found {
    let served = Served::start(&["--allow-plain"]);
    let relay = Relay::to(served.address);
    let pin = served.url.split_once('#').map(|(_, pin)| format!("#{pin}")).expect("it has a fingerprint");
    let pin = if native == "skip" { pin } else { String::new() };
    let url = format!("{native}://{}{pin}", relay.address);
    let mut guest = Guest::connect(&served.url, "listener");
    let file = fresh_file("captured.json");
    let run = ["stress", &url, "-c", "6", "-r", "5/s", "-d", "2s", "--json", file.to_str().expect("text")];
    let run = Running::tool(&[&run, flags].concat());
    guest.listen_until("all has been said", |guest| guest.lines.len() >= 60);
    assert_all_delivered(&run.wait(), &read(&file), 6, 10);
    let datagrams = relay.datagrams();
    assert!(datagrams.iter().any(|one| one.to_server) && datagrams.iter().any(|one| !one.to_server));
    let said: HashSet<&[u8]> = guest.lines.iter().flat_map(|line| line.windows(size_of::<Piece>())).collect();
    let shown: HashSet<&[u8]> =
        datagrams.iter().flat_map(|datagram| datagram.bytes.windows(size_of::<Piece>())).collect();
    served.stop();
    Found { pieces: said.intersection(&shown).count(), of: said.len(), token: shown.contains(&b"stress 0"[..]) }
}

#[test]
fn an_encrypted_capture_contains_no_plaintext() {
    for flags in [&[][..], &["--dtls", "1.3"], &["--dtls", "1.2"]] {
        let found = capture("skip", flags);
        assert!(found.of > 1_000, "only {} pieces were looked for", found.of);
        assert_eq!((found.pieces, found.token), (0, false), "{flags:?}");
    }
}

#[test]
fn an_unencrypted_capture_contains_every_sentence_and_token() {
    let found = capture("skip+plain", &[]);
    assert!(found.token);
    assert_eq!(found.pieces, found.of);
}
