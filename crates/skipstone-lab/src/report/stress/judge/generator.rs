//! Whether a process of clients kept its schedule.

use std::time::Duration;

use crate::report::format::{counted, milliseconds, percent, thousands};
use crate::report::stress::result::Generator;

/// Rule 3.
pub(crate) fn lateness(generator: &Generator) -> Option<String> {
    let (late, planned) = (generator.late_sends, generator.planned_sends);
    if late as f64 <= LATE_SHARE_MAX * planned as f64 {
        return None;
    }
    let explained = match generator.late_sends_in_stalls {
        0 => "no machine stall explains it".to_owned(),
        stalled if stalled >= late => "machine stalls explain all of them".to_owned(),
        stalled => format!("machine stalls explain {} of them", thousands(stalled)),
    };
    Some(format!(
        "The generator was late: {} of {} happened more than {} ms after they were due, the latest {}; {explained}. \
         Repeat the run on a machine with less load, or with fewer clients.",
        thousands(late),
        counted(planned, "send"),
        LATE_SEND.as_millis(),
        milliseconds(generator.latest_send_ms),
    ))
}

/// Rule 4.
pub(crate) fn overload(generator: &Generator) -> Option<String> {
    let used = generator.cpu_percent?;
    let cores = generator.cores;
    (used > CPU_SHARE_MAX * 100.0 * cores as f64).then(|| {
        format!("The generator used {} of {} and had nothing to spare.", percent(used), counted(cores, "core"))
    })
}

/// A send is late when it happens longer than this after it was due.
pub const LATE_SEND: Duration = Duration::from_millis(50);
/// The share of the sends that may be late.
const LATE_SHARE_MAX: f64 = 0.01;
/// The share of its cores that the generator may use.
const CPU_SHARE_MAX: f64 = 0.95;
