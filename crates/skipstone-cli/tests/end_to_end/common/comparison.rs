//! A comparison's result, checked against its schema.

use super::{Ended, run};
use serde_json::Value;

/// Runs `compare --simulated` on a plan of ours and reads its result.
pub(crate) fn compare(plan: &str, arguments: &[&str]) -> (Ended, Value) {
    compare_by(plan, &[&["--simulated"], arguments].concat())
}

/// The same, for real unless the arguments say otherwise.
pub(crate) fn compare_by(plan: &str, arguments: &[&str]) -> (Ended, Value) {
    let path = plan_path(plan);
    let mut all = vec!["compare", &path, "--quiet", "--json", "-"];
    all.extend(arguments);
    let ended = run(&all);
    let result: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.text()));
    let schema = serde_json::from_str(include_str!("../../../../skipstone-lab/schema/compare.schema.json"))
        .expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a JSON Schema");
    let validator = jsonschema::validator_for(&schema).expect("the schema can be used");
    let errors: Vec<String> = validator.iter_errors(&result).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{}", ended.out);
    (ended, result)
}

/// Where a plan of ours lies.
pub(crate) fn plan_path(plan: &str) -> String {
    format!("{}/../../plans/{plan}.toml", env!("CARGO_MANIFEST_DIR"))
}

/// The rows.
pub(crate) fn rows(result: &Value) -> &[Value] {
    result["results"].as_array().expect("they are a list")
}

/// A figure of a row.
#[track_caller]
pub(crate) fn figure(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row:#}"))
}
