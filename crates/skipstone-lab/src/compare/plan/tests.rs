//! Plans that are read, and mistakes that are found.

use skipstone::RedundancyMode;

use super::*;

const GOOD: &str = r#"
name = "test"
minutes = 0.5
entities = 25
ticks_per_second = 60
payload_bytes = 50
roam_every = "2s"
transports = ["skipstone"]
modes = ["lean", "fixed:10+3"]

[link]
rtt = "20ms"
loss = "0.5%"
rate = "2Mbit/s"
queue = "100ms"
outages = [{ at = "10s", length = "1s" }]

[[beside]]
flow = "cubic"
ahead = "10s"
"#;

#[test]
fn a_plan_is_parsed_with_its_units() {
    let plan = ComparePlan::parse("p.toml", GOOD).unwrap();
    assert_eq!((plan.entities, plan.minutes, plan.link.outages.len()), (Some(25), 0.5, 1));
    assert_eq!(plan.link.rate.unwrap().bits_per_second(), 2_000_000);
    assert_eq!(
        plan.modes.unwrap(),
        [RedundancyMode::Lean, RedundancyMode::Fixed { sources: 10, repairs: 3 }].map(Mode)
    );
    assert_eq!(plan.beside[0].flow, Kind::Cubic);
}

#[test]
fn a_mistake_has_its_line_and_column_and_the_nearest_name() {
    for (from, to, place, words) in [
        ("loss =", "los =", "p.toml:13:1", "did you mean loss?"),
        ("entities", "entites", "p.toml:4:1", "did you mean entities?"),
        ("\"0.5%\"", "\"0.5\"", "p.toml:13:8", "no percent sign"),
        ("\"20ms\"", "20", "p.toml:12:7", "expected a string"),
        ("\"cubic\"", "\"cubik\"", "p.toml:19:8", "did you mean cubic?"),
        ("[\"skipstone\"]", "[\"skipston\"]", "p.toml:8:14", "did you mean skipstone?"),
        ("[\"skipstone\"]", "[]", "p.toml:8:14", "the list is empty"),
        ("[\"skipstone\"]", "[\"kcp\", \"quinn\", \"kcp\"]", "p.toml:8:14", "kcp is named twice"),
        ("[\"lean\",", "[\"fixed:10+3\",", "p.toml:9:9", "fixed:10+3 is named twice"),
        ("\"10s\"", "\"10\"", "p.toml:16:19", "10 has no unit"),
        ("ahead", "head", "p.toml:20:1", "did you mean ahead?"),
        ("= 60", "= sixty", "p.toml:5:20", ""),
    ] {
        let error = ComparePlan::parse("p.toml", &GOOD.replacen(from, to, 1)).unwrap_err();
        assert!(error.starts_with(&format!("{place}: ")) && error.contains(words), "{from} -> {to}: {error}");
        assert!(!error.contains('\n'), "one line: {error:?}");
    }
}

#[test]
fn every_bundled_plan_parses() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).expect("there are plans") {
        let path = entry.expect("it can be listed").path();
        let plan = ComparePlan::read(path.to_str().expect("a plain name")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Some(plan.plan.name.as_str()), path.file_stem().and_then(|stem| stem.to_str()));
        assert!(fs::read_to_string(&path).unwrap().starts_with("# "), "{path:?} says what it shows");
        names.push(plan.plan.name);
    }
    assert!(names.len() >= 8, "{names:?}");
}
