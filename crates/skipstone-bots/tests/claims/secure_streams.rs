//! Bots over TLS: `wss` and `tls`, with pins, names and servers that are not what they should be.

use crate::runs::{number, result_of, script};
use crate::servers::{ReadWrite, tcp};
use crate::tls_servers::tls;
use serde_json::Value;

const SCRIPT: &str = "
    local bot = skipstone.bot{ api = 1, tick = 20 }
    local echoes = metrics.requests('echo_ms')
    local sequence = 0
    function bot:tick(now)
        sequence += 1
        local packet = buffer.create(4 + 20000)
        buffer.writeu32(packet, 0, sequence)
        echoes:sent(sequence, now)
        self:send(0, packet, { due = now })
    end
    function bot:message(_, data)
        check('is_whole', buffer.len(data) == 20004)
        echoes:got(buffer.readu32(data, 0))
    end
";

fn run(target: &str) -> Value {
    let (_folder, path) = script(SCRIPT);
    result_of(&[&path, target, "-c", "3", "-d", "800ms", "--ramp", "50ms", "--seed", "3"])
}

fn endings(result: &Value) -> String {
    result["endings"].to_string()
}

/// Sends back each message of a WebSocket.
fn echo(stream: &mut dyn ReadWrite) {
    let Ok(mut socket) = tungstenite::accept(stream) else { return };
    while let Ok(message) = socket.read() {
        if message.is_binary() && socket.send(message).is_err() {
            return;
        }
    }
}

#[test]
fn bots_play_over_wss_and_trust_by_pin_or_option() {
    let server = tls(echo);
    let url = server.running.url("wss");
    for target in [format!("{url}/game{}", server.pin), format!("{url}/game?trust=anyone&name=localhost")] {
        let result = run(&target);
        assert_eq!(number(&result, "/bots/connected"), 3.0, "{result:#}");
        assert_eq!(number(&result, "/bots/dropped"), 0.0, "{result:#}");
        assert!(number(&result, "/metrics/echo_ms/count") > 3.0, "{result:#}");
        assert_eq!(number(&result, "/metrics/is_whole/failed"), 0.0, "{result:#}");
    }
    let names = server.names.lock().expect("no panic").clone();
    assert!(names[..3].iter().all(Option::is_none), "an address is no name: {names:?}");
    assert!(names[3..].iter().all(|name| name.as_deref() == Some("localhost")), "{names:?}");
    server.running.stop();
}

#[test]
fn messages_after_their_length_go_over_tls() {
    let server = tls(|stream| {
        let mut chunk = [0; 5000];
        while let Ok(count @ 1..) = stream.read(&mut chunk) {
            if stream.write_all(&chunk[..count]).is_err() {
                return;
            }
        }
    });
    let result = run(&format!("{}?frame=length{}", server.running.url("tls"), server.pin));
    assert!(number(&result, "/metrics/echo_ms/count") > 3.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/is_whole/failed"), 0.0, "{result:#}");
    server.running.stop();
}

#[test]
fn a_server_that_is_not_trusted_is_refused_with_the_reason() {
    let server = tls(echo);
    let url = server.running.url("wss");
    for (target, part) in [
        (format!("{url}#sha256={}", "ab".repeat(32)), "certificate has the fingerprint"),
        (url.clone(), "nobody trusted has signed"),
    ] {
        let result = run(&target);
        assert_eq!(result["verdict"], "unavailable", "{result:#}");
        assert!(endings(&result).contains(part) && endings(&result).contains("refused: "), "{}", endings(&result));
    }
    server.running.stop();
}

#[test]
fn a_server_that_speaks_no_tls_or_leaves_ends_the_bots_with_the_reason() {
    let speaks = tcp(|stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let result = run(&format!("{}?trust=anyone", speaks.url("wss")));
    assert!(endings(&result).contains("no TLS"), "{}", endings(&result));
    speaks.stop();
    let leaves = tcp(|stream| drop(stream.read(&mut [0; 1])));
    let result = run(&format!("{}?trust=anyone", leaves.url("wss")));
    let why = endings(&result);
    assert!(why.contains("during the handshake of TLS") || why.contains("unreachable"), "{why}");
    leaves.stop();
    let no_websocket = tls(|stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    });
    let result = run(&format!("{}{}", no_websocket.running.url("wss"), no_websocket.pin));
    assert!(endings(&result).contains("HTTP 404"), "{}", endings(&result));
    no_websocket.running.stop();
}
