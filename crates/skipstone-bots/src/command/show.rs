//! A line about the run under way: each second on a terminal, rarely elsewhere.

use crate::run::Progress;
use skipstone_lab::report::format::{seconds, thousands};
use skipstone_lab::report::output;
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Shows the run until it is over.
pub(super) fn while_running(progress: &Progress, epoch: Instant, duration: Duration, is_over: impl Fn() -> bool) {
    let is_terminal = std::io::stdout().is_terminal();
    let every = Duration::from_secs(if is_terminal { 1 } else { 10 });
    let (mut shown, mut before) = (epoch, (0, 0));
    while !is_over() {
        sleep(STEP);
        if shown.elapsed() < every {
            continue;
        }
        let span = shown.elapsed().as_secs_f64();
        shown = Instant::now();
        let now = (progress.sent.load(Ordering::Relaxed), progress.received.load(Ordering::Relaxed));
        let rate = |now: u64, before: u64| thousands(((now - before) as f64 / span).round() as u64);
        let line = format!(
            "{} of {} s: {} connected, {}/s sent, {}/s received",
            seconds(epoch.elapsed()),
            seconds(duration),
            thousands(progress.connected().0),
            rate(now.0, before.0),
            rate(now.1, before.1),
        );
        before = now;
        if is_terminal {
            output::draw(format_args!("\r\x1b[K{line}"));
        } else {
            output::say(line);
        }
    }
    if is_terminal {
        output::draw("\r\x1b[K");
    }
}

const STEP: Duration = Duration::from_millis(50);
