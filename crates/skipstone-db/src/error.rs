//! The failures of a database, and their remedies.

use std::io;
use std::time::Duration;

/// Why a request failed, in a sentence with a remedy.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{sentence}")]
pub(crate) struct Failure {
    /// Its kind.
    pub(crate) kind: FailureKind,
    /// An explanation for people.
    pub(crate) sentence: String,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// No answer, or the connection ended: a retry may succeed.
    Lost,
    /// The database was busy, or others hold its locks: a later attempt may succeed.
    Busy,
    /// The password, the user or a right is missing.
    Denied,
    /// There is no such database, or no such table in it.
    Missing,
    /// A file of it cannot be opened or made.
    Unopenable,
    /// Its disk is full.
    Full,
    /// It may only be read.
    ReadOnly,
    /// Anything else.
    Other,
}

/// An outcome of a database.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(kind: FailureKind, sentence: impl Into<String>) -> Failure {
        Failure { kind, sentence: sentence.into() }
    }

    pub(crate) fn other(sentence: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Other, sentence)
    }

    pub(crate) fn timed_out(what: &str, after: Duration) -> Failure {
        let sentence =
            format!("{what} took more than {} s: the database stalls, or others hold locks", after.as_secs());
        Failure::new(FailureKind::Busy, sentence)
    }

    /// Whether the same request may succeed later: by itself, or after a right is granted or the tables are created
    /// while a server runs.
    pub(crate) fn is_passing(&self) -> bool {
        self.kind != FailureKind::Other
    }
}

/// Adds the remedy of each kind to the engine's own message.
fn with_remedy(kind: FailureKind, said: &str) -> Failure {
    let said = said.trim().trim_end_matches('.');
    let remedy = match kind {
        FailureKind::Lost => "is the server running, and are host, port and socket of the URL right?",
        FailureKind::Busy => "another program holds its locks, or no connection is free: try again",
        FailureKind::Denied => {
            "the user of the URL, or the password in SKIPSTONE_DB_PASSWORD or --password-file, is wrong or lacks a \
             right"
        }
        FailureKind::Missing => {
            "create the database with the server's own tool, and the tables with `skipstone db URL create`"
        }
        FailureKind::Unopenable => {
            "may its folder be written to, which SQLite needs for -wal files even for reading, and may this process \
             open more files (ulimit -n)?"
        }
        FailureKind::Full => "free space on the database's disk: committed data is kept",
        FailureKind::ReadOnly => "the file, its folder or the server is read-only: grant write access, or use another",
        FailureKind::Other => return Failure::new(kind, said),
    };
    Failure::new(kind, format!("{said}; {remedy}"))
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Failure {
        match &error {
            sqlx::Error::Io(cause) if cause.to_string().contains("certificate") => untrusted(cause),
            sqlx::Error::Tls(cause) if cause.to_string().contains("certificate") => untrusted(cause),
            sqlx::Error::Io(cause) => {
                with_remedy(FailureKind::Lost, &format!("the database cannot be reached: {cause}"))
            }
            sqlx::Error::PoolTimedOut => {
                with_remedy(FailureKind::Lost, "the database gave no connection within the time limit")
            }
            sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => with_remedy(FailureKind::Lost, &error.to_string()),
            sqlx::Error::Tls(cause) => Failure::other(format!("TLS to the database failed: {cause}")),
            sqlx::Error::Database(said) => {
                with_remedy(kind_of(said.code().as_deref().unwrap_or(""), said.message()), said.message())
            }
            // The remaining case is mostly a stream that ended within an answer.
            sqlx::Error::Protocol(said) => {
                with_remedy(FailureKind::Lost, &format!("the database's answer was incomplete: {said}"))
            }
            _ => Failure::other(error.to_string()),
        }
    }
}

