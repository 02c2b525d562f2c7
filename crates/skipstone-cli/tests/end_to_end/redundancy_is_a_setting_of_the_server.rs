//! `--redundancy` and its budget are the server's to say; a lossy run loses nothing in any mode, and its result tells
//! what that cost and saved.

use crate::common::console::Session;
use crate::common::result::{assert_all_delivered, number, stress};
use crate::common::{Served, run};
use serde_json::Value;

const RUN: &[&str] = &["-c", "4", "-r", "30/s", "-d", "2s", "--loss", "2%", "--delay", "5ms", "--seed", "7"];

fn sum(result: &Value, figure: &str) -> u64 {
    ["clients", "server"].iter().map(|side| number(result, &format!("protocol.{side}.redundancy.{figure}"))).sum()
}

fn lossy(flags: &[&str]) -> Value {
    let (ended, result) = stress(&[RUN, flags].concat());
    assert_all_delivered(&ended, &result, 4, 60);
    result
}

#[test]
fn without_redundancy_no_bytes_are_added_and_no_packets_recovered() {
    let result = lossy(&["--redundancy", "off"]);
    assert_eq!(result["plan"]["redundancy"], "off");
    assert_eq!((sum(&result, "repairs_sent"), sum(&result, "copies_sent"), sum(&result, "bytes_sent")), (0, 0, 0));
    assert_eq!((sum(&result, "packets_recovered_by_peers"), sum(&result, "packets_recovered")), (0, 0));
    assert!(number(&result, "protocol.server.packets_lost") > 0 && number(&result, "protocol.server.resent") > 0);
}

#[test]
fn lean_sends_copies_and_no_repairs() {
    let result = lossy(&["--redundancy", "lean"]);
    assert_eq!((sum(&result, "repairs_sent"), sum(&result, "packets_recovered")), (0, 0));
    assert!(sum(&result, "copies_sent") > 0 && sum(&result, "bytes_sent") > 0, "{:#}", result["protocol"]);
}

#[test]
fn repairs_recover_lost_packets() {
    for mode in ["adaptive", "fixed:10+3"] {
        let result = lossy(&["--redundancy", mode]);
        assert!(sum(&result, "repairs_sent") > 0, "{mode}: {:#}", result["protocol"]);
        assert!(sum(&result, "packets_recovered") > 0, "{mode}: {:#}", result["protocol"]);
        // A block's repairs come after ten ticks, when most of what it lost was sent again.
        let is_soon = mode == "adaptive";
        assert!(!is_soon || sum(&result, "packets_recovered_by_peers") > 0, "{mode}: {:#}", result["protocol"]);
    }
}

#[test]
fn a_budget_of_zero_allows_no_request() {
    let result = lossy(&["--redundancy", "adaptive", "--redundancy-budget", "0%"]);
    assert_eq!((sum(&result, "repairs_sent"), sum(&result, "copies_sent"), sum(&result, "bytes_sent")), (0, 0, 0));
}

#[test]
fn every_congestion_control_delivers_through_loss() {
    for name in ["default", "aggressive", "off"] {
        lossy(&["--congestion", name]);
    }
}

#[test]
fn a_servers_settings_reach_its_clients_and_its_console_tells_the_cost() {
    let served = Served::start(&["--redundancy", "fixed:4+2", "--redundancy-budget", "80"]);
    // Enough lines that at least one is lost and recovered by a repair before its retransmission.
    let (ended, result) =
        stress(&[&served.url, "-c", "6", "-r", "60/s", "-d", "2s", "--loss", "5%", "--delay", "20ms"]);
    assert_all_delivered(&ended, &result, 6, 120);
    assert!(number(&result, "protocol.clients.redundancy.repairs_sent") > 0, "{:#}", result["protocol"]);
    assert!(result["protocol"]["server"].is_null());
    let stats = Session::open(served.console).stats();
    for row in ["repairs sent", "copies sent", "redundancy, IP bytes", "recovered by the peer", "recovered here"] {
        let shown = stats.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("no {row}: {stats}"));
        let count = shown[row.len()..].split_whitespace().next().unwrap_or_default();
        assert!(row.starts_with("copies") || count != "0", "{shown}");
    }
    served.stop();
}

#[test]
fn invalid_input_is_refused_with_a_remedy() {
    let refused = |flags: &[&str], said: &[&str]| {
        let ended = run(&[&["stress", "-q"], flags].concat());
        ended.expect(&[104]);
        for phrase in said {
            assert!(ended.err.contains(phrase), "no '{phrase}': {}", ended.err);
        }
    };
    refused(&["--redundancy", "strong"], &["\"strong\"", "off, lean, adaptive, fixed:K+M", "repeat:N"]);
    refused(&["--redundancy", "fixed:60+10"], &["fixed:60+10"]);
    refused(&["--redundancy", "repeat:9"], &["repeat:9", "N from 1 to 8"]);
    refused(&["--redundancy-budget", "1001%"], &["more than 1000%", "for example 40%"]);
    refused(&["--congestion", "fast"], &["fast"]);
    let url = "skip://127.0.0.1:7777";
    refused(&[url, "--redundancy", "lean"], &["--redundancy is a setting of the server", "`serve`"]);
    refused(&[url, "--redundancy-budget", "40%"], &["--redundancy-budget is a setting of the server"]);
}
