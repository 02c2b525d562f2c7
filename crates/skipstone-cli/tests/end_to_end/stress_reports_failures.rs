//! A run that cannot begin, or that loses its server or is interrupted, ends soon and states the reason.

use crate::common::result::{is_noise, number, read, reasons, stress};
use crate::common::{Running, Served, fresh_file, run as run_tool};
use bytes::Bytes;
use skipstone::{ChannelRule, DeliveryMode, Event, PeerId, Server, ServerConfig, Settings};
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn a_refused_websocket_ends_the_run_immediately() {
    // Bound for UDP, so that no other process gets this port meanwhile; TCP refuses.
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let began = Instant::now();
    let url = format!("ws://{}", taken.local_addr().expect("it is bound"));
    let (ended, result) = stress(&[&url, "-c", "3", "-d", "2s"]);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    ended.expect(&[97]);
    let reasons = reasons(&result);
    assert!(reasons.contains("None of the 3 clients connected"), "{reasons}");
    assert!(reasons.contains("is a server listening there?"), "{reasons}");
    assert!(!reasons.contains("The generator"), "nothing was sent, so nothing can be said about it: {reasons}");
}

#[test]
fn a_silent_udp_server_ends_the_run_after_five_seconds() {
    let silent = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let began = Instant::now();
    let address = silent.local_addr().expect("it is bound").to_string();
    let (ended, result) = stress(&[&format!("skip+plain://{address}"), "-c", "300", "-d", "2s"]);
    assert!((5..9).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    ended.expect(&[97]);
    let reasons = reasons(&result);
    assert!(reasons.contains(&format!("no answer from {address} in 5s: is a server listening there?")), "{reasons}");
    assert_eq!(number(&result, "clients.connected"), 0);
}

#[test]
fn another_program_on_the_port_is_not_taken_for_the_server() {
    let stranger = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("ws://{}", stranger.local_addr().expect("it is bound"));
    // A server that accepts connections and never sends anything.
    let (ended, result) = stress(&[&url, "-c", "2", "-d", "1s"]);
    ended.expect(&[97]);
    assert!(reasons(&result).contains("no answer from"), "{result:#}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_death_of_the_local_server_is_detected_immediately() {
    let file = fresh_file("stress.json");
    let mut run = Running::tool(&["stress", "-c", "4", "-d", "30s", "--json", file.to_str().expect("text")]);
    run.until("1.0 s running");
    let began = Instant::now();
    crate::common::signal(child_of(run.id()), "KILL");
    let ended = run.wait();
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    ended.expect(&[99]);
    assert!(ended.out.contains("The server's process ended before the run did: signal: 9"), "{}", ended.out);
    let result = read(&file);
    assert_eq!(result["verdict"], "fail");
    assert!(reasons(&result).contains("only, not for the 30.0 s asked for"), "{}", ended.out);
}

#[test]
fn a_dead_remote_server_is_detected() {
    let served = Served::start(&[]);
    let mut native = Running::tool(&["stress", &served.url, "-c", "3", "-r", "5/s", "-d", "3s"]);
    let mut browsers = Running::tool(&["stress", &served.ws, "-c", "3", "-d", "30s"]);
    native.until("1.0 s running");
    browsers.until("1.0 s running");
    served.running.signal("KILL");
    // TCP detects it at once, UDP where the system reports closed ports.
    let browsers = browsers.wait();
    browsers.expect(&[97]);
    assert!(flat(&browsers.out).contains("3 clients were dropped (the WebSocket"), "{}", browsers.out);
    let native = native.wait();
    native.expect(&[97]);
    let notices =
        if cfg!(target_os = "linux") { "or is not running" } else { "Nothing came from the server in the last" };
    assert!(flat(&native.out).contains(notices), "{}", native.out);
}

#[test]
#[cfg(unix)]
fn a_hanging_server_is_reported_as_silent() {
    let served = Served::start(&[]);
    let file = fresh_file("stress.json");
    let json = file.to_str().expect("text");
    let mut native = Running::tool(&["stress", &served.url, "-c", "3", "-r", "5/s", "-d", "3s", "--json", json]);
    native.until("1.0 s running");
    served.running.signal("STOP");
    let native = native.wait();
    served.running.signal("CONT");
    native.expect(&[97]);
    assert!(flat(&native.out).contains("Nothing came from the server in the last"), "{}", native.out);
    assert!(number(&read(&file), "messages.lost") > 0, "{}", native.out);
}

#[test]
#[cfg(target_os = "linux")]
fn a_hanging_local_server_fails_the_run() {
    let file = fresh_file("stress.json");
    let json = file.to_str().expect("text");
    let mut run = Running::tool(&["stress", "-c", "3", "-r", "5/s", "-d", "3s", "--json", json]);
    run.until("1.0 s running");
    crate::common::signal(child_of(run.id()), "STOP");
    let ended = run.wait();
    ended.expect(&[99]);
    assert!(flat(&ended.out).contains("Nothing came from the server in the last"), "{}", ended.out);
    assert_eq!(read(&file)["verdict"], "fail");
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_ends_when_its_parent_dies() {
    let mut run = Running::tool(&["stress", "-c", "2", "-d", "30s"]);
    run.until("1.0 s running");
    let child = child_of(run.id());
    run.signal("KILL");
    let end = Instant::now() + Duration::from_secs(10);
    while std::fs::read_to_string(format!("/proc/{child}/cmdline")).is_ok_and(|line| line.contains("--piped")) {
        assert!(Instant::now() < end, "the server outlives its parent");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn signals_interrupt_a_run_which_prints_its_results() {
    for name in ["INT", "TERM"] {
        let file = fresh_file("stress.json");
        let mut run = Running::tool(&["stress", "-c", "3", "-d", "60s", "--json", file.to_str().expect("text")]);
        run.until("1.0 s running");
        run.signal(name);
        let ended = run.wait();
        ended.expect(&[105]);
        assert!(ended.out.contains("INTERRUPTED") && ended.out.contains("The run was stopped after"), "{}", ended.out);
        let result = read(&file);
        assert_eq!(result["verdict"], "interrupted");
        assert!(number(&result, "messages.sent") >= 3, "{result:#}");
    }
}

#[test]
fn a_server_that_echoes_turns_stress_clients_away() {
    let served = Served::start(&["--workload", "echo"]);
    let (ended, result) = stress(&[&served.url, "-c", "2", "-d", "1s"]);
    ended.expect(&[97]);
    assert!(reasons(&result).contains("a stress run needs --workload broadcast"), "{result:#}");
    let mut guest = crate::common::guest::Guest::connect(&served.url, "zoe");
    guest.say("hello");
    guest.listen_until("the echo comes", |guest| guest.lines == [b"zoe: hello".to_vec()]);
    served.stop();
}

#[test]
fn a_full_server_refuses_further_clients_and_the_run_reports_it() {
    let served = Served::start(&["--clients-max", "2"]);
    let (ended, result) = stress(&[&served.url, "-c", "5", "-d", "1s"]);
    ended.expect(&[99]);
    let reasons = reasons(&result);
    assert!(!is_noise(&result) && reasons.contains("3 clients of 5 never connected"), "{reasons}");
    assert!(reasons.contains("3 clients: the server says: "), "{reasons}");
    served.stop();
}

#[test]
fn clients_that_do_not_reconnect_fail_a_reconnecting_run() {
    for kind in ["skip", "ws"] {
        let served = Served::start(&[]);
        let url = if kind == "ws" { &served.ws } else { &served.url };
        let file = fresh_file("stress.json");
        let json = file.to_str().expect("text");
        let mut run =
            Running::tool(&["stress", url, "-c", "3", "-r", "5/s", "-d", "3s", "--reconnect", "--json", json]);
        run.until("1.0 s running");
        served.running.signal("KILL");
        let ended = run.wait();
        ended.expect(&[97]);
        assert!(
            flat(&ended.out).contains("The server went away: 3 clients were dropped (did not come back"),
            "{}",
            ended.out
        );
        assert_eq!(number(&read(&file), "returns.missing"), 3, "{kind}: {}", ended.out);
    }
}

/// A game on the library: it accepts all clients and handles their messages by `play`.
fn game(channels: Vec<ChannelRule>, play: fn(&mut Server, PeerId, Bytes)) -> (String, impl FnOnce()) {
    let settings = Settings { channels, ..Settings::default() };
    let listen = "127.0.0.1:0".parse().expect("an address");
    let mut server = Server::start(ServerConfig { settings, ..ServerConfig::new(listen) }).expect("a port is free");
    let url = server.url();
    let stop = Arc::new(AtomicBool::new(false));
    let told = stop.clone();
    let thread = std::thread::spawn(move || {
        while !told.load(Ordering::Relaxed) {
            server.wait(Duration::from_millis(5));
            while let Some(event) = server.poll_event() {
                match event {
                    Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
                    Event::Message { peer, payload, .. } => play(&mut server, peer, payload),
                    _ => {}
                }
            }
            server.flush().expect("its thread lives");
        }
    });
    let end = move || {
        stop.store(true, Ordering::Relaxed);
        thread.join().expect("the game does not panic");
    };
    (url, end)
}

#[test]
fn another_game_is_distinguished_from_a_server_that_loses_lines() {
    let lines = || vec![ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered)];
    let elsewhere = || vec![ChannelRule::new(5..=5, DeliveryMode::ReliableOrdered)];
    let echo = |server: &mut Server, peer, payload| drop(server.send(peer, 0, payload));
    for (channels, play, what) in [
        (lines(), (|_, _, _| {}) as fn(&mut Server, PeerId, Bytes), "lines and sent none of them back"),
        (lines(), echo, "sent each line to its own sender alone"),
        (elsewhere(), |_, _, _| {}, "takes no lines: channel 0 has no rule"),
    ] {
        let (url, end) = game(channels, play);
        let (ended, result) = stress(&[&url, "-c", "3", "-r", "5/s", "-d", "1s"]);
        ended.expect(&[97]);
        let reasons = reasons(&result);
        assert!(reasons.contains(what) && reasons.contains("as `skipstone serve` does"), "{reasons}");
        assert!(!reasons.contains("lost"), "no lines are missing: {reasons}");
        end();
    }
}

#[test]
fn connecting_clients_detect_a_departing_server() {
    let served = Served::start(&[]);
    let mut run = Running::tool(&["stress", &served.ws, "--connects", "20/s", "-d", "4s"]);
    run.until("new clients at");
    std::thread::sleep(Duration::from_millis(1_500));
    served.running.signal("KILL");
    let ended = run.wait();
    ended.expect(&[97]);
    assert!(flat(&ended.out).contains("The server went away: the last"), "{}", ended.out);
    let absent = run_tool(&["stress", &served.ws, "--connects", "20/s", "-d", "1s"]);
    assert!(absent.expect(&[97]).out.contains("None of the 20 clients connected"), "{}", absent.out);
}

/// The text in one line, wherever it was wrapped.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The server's process of a run.
#[cfg(target_os = "linux")]
fn child_of(parent: u32) -> u32 {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    children.trim().parse().unwrap_or_else(|_| panic!("one child, not '{children}'"))
}