impl From<sqlx::migrate::MigrateError> for Failure {
    fn from(error: sqlx::migrate::MigrateError) -> Failure {
        use sqlx::migrate::MigrateError;
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            MigrateError::VersionMissing(version) => Failure::other(format!(
                "the tables have version {version}, which this program does not know: use a newer program"
            )),
            other => Failure::other(format!("the tables cannot be brought up to date: {other}")),
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        use rusqlite::ErrorCode;
        let kind = match &error {
            rusqlite::Error::SqliteFailure(said, text) => match said.code {
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => FailureKind::Busy,
                ErrorCode::ReadOnly => FailureKind::ReadOnly,
                ErrorCode::DiskFull => FailureKind::Full,
                ErrorCode::PermissionDenied => FailureKind::Denied,
                ErrorCode::CannotOpen => FailureKind::Unopenable,
                _ => kind_of("", text.as_deref().unwrap_or("")),
            },
            rusqlite::Error::SqlInputError { msg, .. } => kind_of("", msg),
            _ => FailureKind::Other,
        };
        with_remedy(kind, &error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::other(error.to_string())
    }
}

fn untrusted(cause: &impl std::fmt::Display) -> Failure {
    Failure::new(
        FailureKind::Denied,
        format!(
            "the database's server is not trusted: {cause}; name the file of its authority with sslrootcert=FILE in \
             the URL, and use the host name of its certificate"
        ),
    )
}

/// By SQLSTATE (MariaDB, MySQL, PostgreSQL), result code (SQLite by sqlx) or, where several share one, by words.
fn kind_of(code: &str, message: &str) -> FailureKind {
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match code {
        _ if says(&["no such table", "doesn't exist", "Unknown database"]) => FailureKind::Missing,
        _ if says(&["unable to open database file"]) => FailureKind::Unopenable,
        _ if says(&["is full", "No space left", "disk is full", "Disk full", "errno: 28"]) => FailureKind::Full,
        _ if says(&["read-only", "readonly", "read only"]) => FailureKind::ReadOnly,
        _ if says(&["denied"]) => FailureKind::Denied,
        "28000" | "28P01" | "42501" => FailureKind::Denied,
        "14" => FailureKind::Unopenable,
        "3D000" | "42P01" | "42S02" => FailureKind::Missing,
        "53100" | "13" => FailureKind::Full,
        "25006" | "8" => FailureKind::ReadOnly,
        "57P01" | "57P02" | "57P03" | "08S01" | "08006" | "08003" | "1053" => FailureKind::Lost,
        // Full up, deadlock, lock time-outs, serialization, a statement's time limit.
        "53300" | "08004" | "40001" | "40P01" | "55P03" | "57014" | "5" | "6" => FailureKind::Busy,
        _ if says(&["locked", "Lock wait", "Too many connections", "try restarting"]) => FailureKind::Busy,
        _ => FailureKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_remedy() {
        for (code, message, kind, word) in [
            ("28P01", "password authentication failed for user \"x\"", FailureKind::Denied, "SKIPSTONE_DB_PASSWORD"),
            ("42000", "Unknown database 'game'", FailureKind::Missing, "create"),
            ("42P01", "relation \"skipstone_accounts\" does not exist", FailureKind::Missing, "create"),
            ("HY000", "The table 'x' is full", FailureKind::Full, "free space"),
            ("14", "unable to open database file", FailureKind::Unopenable, "ulimit -n"),
            ("1550", "unable to open database file", FailureKind::Unopenable, "-wal"),
            ("53100", "could not extend file", FailureKind::Full, "free space"),
            ("25006", "cannot execute INSERT", FailureKind::ReadOnly, "grant write access"),
            ("57P01", "terminating connection due to administrator command", FailureKind::Lost, "running"),
            ("40P01", "deadlock detected", FailureKind::Busy, "try again"),
            ("57014", "canceling statement due to statement timeout", FailureKind::Busy, "try again"),
        ] {
            let failure = with_remedy(kind_of(code, message), message);
            assert_eq!(failure.kind, kind, "{message}");
            assert!(failure.sentence.contains(word), "{failure}");
        }
    }
}
