//! A sweep gives the same table every time, reports invalid flags, and prints plans that `compare` runs.

use crate::common::{fresh_file, run};

const SHORT: [&str; 7] = ["--minutes", "0.5", "--loss-seeds", "1", "--transports", "kcp", "--quiet"];

#[test]
fn the_same_seeds_give_the_same_table_on_any_number_of_threads() {
    let of = |jobs: &str| run(&[&["sweep", "--seeds", "2..5", "--jobs", jobs], &SHORT[..]].concat()).out;
    let table = of("1");
    assert_eq!(table, of("3"));
    let lines: Vec<&str> = table.lines().collect();
    assert!((2..5).all(|seed| lines.iter().any(|line| line.starts_with(&format!("{seed}  ")))), "{table}");
    assert!(table.contains("no reliable message is lost"), "{table}");
}

#[test]
fn the_json_result_matches_its_schema() {
    let ended = run(&[&["sweep", "--seeds", "8..9", "--json", "-"], &SHORT[..]].concat());
    let result: serde_json::Value =
        serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.text()));
    let schema =
        serde_json::from_str(include_str!("../../../skipstone-lab/schema/sweep.schema.json")).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema can be used");
    let errors: Vec<String> = validator.iter_errors(&result).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(result["settings"][0]["seed"], 8);
}

#[test]
fn a_printed_setting_is_a_valid_plan() {
    let file = fresh_file("sweep.toml");
    let path = file.to_str().expect("a plain name");
    for seed in ["3..4", "5..6", "10..11"] {
        let printed = run(&["sweep", "--seeds", seed, "--print"]);
        printed.expect(&[0]);
        std::fs::write(&file, printed.out).expect("it can be written");
        let flags = ["--simulated", "--quiet", "--minutes", "0.1", "--seeds", "1", "--transports", "skipstone"];
        run(&[&["compare", path], &flags[..]].concat()).expect(&[0]);
    }
    std::fs::remove_file(&file).expect("it was there");
}

#[test]
fn invalid_flags_are_refused() {
    for (flags, said) in [
        (["--seeds", "5..5"], "it contains no seed"),
        (["--seeds", "5"], "looks like 0..300"),
        (["--minutes", "0.1"], "0.5 to 60 simulated minutes"),
        (["--transports", "skipstone"], "takes part in any case"),
        (["--transports", "tcp"], "tcp has a clock and sockets of its own"),
        (["--transports", "carrier-pigeon"], "no transport \"carrier-pigeon\""),
    ] {
        let seeds: &[&str] = if flags[0] == "--seeds" { &[] } else { &["--seeds", "0..1"] };
        let ended = run(&[&["sweep"], seeds, &flags].concat());
        ended.expect(&[104]);
        assert!(ended.err.contains(said), "{}", ended.err);
    }
}
