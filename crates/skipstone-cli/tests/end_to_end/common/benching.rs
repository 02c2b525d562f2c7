//! A bench's result, checked against its schema.

use super::{Ended, run};
use serde_json::Value;

/// Flags of a bench that is over soon and asks nothing of the machine.
pub(crate) const SHORT: [&str; 9] =
    ["--network", "loopback", "--server-cpu", "any", "--load-cpu", "any", "--warmup", "300ms", "--quiet"];

/// Runs a preset of `bench` and reads its result.
pub(crate) fn bench(preset: &str, arguments: &[&str]) -> (Ended, Value) {
    let mut all = vec!["bench", preset, "--json", "-"];
    all.extend(SHORT);
    if !arguments.contains(&"--duration") {
        all.extend(["--duration", "1s"]);
    }
    all.extend(arguments);
    let ended = run(&all);
    let result: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.text()));
    let schema = serde_json::from_str(include_str!("../../../../skipstone-lab/schema/bench.schema.json"))
        .expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a JSON Schema");
    let validator = jsonschema::validator_for(&schema).expect("the schema can be used");
    let errors: Vec<String> = validator.iter_errors(&result).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", ended.out);
    (ended, result)
}

/// Every client got every line once, in order and unchanged, however slow the machine was.
#[track_caller]
pub(crate) fn assert_delivered(row: &Value, clients: u64, deliveries_min: u64) {
    for (figure, wanted) in
        [("connected", clients), ("dropped", 0), ("lost", 0), ("duplicated", 0), ("reordered", 0), ("corrupted", 0)]
    {
        assert_eq!(row[figure], wanted, "{figure}: {row:#}");
    }
    assert_eq!(row["delivered"], row["expected"], "{row:#}");
    assert!(row["delivered"].as_u64().is_some_and(|delivered| delivered >= deliveries_min), "{row:#}");
}
