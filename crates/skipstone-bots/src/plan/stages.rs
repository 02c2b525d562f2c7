//! The number of bots over time, and from it the lives of the bots.

use std::time::Duration;

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stage {
    /// The number changes evenly to this one; at once if the span is zero.
    To {
        /// The number at the end.
        clients: u32,
        /// For how long it changes.
        over: Duration,
    },
    /// The number stays.
    Hold(Duration),
    /// Bots arrive at a rate, each of which leaves when its `start` returns. The number of the others stays.
    Arrive {
        /// How many arrive in a second.
        per_s: f64,
        /// For how long they arrive.
        over: Duration,
    },
}

/// A bot's time in the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Life {
    /// The bot's number: it has the same random numbers in each run of the seed.
    pub(crate) number: u32,
    /// When it begins.
    pub(crate) from: Duration,
    /// When it is ended.
    pub(crate) until: Duration,
    /// Whether it leaves when its `start` returns.
    pub(crate) leaves: bool,
}

impl Stage {
    /// How long it lasts.
    pub(crate) fn span(&self) -> Duration {
        match self {
            Stage::To { over, .. } | Stage::Arrive { over, .. } => *over,
            Stage::Hold(span) => *span,
        }
    }
}

/// All lives of a run, by the time at which they begin. Of bots that are there, those with the highest numbers leave
/// first.
pub(crate) fn lives(stages: &[Stage]) -> Vec<Life> {
    let end: Duration = stages.iter().map(Stage::span).sum();
    let most = stages.iter().map(|stage| if let Stage::To { clients, .. } = stage { *clients } else { 0 }).max();
    let mut lives = Vec::new();
    // When each number that is up began.
    let mut up: Vec<Duration> = Vec::new();
    let (mut at, mut next_arrival) = (Duration::ZERO, most.unwrap_or(0));
    for stage in stages {
        match *stage {
            Stage::Hold(_) => {}
            Stage::To { clients, over } => {
                let (first, target) = (up.len() as u32, clients);
                let steps = first.abs_diff(target);
                for step in 0..steps {
                    let time = at + over.mul_f64(f64::from(step) / f64::from(steps));
                    if first < target {
                        up.push(time);
                    } else if let Some(from) = up.pop() {
                        lives.push(Life { number: up.len() as u32, from, until: time, leaves: false });
                    }
                }
            }
            Stage::Arrive { per_s, over } => {
                let count = arrivals(per_s, over) as u32;
                for step in 0..count {
                    let from = at + Duration::from_secs_f64(f64::from(step) / per_s);
                    lives.push(Life { number: next_arrival, from, until: end, leaves: true });
                    next_arrival += 1;
                }
            }
        }
        at += stage.span();
    }
    let stay =
        |(number, from): (usize, &Duration)| Life { number: number as u32, from: *from, until: end, leaves: false };
    lives.extend(up.iter().enumerate().map(stay));
    lives.sort_by_key(|life| (life.from, life.number));
    lives
}

/// How many lives there are at most, before all of them are made.
pub(crate) fn lives_max(stages: &[Stage]) -> u64 {
    let of = |stage: &Stage| match *stage {
        Stage::To { clients, .. } => u64::from(clients),
        Stage::Hold(_) => 0,
        Stage::Arrive { per_s, over } => arrivals(per_s, over),
    };
    stages.iter().fold(0, |sum, stage| sum.saturating_add(of(stage)))
}

/// Products such as 0.7 a second in ten seconds are not one fewer because of their last digits.
fn arrivals(per_s: f64, over: Duration) -> u64 {
    (per_s * over.as_secs_f64() + 1e-6).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    /// How many are up at that time.
    fn count(lives: &[Life], at: Duration) -> usize {
        lives.iter().filter(|life| life.from <= at && at < life.until).count()
    }

    #[test]
    fn bots_begin_evenly_over_a_ramp_and_stay() {
        let lives = lives(&[Stage::To { clients: 10, over: seconds(5) }, Stage::Hold(seconds(5))]);
        assert_eq!(lives.len(), 10);
        assert_eq!((lives[0].from, lives[1].from), (seconds(0), Duration::from_millis(500)));
        assert!(lives.iter().all(|life| life.until == seconds(10)));
        assert_eq!(count(&lives, Duration::from_millis(2500)), 6);
    }

    #[test]
    fn steps_up_and_down_end_the_latest_bots_first() {
        let steps = [
            Stage::To { clients: 4, over: seconds(0) },
            Stage::Hold(seconds(2)),
            Stage::To { clients: 2, over: seconds(0) },
            Stage::Hold(seconds(2)),
            Stage::To { clients: 3, over: seconds(0) },
            Stage::Hold(seconds(2)),
        ];
        let lives = lives(&steps);
        let counts: Vec<usize> = (0..6).map(|second| count(&lives, seconds(second))).collect();
        assert_eq!(counts, [4, 4, 2, 2, 3, 3]);
        let of_two: Vec<_> = lives.iter().filter(|life| life.number == 2).map(|life| (life.from, life.until)).collect();
        assert_eq!(of_two, [(seconds(0), seconds(2)), (seconds(4), seconds(6))]);
    }

    #[test]
    fn arrivals_have_numbers_of_their_own() {
        let lives =
            lives(&[Stage::To { clients: 2, over: seconds(0) }, Stage::Arrive { per_s: 4.0, over: seconds(2) }]);
        let arrived: Vec<u32> = lives.iter().filter(|life| life.leaves).map(|life| life.number).collect();
        assert_eq!(arrived, (2..10).collect::<Vec<u32>>());
        assert_eq!(lives.last().map(|life| life.from), Some(Duration::from_millis(1750)));
    }
    #[test]
    fn arrivals_are_whole_however_the_rate_is_written() {
        for (per_s, over, count) in [(0.7, 10, 7), (1.1, 10, 11), (0.1, 3, 0), (2.3, 100, 230), (4.35, 100, 435)] {
            let stages = [Stage::Arrive { per_s, over: seconds(over) }];
            assert_eq!((lives(&stages).len() as u64, lives_max(&stages)), (count, count), "{per_s}");
        }
    }
}
