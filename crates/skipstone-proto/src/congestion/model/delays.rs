//! Estimates of the queue from round-trip times: the path's delay without a queue, the standing queue, and the jitter.

use crate::time::Time;

/// Windowed extremes of the round-trip time, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    /// Least of this long window, and of the one before: the path without a queue.
    base: [u32; 2],
    base_from: Time,
    /// Least and greatest of this short window, and of the one before.
    low: [u32; 2],
    high: [u32; 2],
    short_from: Time,
    /// Least of several round trips, and of those before.
    settled: [u32; 2],
    settled_from: Time,
    /// The least round-trip time since the queue was last drained, and its time.
    dip: u32,
    dip_at: Time,
    latest: u32,
    /// Smoothed spread of the samples of a short window.
    noise: u32,
    zigzag: Zigzag,
}

/// The variation between the minima of short windows. A queue that fills or drains moves one way; jitter does not, and
/// where all packets of a tick share one delay, it does not show within a window.
#[derive(Clone, Copy, Debug, Default)]
struct Zigzag {
    /// The low before, and the last two moves.
    low: u32,
    moves: [i32; 2],
    smoothed: u32,
}

impl Zigzag {
    const fn new() -> Self {
        Zigzag { low: 0, moves: [0; 2], smoothed: 0 }
    }

    /// The least of three moves, each against the one before: a single dip has only two.
    fn on_low(&mut self, low: u32) {
        let moved = low as i32 - core::mem::replace(&mut self.low, low) as i32;
        let [before, last] = self.moves;
        let alternates = |a: i32, b: i32| a.signum() * b.signum() < 0;
        let is_to_and_fro = alternates(before, last) && alternates(last, moved);
        let size = if is_to_and_fro { before.abs().min(last.abs()).min(moved.abs()) as u32 } else { 0 };
        self.moves = [last, moved];
        self.smoothed = risen(self.smoothed, size);
    }
}

/// Follows greater samples fast, and smaller ones slowly.
pub(super) fn risen(smoothed: u32, sample: u32) -> u32 {
    if sample > smoothed { smoothed / 2 + sample / 2 } else { smoothed - (smoothed - sample) / 16 }
}

/// A longer path looks like a standing queue until this, or twice this, has passed.
const BASE_WINDOW_US: u64 = 30_000_000;
/// The same while other flows keep a queue, under which the path without one does not show.
const BASE_WINDOW_HIDDEN_US: u64 = 300_000_000;
/// The short windows are half a round trip (Copa, section 2.2), so that a single late acknowledgement is not a queue.
const SHORT_WINDOW_US_MIN: u32 = 2_000;
/// A path whose delay jumps has no queue when one packet of several ticks shows none.
const SETTLED_WINDOW_US_MIN: u32 = 100_000;
/// On a long path a queue that grows must not look like noise.
const SHORT_WINDOW_US_MAX: u32 = 60_000;

impl Delays {
    pub(super) const fn new() -> Self {
        Delays {
            base: [u32::MAX; 2],
            base_from: Time::ZERO,
            low: [u32::MAX; 2],
            high: [0; 2],
            short_from: Time::ZERO,
            settled: [u32::MAX; 2],
            settled_from: Time::ZERO,
            dip: u32::MAX,
            dip_at: Time::ZERO,
            latest: 0,
            noise: 0,
            zigzag: Zigzag::new(),
        }
    }

    /// A round-trip time; whether other flows keep a queue.
    pub(super) fn on_sample(&mut self, now: Time, rtt: u32, smoothed: u32, is_hidden: bool) {
        if rtt < self.dip {
            (self.dip, self.dip_at) = (rtt, now);
        }
        self.latest = rtt;
        if age(now, self.base_from) > if is_hidden { BASE_WINDOW_HIDDEN_US } else { BASE_WINDOW_US } {
            self.base = [u32::MAX, self.base[0]];
            self.base_from = now;
        }
        self.base[0] = self.base[0].min(rtt);
        if age(now, self.settled_from) > u64::from((4 * smoothed).max(SETTLED_WINDOW_US_MIN)) {
            self.settled = [u32::MAX, self.settled[0]];
            self.settled_from = now;
        }
        self.settled[0] = self.settled[0].min(rtt);
        if age(now, self.short_from) > u64::from((smoothed / 2).clamp(SHORT_WINDOW_US_MIN, SHORT_WINDOW_US_MAX)) {
            let apart = self.high[0].saturating_sub(self.low[0]);
            self.noise = risen(self.noise, apart);
            if self.low[0] != u32::MAX {
                self.zigzag.on_low(self.low[0]);
            }
            (self.low, self.high) = ([u32::MAX, self.low[0]], [0, self.high[0]]);
            self.short_from = now;
        }
        self.low[0] = self.low[0].min(rtt);
        self.high[0] = self.high[0].max(rtt);
    }

    /// When the queue was at its shortest. All flows that share the queue see that at about the same time.
    pub(super) fn dip_at(&self) -> Time {
        self.dip_at
    }

    /// Starts the search for the next dip.
    pub(super) fn begin_dip(&mut self) {
        self.dip = u32::MAX;
    }

    /// Whether there was a sample.
    pub(super) fn is_measured(&self) -> bool {
        self.latest > 0
    }

    /// The path without a queue.
    pub(super) fn base(&self) -> u32 {
        self.base[0].min(self.base[1])
    }

    /// The shortest recent round-trip time.
    pub(super) fn standing(&self) -> u32 {
        self.low[0].min(self.low[1])
    }

    /// Delay of the standing queue.
    pub(super) fn delay(&self) -> u32 {
        self.standing().saturating_sub(self.base())
    }

    /// Delay of the queue that has not drained for several round trips.
    pub(super) fn settled_delay(&self) -> u32 {
        self.settled[0].min(self.settled[1]).saturating_sub(self.base())
    }

    /// How long the last packet waited.
    pub(super) fn latest_delay(&self) -> u32 {
        self.latest.saturating_sub(self.base())
    }

    /// The longest recent queueing delay of a packet.
    pub(super) fn longest_delay(&self) -> u32 {
        self.high[0].max(self.high[1]).saturating_sub(self.base())
    }

    /// Difference of consecutive round-trip times.
    pub(super) fn noise(&self) -> u32 {
        self.noise.max(2 * self.zigzag.smoothed)
    }
}

fn age(now: Time, from: Time) -> u64 {
    now.since(from).as_micros() as u64
}
