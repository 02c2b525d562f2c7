//! The sum of counters, field by field, whatever fields they have.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Adds every number of the second to the same number of the first. Names and values that only one of them has are
/// taken from that one. Texts and truth values come from the first.
pub(super) fn added<T: Serialize + DeserializeOwned>(one: &T, other: &T) -> T {
    let json = |it: &T| serde_json::to_value(it).expect("counters have text keys");
    serde_json::from_value(sum(json(one), json(other))).expect("a sum has the fields of its terms")
}

fn sum(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Null, value) | (value, Value::Null) => value,
        (Value::Number(one), Value::Number(other)) => match (one.as_u64(), other.as_u64()) {
            (Some(one), Some(other)) => one.saturating_add(other).into(),
            _ => (one.as_f64().unwrap_or_default() + other.as_f64().unwrap_or_default()).into(),
        },
        (Value::Object(one), Value::Object(other)) => {
            Value::Object(other.into_iter().fold(one, |mut all, (name, value)| {
                let before = all.remove(&name).unwrap_or_default();
                all.insert(name, sum(before, value));
                all
            }))
        }
        (one, _) => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Counters {
        packets: u64,
        share: f64,
        cpu: Option<f64>,
        name: String,
        by_reason: BTreeMap<String, u64>,
    }

    #[test]
    fn every_counter_is_added_under_its_name() {
        let one = Counters {
            packets: 3,
            share: 0.5,
            cpu: None,
            name: "a".into(),
            by_reason: [("late".into(), 1), ("full".into(), 2)].into(),
        };
        let other = Counters {
            packets: u64::MAX - 3,
            share: 1.0,
            cpu: Some(7.0),
            name: "b".into(),
            by_reason: [("late".into(), 4), ("old".into(), 8)].into(),
        };
        let expected = Counters {
            packets: u64::MAX,
            share: 1.5,
            cpu: Some(7.0),
            name: "a".into(),
            by_reason: [("full".into(), 2), ("late".into(), 5), ("old".into(), 8)].into(),
        };
        assert_eq!(added(&one, &other), expected);
    }
}
