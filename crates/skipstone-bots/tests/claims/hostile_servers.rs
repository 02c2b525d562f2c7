//! Servers that are away, silent, close, flood, or speak another protocol: counted, and never a crash.

use crate::runs::{number, result_of, script};
use crate::servers::{tcp, udp};
use std::net::UdpSocket;

const TICKS: &str = "
    local bot = skipstone.bot{ api = 1, tick = 20 }
    function bot:tick(now) self:send(0, 'hello', { due = now }) end
";

fn run(text: &str, url: &str) -> serde_json::Value {
    let (_folder, path) = script(text);
    result_of(&[&path, url, "-c", "3", "-d", "700ms", "--ramp", "50ms"])
}

#[test]
fn a_server_that_is_away_is_unavailable() {
    let free = UdpSocket::bind("127.0.0.1:0").expect("bound").local_addr().expect("an address");
    for scheme in ["udp", "tcp"] {
        let result = run(TICKS, &format!("{scheme}://{free}"));
        assert_eq!(result["verdict"], "unavailable", "{scheme}: {result:#}");
    }
}

#[test]
fn a_server_that_never_answers_is_unavailable() {
    let server = udp(|(), _| Vec::new(), |_| Vec::new());
    let result = run(TICKS, &server.url("udp"));
    assert_eq!(result["verdict"], "unavailable", "{result:#}");
    assert_eq!(server.stop().len(), 3);
}

#[test]
fn bots_that_a_server_drops_are_counted_with_the_reason() {
    let server = tcp(|stream| drop(stream.write_all(b"welcome")));
    let result = run(TICKS, &server.url("tcp"));
    assert_eq!(number(&result, "/bots/dropped"), 3.0, "{result:#}");
    let endings = result["endings"].as_object().expect("an object");
    assert!(endings.keys().all(|why| why.starts_with("by-server") || why.starts_with("unreachable")), "{endings:?}");
    server.stop();
}

#[test]
fn a_server_of_another_protocol_ends_the_bots() {
    let server = tcp(|stream| drop(stream.write_all(&[0xFF; 64])));
    let url = server.url("tcp") + "?frame=length";
    let result = run(TICKS, &url);
    let endings = result["endings"].as_object().expect("an object");
    assert!(endings.keys().any(|why| why.starts_with("malformed")), "{endings:?}");
    server.stop();
}

#[test]
fn a_server_that_floods_is_read_and_ends_nothing() {
    let server = udp(|(), _| vec![vec![9; 1200]; 200], |_| Vec::new());
    let result = run(TICKS, &server.url("udp"));
    assert!(number(&result, "/messages/received") > 1000.0);
    assert_eq!(number(&result, "/bots/dropped"), 0.0);
    server.stop();
}
