//! Every transport of the bench delivers every line to all clients, once and in order, and its result matches the
//! schema.

use crate::common::benching::{assert_delivered, bench};
use serde_json::Value;

const CLIENTS: u64 = 5;
/// In 1.3 s at 10/s: some 12 lines of each client, to each client; on a busy machine fewer come due in time.
const DELIVERIES_MIN: u64 = 8 * CLIENTS * CLIENTS;

fn fanout(transports: &str) -> Vec<Value> {
    let (ended, result) = bench("fanout", &["--clients", "5", "--rate", "10/s", "--transports", transports]);
    // A busy machine may make a client late, which the verdict reports; nothing else may be wrong.
    ended.expect(&[0, 99]);
    let rows = result["results"].as_array().expect("a list").clone();
    assert_eq!(rows.len(), transports.split(',').count());
    for row in &rows {
        assert_delivered(row, CLIENTS, DELIVERIES_MIN);
        assert!(row["ticks_per_second"].as_f64().is_some_and(|ticks| ticks > 10.0), "{row:#}");
        assert!(row["p99"].as_f64().is_some_and(|p99| p99 > 0.0), "{row:#}");
        if cfg!(target_os = "linux") {
            assert!(row["cpu_us_per_delivery"].as_f64().is_some_and(|cost| cost > 0.0), "{row:#}");
        }
    }
    rows
}

#[test]
fn skipstone_plain_encrypted_over_websocket_and_mixed() {
    let overhead = |row: &Value| row["overhead_percent"].as_f64().expect("it is counted");
    let mut rows = fanout("skipstone-plain,skipstone,skipstone-ws,skipstone-mixed");
    assert!(overhead(&rows[0]) > 0.0);
    // On a busy machine ticks merge less evenly in one run than in another.
    for _ in 0..5 {
        if overhead(&rows[1]) > overhead(&rows[0]) {
            return;
        }
        rows = fanout("skipstone-plain,skipstone");
    }
    panic!("encryption costs bytes: {rows:#?}");
}

#[test]
fn tcp_and_bare_datagrams() {
    fanout("tcp,udp-bare,udp-bare-acked");
}

#[test]
#[cfg(feature = "peers")]
fn the_peers() {
    fanout("enet,renet,quinn,websocket");
}

#[test]
fn several_processes_share_a_load_and_each_proves_the_lines_of_all() {
    let peers = if cfg!(feature = "peers") { ",enet,renet,quinn,websocket" } else { "" };
    let transports = format!("skipstone-plain,skipstone-mixed,tcp,udp-bare{peers}");
    let flags = ["--clients", "5", "--rate", "10/s", "--load-processes", "3", "--transports", &transports];
    for preset in ["fanout", "echo"] {
        let (ended, result) = bench(preset, &flags);
        ended.expect(&[0, 99]);
        assert_eq!(result["plan"]["load_processes"], 3);
        let receivers = if preset == "fanout" { CLIENTS } else { 1 };
        for row in result["results"].as_array().expect("a list") {
            assert_delivered(row, CLIENTS, 8 * CLIENTS * receivers);
            assert!(row["p99"].as_f64().is_some_and(|p99| p99 > 0.0), "{row:#}");
            assert!(row["close"].is_number(), "{row:#}");
        }
    }
}

#[test]
fn an_echo_comes_back_to_its_sender_alone() {
    let flags = ["--clients", "5", "--rate", "20/s", "--size", "48", "--transports", "skipstone-plain,tcp,udp-bare"];
    let (ended, result) = bench("echo", &flags);
    ended.expect(&[0, 99]);
    for row in result["results"].as_array().expect("a list") {
        assert_delivered(row, CLIENTS, 15 * CLIENTS);
    }
}

#[test]
fn idle_clients_connect_send_nothing_and_leave() {
    let (ended, result) = bench("idle", &["--clients", "20", "--transports", "skipstone,tcp"]);
    ended.expect(&[0, 99]);
    for row in result["results"].as_array().expect("a list") {
        assert_delivered(row, 20, 0);
        assert_eq!((row["expected"].as_u64(), row["delivered_share"].is_null()), (Some(0), true), "{row:#}");
        assert!(row["close"].as_f64().is_some_and(|close| close < 5_000.0), "{row:#}");
    }
}

#[test]
fn rounds_and_lists_make_a_row_for_each_number_and_ratios() {
    let flags = ["--clients", "2,3", "--rounds", "2", "--transports", "tcp,udp-bare", "--rate", "20/s"];
    let (ended, result) = bench("fanout", &flags);
    ended.expect(&[0, 99]);
    let rows = result["results"].as_array().expect("a list");
    let seen: Vec<_> = rows.iter().map(|row| (row["transport"].as_str(), row["clients"].as_u64())).collect();
    let (tcp, bare) = (Some("tcp"), Some("udp-bare"));
    assert_eq!(seen, [(tcp, Some(2)), (bare, Some(2)), (tcp, Some(3)), (bare, Some(3))]);
    assert!(rows.iter().all(|row| row["rounds"] == 2), "{rows:#?}");
    if cfg!(target_os = "linux") {
        assert!(rows.iter().all(|row| row["ratio"].is_number()) && rows[0]["ratio"] == 1.0, "{rows:#?}");
    }
}

#[test]
fn used_channels_are_listed_separately() {
    let flags = [
        "--clients",
        "3",
        "--channels",
        "1,64,300",
        "--duration",
        "500ms",
        "--transports",
        "skipstone-plain,skipstone",
    ];
    let (ended, result) = bench("channels", &flags);
    ended.expect(&[0, 99]);
    let rows = result["results"].as_array().expect("a list");
    let variants: Vec<_> = rows.iter().filter_map(|row| row["variant"].as_str()).collect();
    let wanted = ["1 channels", "64 channels", "300 channels"].map(|name| [name; 2]).concat();
    assert_eq!(variants, wanted);
    rows.iter().for_each(|row| assert_delivered(row, 3, 3 * 3));
}

#[test]
fn lines_are_echoed_reliably_or_unreliably() {
    let transports =
        if cfg!(feature = "peers") { "skipstone-plain,enet,renet,udp-bare" } else { "skipstone-plain,udp-bare" };
    let flags = ["--clients", "4", "--in-flight", "1,3", "--duration", "500ms", "--transports", transports];
    let (ended, result) = bench("pingpong", &flags);
    ended.expect(&[0, 99]);
    let rows = result["results"].as_array().expect("a list");
    assert_eq!(rows.len(), 4 * transports.split(',').count());
    for row in rows {
        assert_eq!(
            (row["connected"].as_u64(), row["dropped"].as_u64(), row["corrupted"].as_u64()),
            (Some(4), Some(0), Some(0))
        );
        assert!(row["deliveries_per_second"].as_f64().is_some_and(|rate| rate > 20.0), "{row:#}");
    }
}
