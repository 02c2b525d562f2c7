//! Flags of `bench` that cannot be used are refused before anything runs; missed thresholds have their exit code; a
//! search says what it found.

use crate::common::benching::bench;
use crate::common::{Running, run};

#[track_caller]
fn refused(flags: &[&str], said: &[&str]) {
    let ended = run(&[&["bench", "fanout"], flags].concat());
    ended.expect(&[104]);
    assert!(ended.out.is_empty(), "it ran: {}", ended.out);
    for words in said {
        assert!(ended.err.contains(words), "no '{words}' in: {}", ended.err);
    }
}

#[test]
fn invalid_flags() {
    refused(&["--transports", "quin"], &["no transport \"quin\"", "did you mean quinn?"]);
    refused(&["--clients", "0"], &["at least one client"]);
    refused(&["--clients", "1000000"], &["open files", "ulimit -n 1000064", "ask for at most"]);
    refused(&["--size", "10"], &["24 to 1000 bytes"]);
    refused(&["--size", "sentence"], &["24 to 1000 bytes"]);
    refused(&["--duration", "0s"], &["nothing would be measured"]);
    refused(&["--server-cpu", "4096"], &["--server-cpu 4096: this machine has", "or any"]);
    refused(&["--server-cpu", "first"], &["a core is a number such as 0, or any"]);
    refused(&["--find-limit", "--limit-bounds", "9..3"], &["100..4000"]);
    refused(&["--limit-bounds", "3..9"], &["--find-limit"]);
    refused(&["--json", "/nonexistent/x.json"], &["cannot write --json /nonexistent/x.json"]);
    refused(&["--threshold", "p98<5ms"], &["no \"p98\"", "did you mean p99?"]);
    refused(&["--threshold", "kcp.p99<5ms"], &["\"kcp\" does not take part"]);
    refused(&["--threshold", "ratio<5ms"], &["not measured in ms"]);
    run(&["bench"]).expect(&[104]);
}

#[test]
fn a_missed_threshold_has_its_exit_code_and_names_the_transport() {
    let flags =
        ["--clients", "2", "--transports", "tcp,udp-bare", "--threshold", "tcp.2.max<0ms", "--threshold", "lost==0"];
    let (ended, result) = bench("fanout", &flags);
    ended.expect(&[99]);
    assert!(ended.err.contains("tcp.2.max<0ms was missed: max of tcp with 2 clients is"), "{}", ended.err);
    let passed: Vec<_> =
        result["thresholds"].as_array().expect("a list").iter().map(|one| one["passed"].as_bool()).collect();
    assert_eq!(passed, [Some(false), Some(true), Some(true)]);
}

#[test]
#[cfg(feature = "peers")]
fn a_server_that_cannot_hold_that_many_clients_says_so_at_once() {
    let (ended, result) = bench("fanout", &["--clients", "1025", "--transports", "renet"]);
    ended.expect(&[0]);
    let row = &result["results"][0];
    assert_eq!((&row["passed"], &row["cpu_us_per_delivery"].is_null()), (&false.into(), &true));
    assert!(row["reasons"][0].as_str().is_some_and(|reason| reason.contains("1024 clients at most")), "{row:#}");
}

#[test]
fn a_search_ends_within_its_bounds() {
    let flags = ["--find-limit", "--limit-bounds", "2..4", "--transports", "tcp", "--duration", "300ms"];
    let (ended, result) = bench("fanout", &flags);
    ended.expect(&[0]);
    let limit = &result["limits"][0];
    assert_eq!(limit["transport"], "tcp");
    let (held, failed) = (limit["clients"].as_u64().expect("a number"), limit["failed"].as_u64());
    // A busy machine may be late with any number.
    assert!(held <= 4 && failed.is_none_or(|failed| failed > held), "{limit}");
    assert_eq!(result["results"].as_array().map(|rows| rows.iter().all(|row| row["lost"] == 0)), Some(true));
}

#[test]
fn an_interrupted_bench_ends_its_processes_and_reports_its_results() {
    let flags =
        ["bench", "fanout", "--clients", "3", "--transports", "tcp", "--duration", "60s", "--network", "loopback"];
    let running = Running::tool(&[&flags[..], &["--server-cpu", "any", "--load-cpu", "any"]].concat());
    let children = || children_of(running.id());
    let end = std::time::Instant::now() + crate::common::PATIENCE;
    while children().len() < 2 && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let children = children();
    assert_eq!(children.len(), 2, "a server and a load");
    running.signal("INT");
    let ended = running.wait();
    ended.expect(&[105]);
    assert!(ended.out.contains("Stopped early"), "{}", ended.text());
    for child in children {
        assert!(!std::path::Path::new(&format!("/proc/{child}")).exists(), "process {child} is still there");
    }
}

/// Processes whose parent this is.
fn children_of(parent: u32) -> Vec<u32> {
    let all = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    all.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect()
}
