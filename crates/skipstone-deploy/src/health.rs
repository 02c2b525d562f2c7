//! The health check of a release: repeated on the target until it succeeds or times out.

use crate::fleet::{self, NodeStanding};
use crate::plan::FleetPlan;
use crate::remote::IN_DIRECTORY;
use crate::site::Site;
use skipstone_lab::clean;
use skipstone_lab::report::output;
use std::time::{Duration, Instant};

/// The minimum time for one check, because ssh must connect first.
const LOOK_MIN: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(250);
const DRAIN_TOLD_EVERY: Duration = Duration::from_secs(5);

/// Waits until the release is healthy, and checks that it stays so for a while. The error describes the last failed
/// check. While a node of a fleet gives its players away, or the directory cannot be read, its time does not run: to go
/// back would restart nodes that are well, when no other could take their players. Both end with `fleet.drain`.
pub(crate) fn wait(site: &Site<'_>, fleet: Option<&FleetPlan>, release: &str) -> Result<(), String> {
    let health = &site.remote.plan.health;
    let (timeout, settle) = (health.timeout()?, health.settle()?);
    let mut began = Instant::now();
    let mut well_since: Option<Instant> = None;
    let drain_end = began + fleet.map_or(Ok(Duration::ZERO), FleetPlan::drain)?;
    let mut told = began;
    loop {
        let node = standing(site, fleet, release);
        if let Ok(NodeStanding::Draining(left)) = node {
            if Instant::now() >= drain_end {
                return Err(format!("still giving its players away after `fleet.drain`: {left} are left"));
            }
            if told.elapsed() >= DRAIN_TOLD_EVERY {
                told = Instant::now();
                output::say(format_args!("  its players move to other nodes: {left} are left"));
            }
            began = Instant::now();
            std::thread::sleep(PAUSE);
            continue;
        }
        if node.is_err() && Instant::now() < drain_end {
            began = Instant::now();
            std::thread::sleep(PAUSE);
            continue;
        }
        let looked = node.and_then(|node| match node {
            NodeStanding::Otherwise(why) => Err(why),
            _ => look(site, release),
        });
        match (looked, well_since) {
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

/// How the target's node stands; healthy if it is none.
pub(crate) fn standing(site: &Site<'_>, fleet: Option<&FleetPlan>, release: &str) -> Result<NodeStanding, String> {
    let (Some(fleet), Some(node)) = (fleet, &site.remote.plan.node) else { return Ok(NodeStanding::Healthy) };
    let listed = fleet::list(fleet, site.remote.practice)?;
    Ok(listed.map_or(NodeStanding::Healthy, |listed| listed.standing(node, release)))
}

/// How far a deployment is when a node's turn comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing was switched: a directory that cannot be read ends it at once, and harms nobody.
    First,
    /// Nodes were switched, which would go back.
    Later,
}

/// Waits until other nodes can take the players of the target's node, so that none is closed when it is switched. Nodes
/// tell their load each 3 s.
pub(crate) fn await_places(site: &Site<'_>, fleet: Option<&FleetPlan>, turn: Turn) -> Result<(), String> {
    let (Some(fleet), Some(node)) = (fleet, &site.remote.plan.node) else { return Ok(()) };
    let (began, places_max) = (Instant::now(), site.remote.plan.health.timeout()?);
    let unread_max = if turn == Turn::First { Duration::ZERO } else { fleet.drain()? };
    loop {
        let (can, patience) = match fleet::list(fleet, site.remote.practice) {
            Ok(listed) => (listed.map_or(Ok(()), |fleet| fleet.can_take_players_of(node)), places_max),
            Err(why) => (Err(why), unread_max),
        };
        match can {
            Err(why) if began.elapsed() >= patience => return Err(why),
            Err(_) => std::thread::sleep(PAUSE),
            Ok(()) => return Ok(()),
        }
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
