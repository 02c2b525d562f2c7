use super::client::{Stage, body};
use std::collections::BTreeSet;

const GUIDE: &str = include_str!("../../../../../docs/guide/dashboard.md");
const GRAFANA: &str = include_str!("../../../../../docs/guide/grafana.json");

/// The names as a scrape has them, with `_total`.
fn served() -> BTreeSet<String> {
    let stage = Stage::new();
    let (status, answer) = stage.ask("GET /metrics", &[], "");
    assert!(status == 200 && answer.contains("application/openmetrics-text"), "{answer}");
    assert!(answer.ends_with("# EOF\n"));
    let kinds = body(&answer).lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let name = |line: &str| {
        let (name, kind) = line.split_once(' ').expect("a name and a type");
        if kind == "counter" { format!("{name}_total") } else { name.to_owned() }
    };
    kinds.map(name).collect()
}

/// Words of a text that are names of metrics.
fn named(text: &str) -> BTreeSet<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter| !is_letter(letter));
    words.filter(|word| word.starts_with("skipstone_")).map(str::to_owned).collect()
}

#[test]
fn a_node_of_a_fleet_says_its_name_as_an_info_metric() {
    let answer = Stage::new().ask("GET /metrics", &[], "").1;
    assert!(answer.contains("\nskipstone_node_info{node=\"n1\",version=\"1.2.3\"} 1"), "{answer}");
}

#[test]
fn the_guide_lists_exactly_the_exported_metrics() {
    let mut served = served();
    // There are round trips and losses only where there are clients.
    served.extend(["skipstone_rtt_seconds".into(), "skipstone_packet_loss_ratio".into()]);
    if cfg!(not(target_os = "linux")) {
        served.extend(["skipstone_cpu_seconds_total".into(), "skipstone_memory_bytes".into()]);
    }
    assert_eq!(named(GUIDE), served);
}

#[test]
fn the_grafana_dashboard_asks_for_metrics_that_exist() {
    let dashboard: serde_json::Value = serde_json::from_str(GRAFANA).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    assert!(panels.len() >= 8);
    let known = named(GUIDE);
    for panel in panels {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let names = named(target["expr"].as_str().expect("a query"));
            assert!(!names.is_empty() && names.is_subset(&known), "{}: {names:?}", panel["title"]);
        }
    }
}
