//! The commands in a line that the user enters. It only parses; [`crate::chat::session`] executes them.

/// An entered line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input<'a> {
    /// Nothing but white space.
    Nothing,
    /// A line for all clients.
    Text(&'a str),
    /// How long a round trip takes.
    Ping,
    /// The list of guests.
    Who,
    /// Leave.
    Quit,
    /// The list of commands.
    Help,
    /// No command of ours.
    Unknown(&'a str),
}

/// Parses a line. A line that begins with a slash is a command; two slashes escape a text that begins with a slash.
pub(super) fn parse(line: &str) -> Input<'_> {
    let line = line.trim();
    if line.is_empty() {
        return Input::Nothing;
    }
    let Some(command) = line.strip_prefix('/') else {
        return Input::Text(line);
    };
    if command.starts_with('/') {
        return Input::Text(command);
    }
    match command.split_whitespace().next() {
        Some("ping") => Input::Ping,
        Some("who") => Input::Who,
        Some("quit") => Input::Quit,
        Some("help") => Input::Help,
        word => Input::Unknown(word.unwrap_or_default()),
    }
}

/// The answer to `/help`.
pub(super) const HELP: &str = include_str!("help.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_distinguished_from_text() {
        for (line, input) in [
            ("", Input::Nothing),
            (" \t ", Input::Nothing),
            ("hello / there", Input::Text("hello / there")),
            ("  hi  ", Input::Text("hi")),
            ("/ping", Input::Ping),
            (" /who ", Input::Who),
            ("/quit now", Input::Quit),
            ("/help", Input::Help),
            ("//help", Input::Text("/help")),
            ("/", Input::Unknown("")),
            ("/pingu 1", Input::Unknown("pingu")),
            ("/PING", Input::Unknown("PING")),
        ] {
            assert_eq!(parse(line), input, "{line:?}");
        }
    }
}
