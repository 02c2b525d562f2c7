//! Finding a number in a JSON value by a dotted name, and the nearest name when there is none.

use serde_json::Value;
use strsim::levenshtein;

/// The value that a name leads to.
pub(super) enum Found {
    /// A number, and its full name, aliases replaced.
    Number(f64, String),
    /// It, or a group that it belongs to, exists and has no value. Its full name.
    Null(String),
    /// A text, a truth value, a list or a group.
    Other,
    /// No such name.
    Nothing,
}

/// Follows a name. A list is entered by an element's `carrier`, or by its place.
pub(super) fn find(root: &Value, path: &str) -> Found {
    let mut value = root;
    let mut full = Vec::new();
    for name in path.split('.') {
        let Some((next, used)) = (if value.is_null() { Some((value, name)) } else { step(value, name) }) else {
            return Found::Nothing;
        };
        full.push(used);
        value = next;
    }
    match value {
        Value::Null => Found::Null(full.join(".")),
        Value::Number(number) => Found::Number(number.as_f64().unwrap_or(f64::NAN), full.join(".")),
        _ => Found::Other,
    }
}

/// The next name, and what it refers to.
fn step<'a>(value: &'a Value, name: &'a str) -> Option<(&'a Value, &'a str)> {
    match value {
        Value::Object(fields) => {
            let exact = fields.get(name).map(|next| (next, name));
            exact.or_else(|| (name == ALIAS).then(|| fields.get(ALIASED).map(|next| (next, ALIASED)))?)
        }
        Value::Array(elements) => {
            let by_carrier = || elements.iter().find(|element| element["carrier"] == name);
            let next = name.parse::<usize>().ok().and_then(|at| elements.get(at)).or_else(by_carrier)?;
            Some((next, name))
        }
        _ => None,
    }
}

/// The name of a number that is most like `path`, if any is like it at all.
pub(super) fn nearest(root: &Value, path: &str) -> Option<String> {
    let mut names = Vec::new();
    collect(root, String::new(), &mut names);
    if let Some(longer) = names.iter().filter(|name| name.starts_with(path)).min_by_key(|name| name.len()) {
        return Some(longer.clone());
    }
    let (steps, name) = names.into_iter().map(|name| (levenshtein(path, &name), name)).min()?;
    (steps <= path.len().max(name.len()) / 2 + 1).then_some(name)
}

/// All names of numbers, present or null, aliased as a user writes them.
fn collect(value: &Value, name: String, names: &mut Vec<String>) {
    let inner = |part: &str| match (name.is_empty(), part) {
        (true, ALIASED) => ALIAS.to_owned(),
        (true, part) => part.to_owned(),
        (false, ALIASED) => format!("{name}.{ALIAS}"),
        (false, part) => format!("{name}.{part}"),
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(part, value)| collect(value, inner(part), names)),
        Value::Array(elements) => {
            for element in elements {
                if let Some(carrier) = element["carrier"].as_str() {
                    collect(element, inner(carrier), names);
                }
            }
        }
        Value::Number(_) | Value::Null => names.push(name),
        Value::Bool(_) | Value::String(_) => {}
    }
}

const ALIAS: &str = "latency";
const ALIASED: &str = "latency_ms";
