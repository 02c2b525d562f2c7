//! The messages of a stress process with `--piped` to its parent: a line of JSON each.

use serde_json::Value;

/// A message of the process.
#[derive(Debug, PartialEq)]
pub(super) enum ChildMessage {
    /// All clients are there, and wait.
    Waiting,
    /// The figures of the last second.
    Progress(Value),
    /// The result, with its verdict.
    Result(Value),
    /// There will be no result; why.
    Failed(String),
    /// The process is over; why.
    Ended(String),
}

/// The message in a line of the process's output; `None` at the end of the output.
pub(super) fn message_of(line: Option<&str>) -> Option<ChildMessage> {
    let Some(line) = line else {
        return Some(ChildMessage::Ended(
            "the clients' process ended; its own message is where the server prints".into(),
        ));
    };
    let mut message: Value = serde_json::from_str(line).ok()?;
    match message.as_object_mut()? {
        object if object.contains_key("waiting") => Some(ChildMessage::Waiting),
        object if object.contains_key("progress") => Some(ChildMessage::Progress(object["progress"].take())),
        object if object.contains_key("failed") => Some(ChildMessage::Failed(object["failed"].as_str()?.to_owned())),
        object if object.contains_key("result") => Some(ChildMessage::Result(object["result"].take())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redundant_lines_are_skipped() {
        assert_eq!(message_of(Some("hello")), None);
        assert_eq!(message_of(Some(r#"{"other": 1}"#)), None);
        assert_eq!(message_of(Some(r#"{"waiting": 5}"#)), Some(ChildMessage::Waiting));
        assert_eq!(
            message_of(Some(r#"{"result": {"a": 1}}"#)),
            Some(ChildMessage::Result(serde_json::json!({ "a": 1 })))
        );
        let failed = Some(ChildMessage::Failed("no agents".into()));
        assert_eq!(message_of(Some(r#"{"failed": "no agents"}"#)), failed);
        assert!(matches!(message_of(None), Some(ChildMessage::Ended(_))));
    }
}
