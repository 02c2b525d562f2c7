//! When a trend in milliseconds was slow: the worst value of each tenth of a second in which what was measured began. A
//! stall of the server is a moment that is far worse than others, however small its share of all values is.

use skipstone_lab::report::bots::SlowTime;

/// The worst values of a trend by time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    slots: Vec<Slot>,
    /// How often the width of a slot has doubled, because there were too many.
    doublings: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slot {
    worst_ms: f64,
    /// When what took that long began, in seconds of the run.
    from_s: f64,
}

impl Moments {
    /// A value that was recorded at that time, in seconds of the run.
    pub(crate) fn record(&mut self, value_ms: f64, at_s: f64) {
        let slot = Slot { worst_ms: value_ms, from_s: (at_s - value_ms / 1000.0).max(0.0) };
        while slot.from_s / self.width_s() >= SLOTS_MAX as f64 {
            self.double();
        }
        let index = (slot.from_s / self.width_s()) as usize;
        if index >= self.slots.len() {
            self.slots.resize(index + 1, Slot::default());
        }
        self.slots[index].join(slot);
    }

    /// Adds all of another worker's.
    pub(crate) fn merge(&mut self, other: &Moments) {
        let mut other = other.clone();
        while self.doublings < other.doublings {
            self.double();
        }
        while other.doublings < self.doublings {
            other.double();
        }
        self.slots.resize(self.slots.len().max(other.slots.len()), Slot::default());
        self.slots.iter_mut().zip(other.slots).for_each(|(own, other)| own.join(other));
    }

    /// The spans of time that were far slower than most of the run, the worst first.
    pub(crate) fn slow_times(&self, metric: &str) -> Vec<SlowTime> {
        let mut worst: Vec<f64> = self.slots.iter().map(|slot| slot.worst_ms).filter(|worst| *worst > 0.0).collect();
        worst.sort_by(f64::total_cmp);
        let Some(usual) = worst.get(worst.len() / 2) else { return Vec::new() };
        let limit = (usual * SLOW_TIMES).max(usual + SLOW_MS_MIN);
        let mut times: Vec<SlowTime> = Vec::new();
        for slot in self.slots.iter().filter(|slot| slot.worst_ms > limit) {
            let until_s = slot.from_s + slot.worst_ms / 1000.0;
            match times.last_mut() {
                Some(last) if slot.from_s <= last.until_s + self.width_s() => {
                    last.until_s = last.until_s.max(until_s);
                    last.worst_ms = last.worst_ms.max(slot.worst_ms);
                }
                _ => times.push(SlowTime {
                    metric: metric.to_owned(),
                    from_s: slot.from_s,
                    until_s,
                    worst_ms: slot.worst_ms,
                    stalled_ms: 0.0,
                }),
            }
        }
        times.sort_by(|one, other| other.worst_ms.total_cmp(&one.worst_ms));
        times
    }

    fn width_s(&self) -> f64 {
        WIDTH_S * f64::from(1_u32 << self.doublings)
    }

    fn double(&mut self) {
        self.doublings += 1;
        let pairs = self.slots.chunks(2);
        self.slots = pairs.map(|pair| pair.iter().fold(Slot::default(), |sum, slot| sum.joined(*slot))).collect();
    }
}

impl Slot {
    fn join(&mut self, other: Slot) {
        *self = self.joined(other);
    }

    fn joined(self, other: Slot) -> Slot {
        if other.worst_ms > self.worst_ms { other } else { self }
    }
}

const WIDTH_S: f64 = 0.1;
/// 27 minutes of tenths; a longer run has wider slots.
const SLOTS_MAX: usize = 16_384;
/// How many times slower than half of the run a moment is.
const SLOW_TIMES: f64 = 3.0;
/// And by how much, where all is fast.
const SLOW_MS_MIN: f64 = 50.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of a server that stands still now and then: 60 requests a second, due evenly, answered after 20 ms.
    fn answered(seconds: u32, stalls: &[(f64, f64)]) -> Moments {
        let mut moments = Moments::default();
        for request in 0..seconds * 60 {
            let due = f64::from(request) / 60.0;
            let stall = stalls.iter().find(|(from, length)| (*from..from + length).contains(&due));
            let answered = stall.map_or(due, |(from, length)| from + length) + 0.02;
            moments.record((answered - due) * 1000.0, answered);
        }
        moments
    }

    #[test]
    fn stalls_of_a_server_are_found_at_their_times() {
        let times = answered(60, &[(10.0, 0.3), (42.5, 1.0), (50.0, 0.03)]).slow_times("move_ms");
        assert_eq!(times.len(), 2, "{times:?}");
        assert!((times[0].from_s - 42.5).abs() < 0.02 && (times[0].worst_ms - 1000.0).abs() < 50.0, "{times:?}");
        assert!((times[1].from_s - 10.0).abs() < 0.02 && (times[1].until_s - 10.3).abs() < 0.05, "{times:?}");
        assert!(answered(60, &[]).slow_times("move_ms").is_empty());
        assert!(Moments::default().slow_times("move_ms").is_empty());
    }

    #[test]
    fn a_day_has_wider_slots_and_workers_merge() {
        let (mut short, mut long) = (answered(30, &[(10.0, 0.3)]), Moments::default());
        long.record(700.0, 80_000.0);
        (0..80_000).for_each(|second| long.record(20.0, f64::from(second)));
        assert!(long.slots.len() <= SLOTS_MAX && long.doublings > 0);
        short.merge(&long);
        let times = short.slow_times("move_ms");
        let from: Vec<f64> = times.iter().map(|time| time.from_s.round()).collect();
        assert_eq!(from, [79_999.0, 10.0], "{times:?}");
    }
}
