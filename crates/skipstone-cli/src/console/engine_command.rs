//! The commands that the engine answers itself. All others are the handler's.

/// A command of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineCommand {
    /// Ends the session.
    Quit,
    /// Turns live log lines on or off; without an argument it toggles.
    Log(Option<LogSwitch>),
    /// `log` with an unknown argument.
    LogMisused,
}

/// The argument of `log`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogSwitch {
    On,
    Off,
}

/// The engine's command in `line`, if it is one.
pub(super) fn parse(line: &str) -> Option<EngineCommand> {
    let mut words = line.split_whitespace();
    let command = match (words.next()?, words.next(), words.next()) {
        ("quit" | "exit", None, None) => EngineCommand::Quit,
        ("log", None, None) => EngineCommand::Log(None),
        ("log", Some("on"), None) => EngineCommand::Log(Some(LogSwitch::On)),
        ("log", Some("off"), None) => EngineCommand::Log(Some(LogSwitch::Off)),
        ("log", ..) => EngineCommand::LogMisused,
        _ => return None,
    };
    Some(command)
}

/// One line of help for each command of the engine, for the help text of the handler.
pub(crate) const ENGINE_HELP: &str = include_str!("help.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_commands_are_whole_words() {
        assert_eq!(parse("quit"), Some(EngineCommand::Quit));
        assert_eq!(parse("exit"), Some(EngineCommand::Quit));
        assert_eq!(parse("log  on"), Some(EngineCommand::Log(Some(LogSwitch::On))));
        assert_eq!(parse("log"), Some(EngineCommand::Log(None)));
        assert_eq!(parse("log maybe"), Some(EngineCommand::LogMisused));
        assert_eq!(parse("quitter"), None);
        assert_eq!(parse("quit server"), None);
        assert_eq!(parse(""), None);
    }
}
