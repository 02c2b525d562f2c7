//! The server's ticks at a fixed rate, and their delays.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Ticks since the last reset, and when the next one is due.
#[derive(Debug)]
pub(crate) struct Ticks {
    interval: Duration,
    schedule: skipstone::Ticks,
    due: Instant,
    since: Instant,
    count: u64,
    slowest: Duration,
    /// The last of all ticks, [`RECENT`] at most.
    recent: VecDeque<Duration>,
    total: u64,
}

/// Ticks of 17 s at 60 in a second.
pub(crate) const RECENT: usize = 1_024;

/// The figures of [`Ticks`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickFigures {
    /// Ticks a second.
    pub(crate) per_second: f64,
    /// The longest time from when a tick was due until its work was done.
    pub(crate) slowest: Duration,
    /// The 99th percentile of the same over the last [`RECENT`] ticks.
    pub(crate) p99: Duration,
    /// Ticks since the server began.
    pub(crate) total: u64,
}

impl Ticks {
    /// Ticks per second. With 0, each tick follows the previous one at once.
    pub(crate) fn new(per_second: u32) -> Self {
        let interval = if per_second == 0 { Duration::ZERO } else { Duration::from_secs(1) / per_second };
        let now = Instant::now();
        Self {
            interval,
            schedule: skipstone::Ticks::default(),
            due: now,
            since: now,
            count: 0,
            slowest: Duration::ZERO,
            recent: VecDeque::with_capacity(RECENT),
            total: 0,
        }
    }

    /// Waits until the next tick is due. Missed ticks are skipped.
    pub(crate) fn wait(&mut self) {
        self.due = self.schedule.next_after(Instant::now(), self.interval).due;
        std::thread::sleep(self.due.saturating_duration_since(Instant::now()));
    }

    /// The tick's work is done. Returns how long it took from when it was due.
    pub(crate) fn done(&mut self) -> Duration {
        self.count += 1;
        self.total += 1;
        let took = self.due.elapsed();
        self.slowest = self.slowest.max(took);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(took);
        took
    }

    /// The figures since the last reset.
    pub(crate) fn figures(&self) -> TickFigures {
        let seconds = self.since.elapsed().as_secs_f64().max(1e-9);
        let mut recent: Vec<Duration> = self.recent.iter().copied().collect();
        recent.sort_unstable();
        let p99 = recent.get(recent.len() * 99 / 100).copied().unwrap_or_default();
        TickFigures { per_second: self.count as f64 / seconds, slowest: self.slowest, p99, total: self.total }
    }

    /// Restarts the measurement.
    pub(crate) fn reset(&mut self) {
        (self.since, self.count, self.slowest) = (Instant::now(), 0, Duration::ZERO);
    }
}
