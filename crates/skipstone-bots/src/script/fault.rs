//! Errors of a script: file, line, column and message.

use std::fmt;

/// An error of a script. It ends its bot, and is counted by this text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScriptFault {
    place: Option<Place>,
    message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    file: String,
    line: usize,
    column: Option<usize>,
}

impl fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { file, line, column }) = &self.place {
            write!(f, "{file}:{line}:")?;
            if let Some(column) = column {
                write!(f, "{column}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.message)
    }
}

impl ScriptFault {
    /// A fault without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ScriptFault { place: None, message: message.into() }
    }

    /// Whether the script has reached its limit of memory.
    pub(super) fn is_of_memory(&self) -> bool {
        self.message == MEMORY
    }

    /// The engine's error. `source_of` gives the text of a file of the script by its name.
    pub(crate) fn of<'s>(error: &mlua::Error, source_of: impl Fn(&str) -> Option<&'s str>) -> Self {
        let (text, traceback) = parts(error);
        let found = placed(&text, &source_of).or_else(|| {
            let place = traceback.lines().find_map(|line| placed(line.trim(), &source_of))?.0;
            Some((place, text.clone()))
        });
        let Some(((file, line), message)) = found else { return Self::new(first_line(&text)) };
        let message = first_line(&message);
        let column = source_of(&file).and_then(|source| column(source.lines().nth(line.checked_sub(1)?)?, &message));
        ScriptFault { place: Some(Place { file, line, column }), message }
    }
}

/// The message, and the traceback if there is one.
fn parts(error: &mlua::Error) -> (String, String) {
    match error {
        mlua::Error::CallbackError { traceback, cause } => {
            let (text, inner) = parts(cause);
            (text, if inner.is_empty() { traceback.clone() } else { inner })
        }
        mlua::Error::WithContext { context, cause } => {
            let (text, traceback) = parts(cause);
            (format!("{context}: {text}"), traceback)
        }
        mlua::Error::RuntimeError(text) | mlua::Error::SyntaxError { message: text, .. } => {
            let (text, traceback) = text.split_once("\nstack traceback:").unwrap_or((text, ""));
            (text.to_owned(), traceback.to_owned())
        }
        mlua::Error::MemoryError(text) => {
            let traceback = text.split_once("\nstack traceback:").map_or("", |(_, traceback)| traceback);
            (MEMORY.to_owned(), traceback.to_owned())
        }
        other => (other.to_string(), String::new()),
    }
}

/// The place with which a text begins, `file:line`, if the file is one of the script's; and the rest.
fn placed<'s>(text: &str, source_of: &impl Fn(&str) -> Option<&'s str>) -> Option<((String, usize), String)> {
    // A name may contain a colon; a line is a number between two, or at the end of a traceback's entry.
    text.match_indices(':').find_map(|(at, _)| {
        let (name, rest) = (&text[..at], &text[at + 1..]);
        let name = name.strip_prefix("[string \"").and_then(|name| name.strip_suffix("\"]")).unwrap_or(name);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let line = rest[..digits].parse().ok()?;
        source_of(name)?;
        let message = rest[digits..].trim_start_matches([':', ' ']).to_owned();
        Some(((name.to_owned(), line), message))
    })
}

/// Luau knows lines only. The column is that of the name that the message quotes, or of the tool's function with which
/// it begins, or else of the line's first word.
fn column(line: &str, message: &str) -> Option<usize> {
    let quoted = message.split(['\'', '"', '`']).skip(1).step_by(2).filter(|name| !name.is_empty());
    let called = message.split([' ', ',']).next().and_then(|word| word.rsplit_once([':', '.'])).map(|(_, name)| name);
    let at = quoted.chain(called).filter(|name| !name.is_empty()).find_map(|name| line.find(name));
    let first = line.len() - line.trim_start().len();
    (!line.trim().is_empty()).then(|| line[..at.unwrap_or(first)].chars().count() + 1)
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_start_matches("runtime error: ");
    let line = without_prelude(line);
    let short: String = line.chars().take(MESSAGE_MAX).collect();
    if short.is_empty() || short == "nil" { "an error without a message".into() } else { short }
}

/// An error of Luau's own functions that the prelude calls for the script begins with the prelude's line.
fn without_prelude(line: &str) -> &str {
    let rest = line.strip_prefix("skipstone:").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(line)
}

/// Characters of a message that are kept.
const MESSAGE_MAX: usize = 300;
const MEMORY: &str = "the scripts of this worker have reached their limit of memory: does a table grow forever?";

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "local x = 1\n  x.y.z = 2\n";

    fn told(text: &str) -> String {
        let error = mlua::Error::RuntimeError(text.into());
        ScriptFault::of(&error, |name| (name == "chat.luau").then_some(SOURCE)).to_string()
    }

    #[test]
    fn an_error_names_line_and_column() {
        assert_eq!(
            told("chat.luau:2: attempt to index nil with 'z'\nstack traceback:\nchat.luau:1"),
            "chat.luau:2:7: attempt to index nil with 'z'"
        );
        assert_eq!(told("chat.luau:2: oops"), "chat.luau:2:3: oops");
    }

    #[test]
    fn an_error_of_the_tool_has_the_place_of_the_traceback() {
        assert_eq!(
            told("too fast\nstack traceback:\n[C] in ?\nprelude:7 function send\nchat.luau:2 function tick"),
            "chat.luau:2:3: too fast"
        );
    }

    #[test]
    fn an_error_without_a_place_is_told_as_it_is() {
        assert_eq!(told("elsewhere.luau:2: oops"), "elsewhere.luau:2: oops");
        assert_eq!(told(""), "an error without a message");
    }
}
