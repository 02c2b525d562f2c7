//! The messages of a stress process with `--piped` to its parent: a line of JSON each.

use serde_json::Value;

/// News of the process.
#[derive(Debug, PartialEq)]
pub(super) enum Told {
    /// All clients are there, and wait.
    Waiting,
    /// The figures of the last second.
    Progress(Value),
    /// The result, judged.
    Result(Value),
    /// The process is over; why.
    Ended(String),
}

/// The news in a line of its output; `None` is the end of the output.
pub(super) fn told(line: Option<&str>) -> Option<Told> {
    let Some(line) = line else {
        return Some(Told::Ended("the clients' process ended; its own message is where the server prints".into()));
    };
    let mut news: Value = serde_json::from_str(line).ok()?;
    match news.as_object_mut()? {
        object if object.contains_key("waiting") => Some(Told::Waiting),
        object if object.contains_key("progress") => Some(Told::Progress(object["progress"].take())),
        object if object.contains_key("result") => Some(Told::Result(object["result"].take())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redundant_lines_are_skipped() {
        assert_eq!(told(Some("hello")), None);
        assert_eq!(told(Some(r#"{"other": 1}"#)), None);
        assert_eq!(told(Some(r#"{"waiting": 5}"#)), Some(Told::Waiting));
        assert_eq!(told(Some(r#"{"result": {"a": 1}}"#)), Some(Told::Result(serde_json::json!({ "a": 1 }))));
        assert!(matches!(told(None), Some(Told::Ended(_))));
    }
}
