use super::client::{PATIENCE, Stage, TOKEN, until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn garbage_is_answered_or_dropped_without_harm() {
    let stage = Stage::new();
    let long = [b"GET /".to_vec(), vec![b'a'; 100_000], b" HTTP/1.1\r\n\r\n".to_vec()].concat();
    let many = format!("GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "a: b\r\n".repeat(1000));
    let cases: [&[u8]; 8] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/say HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &long,
        many.as_bytes(),
    ];
    for bytes in cases {
        let mut stream = stage.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_eq!(stage.get("/healthz").0, 200);
}

#[test]
fn many_silent_connections_do_not_block_new_clients() {
    let stage = Stage::new();
    let crowd: Vec<TcpStream> = (0..300).map(|_| stage.connect()).collect();
    let began = Instant::now();
    assert_eq!(stage.get("/healthz").0, 200);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    // The first connection was displaced.
    let mut oldest = &crowd[0];
    assert_eq!(oldest.read(&mut [0; 8]).unwrap_or(0), 0);
}

#[test]
fn an_operators_stream_survives_a_connection_flood() {
    let stage = Stage::with_token(Some(TOKEN));
    let mut stream = stage.connect();
    let request = format!("GET /api/stream HTTP/1.1\r\nhost: {}\r\nx-skipstone: 1\r\n", stage.address);
    stream.write_all(format!("{request}authorization: Bearer {TOKEN}\r\n\r\n").as_bytes()).expect("it is open");
    until(&mut stream, "text/event-stream");
    let crowd: Vec<TcpStream> = (0..300).map(|_| stage.connect()).collect();
    assert_eq!(stage.get("/healthz").0, 200, "all of the crowd have come");
    stage.feed.log("still here");
    until(&mut stream, "still here");
    drop(crowd);
}

#[test]
fn slow_request_heads_and_bodies_are_abandoned() {
    let stage = Stage::new();
    let mut head = stage.connect();
    head.write_all(b"GET / HTTP/1.1\r\nhost: loc").expect("it is open");
    let mut body = stage.connect();
    let begin = "POST /api/say HTTP/1.1\r\nhost: localhost\r\nx-skipstone: 1\r\ncontent-type: application/json\r\n";
    body.write_all(format!("{begin}content-length: 100\r\n\r\n{{").as_bytes()).expect("it is open");
    let began = Instant::now();
    let mut answer = String::new();
    let _ = body.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert_eq!(head.read(&mut [0; 8]).unwrap_or(0), 0, "it is closed");
    assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
    assert_eq!(stage.orders.taken(), Vec::<String>::new());
}

#[test]
fn requests_per_connection_are_rate_limited() {
    let stage = Stage::new();
    for request in ["GET /healthz HTTP/1.1\r\n", "GET /api/log HTTP/1.1\r\n", "GET /nowhere HTTP/1.1\r\n"] {
        let began = Instant::now();
        answers(&mut stage.connect(), &format!("{request}host: {}\r\n\r\n", stage.address), 50);
        assert!(began.elapsed() >= Duration::from_millis(500), "{:?}", began.elapsed());
    }
}

#[test]
fn foreign_pages_and_strangers_do_not_use_an_operators_budget() {
    let stage = Stage::new();
    for request in [
        "GET /metrics HTTP/1.1\r\nsec-fetch-site: cross-site\r\n",
        "GET /api/log HTTP/1.1\r\nx-skipstone: 1\r\norigin: http://evil.example\r\n",
        "GET / HTTP/1.1\r\nsec-fetch-site: cross-site\r\n",
        "GET /healthz HTTP/1.1\r\n",
    ] {
        answers(&mut stage.connect(), &format!("{request}host: {}\r\n\r\n", stage.address), 120);
    }
    assert_eq!([stage.get("/").0, stage.get("/api/log").0, stage.get("/metrics").0], [200; 3]);
}

/// The answers to a request that is sent this number of times at once.
fn answers(stream: &mut TcpStream, request: &str, count: usize) -> String {
    stream.write_all(request.repeat(count).as_bytes()).expect("it is open");
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    while text.matches("HTTP/1.1 ").count() < count {
        let count = stream.read(&mut buffer).expect("answers come");
        assert!(count > 0, "the connection ended: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    text
}

#[test]
fn viewers_have_a_bound() {
    let stage = Stage::new();
    let request = format!("GET /api/stream HTTP/1.1\r\nhost: {}\r\nx-skipstone: 1\r\n\r\n", stage.address);
    let open = || {
        let mut stream = stage.connect();
        stream.write_all(request.as_bytes()).expect("it is open");
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("an answer");
        (stream, String::from_utf8_lossy(&head).into_owned())
    };
    let all: Vec<_> = (0..17).map(|_| open()).collect();
    assert!(all[..16].iter().all(|(_, head)| head == "HTTP/1.1 200"));
    assert_eq!(all[16].1, "HTTP/1.1 503");
}
