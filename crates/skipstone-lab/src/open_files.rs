//! Whether this system lets a run open as many files as it needs: every client has a socket of its own, and a server one for
//! each stream.

use skipstone::net::wait::raise_open_files_limit;

/// Beyond the clients' sockets.
const FILES_BESIDE: u64 = 64;

/// Raises the limit as far as it goes. The error names the remedy; `also` says who else needs as many.
pub fn check(clients: u32, also: &str) -> Result<(), String> {
    let Some(limit) = raise_open_files_limit() else { return Ok(()) };
    let needed = u64::from(clients) + FILES_BESIDE;
    if needed <= limit {
        return Ok(());
    }
    let fewer = match limit.saturating_sub(FILES_BESIDE) {
        0 => String::new(),
        most => format!(", or ask for at most {most} clients"),
    };
    Err(format!(
        "{clients} clients need {needed} open files, and this system allows {limit}{also}: raise it with `ulimit -n \
         {needed}`{fewer}"
    ))
}
