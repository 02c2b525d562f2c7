//! Where more is sent than a link carries, what does not fit is refused, and a short queue is shared. The thresholds on
//! how full the link is are the plans' own.

use crate::common::comparison::{compare, figure, rows};
use crate::common::{fresh_file, run};

#[test]
fn overflow_is_refused_and_the_rest_is_complete() {
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

/// Seven datagrams fit there, and who has fewer than four of them cannot find a loss without a timeout. One run is one
/// cycle of two controllers, whose shares lie far apart, so the mean of several links counts; quinn's controller is
/// CUBIC, too.
#[test]
fn on_a_short_queue_a_tcp_like_flow_keeps_its_fair_share() {
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
fn a_transport_that_floods_the_link_gives_up_and_is_marked() {
    // Each message is sent again each 300 ms, however far away the peer is.
    let far = ["--minutes", "0.1", "--entities", "40", "--rtt", "10s", "--link-rate", "20Mbit/s"];
    let (_, result) = compare("bottleneck", &[&["--seeds", "1", "--transports", "renet"], &far[..]].concat());
    assert_eq!(rows(&result)[0]["gave_up"], true, "{:#}", rows(&result)[0]);
    assert_eq!(result["summary"][0]["gave_up"], 1);
}

#[test]
fn impossible_background_flows_are_refused() {
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
