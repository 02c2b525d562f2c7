//! The result and its schema say the same.

use std::time::Duration;

use serde_json::{Value, json};
use strum::VariantArray;

use super::*;
use crate::measure::ledger::Tally;
use crate::report::schema::schema_of;
use crate::report::stress::example;

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&schema_of::<StressResult>()).expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a JSON Schema");
    jsonschema::draft202012::new(&schema).expect("the schema can be used")
}

fn problems(result: &Value) -> Vec<String> {
    validator().iter_errors(result).map(|error| format!("{}: {error}", error.instance_path)).collect()
}

#[test]
fn full_and_sparse_results_match_the_schema() {
    for result in [example::passing(), example::sparse(), example::fleet()] {
        assert_eq!(problems(&serde_json::to_value(result).unwrap()), Vec::<String>::new());
    }
}

#[test]
fn a_result_survives_a_round_trip_through_json() {
    for result in [example::passing(), example::sparse(), example::fleet()] {
        let text = serde_json::to_string_pretty(&result).unwrap();
        assert_eq!(serde_json::from_str::<StressResult>(&text).unwrap(), result);
    }
}

#[test]
fn the_schema_rejects_a_result_that_lacks_any_field() {
    let whole = serde_json::to_value(example::fleet()).unwrap();
    let validator = validator();
    for path in object_paths(&whole, String::new()) {
        let fields: Vec<String> = whole.pointer(&path).unwrap().as_object().unwrap().keys().cloned().collect();
        for field in fields.iter().filter(|_| !path.ends_with("_reason") && !path.ends_with("/settings")) {
            let mut broken = whole.clone();
            broken.pointer_mut(&path).unwrap().as_object_mut().unwrap().remove(field);
            assert!(!validator.is_valid(&broken), "{path}/{field} can be missing");
        }
    }
}

#[test]
fn the_schema_rejects_unknown_fields_wrong_types_and_impossible_numbers() {
    let whole = serde_json::to_value(example::passing()).unwrap();
    let validator = validator();
    assert!(validator.is_valid(&whole));
    for path in object_paths(&whole, String::new()) {
        let mut broken = whole.clone();
        broken.pointer_mut(&path).unwrap()["surprise"] = json!("x");
        assert!(path.ends_with("/settings") || !validator.is_valid(&broken), "{path} takes a surprise");
    }
    for (path, value) in [
        ("/verdict", json!("passed")),
        ("/transport", json!("pigeon")),
        ("/schema_version", json!(2)),
        ("/started", json!("yesterday")),
        ("/messages/lost", json!(-1)),
        ("/messages/sent", json!(1.5)),
        ("/latency_ms/p99", json!("5ms")),
        ("/wire", json!(null)),
        ("/clients/drops_by_reason/timeout", json!("many")),
        ("/carriers/0/carrier", json!("pigeon")),
        ("/thresholds/0/passed", json!(null)),
        ("/generator/cores", json!(0)),
    ] {
        let mut broken = whole.clone();
        let (parent, field) = path.rsplit_once('/').unwrap();
        broken.pointer_mut(parent).unwrap()[field] = value;
        assert!(!validator.is_valid(&broken), "{path} may be anything");
    }
}

/// Pointers to all objects in a value, lists entered.
fn object_paths(value: &Value, path: String) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let inner = fields.iter().flat_map(|(name, value)| object_paths(value, format!("{path}/{name}")));
            inner.chain([path.clone()]).collect()
        }
        Value::Array(elements) => {
            let inner = elements.iter().enumerate();
            inner.flat_map(|(at, value)| object_paths(value, format!("{path}/{at}"))).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn the_transport_is_named_by_its_carriers() {
    assert_eq!(StressTransport::of([Carrier::Udp]), StressTransport::UdpTls);
    assert_eq!(StressTransport::of([Carrier::Ws]), StressTransport::Ws);
    assert_eq!(StressTransport::of(Carrier::VARIANTS.iter().copied()), StressTransport::Mixed);
}

#[test]
fn derived_figures_are_computed() {
    let tally = Tally { expected: 40, delivered: 30, lost: 10, ..Tally::default() };
    let messages = Messages::from_tally(&tally, 4, Duration::from_secs(2));
    assert_eq!((messages.per_second, messages.sent, messages.lost), (15.0, 4, 10));
    assert_eq!(Messages::from_tally(&tally, 4, Duration::ZERO).per_second, 0.0);
    let wire = Wire { bytes_sent: 60, bytes_received: 90, bytes_payload: 100, ..Wire::default() };
    assert_eq!(wire.with_overhead().overhead_percent, Some(50.0));
    assert_eq!(Wire { bytes_sent: 60, ..Wire::default() }.with_overhead().overhead_percent, None);
}
