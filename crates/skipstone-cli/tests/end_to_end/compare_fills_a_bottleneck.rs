//! Where more is sent than a link carries, the comparison says what of it was of use, and who got which share.

use crate::common::comparison::{compare, figure, rows};
use crate::common::{fresh_file, run};

const OURS: [&str; 4] = ["--seeds", "1", "--transports", "skipstone"];

const EACH: [&str; 4] = ["--minutes", "0.5", "--modes", "off,lean,adaptive"];

#[track_caller]
fn is_well_filled(result: &serde_json::Value, useful: f64) {
    for row in rows(result) {
        let share = figure(row, "useful_share");
        assert!((useful..=1.0).contains(&share) && figure(row, "queue_delay_p95") <= 60.0, "{row:#}");
    }
}

#[test]
fn a_full_link_carries_what_is_of_use_and_keeps_its_queue_short() {
    let (ended, result) = compare("bottleneck", &[&OURS[..], &EACH].concat());
    ended.expect(&[0]);
    is_well_filled(&result, 0.90);
}

#[test]
fn a_full_link_that_loses_does_not_collapse() {
    // WHY: medians of three seeds. In half a minute a share depends on when the first losses come.
    let seeds = ["--seeds", "3", "--transports", "skipstone"];
    let (ended, result) = compare("bottleneck-lossy", &[&seeds[..], &EACH].concat());
    ended.expect(&[0]);
    for mode in ["off", "lean", "adaptive"] {
        let rows = rows(&result).iter().filter(|row| row["mode"] == mode);
        let mut shares: Vec<f64> = rows.map(|row| figure(row, "useful_share")).collect();
        shares.sort_by(f64::total_cmp);
        assert!(shares.len() == 3 && shares[1] >= 0.75, "{mode}: {shares:?}");
    }
    assert!(rows(&result).iter().all(|row| figure(row, "queue_delay_p95") <= 60.0));
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_else_is_missing() {
    let transports = ["--transports", "skipstone,kcp,quinn", "--modes", "adaptive", "--seeds", "1", "--minutes", "0.2"];
    let (ended, result) = compare("bottleneck", &transports);
    ended.expect(&[0]);
    for row in rows(&result) {
        let [sent, delivered, refused, lost] = ["sent", "delivered", "refused", "lost"].map(|name| figure(row, name));
        assert!(refused > 0.0 || row["transport"] == "kcp", "{row:#}");
        assert_eq!(sent, delivered + refused + lost, "{row:#}");
    }
    assert_eq!(figure(&rows(&result)[0], "lost"), 0.0);
}

#[test]
fn beside_a_tcp_like_flow_neither_starves() {
    for plan in ["bottleneck-cubic-first", "bottleneck-cubic-later"] {
        let (ended, result) = compare(plan, &[&OURS[..], &["--modes", "adaptive"]].concat());
        ended.expect(&[0]);
        let [own, beside] = ["link_share", "beside_share"].map(|name| figure(&rows(&result)[0], name));
        assert!(own >= 0.3 && beside >= 0.3 && own + beside <= 1.001, "{own} {beside}");
    }
}

/// Seven datagrams fit there, and who has fewer than four of them cannot find a loss without a timeout. One run is one cycle of
/// two controllers, whose shares lie far apart, so the mean of several links counts; quinn's controller is CUBIC, too.
#[test]
fn on_a_short_queue_a_tcp_like_flow_keeps_what_its_own_kind_leaves_it() {
    let (mut ours, mut its_own_kinds) = (Vec::new(), Vec::new());
    for plan in ["bottleneck-cubic-first", "bottleneck-cubic-later"] {
        for rate in ["900kbit/s", "1Mbit/s", "1100kbit/s", "1200kbit/s"] {
            let link = ["--seeds", "1", "--link-rate", rate, "--queue", "30ms", "--modes", "off,lean,adaptive"];
            let (ended, result) = compare(plan, &[&link[..], &["--transports", "skipstone,quinn-tuned"]].concat());
            ended.expect(&[0]);
            for row in rows(&result) {
                let shares = if row["transport"] == "skipstone" { &mut ours } else { &mut its_own_kinds };
                shares.push(figure(row, "beside_share"));
            }
        }
    }
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    assert_eq!((ours.len(), its_own_kinds.len()), (24, 8));
    assert!(mean(&ours) >= 0.8 * mean(&its_own_kinds), "{ours:?}, {its_own_kinds:?}");
}

#[test]
fn who_floods_the_link_gives_up_and_is_marked() {
    // Each message is sent again each 300 ms, however far away the peer is.
    let far = ["--minutes", "0.1", "--entities", "40", "--rtt", "10s", "--link-rate", "20Mbit/s"];
    let (_, result) = compare("bottleneck", &[&["--seeds", "1", "--transports", "renet"], &far[..]].concat());
    assert_eq!(rows(&result)[0]["gave_up"], true, "{:#}", rows(&result)[0]);
    assert_eq!(result["summary"][0]["gave_up"], 1);
}

#[test]
fn flows_beside_that_cannot_be_are_refused() {
    let good = "name = \"p\"\nentities = 1\nticks_per_second = 1\npayload_bytes = 50\n[link]\nrtt = \"20ms\"\n";
    let rate = "rate = \"2Mbit/s\"\n";
    for (rate, beside, said) in [
        ("", "", "give the link a rate"),
        (rate, "ahead = \"1s\"\nstarts = \"1s\"\n", "choose one"),
        (rate, "ahead = \"1m\"\n", "at most 20s ahead"),
        (rate, "starts = \"20s\"\nstops = \"10s\"\n", "starts at 20s and stops at 10s"),
    ] {
        let file = fresh_file("beside.toml");
        std::fs::write(&file, format!("{good}{rate}[[beside]]\nflow = \"cubic\"\n{beside}")).unwrap();
        let ended = run(&["compare", file.to_str().unwrap(), "--simulated"]);
        ended.expect(&[104]);
        assert!(ended.err.contains(said), "no '{said}' in: {}", ended.err);
        std::fs::remove_file(&file).unwrap();
    }
}
