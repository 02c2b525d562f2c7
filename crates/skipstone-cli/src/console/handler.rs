//! The interface of a console to its owner: the commands, and their answers.

/// Names one session, for as long as the console lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
pub(crate) struct SessionId(pub(super) u64);

impl SessionId {
    /// The dashboard, which has one session for all its pages; the console's begin at 1.
    #[cfg(feature = "dashboard")]
    pub(crate) const DASHBOARD: Self = Self(0);
}

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Lines to show; control characters in them are replaced. Empty shows nothing.
    Text(String),
    /// Shown after "error: ".
    Error(String),
    /// Shown after "error: ": the line is not a command. If it is a session's first line, it ends the session.
    Unknown(String),
    /// Ends this session.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tool's own commands leave that to the engine"))]
    Quit,
}

impl From<Result<String, String>> for Reply {
    fn from(result: Result<String, String>) -> Self {
        result.map_or_else(Self::Error, Self::Text)
    }
}

/// The commands. Called from the sessions' threads, from several at once.
pub(crate) trait Handler: Send + Sync {
    /// Runs `line`, trimmed and not empty, at most 4,096 bytes. Until it returns, its session does nothing else. A
    /// panic is reported to the session as an internal error.
    fn run(&self, session: SessionId, line: &str) -> Reply;
}
