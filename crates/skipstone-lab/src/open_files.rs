//! Whether this system lets a run open as many files as it needs: every client has its own socket, and a server
//! one for each stream.

use skipstone::net::wait::raise_open_files_limit;

/// The needs in addition to the clients' sockets.
#[derive(Debug, Clone, Copy)]
pub struct Beside {
    /// Files that are open besides.
    pub files: u64,
    /// The other programs that need as many files, as the end of the error's sentence; may be empty.
    pub also: &'static str,
}

/// Raises the limit as far as it goes.
///
/// # Errors
/// The limit is too low; the error names the remedy.
pub fn check(clients: u32, Beside { files, also }: Beside) -> Result<(), String> {
    let Some(limit) = raise_open_files_limit() else { return Ok(()) };
    let needed = u64::from(clients) + files;
    if needed <= limit {
        return Ok(());
    }
    let fewer = match limit.saturating_sub(files) {
        0 => String::new(),
        most => format!(", or ask for at most {most} clients"),
    };
    Err(format!(
        "{clients} clients need {needed} open files, and this system allows {limit}{also}: raise it with `ulimit -n \
         {needed}`{fewer}"
    ))
}
