//! The health check of a release: repeated on the target until it succeeds or times out.

use crate::remote::IN_DIRECTORY;
use crate::site::Site;
use skipstone_lab::clean;
use std::time::{Duration, Instant};

/// The minimum time for one check, because ssh must connect first.
const LOOK_MIN: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(250);

/// Waits until the release is healthy, and checks that it stays so for a while. The error describes the last failed
/// check.
pub(crate) fn wait(site: &Site<'_>, release: &str) -> Result<(), String> {
    let health = &site.remote.plan.health;
    let (timeout, settle) = (health.timeout()?, health.settle()?);
    let began = Instant::now();
    let mut well_since: Option<Instant> = None;
    loop {
        match (look(site, release), well_since) {
            (Ok(()), None) => well_since = Some(Instant::now()),
            (Ok(()), Some(since)) if since.elapsed() >= settle => return Ok(()),
            (Ok(()), Some(_)) => {}
            (Err(why), _) if began.elapsed() >= timeout => {
                return Err(format!("not healthy after {} s: {why}", timeout.as_secs()));
            }
            (Err(_), _) => well_since = None,
        }
        std::thread::sleep(PAUSE);
    }
}

/// One look.
pub(crate) fn look(site: &Site<'_>, release: &str) -> Result<(), String> {
    let (remote, health) = (&site.remote, &site.remote.plan.health);
    let limit = health.timeout()?.max(LOOK_MIN);
    if site.runs_from(release)? == Some(false) {
        return Err("the server does not run from this release".into());
    }
    if let Some((address, path)) = health.url_parts()? {
        let question = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        let answer = remote.converse(address, &question, limit)?;
        let status = status_line(&answer);
        if !status.starts_with("HTTP/1.") || status.split(' ').nth(1) != Some("200") {
            let said = if status.is_empty() { "nothing".into() } else { clean::line(status) };
            return Err(format!("http://{address}{path} answers {said}"));
        }
    }
    if let Some(address) = &health.console {
        let answer = remote.converse(address, "stats\r\nquit\r\n", limit)?;
        if !answer.contains("clients ") {
            return Err(format!("the console at {address} does not answer"));
        }
    }
    if let Some(command) = &health.command {
        remote.run(limit, IN_DIRECTORY, &[&remote.plan.directory, command])?;
    }
    Ok(())
}

/// The status line of the final answer: interim ones may come before it (RFC 9110, section 15.2).
fn status_line(answer: &str) -> &str {
    let is_interim = |head: &&str| head.split(' ').nth(1).is_some_and(|status| status.starts_with('1'));
    let head = answer.split("\r\n\r\n").find(|head| !is_interim(head));
    head.and_then(|head| head.lines().next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_final_status_line_counts() {
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
        assert_eq!(status_line("HTTP/1.1 200 OK\r\n\r\nok"), "HTTP/1.1 200 OK");
        assert_eq!(status_line(&format!("{interim}{interim}HTTP/1.1 503 Busy\r\n\r\n")), "HTTP/1.1 503 Busy");
        assert_eq!(status_line(interim), "");
        assert_eq!(status_line(""), "");
    }
}
