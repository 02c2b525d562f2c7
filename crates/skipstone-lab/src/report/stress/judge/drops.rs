//! Clients that were dropped, in words.

use crate::report::format::{counted, thousands};
use crate::report::stress::result::StressResult;

/// How many clients were dropped, and why.
pub(super) fn told(result: &StressResult) -> String {
    let dropped = result.clients.dropped;
    format!("{} {} dropped{}", counted(dropped, "client"), was_or_were(dropped), drop_reasons(result))
}

fn drop_reasons(result: &StressResult) -> String {
    let mut listed: Vec<_> = result.clients.drops_by_reason.iter().collect();
    listed.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
    let texts: Vec<String> = listed
        .iter()
        .take(DROP_REASONS_MAX)
        .map(|(reason, count)| format!("{reason} {}", thousands(**count)))
        .collect();
    match (texts.is_empty(), listed.len() > DROP_REASONS_MAX) {
        (true, _) => String::new(),
        (false, false) => format!(" ({})", texts.join(", ")),
        (false, true) => format!(" ({}, and others)", texts.join(", ")),
    }
}

pub(super) fn was_or_were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// A reason names this many causes of drops; the result has them all.
const DROP_REASONS_MAX: usize = 3;
