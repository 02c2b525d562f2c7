//! A server shuts down on request, quickly, with a message to all clients; server and clients can share a process.

use crate::common::console::Session;
use crate::common::guest::Guest;
use crate::common::result::stress;
use crate::common::{Running, Served, run};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn a_signal_ends_the_server_and_every_client_gets_the_reason() {
    let served = Served::start(&[]);
    let (url, ws, console) = (served.url.clone(), served.ws.clone(), served.console);
    let mut native = Running::tool(&["stress", &url, "-c", "3", "-d", "60s"]);
    let mut browsers = Running::tool(&["stress", &ws, "-c", "3", "-d", "60s"]);
    native.until("1.0 s running");
    browsers.until("1.0 s running");
    let session = Session::open(console);
    let began = Instant::now();
    served.running.signal("TERM");
    let ended = served.running.wait();
    // Two seconds, and as much again for a busy machine.
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    ended.expect(&[0]);
    assert!(ended.out.contains("told 6 clients why"), "{}", ended.out);
    for run in [native, browsers] {
        let ended = run.wait();
        ended.expect(&[97]);
        let said = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("the server says: the server shuts down (code 1000)"), "{}", ended.out);
    }
    assert!(session.rest().contains("the server shuts down"));
    assert!(TcpStream::connect(console).is_err(), "the console's port is closed");
}

#[test]
fn ctrl_c_and_the_end_of_the_duration_are_successful_ends() {
    let served = Served::start(&[]);
    served.running.signal("INT");
    served.running.wait().expect(&[0]);
    let ended = run(&["serve", "--listen", "127.0.0.1:0", "--console", "off", "-d", "300ms"]);
    ended.expect(&[0]);
    assert!(ended.out.contains("the server's time is over"), "{}", ended.out);
}

#[test]
fn a_session_without_a_token_also_learns_of_shutdown() {
    let served = Served::start(&[]);
    let mut guest = Guest::connect(&served.ws, "zoe");
    served.stop();
    guest.listen_until("the end comes", |guest| guest.close.is_some());
    let close = guest.close.expect("it came");
    assert_eq!((close.code, close.reason_text().as_ref()), (1000, "the server shuts down"));
}

#[test]
fn server_and_clients_in_one_process() {
    let ended = run(&["serve", "--listen", "127.0.0.1:0", "--console", "off", "--stress", "20", "-d", "3s"]);
    ended.expect(&[0, 98]);
    let row = |name: &str| ended.out.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    assert_eq!((row("Lines sent"), row("  delivered")), (Some("60"), Some("1,200")), "{}", ended.out);
    assert!(ended.out.contains("the server shuts down after"), "{}", ended.out);
}

#[test]
fn without_a_tick_it_runs_as_fast_as_it_can() {
    let served = Served::start(&["--tick", "0"]);
    let (ended, result) = stress(&[&served.url, "-c", "2", "-r", "2/s", "-d", "1s"]);
    crate::common::result::assert_all_delivered(&ended, &result, 2, 2);
    let stats = Session::open(served.console).stats();
    let ticks = stats.split("\nticks ").nth(1).and_then(|rest| rest.split(' ').next()).expect("it says");
    let ticks: u64 = ticks.replace(',', "").parse().expect("a number");
    assert!(ticks > 10_000, "{stats}");
    served.stop();
}

#[test]
fn a_slow_tick_delays_lines_without_losing_any() {
    let served = Served::start(&["--tick", "5", "--no-websocket"]);
    let (ended, result) = stress(&[&served.url, "-c", "3", "-r", "5/s", "-d", "1s"]);
    crate::common::result::assert_all_delivered(&ended, &result, 3, 5);
    served.stop();
}
