//! The first rule of the verdict: without a server that takes part there is nothing to judge, unless it is the run's
//! own: then its absence is the fault. There was none because
//! 1. no client connected;
//! 2. the process of the run's own server ended before the run;
//! 3. every client lost its connection because the server went away;
//! 4. the server was silent at the end, and acknowledged nothing;
//! 5. another's server is none that a stress run can use: it takes no lines, or does not send each line to all of its
//!    clients.

use crate::report::ServerOwner;
use crate::report::format::{counted, seconds};
use crate::report::stress::judge::drops;
use crate::report::stress::result::StressResult;
use std::time::Duration;

/// Why there was no server to judge, with the remedy; `None` if there was one.
pub(super) fn absence(result: &StressResult) -> Option<String> {
    let (clients, presence) = (&result.clients, &result.presence);
    if clients.connected == 0 {
        return Some(format!("None of the {} connected.", counted(clients.asked, "client")));
    }
    if let Some(ended) = &presence.process_ended {
        return Some(format!("The server's process ended before the run did: {ended}."));
    }
    if presence.clients_deserted == clients.connected {
        let drops = drops::told(result);
        return Some(format!(
            "The server went away: {drops}. Its log may say why; start it again, then repeat the run."
        ));
    }
    if let Some(silent) = presence.silent_s {
        let silent = seconds(Duration::from_secs_f64(silent));
        return Some(format!(
            "Nothing came from the server in the last {silent} s, not even an acknowledgement: it hangs, was stopped, \
             or cannot be reached any more."
        ));
    }
    if result.server_owner() == ServerOwner::ThisRun {
        return None;
    }
    foreignness(result).map(|what| format!("{what}. {NEEDED}"))
}

/// How the server shows that it is a game of its own.
fn foreignness(result: &StressResult) -> Option<String> {
    let (messages, presence) = (&result.messages, &result.presence);
    if messages.sent == 0 {
        let why = presence.refused_sends_by_reason.keys().next()?;
        return Some(format!("The server takes no lines: {why}"));
    }
    if messages.delivered == 0 {
        return Some(format!("The server took {} and sent none of them back", counted(messages.sent, "line")));
    }
    // A single client receives only its own lines.
    let has_others = result.clients.connected.saturating_sub(result.clients.dropped) > 1;
    let is_echo = has_others && presence.lines_from_others == 0 && messages.lost > 0;
    is_echo.then(|| "The server sent each line to its own sender alone".into())
}

const NEEDED: &str = "A stress run needs a server that sends each line to all of its clients, as `skipstone serve` \
                      does: start that, or let the game do the same on its channel 0.";
