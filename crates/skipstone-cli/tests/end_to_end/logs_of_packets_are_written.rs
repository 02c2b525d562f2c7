//! `--qlog` writes a JSON text sequence for each native connection, and its counts equal the result's.

use crate::common::comparison::{compare, rows};
use crate::common::result::{number, stress};
use crate::common::{fresh_file, run};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it was made").map(|entry| entry.expect("it has a name").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The records of a file, without its head.
fn records(file: PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("it was written");
    let records: Result<Vec<Value>, _> = text.split('\u{1E}').skip(1).map(serde_json::from_str).collect();
    let mut records = records.expect("JSON");
    assert_eq!(records.remove(0)["qlog_version"], "0.3");
    records
}

fn count(records: &[Value], names: &[&str]) -> u64 {
    records.iter().filter(|record| names.iter().any(|name| record["name"] == *name)).count() as u64
}

const SENT: [&str; 2] = ["transport:packet_sent", "skipstone:handshake_sent"];

#[test]
fn a_comparison_writes_two_logs_for_each_run_of_skipstone() {
    let folder = fresh_file("compare-logs");
    let flags = ["--seeds", "1", "--minutes", "0.1", "--transports", "skipstone,kcp", "--modes", "lean,adaptive"];
    let (ended, result) = compare("lossy-2", &[&flags[..], &["--qlog", text(&folder)]].concat());
    ended.expect(&[0]);
    let of = |mode: &str, end: &str| format!("skipstone-{mode}-1-{end}-1.sqlog");
    let expected = [("adaptive", "client"), ("adaptive", "server"), ("lean", "client"), ("lean", "server")];
    assert_eq!(names(&folder), expected.map(|(mode, end)| of(mode, end)));
    for row in rows(&result).iter().filter(|row| row["transport"] == "skipstone") {
        let mode = row["mode"].as_str().expect("a mode");
        let both = ["client", "server"].map(|end| records(folder.join(of(mode, end))));
        let sent: u64 = both.iter().map(|records| count(records, &SENT)).sum();
        // The server's answer to HELLO belongs to no connection.
        let datagrams = row["datagrams"].as_u64().expect("a number");
        assert!((1..=3).contains(&(datagrams - sent)), "{sent} of {datagrams}");
        let lost: u64 = both.iter().map(|records| count(records, &["recovery:packet_lost"])).sum();
        assert!(lost > 5, "{lost}");
    }
    fs::remove_dir_all(folder).expect("it is ours");
}

#[cfg(unix)]
#[test]
fn stress_writes_one_log_for_each_end_of_each_native_client() {
    let folder = fresh_file("stress-logs");
    let flags = ["-c", "5", "--mix", "udp=5", "-r", "10/s", "-d", "2s", "--loss", "5%", "--delay", "5ms"];
    let (ended, result) = stress(&[&flags[..], &["--qlog", text(&folder)]].concat());
    ended.expect(&[0, 98]);
    assert_eq!(names(&folder).len(), 10, "{:?}", names(&folder));
    let of_clients: Vec<Value> =
        (1..=5).flat_map(|number| records(folder.join(format!("client-{number}.sqlog")))).collect();
    // Handshakes and goodbyes are outside of the measured time.
    assert!(count(&of_clients, &SENT) >= number(&result, "wire.datagrams_sent"), "{result:#}");
    assert!(count(&of_clients, &["transport:packet_received"]) >= number(&result, "wire.datagrams_received"));
    assert_eq!(count(&of_clients, &["connectivity:connection_closed"]), 5);
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn an_impossible_folder_is_refused() {
    let file = fresh_file("no-folder");
    fs::write(&file, "a file").expect("written");
    for command in [&["stress", "-c", "1", "-d", "1s"][..], &["serve", "--listen", "127.0.0.1:0", "--console", "off"]] {
        let ended = run(&[command, &["--qlog", text(&file)]].concat());
        ended.expect(&[104]);
        assert!(ended.err.contains("cannot write into --qlog"), "{}", ended.err);
    }
    fs::remove_file(file).expect("it is ours");
}
