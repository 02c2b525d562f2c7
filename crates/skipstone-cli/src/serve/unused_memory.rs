//! When the server returns unused memory to the system: after many clients have left, a process keeps its size,
//! although the memory is free (glibc). Checking costs some reads of /proc every few seconds; releasing makes threads
//! that allocate wait.

use skipstone_lab::measure::process::Probe;
use std::thread;
use std::time::{Duration, Instant};

/// Looks at the size of the process now and then.
#[derive(Debug)]
pub(super) struct UnusedMemory {
    probe: Probe,
    due: Instant,
    sizes: Sizes,
}

/// Decides from the size of the process when to return memory.
#[derive(Debug)]
struct Sizes {
    least: u64,
    before: u64,
    /// The most players since the last time.
    players: usize,
    released: Instant,
}

const LOOK: Duration = Duration::from_secs(5);
/// The interval while the number of players has not fallen: memory may still be unused.
const PATIENCE: Duration = Duration::from_secs(45);
/// A smaller excess beyond an eighth is not worth it.
const SLACK_BYTES: u64 = 8 << 20;

impl UnusedMemory {
    pub(super) fn new(now: Instant) -> Self {
        let sizes = Sizes { least: u64::MAX, before: u64::MAX, players: 0, released: now };
        UnusedMemory { probe: Probe::of_self(), due: now, sizes }
    }

    /// To be called at each tick, with the number of players.
    pub(super) fn tick(&mut self, now: Instant, players: usize) {
        if now < self.due {
            return;
        }
        self.due = now + LOOK;
        let Some(sample) = self.probe.sample() else { return };
        if self.sizes.is_worth_it(now, sample.rss_bytes, players) {
            // Runs in its own thread, because a game's tick must not be late. If no thread can start, the next check
            // tries again.
            let _ = thread::Builder::new().name("memory".into()).spawn(skipstone::net::memory::release_unused);
        }
    }
}

impl Sizes {
    /// Whether to return memory now: the process is larger than it was, is not growing, and half of the players have
    /// left or some time has passed.
    fn is_worth_it(&mut self, now: Instant, resident: u64, players: usize) -> bool {
        let is_growing = resident > self.before.saturating_add(SLACK_BYTES / 8);
        self.before = resident;
        self.least = self.least.min(resident);
        self.players = self.players.max(players);
        let is_large = resident > self.least + self.least / 8 + SLACK_BYTES;
        let is_quiet = 2 * players < self.players || now.duration_since(self.released) >= PATIENCE;
        let is_worth_it = is_large && !is_growing && is_quiet;
        if is_worth_it {
            (self.players, self.released) = (players, now);
        }
        is_worth_it
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// The checks after which memory is returned; each has a size in MiB and a number of players.
    fn released(looks: &[(u64, usize)]) -> Vec<usize> {
        let start = Instant::now();
        let mut sizes = UnusedMemory::new(start).sizes;
        let worth = |(at, (mib, players)): (usize, &(u64, usize))| {
            sizes.is_worth_it(start + LOOK * at as u32, mib * MIB, *players).then_some(at)
        };
        looks.iter().enumerate().filter_map(worth).collect()
    }

    #[test]
    fn memory_is_released_after_a_connection_flood() {
        assert_eq!(released(&[(20, 5), (200, 2_000), (330, 2_000), (330, 2_000), (330, 7), (40, 7), (21, 7)]), [4]);
        assert_eq!(released(&[(20, 0), (200, 900), (200, 0), (22, 0), (190, 800), (190, 300), (23, 0)]), [2, 5]);
    }

    #[test]
    fn a_cached_choice_is_kept_except_for_occasional_retries() {
        let busy: Vec<(u64, usize)> = [(20, 0)].into_iter().chain((0..30).map(|_| (500, 900))).collect();
        assert_eq!(released(&busy), [9, 18, 27]);
        let growing: Vec<(u64, usize)> = (0..30).map(|at| (20 + 10 * at, 900)).collect();
        assert!(released(&growing).is_empty());
        let small: Vec<(u64, usize)> = (0..30).map(|at| (20 + at % 9, at as usize % 5)).collect();
        assert!(released(&small).is_empty());
    }
}
