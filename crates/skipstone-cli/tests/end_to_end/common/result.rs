//! A stress run's result, read from its file and checked against the schema.

use super::{Ended, fresh_file, run};
use serde_json::Value;
use std::path::Path;

/// Runs `stress` with these arguments and reads its result.
pub(crate) fn stress(arguments: &[&str]) -> (Ended, Value) {
    let file = fresh_file("stress.json");
    let path = file.to_str().expect("a temporary path is text").to_owned();
    let mut all = vec!["stress", "--json", &path];
    all.extend(arguments);
    let ended = run(&all);
    let result = read(&file);
    (ended, result)
}

/// Reads a result, which has to be as the schema says, and removes its file.
pub(crate) fn read(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    std::fs::remove_file(file).expect("it is ours");
    let result: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let schema = serde_json::from_str(include_str!("../../../../skipstone-lab/schema/stress.schema.json"))
        .expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let errors: Vec<String> = validator.iter_errors(&result).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    result
}

/// A number of the result, by its path: `messages.lost`.
pub(crate) fn number(result: &Value, path: &str) -> u64 {
    let pointer = format!("/{}", path.replace('.', "/"));
    let found = result.pointer(&pointer).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number {path} in {result:#}"))
}

/// All reasons of a verdict that is not pass.
pub(crate) fn reasons(result: &Value) -> String {
    let reasons = result["reasons"].as_array().expect("they are a list");
    reasons.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// Every client sent this many lines, and every client got each of them once, in order and unchanged.
///
/// A machine that is busy with other things may make the generator late, which the tool says itself: the verdict is
/// then invalid, and the counts still have to be right.
pub(crate) fn assert_all_delivered(ended: &Ended, result: &Value, clients: u64, lines_each: u64) {
    let shown = format!("{result:#}\n{}", ended.text());
    for (path, wanted) in [
        ("clients.asked", clients),
        ("clients.connected", clients),
        ("clients.dropped", 0),
        ("messages.sent", clients * lines_each),
        ("messages.expected", clients * lines_each * clients),
        ("messages.delivered", clients * lines_each * clients),
        ("messages.lost", 0),
        ("messages.duplicated", 0),
        ("messages.reordered", 0),
        ("messages.corrupted", 0),
        ("messages.unexpected", 0),
        ("messages.apart", 0),
    ] {
        assert_eq!(number(result, path), wanted, "{path}: {shown}");
    }
    if is_noise(result) {
        ended.expect(&[98]);
    } else {
        assert_eq!(result["verdict"], "pass", "{shown}");
        assert!(ended.out.contains("PASS"), "{shown}");
        ended.expect(&[0]);
    }
}

/// Whether nothing is wrong but that the machine did not let the generator keep its schedule.
pub(crate) fn is_noise(result: &Value) -> bool {
    let reasons = result["reasons"].as_array().expect("they are a list");
    let is_late = |reason: &Value| {
        let reason = reason.as_str().unwrap_or_default();
        reason.starts_with("The generator was late") || reason.starts_with("The generator used")
    };
    result["verdict"] == "invalid" && reasons.iter().all(is_late)
}
