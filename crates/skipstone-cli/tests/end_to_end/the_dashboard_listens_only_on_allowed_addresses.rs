//! The dashboard of a running server: where it listens, what it needs for that, and that it ends with the server.

use crate::common::guest::Guest;
use crate::common::{PATIENCE, Served, run};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

fn ask(page: &str, request: &str) -> String {
    let address = page.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    let head = format!("{request}\r\nhost: {address}\r\nx-skipstone: 1\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it is open");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn page(served: &Served) -> String {
    let text = served.running.out();
    let after = text.split("dashboard").nth(1).and_then(|rest| rest.split_whitespace().next());
    after.expect("it says where").to_owned()
}

#[test]
fn the_console_runs_with_the_game_and_ends_with_it() {
    let served = Served::start(&["--dashboard", "127.0.0.1:0"]);
    let page = page(&served);
    assert!(ask(&page, "GET /readyz HTTP/1.1").contains("ready"));
    let _guest = Guest::connect(&served.url, "Ada");
    let end = Instant::now() + PATIENCE;
    while !ask(&page, "GET /api/clients HTTP/1.1").contains(r#""name":"Ada","kind":"chat","carrier":"udp""#) {
        assert!(Instant::now() < end, "no Ada: {}", ask(&page, "GET /api/clients HTTP/1.1"));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(ask(&page, "GET /metrics HTTP/1.1").contains(r#"skipstone_clients{kind="chat"} 1.0"#));
    served.stop();
    assert!(TcpStream::connect(page.trim_start_matches("http://").trim_end_matches('/')).is_err());
}

#[test]
fn a_console_beyond_loopback_needs_a_token() {
    let refused = run(&["serve", "--listen", "127.0.0.1:0", "--console", "off", "--dashboard", "0.0.0.0:0"]);
    refused.expect(&[104]);
    assert!(refused.err.contains("set --console-token, or listen on 127.0.0.1"), "{}", refused.err);
    let served = Served::start(&["--dashboard", "0.0.0.0:0", "--console-token", "correct horse battery staple"]);
    assert!(ask(&page(&served), "GET /api/clients HTTP/1.1").starts_with("HTTP/1.1 401"));
    served.stop();
}

#[test]
fn a_port_in_use_is_reported_with_a_remedy() {
    let served = Served::start(&["--dashboard", "127.0.0.1:0"]);
    let address = page(&served).replace("http://", "").replace('/', "");
    let refused = run(&["serve", "--listen", "127.0.0.1:0", "--console", "off", "--dashboard", &address]);
    refused.expect(&[104]);
    assert!(refused.err.contains("choose another address or port with --dashboard"), "{}", refused.err);
    served.stop();
}
