//! The text of an error of a socket, with a remedy where there is one.

/// Names the failed action.
pub(crate) fn text(what: &'static str) -> impl FnOnce(std::io::Error) -> String {
    move |error| match error.raw_os_error() {
        Some(23 | 24) if cfg!(unix) => format!("cannot {what}: too many open files; raise the limit with `ulimit -n`"),
        _ => format!("cannot {what}: {error}"),
    }
}
