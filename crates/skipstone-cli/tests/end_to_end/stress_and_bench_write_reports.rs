//! The reports of `stress` and `bench` are pages that hold their data and ask no network for anything.

use crate::common::benching::bench;
use crate::common::result::{number, stress};
use crate::common::{fresh_file, run};
use serde_json::Value;
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

/// The data of a page, which is removed.
fn data(file: &Path) -> Value {
    let page = std::fs::read_to_string(file).expect("it was written");
    assert!(page.contains("default-src 'none'") && !page.contains("src=\"http"));
    let data = page.split("id=\"result\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("its data");
    std::fs::remove_file(file).expect("it is ours");
    serde_json::from_str(data).expect("JSON")
}

fn counted(latencies: &Value) -> u64 {
    let words = latencies.as_str().expect("text").split_whitespace();
    words.map(|word| word.split('*').nth(1).expect("a count").parse::<u64>().expect("a number")).sum()
}

#[test]
fn a_stress_report_has_every_latency_over_time_by_carrier_and_by_client() {
    let file = fresh_file("stress.html");
    let flags = ["-c", "14", "--mix", "udp=8,ws=6", "-r", "5/s", "-d", "3s", "--report", text(&file)];
    let (ended, result) = stress(&flags);
    ended.expect(&[0, 98]);
    let report = data(&file);
    assert_eq!((&report["kind"], &report["result"]), (&"stress".into(), &result));
    let delivered = number(&result, "messages.delivered");
    for of in ["blocks", "curves"] {
        let sum: u64 = report[of].as_array().expect("a list").iter().map(|one| counted(&one["latencies"])).sum();
        assert_eq!(sum, delivered, "{of}");
    }
    let worst = report["worst_clients"].as_array().expect("a list");
    let p99s: Vec<f64> = worst.iter().map(|client| client["p99"].as_f64().expect("a number")).collect();
    assert!(p99s.len() == 10 && p99s.is_sorted_by(|one, other| one >= other), "{p99s:?}");
    let costs = report["costs"].as_array().expect("a list");
    assert!((1..=4).contains(&costs.len()), "{costs:?}");
    assert!(costs.iter().all(|point| point["received_bytes"].as_f64().is_some_and(|bytes| bytes > 0.0)), "{costs:?}");
}

#[test]
fn a_bench_report_has_all_latencies_of_each_row() {
    let file = fresh_file("bench.html");
    let flags = ["--clients", "4", "--rate", "10/s", "--transports", "skipstone,tcp", "--report", text(&file)];
    let (ended, result) = bench("fanout", &flags);
    ended.expect(&[0, 98, 99]);
    let report = data(&file);
    assert_eq!((&report["kind"], &report["result"]["results"]), (&"bench".into(), &result["results"]));
    assert_eq!(report["command"][0], "skipstone");
    let curves = report["curves"].as_array().expect("a list");
    assert_eq!(curves.len(), 2);
    assert!(curves.iter().all(|curve| counted(&curve["latencies"]) >= 4 * 4 * 5), "{curves:?}");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_run() {
    for command in [&["stress", "-c", "1"][..], &["bench", "fanout"]] {
        run(&[command, &["--report", "/no/such/folder/r.html"]].concat()).expect(&[104]);
    }
}
