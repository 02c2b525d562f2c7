//! Native clients are encrypted unless both sides choose otherwise, and an untrusted server is named with a remedy.

use crate::common::result::read;
use crate::common::{Served, fresh_file, run};

fn transport_of(flags: &[&str]) -> String {
    let file = fresh_file("transport.json");
    let json = file.to_str().expect("text");
    run(&[&["stress", "-q", "-c", "4", "-d", "1s", "--json", json], flags].concat()).expect(&[0, 98]);
    read(&file)["transport"].as_str().expect("a name").to_owned()
}

#[test]
fn a_run_with_its_own_server_is_encrypted_by_default() {
    assert_eq!(transport_of(&[]), "udp-tls");
    assert_eq!(transport_of(&["--dtls", "1.2"]), "udp-dtls");
    assert_eq!(transport_of(&["--dtls", "1.3"]), "udp-dtls");
    assert_eq!(transport_of(&["--plain"]), "udp-plain");
}

#[test]
fn a_server_accepts_unencrypted_clients_only_if_configured() {
    let (strict, lax) = (Served::start(&[]), Served::start(&["--allow-plain"]));
    let plain = |served: &Served| format!("skip+plain://{}", served.address);
    let ended = run(&["stress", "-q", "-c", "2", "-d", "1s", &plain(&strict)]);
    ended.expect(&[97]);
    assert!(ended.out.contains("encrypted clients only"), "{}", ended.out);
    run(&["stress", "-q", "-c", "2", "-d", "1s", &plain(&lax)]).expect(&[0, 98]);
    strict.stop();
    lax.stop();
}

#[test]
fn an_untrusted_server_is_named_with_a_remedy() {
    let served = Served::start(&[]);
    let bare = served.url.split('#').next().expect("a URL").to_owned();
    let ended = run(&["stress", "-q", "-c", "2", "-d", "1s", &bare]);
    ended.expect(&[97]);
    let said: String = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("nobody trusted has signed") && said.contains("#sha256="), "{said}");
    let wrong = format!("{bare}#sha256={}", "00".repeat(32));
    let ended = run(&["stress", "-q", "-c", "2", "-d", "1s", &wrong]);
    assert!(ended.expect(&[97]).out.contains("fingerprint"), "{}", ended.out);
    run(&["stress", "-q", "-c", "2", "-d", "1s", &bare, "--dangerously-trust-anyone"]).expect(&[0, 98]);
    served.stop();
}

#[test]
fn the_fingerprint_stays_the_same_across_starts() {
    let file = fresh_file("identity.pem");
    let path = file.to_str().expect("text").to_owned();
    let pin = |served: &Served| served.url.split('#').nth(1).expect("a fingerprint").to_owned();
    let first = Served::start(&["--identity", &path]);
    let before = pin(&first);
    first.stop();
    let second = Served::start(&["--identity", &path]);
    assert_eq!(pin(&second), before);
    second.stop();
    let third = Served::start(&["--cert", &path]);
    assert_eq!(pin(&third), before, "the kept file is a PEM file like any other");
    third.stop();
}

#[test]
fn certificates_that_cannot_be_used_are_refused_with_a_remedy() {
    let refused = |flags: &[&str], said: &str| {
        let ended = run(&[&["serve", "--listen", "127.0.0.1:0", "--console", "off"], flags].concat());
        assert!(ended.expect(&[104]).err.contains(said), "{}", ended.err);
    };
    refused(&["--cert", "/nonexistent.pem"], "cannot use '/nonexistent.pem'");
    refused(&["--cert", "/dev/null"], "no certificate");
    refused(&["--key", "/dev/null"], "--cert");
    let rsa = concat!(env!("CARGO_MANIFEST_DIR"), "/../skipstone/tests/rsa.pem");
    refused(&["--cert", rsa, "--key", "/dev/null"], "no private key");
}
