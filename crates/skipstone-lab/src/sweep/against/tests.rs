use super::*;
use crate::sweep::judge::Miss;

fn figures(p998: f64, range: [f64; 2]) -> serde_json::Value {
    let range = serde_json::json!({ "least": range[0], "most": range[1] });
    serde_json::json!({
        "contender": "adaptive", "p99": 20.0, "p998": p998, "p9999": null, "p99_range": range, "p998_range": range,
        "p9999_range": { "least": 50.0, "most": null }, "bytes_per_payload": 1.5, "delivered_share": 1.0,
    })
}

fn earlier(p998: f64, range: [f64; 2], missed: &[&str]) -> Earlier {
    let misses: Vec<_> = missed.iter().map(|rule| serde_json::json!({ "rule": rule })).collect();
    let setting = Setting::of(17, 0.5).words;
    let settings = serde_json::json!([{
        "seed": 17, "setting": setting, "results": [figures(p998, range)], "rules": ["tail", "far"], "misses": misses,
    }]);
    let whole =
        serde_json::json!({ "schema_version": SCHEMA_VERSION, "minutes": 0.5, "loss_seeds": 2, "settings": settings });
    serde_json::from_value(whole).unwrap()
}

fn now(p998: f64, range: [f64; 2], missed: Option<Rule>) -> SettingResult {
    let range = ChanceRange { least: Some(range[0]), most: Some(range[1]) };
    let figures = SweepFigures {
        contender: "adaptive".into(),
        p99: Some(20.0),
        p998: Some(p998),
        p99_range: range,
        p998_range: range,
        p9999_range: ChanceRange { least: Some(50.0), most: None },
        bytes_per_payload: Some(1.5),
        delivered_share: 1.0,
        ..SweepFigures::default()
    };
    let miss = |rule| Miss { rule, figure: "p99.8".into(), actual: p998, bound: 1.0 };
    SettingResult {
        seed: 17,
        setting: Setting::of(17, 0.5).words,
        results: vec![figures],
        rules: vec![Rule::Tail, Rule::Far],
        misses: missed.map(miss).into_iter().collect(),
        by_chance: Vec::new(),
    }
}

#[test]
fn a_percentile_outside_the_range_of_the_other_build_is_a_change() {
    let changes = earlier(30.0, [29.0, 31.0], &[]).changes(&[now(40.0, [38.0, 42.0], None)]);
    let [setting] = &changes.settings[..] else { panic!("{changes:?}") };
    let expected = FigureChange { of: "adaptive p99.8".into(), before: Some(30.0), now: Some(40.0) };
    assert_eq!(setting.figures, [expected]);
}

#[test]
fn neither_chance_nor_a_third_of_a_millisecond_is_a_change() {
    for (range, p998) in [([29.0, 45.0], 40.0), ([30.4, 30.5], 30.3)] {
        let changes = earlier(30.0, [29.0, 30.2], &[]).changes(&[now(p998, range, None)]);
        assert_eq!(changes.settings, [], "{range:?}");
    }
}

#[test]
fn a_rule_that_fewer_settings_keep_is_worse() {
    let same = [30.0, 30.0];
    let changes = earlier(30.0, same, &["far"]).changes(&[now(30.0, same, Some(Rule::Tail))]);
    let of = |rule| changes.rules.iter().find(|change| change.rule == rule).unwrap();
    assert!(of(Rule::Tail).is_worse() && !of(Rule::Far).is_worse(), "{changes:?}");
    assert_eq!((of(Rule::Tail).before, of(Rule::Tail).now), (100.0, 0.0));
    let [setting] = &changes.settings[..] else { panic!("{changes:?}") };
    assert_eq!((&setting.newly_missed[..], &setting.newly_kept[..]), (&[Rule::Tail][..], &[Rule::Far][..]));
}

#[test]
fn results_that_were_made_otherwise_are_refused_with_the_remedy() {
    let of =
        |seeds: Range<u64>, minutes, loss_seeds| earlier(30.0, [30.0, 30.0], &[]).check(&seeds, minutes, loss_seeds);
    assert_eq!(of(17..18, 0.5, 2), Ok(()));
    assert!(of(17..19, 0.5, 2).is_err_and(|why| why.contains("no seed 18")));
    assert!(of(17..18, 0.5, 3).is_err_and(|why| why.contains("--loss-seeds 2")));
    assert!(of(17..18, 5.0, 2).is_err_and(|why| why.contains("--minutes 0.5")));
    let mut other = earlier(30.0, [30.0, 30.0], &[]);
    other.settings[0].setting = "another path".into();
    assert!(other.check(&(17..18), 0.5, 2).is_err_and(|why| why.contains("drew another setting")));
}
