//! HTTP in scripts: logins that wait without holding up the others, and servers that answer badly or not at all.

use crate::runs::{number, result_of, script};
use crate::servers::{ReadWrite, echo, tcp};
use crate::tls_servers::tls;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The head and the body of the next request; `None` at the end of the stream.
fn request(stream: &mut dyn ReadWrite) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("text").to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

fn answer(stream: &mut dyn ReadWrite, status: &str, body: &[u8]) {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n", body.len());
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

/// Bots that run this `start`, and send ticks to an echo meanwhile.
fn run(start: &str, clients: &str) -> Value {
    run_for("2500ms", start, clients)
}

fn run_for(duration: &str, start: &str, clients: &str) -> Value {
    let game = echo();
    let source = format!(
        "local bot = skipstone.bot{{ api = 1, tick = 20, text = true }}
        function bot:start()
            assert(self:connect())
            {start}
        end
        function bot:tick(now) self:send(0, 'tick', {{ due = now }}) end
        function bot:message() end"
    );
    let (_folder, path) = script(&source);
    let result = result_of(&[&path, &game.url("udp"), "-c", clients, "-d", duration, "--ramp", "50ms"]);
    game.stop();
    result
}

#[test]
fn a_login_gets_its_answer_and_the_connection_is_kept() {
    let connections = Arc::new(AtomicU32::new(0));
    let own = Arc::clone(&connections);
    let server = tcp(move |stream| {
        own.fetch_add(1, Ordering::Relaxed);
        while let Some((head, body)) = request(stream) {
            match head.split(' ').nth(1).expect("a path") {
                "/login" if head.contains("content-type: application/json") && head.contains("x-room: 7") => {
                    let name: Value = serde_json::from_slice(&body).expect("JSON");
                    let token = serde_json::json!({ "token": format!("for-{}", name["name"].as_str().expect("text")) });
                    answer(stream, "200 OK", token.to_string().as_bytes());
                }
                "/echo" => {
                    answer(stream, "201 Created", &[head.split(' ').next().expect("one").as_bytes(), &body].concat())
                }
                _ => answer(stream, "404 Not Found", b"nothing"),
            }
        }
    });
    let url = server.url("http");
    let start = format!(
        "local reply = assert(http.post('{url}/login', {{ json = {{ name = 'ada' }}, headers = {{ ['X-Room'] = 7 }} }}))
        check('token', reply.status == 200 and json.decode(reply.body).token == 'for-ada')
        check('cookies', reply.headers['set-cookie'] == 'a=1\\nb=2')
        local reply = assert(http.request('{url}/echo', {{ method = 'PUT', body = buffer.fromstring('x\\0y') }}))
        check('body', reply.status == 201 and reply.body == 'putx\\0y')
        local reply = assert(http.get('{url}/none'))
        check('missing', reply.status == 404 and reply.body == 'nothing')"
    );
    let result = run(&start, "3");
    assert_eq!(result["faults"], serde_json::json!([]), "{result:#}");
    for name in ["token", "cookies", "body", "missing"] {
        assert_eq!(number(&result, &format!("/metrics/{name}/passed")), 3.0, "{name}: {result:#}");
    }
    assert_eq!(number(&result, "/metrics/http_ms/count"), 9.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/http_failed/yes"), 3.0, "a 404 is a failure: {result:#}");
    assert_eq!(connections.load(Ordering::Relaxed), 3, "one for each bot");
    server.stop();
}

#[test]
fn servers_that_answer_badly_are_a_reason_and_stop_nothing() {
    let server = tcp(|stream| {
        let Some((head, _)) = request(stream) else { return };
        match head.split(' ').nth(1).expect("a path") {
            "/never" => drop(request(stream)),
            "/away" => {}
            "/cut" => drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")),
            "/garbage" => drop(stream.write_all(&[0xC3; 300])),
            "/long" => answer(stream, "200 OK", &[b'x'; 5000]),
            "/endless" => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                let chunk = [&b"400\r\n"[..], &[b'x'; 0x400], b"\r\n"].concat();
                while stream.write_all(&chunk).is_ok() {}
            }
            "/head" => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
                while stream.write_all(&[b'x'; 1000]).is_ok() {}
            }
            _ => while stream.write_all(b"HTTP/1.1 102 Processing\r\n\r\n").is_ok() {},
        }
    });
    let url = server.url("http");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("bound").local_addr().expect("an address");
    let mut start = String::new();
    for (at, (target, part)) in [
        (format!("{url}/never"), "no answer within 0.2 s: it waited for the answer"),
        (format!("{url}/away"), "without an answer"),
        (format!("{url}/cut"), "after 5 bytes"),
        (format!("{url}/garbage"), "no HTTP/1.1"),
        (format!("{url}/long"), "more than 1000 bytes"),
        (format!("{url}/endless"), "more than 1000 bytes"),
        (format!("{url}/head"), ""),
        (format!("{url}/interim"), "no answer within 0.2 s"),
        (format!("http://{free}/"), "refused"),
        (format!("https://{}/", server.address), "the handshake of TLS"),
        ("http://no-such-name.invalid/".into(), ""),
    ]
    .into_iter()
    .enumerate()
    {
        let trust = if target.starts_with("https") { ", trust = 'anyone'" } else { "" };
        start += &format!(
            "do
                local reply, why = http.get('{target}', {{ timeout = 0.2, max = 1000{trust} }})
                if not check('refused_{at}', reply == nil and string.find(why, '{part}', 1, true) ~= nil) then
                    print('{target}', reply, why)
                end
            end\n"
        );
    }
    let result = run(&start, "2");
    assert_eq!(result["faults"], serde_json::json!([]), "{result:#}");
    for at in 0..11 {
        assert_eq!(number(&result, &format!("/metrics/refused_{at}/failed")), 0.0, "{at}: {result:#}");
    }
    assert_eq!(number(&result, "/metrics/refused_10/passed"), 2.0, "{result:#}");
    assert!(number(&result, "/messages/sent") > 40.0, "ticks go on: {result:#}");
    assert_eq!(number(&result, "/metrics/http_failed/yes"), 22.0, "{result:#}");
    server.stop();
}

#[test]
fn a_connection_that_the_server_has_ended_is_made_again() {
    let server = tcp(|stream| {
        if request(stream).is_some() {
            // Kept, as far as the client can know.
            answer(stream, "200 OK", b"once");
        }
    });
    let url = server.url("http");
    let start = format!(
        "for at = 1, 4 do
            local reply, why = http.get('{url}/')
            check('answered', reply ~= nil and reply.body == 'once')
            if at % 2 == 0 then self:sleep(0.05) end
        end"
    );
    let result = run(&start, "2");
    assert_eq!(number(&result, "/metrics/answered/failed"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/answered/passed"), 8.0, "{result:#}");
    server.stop();
}

#[test]
fn logins_go_over_https_to_a_pinned_server_only() {
    let server = tls(|stream| {
        while let Some((_, body)) = request(stream) {
            answer(stream, "200 OK", &body);
        }
    });
    let (url, pin) = (server.running.url("https"), server.pin.clone());
    let wrong = format!("#sha256={}", "0".repeat(64));
    let start = format!(
        "for _ = 1, 2 do
            local long = string.rep('x', 100000)
            local reply, why = http.post('{url}/{pin}', {{ body = long }})
            check('answered', reply ~= nil and reply.body == long)
        end
        local reply, why = http.get('{url}/')
        check('untrusted', reply == nil and string.find(why, 'nobody trusted') ~= nil)
        local reply, why = http.get('{url}/{wrong}')
        check('wrong_pin', reply == nil and string.find(why, 'has the fingerprint') ~= nil)"
    );
    let result = run(&start, "2");
    assert_eq!(result["faults"], serde_json::json!([]), "{result:#}");
    assert_eq!(number(&result, "/metrics/answered/passed"), 4.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/untrusted/passed"), 2.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/wrong_pin/passed"), 2.0, "{result:#}");
    assert_eq!(server.names.lock().expect("no panic").len(), 2, "one connection for each bot");
    server.running.stop();
}

#[test]
fn a_wrong_call_is_an_error_with_its_line() {
    for (line, part) in [
        ("http.get('file:///etc/passwd')", "bot.luau:4:18: http.get cannot ask: file:///etc/passwd: a URL begins with"),
        ("http.get('http://h', { colour = 1 })", "there is no option \"colour\""),
        ("http.post('http://h', { json = {}, body = '' })", "give one"),
        ("http.get('http://h', { timeout = 0 })", "timeout: more than 0"),
        ("http.get('http://h', { headers = { A = 'b\\n' } })", "no line's end"),
        ("metrics.trend('http_ms')", "http_ms is measured by http itself"),
    ] {
        let result = run_for("300ms", line, "1");
        let faults = result["faults"].to_string();
        assert!(faults.contains(&part.replace('"', "\\\"")), "{line}: {faults}");
    }
    let (_folder, path) = script("local bot = skipstone.bot{ api = 1 }\nhttp.get('http://h')");
    assert_eq!(crate::runs::exit_of(&[&path, "udp://127.0.0.1:9", "--check"]), 104, "not at the top of the script");
}
