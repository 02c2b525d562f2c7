//! Why there is no server of one's own.

/// Why a server did not start, or did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The program is not installed.
    #[error(
        "nats-server is not installed; get it with `apt install nats-server` or `go install \
         github.com/nats-io/nats-server/v2@v2.15.2`, or name the program in SKIPSTONE_NATS_SERVER"
    )]
    NotInstalled,
    /// The program that SKIPSTONE_NATS_SERVER names does not exist.
    #[error("SKIPSTONE_NATS_SERVER names {0}, which does not exist; correct or unset it")]
    NoSuchProgram(String),
    /// It ended, or is not ready in time.
    #[error("nats-server did not become ready: {0}")]
    NotReady(String),
    /// The system refused a file or a process.
    #[error("nats-server cannot {0}: {1}")]
    Io(&'static str, std::io::Error),
}

impl LocalError {
    /// For `map_err`.
    pub(super) fn io(what: &'static str) -> impl FnOnce(std::io::Error) -> LocalError {
        move |error| LocalError::Io(what, error)
    }
}
