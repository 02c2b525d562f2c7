//! Follows a run: a figure for each second, and a line for people, each second on a terminal and rarely elsewhere.

use crate::run::Progress;
use skipstone_lab::report::bots::RunSecond;
use skipstone_lab::report::format::{seconds, thousands};
use skipstone_lab::report::output;
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Where the lines about a run's seconds go.
pub(super) enum SecondLines<'f> {
    /// `--quiet`: there are none.
    Off,
    /// To standard output.
    Printed { duration: Duration, is_terminal: bool },
    /// To a function, each second: another process prints them.
    Reported(&'f mut dyn FnMut(&RunSecond, &Progress)),
}

impl SecondLines<'_> {
    /// Printed, unless they are switched off.
    pub(super) fn printed(duration: Duration, is_quiet: bool) -> Self {
        match is_quiet {
            true => SecondLines::Off,
            false => SecondLines::Printed { duration, is_terminal: std::io::stdout().is_terminal() },
        }
    }
}

/// Follows the run until it is over; returns what its seconds brought. `on_second` gets what there is so far.
pub(super) fn follow(
    progress: &Progress,
    epoch: Instant,
    mut lines: SecondLines<'_>,
    is_over: impl Fn() -> bool,
    mut on_second: impl FnMut(&[RunSecond]),
) -> Vec<RunSecond> {
    let (mut kept, mut at, mut before) = (Vec::new(), epoch, (0, 0));
    while !is_over() {
        sleep(STEP);
        if at.elapsed() < Duration::from_secs(1) {
            continue;
        }
        let span = at.elapsed().as_secs_f64();
        at = Instant::now();
        let now = (progress.sent.load(Ordering::Relaxed), progress.received.load(Ordering::Relaxed));
        let rate = |now: u64, before: u64| (now - before) as f64 / span;
        let second = RunSecond {
            at: epoch.elapsed().as_secs_f64(),
            connected: progress.connected().0,
            sent: rate(now.0, before.0),
            received: rate(now.1, before.1),
        };
        before = now;
        if kept.len() < SECONDS_MAX {
            kept.push(second);
        }
        on_second(&kept);
        match &mut lines {
            SecondLines::Printed { duration, is_terminal } if *is_terminal || kept.len() % LINES_EVERY == 0 => {
                show(&second, *duration, *is_terminal);
            }
            SecondLines::Reported(report) => report(&second, progress),
            SecondLines::Printed { .. } | SecondLines::Off => {}
        }
    }
    if let SecondLines::Printed { is_terminal: true, .. } = lines {
        output::draw("\r\x1b[K");
    }
    kept
}

fn show(second: &RunSecond, duration: Duration, is_terminal: bool) {
    let whole = |rate: f64| thousands(rate.round() as u64);
    let line = format!(
        "{:.0} of {} s: {} connected, {}/s sent, {}/s received",
        second.at,
        seconds(duration),
        thousands(second.connected),
        whole(second.sent),
        whole(second.received),
    );
    if is_terminal {
        output::draw(format_args!("\r\x1b[K{line}"));
    } else {
        output::say(line);
    }
}

const STEP: Duration = Duration::from_millis(20);
/// Seconds between two lines that go to a file.
const LINES_EVERY: usize = 10;
/// A day of figures.
const SECONDS_MAX: usize = 86_400;
