//! Programs that are no part of the tool take part in a comparison by arguments and lines of JSON; one that fails is
//! named, and the others stay.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::common::comparison::{compare_by, figure, rows};
use crate::common::fresh_file;

/// An echo over UDP that resends nothing. `how` is where it goes wrong.
const PROGRAM: &str = r#"
import json, select, socket, sys, time
how, role, flags = sys.argv[1], sys.argv[2], dict(zip(sys.argv[3::2], sys.argv[4::2]))
def say(**line): print(json.dumps(line), flush=True)
def now(): return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
def place(flag): host, port = flags[flag].rsplit(":", 1); return host, int(port)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if role == "server":
    if how == "silent": time.sleep(1000)
    s.bind(place("--listen")); say(listening={"address": "%s:%d" % s.getsockname()})
    seen = 0
    while True:
        ready, _, _ = select.select([s, sys.stdin], [], [])
        if sys.stdin in ready and not sys.stdin.readline(): break
        if s in ready:
            data, peer = s.recvfrom(2000); s.sendto(data, peer); seen += 1
            if how == "dying" and seen > 50: sys.exit(3)
else:
    s.connect(place("--connect"))
    entities, payload, hz, ticks = (int(flags[f]) for f in ("--entities", "--payload", "--ticks-per-second", "--ticks"))
    if how == "babbling": print("hello", flush=True)
    first = now() + 1000; say(began={"connect_ms": 0.5, "first_due_us": first})
    tick, end, came = 0, first + ticks * 1000000 // hz + 500000, 0
    while now() < end and came < ticks * entities:
        while tick < ticks and now() >= first + tick * 1000000 // hz:
            for e in range(entities): s.send(e.to_bytes(2, "big") + tick.to_bytes(4, "big") + bytes(payload - 6))
            tick += 1
        if select.select([s], [], [], 0.001)[0]:
            try: data = s.recv(2000)
            except ConnectionRefusedError: continue
            came += 1
            say(echoes=[[int.from_bytes(data[2:6], "big"), int.from_bytes(data[:2], "big"), now()]])
    say(done={})
"#;

fn program() -> PathBuf {
    let file = fresh_file("echo.py");
    std::fs::write(&file, PROGRAM).unwrap();
    file
}

fn join(how: &str, flags: &[&str]) -> (crate::common::Ended, serde_json::Value) {
    let file = program();
    let external = format!("python-udp=python3 {} {how}", file.display());
    let all = ["--seconds", "1", "--entities", "4", "--transports", "kcp", "--external", &external];
    let found = compare_by("spatialos-25", &[&all[..], flags].concat());
    std::fs::remove_file(file).unwrap();
    found
}

#[test]
fn an_external_program_has_a_row_like_a_built_in_transport() {
    let (ended, result) = join("well", &["--loss", "0%"]);
    ended.expect(&[0]);
    let row = &rows(&result)[1];
    assert_eq!(row["transport"], "python-udp");
    let counts = ["sent", "delivered", "lost", "duplicated", "corrupted"].map(|name| figure(row, name));
    assert_eq!(counts, [240.0, 240.0, 0.0, 0.0, 0.0], "{row:#}");
    assert!(figure(row, "p50") >= 20.0, "nothing beats the path: {row:#}");
    // 50 bytes of payload and 28 of headers, both ways.
    assert!((figure(row, "bytes_per_payload") - 1.56).abs() < 0.01, "{row:#}");
    assert!(
        figure(row, "stalled") <= 240.0 && row["series"]["blocks"].as_array().is_some_and(|blocks| blocks.len() == 1)
    );
}

#[test]
fn losses_of_the_link_are_counted() {
    let (ended, result) = join("well", &["--loss", "20%"]);
    ended.expect(&[0]);
    let row = &rows(&result)[1];
    assert!((40.0..140.0).contains(&figure(row, "lost")), "{row:#}");
    assert!(!row["series"]["lost_up"].as_str().unwrap().is_empty(), "the link's losses are named");
}

#[test]
fn a_failing_program_is_named_and_the_others_remain() {
    for (how, said) in [
        ("dying", "python-udp: the server's process ended in the middle"),
        ("babbling", "python-udp: the client's process said \"hello\""),
        ("silent", "python-udp: the server's process hangs: nothing for"),
    ] {
        let began = Instant::now();
        let (ended, result) = join(how, &["--loss", "0%"]);
        ended.expect(&[99]);
        assert!(ended.err.contains(said), "{how}: {}", ended.err);
        assert_eq!((rows(&result).len(), &rows(&result)[0]["transport"]), (1, &"kcp".into()));
        assert!(began.elapsed() < Duration::from_secs(35), "{how} is given up in time");
    }
}

#[test]
fn a_missing_program_is_named() {
    let flags = ["--seconds", "1", "--transports", "kcp", "--external", "nothing=/no/such/program"];
    let (ended, result) = compare_by("spatialos-25", &flags);
    ended.expect(&[99]);
    assert!(ended.err.contains("nothing: the server's process"), "{}", ended.err);
    assert_eq!(rows(&result).len(), 1);
}
