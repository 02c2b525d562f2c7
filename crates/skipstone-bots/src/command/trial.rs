//! One run of a plan, and its judgement.

use super::outcome::{self, Measured};
use super::prepared::Prepared;
use super::show::{SecondLines, follow};
use crate::live::LiveRun;
use crate::run::{self, Progress, Tally};
use skipstone_lab::measure::process::Probe;
use skipstone_lab::measure::stalls::{StallLog, StallWatch};
use skipstone_lab::report::bots::{BotsReport, BotsResult, RunSecond, TrendCurve, judge};
use skipstone_lab::report::stress::judge::Ending;
use skipstone_lab::signals::Signals;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// A run that was played.
pub(super) struct Played {
    pub(super) result: BotsResult,
    /// The distributions of the script's trends in milliseconds.
    pub(super) curves: Vec<TrendCurve>,
    pub(super) seconds: Vec<RunSecond>,
}

/// What a run found, before any judge.
pub(super) struct Found {
    pub(super) tally: Tally,
    pub(super) measured: Measured,
    pub(super) seconds: Vec<RunSecond>,
}

/// Plays the plan, and judges it. The error is about what could not be carried out.
pub(super) fn play(prepared: &Prepared, signals: &Signals) -> Result<Played, String> {
    let lines = SecondLines::printed(prepared.plan.duration, prepared.is_quiet);
    let Found { tally, measured, seconds } = find(prepared, Instant::now(), signals, lines)?;
    let mut result = outcome::result(&prepared.blank, &prepared.plan, &tally, &measured);
    let ending = if signals.is_set() { Ending::Interrupted } else { Ending::Completed };
    judge(&mut result, &prepared.thresholds, ending);
    Ok(Played { result, curves: tally.metrics.curves(), seconds })
}

/// Plays the plan from that moment on.
pub(super) fn find(
    prepared: &Prepared,
    epoch: Instant,
    signals: &Signals,
    lines: SecondLines<'_>,
) -> Result<Found, String> {
    let (own, server) = (Probe::of_self(), prepared.watched.map(Probe::of));
    let before = (own.sample(), server.as_ref().and_then(Probe::sample));
    let started = SystemTime::now() + epoch.saturating_duration_since(Instant::now());
    let stalls = StallWatch::start(epoch).map_err(|error| format!("cannot start a thread: {error}"))?;
    let progress = Arc::new(if prepared.live.is_some() { Progress::published() } else { Progress::default() });
    let plan = &prepared.plan;
    let (tally, seconds) = std::thread::scope(|scope| {
        let player = scope.spawn(|| run::play(plan, epoch, signals.flag(), &progress));
        let so_far = |seconds: &[RunSecond]| {
            let Some(live) = &prepared.live else { return };
            let elapsed = epoch.elapsed();
            let since =
                |probe: &Probe, before| probe.sample().zip(before).map(|(now, before)| now.since(&before, elapsed));
            let usage = since(&own, before.0);
            let server = server.as_ref().and_then(|server| since(server, before.1));
            let connected_at_once = progress.connected().1;
            let stalls = StallLog::default();
            let measured = Measured { started, elapsed, usage, server, stalls, connected_at_once };
            show_live(live, prepared, &progress, &measured, seconds);
        };
        let seconds = follow(&progress, epoch, lines, || player.is_finished(), so_far);
        (player.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), seconds)
    });
    let tally = tally?;
    let elapsed = epoch.elapsed();
    let since = |probe: &Probe, before| probe.sample().zip(before).map(|(now, before)| now.since(&before, elapsed));
    let measured = Measured {
        started,
        elapsed,
        usage: since(&own, before.0),
        server: server.and_then(|server| since(&server, before.1)),
        stalls: stalls.stop(),
        connected_at_once: progress.connected().1,
    };
    Ok(Found { tally, measured, seconds })
}

/// Shows viewers the run as it would be judged if it ended now, by what workers published in the last second.
fn show_live(live: &LiveRun, prepared: &Prepared, progress: &Progress, measured: &Measured, seconds: &[RunSecond]) {
    let tally = progress.published_tally();
    let mut result = outcome::result(&prepared.blank, &prepared.plan, &tally, measured);
    judge(&mut result, &prepared.thresholds, Ending::Interrupted);
    // That it has not ended is no reason.
    result.reasons.remove(0);
    let report = BotsReport { result: &result, curves: tally.metrics.curves(), seconds, is_running: true };
    live.show(&report, progress.connected().0);
}
