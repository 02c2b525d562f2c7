//! Each rule is missed by the figures that break it, and by no others.

use super::*;
use crate::sweep::draw;

fn figures(contender: &str, p998: f64) -> SweepFigures {
    SweepFigures {
        contender: contender.into(),
        p50: Some(20.0),
        p99: Some(30.0),
        p998: Some(p998),
        p9999: Some(60.0),
        max: Some(80.0),
        bytes_per_payload: Some(1.5),
        ip_bytes_late: 1_000,
        delivered_share: 1.0,
        queue_delay_p95: Some(10.0),
        ..SweepFigures::default()
    }
}

fn played() -> PlayedSetting {
    let peers = vec![figures("kcp", 40.0)];
    let (off, lean) = (figures("skipstone off", 45.0), figures("skipstone lean", 40.0));
    PlayedSetting { off, lean, adaptive: figures("skipstone adaptive", 40.0), peers }
}

/// The first setting of which this holds.
fn setting(holds: impl Fn(&Setting) -> bool) -> Setting {
    let found = (0..2_000).map(|seed| Setting::of(seed, 5.0)).find(holds);
    found.expect("seeds draw everything there is")
}

/// A clean link with a rate, on which every rule applies except the one about deliveries.
fn clean() -> Setting {
    setting(|setting| setting.is_clean() && setting.delivers_all() && setting.queue_max().is_some())
}

fn missed(setting: &Setting, change: impl FnOnce(&mut PlayedSetting)) -> Vec<Rule> {
    let mut played = played();
    change(&mut played);
    let mut rules: Vec<Rule> = judge(setting, &played).misses.iter().map(|miss| miss.rule).collect();
    rules.dedup();
    rules
}

#[test]
fn a_result_equal_to_the_best_misses_no_target() {
    let setting = clean();
    assert!(!draw::plan(setting.seed, 5.0).contains("loss"));
    assert_eq!(missed(&setting, |_| {}), []);
    assert_eq!(missed(&setting, |played| played.adaptive.p998 = Some(41.0)), [], "one ms");
    assert_eq!(missed(&setting, |played| played.adaptive.ip_bytes_late = 1_020), []);
    assert_eq!(missed(&setting, |played| played.peers[0].p998 = Some(10.0)), [Rule::Peers]);
    let dear = |played: &mut PlayedSetting| {
        (played.peers[0].p998, played.peers[0].bytes_per_payload) = (Some(10.0), Some(1.6))
    };
    assert_eq!(missed(&setting, dear), [], "a dearer peer may be faster");
    let lossy = |played: &mut PlayedSetting| (played.peers[0].p998, played.peers[0].lost) = (Some(10.0), 1);
    assert_eq!(missed(&setting, lossy), [], "a peer that loses has not done the same");
}

#[test]
fn each_rule_fails_for_a_run_that_violates_it() {
    let setting = clean();
    let tick = setting.tick().as_secs_f64() * 1e3;
    assert_eq!(missed(&setting, |played| played.off.lost = 1), [Rule::Lost]);
    assert_eq!(missed(&setting, |played| played.lean.never_connected = 1), [Rule::Connects]);
    assert_eq!(missed(&setting, |played| played.adaptive.duplicated = 1), [Rule::Disorder]);
    assert_eq!(missed(&setting, |played| played.adaptive.p99 = Some(31.1)), [Rule::Tail]);
    assert_eq!(missed(&setting, |played| played.adaptive.p998 = None), [Rule::Tail]);
    assert_eq!(missed(&setting, |played| played.adaptive.p9999 = Some(60.0 + 1.5 * tick)), [Rule::Far]);
    assert_eq!(missed(&setting, |played| played.adaptive.p9999 = Some(61.0 + 2.0 * tick)), [Rule::Far, Rule::FarAtAll]);
    assert_eq!(missed(&setting, |played| played.adaptive.ip_bytes_late = 1_021), [Rule::Clean]);
    assert_eq!(missed(&setting, |played| played.lean.queue_delay_p95 = Some(1e6)), [Rule::Queue]);
}

#[test]
fn an_overload_is_judged_by_its_deliveries() {
    let setting = setting(Setting::is_overloaded);
    assert_eq!(missed(&setting, |played| played.adaptive.p998 = Some(1e6)), []);
    assert_eq!(missed(&setting, |played| played.adaptive.delivered_share = 0.96), [Rule::Delivers]);
}

#[test]
fn order_is_judged_only_on_ordered_channels() {
    let unordered = setting(|setting| !setting.condition.delivery_of(0).keeps_order() && !setting.is_overloaded());
    assert_eq!(missed(&unordered, |played| played.adaptive.reordered = 5), []);
    assert_eq!(missed(&clean(), |played| played.adaptive.reordered = 5), [Rule::Disorder]);
}
