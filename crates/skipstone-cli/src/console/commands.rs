//! The commands that the engine answers itself. All others are the handler's.

/// A command of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// Ends the session.
    Quit,
    /// Lists the lines entered.
    History,
    /// Turns live log lines on or off.
    Log(Switch),
    /// `log` with a word that it does not know.
    LogMisused,
}

/// What `log` is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    /// On, whatever it was.
    On,
    /// Off, whatever it was.
    Off,
    /// The other of the two.
    Toggle,
}

/// The engine's command in `line`, if it is one.
pub(super) fn parse(line: &str) -> Option<Command> {
    let mut words = line.split_whitespace();
    let command = match (words.next()?, words.next(), words.next()) {
        ("quit" | "exit", None, None) => Command::Quit,
        ("history", None, None) => Command::History,
        ("log", None, None) => Command::Log(Switch::Toggle),
        ("log", Some("on"), None) => Command::Log(Switch::On),
        ("log", Some("off"), None) => Command::Log(Switch::Off),
        ("log", ..) => Command::LogMisused,
        _ => return None,
    };
    Some(command)
}

/// What the engine's commands offer for the last word of `before`.
pub(super) fn candidates(before: &str) -> &'static [&'static str] {
    match before.split_once(char::is_whitespace) {
        None => &["exit", "history", "log", "quit"],
        Some(("log", rest)) if !rest.contains(char::is_whitespace) => &["off", "on"],
        Some(_) => &[],
    }
}

/// One line of help for each command.
pub(super) const HELP: &[&str] = &[
    "history       list the lines entered in this session",
    "log [on|off]  show log lines as they come, or stop",
    "quit, exit    end this session (Ctrl-D on an empty line too); the server goes on",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_commands_are_whole_words() {
        assert_eq!(parse("quit"), Some(Command::Quit));
        assert_eq!(parse("exit"), Some(Command::Quit));
        assert_eq!(parse("log  on"), Some(Command::Log(Switch::On)));
        assert_eq!(parse("log"), Some(Command::Log(Switch::Toggle)));
        assert_eq!(parse("log maybe"), Some(Command::LogMisused));
        assert_eq!(parse("quitter"), None);
        assert_eq!(parse("quit server"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn words_of_the_engine_are_offered_where_they_can_stand() {
        assert!(candidates("lo").contains(&"log"));
        assert_eq!(candidates("log o"), ["off", "on"]);
        assert!(candidates("kick o").is_empty() && candidates("log on o").is_empty());
    }
}
