//! Every transport of a comparison delivers every update, once, in order and unchanged.

use crate::common::comparison::{compare, figure, rows};

#[test]
fn through_random_loss() {
    everything_arrives("lossy-2", &[]);
}

#[test]
fn through_bursts_jitter_reordering_and_duplicates() {
    let values = ["--jitter", "8ms", "--reorder", "3%", "--duplicate", "3%"];
    everything_arrives("bursty", &values);
}

#[test]
fn many_entities_and_long_updates() {
    everything_arrives("lossy-2", &["--entities", "120", "--payload", "200", "--ticks", "30"]);
}

#[test]
fn while_the_client_moves() {
    everything_arrives("roaming", &["--roam-every", "1s", "--transports", "quinn,quinn-tuned,quinn-bbr"]);
}

#[track_caller]
fn everything_arrives(plan: &str, values: &[&str]) {
    let short = ["--minutes", "0.1", "--seeds", "1", "--modes", "off,adaptive"];
    let (ended, result) = compare(plan, &[&short[..], values].concat());
    ended.expect(&[0]);
    let plan = &result["plan"];
    let of = |name: &str| plan[name].as_f64().expect("a number");
    let updates = (of("minutes") * 60.0 * of("ticks_per_second")).round() * of("entities");
    for row in rows(&result) {
        let counts =
            ["sent", "delivered", "lost", "duplicated", "reordered", "corrupted"].map(|name| figure(row, name));
        assert_eq!(counts, [updates, updates, 0.0, 0.0, 0.0, 0.0], "{row:#}");
        assert!(figure(row, "datagrams_lost") > 0.0, "{row:#}");
    }
}
