//! The error in a plan: its place, and the name that was probably meant.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::units::nearest::nearest;

/// The mistake as one sentence: `plans/x.toml:7:1: there is no key "los"; did you mean loss?`
pub(super) fn mistake(path: &str, text: &str, error: &toml::de::Error) -> String {
    let place = match error.span() {
        Some(span) => {
            let (line, column) = position(text, span.start);
            format!("{path}:{line}:{column}")
        }
        None => path.to_owned(),
    };
    format!("{place}: {}", sentence(error.message()))
}

/// The mistake of a key such as `link.queue` with an invalid value; it names only the file if the key is not in it.
pub(super) fn placed(path: &str, text: &str, key: &str, sentence: &str) -> String {
    match span_of(text, key) {
        Some(span) => {
            let (line, column) = position(text, span.start);
            format!("{path}:{line}:{column}: {sentence}")
        }
        None => format!("{path}: {sentence}"),
    }
}

/// The position of a key's value.
fn span_of(text: &str, key: &str) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?.into_inner();
    let mut names = key.split('.');
    let mut value = table.get(names.next()?)?;
    for name in names {
        value = match value.get_ref() {
            DeValue::Table(table) => table.get(name)?,
            DeValue::Array(values) => values.iter().find_map(|value| value.get_ref().get(name))?,
            _ => return None,
        };
    }
    Some(value.span())
}

/// Line and column of a byte, counted from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// serde's message, with the nearest name added if it lists names.
fn sentence(message: &str) -> String {
    let message = message.trim_end();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let kind = ["unknown field", "unknown variant"].into_iter().find(|kind| message.starts_with(kind));
    let (Some(kind), [written, names @ ..]) = (kind, &quoted[..]) else { return message.replace('\n', " ") };
    let what = if kind == "unknown field" { "key" } else { "value" };
    let meant = nearest(written, names.iter().copied()).map_or(String::new(), |name| format!("; did you mean {name}?"));
    format!("there is no {what} \"{written}\"{meant} There are {}", names.join(", "))
}
