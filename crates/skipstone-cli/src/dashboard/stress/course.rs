//! How far a run is, by its clock and by what its process tells; and the words to the game loop at each turn.

use serde::Serialize;
use serde_json::Value;
use skipstone_lab::units::Rate;
use std::time::{Duration, Instant};

/// A command to the game loop.
pub(in crate::dashboard) type Command = String;

/// The course of a run.
pub(super) struct Course {
    pub(super) starts: StartsBy,
    rate: Rate,
    pub(super) duration: Duration,
    pub(super) phase: Phase,
    pub(super) since: Instant,
    /// The figures of the last second.
    pub(super) progress: Value,
}

/// Who gives the word to start and to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartsBy {
    /// The game loop, to the clients of this machine.
    Word,
    /// The process itself, to agents.
    Coordinator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Phase {
    Connecting,
    Running,
    Judging,
}

impl Course {
    pub(super) fn new(starts: StartsBy, rate: Rate, duration: Duration) -> Self {
        let (phase, since) = (Phase::Connecting, Instant::now());
        Course { starts, rate, duration, phase, since, progress: Value::Null }
    }

    /// Returns what the game loop is to be told.
    pub(super) fn enter(&mut self, phase: Phase) -> Option<Command> {
        (self.phase, self.since) = (phase, Instant::now());
        let word = match phase {
            Phase::Running => format!("stress on {}", self.rate),
            Phase::Connecting | Phase::Judging => "stress off".into(),
        };
        (self.starts == StartsBy::Word).then_some(word)
    }

    /// Takes the figures of the last second, by which a coordinator also says how far its run is.
    pub(super) fn follow(&mut self, progress: Value) {
        let has_begun = progress["phase"] != "connecting";
        if self.starts == StartsBy::Coordinator && self.phase == Phase::Connecting && has_begun {
            self.enter(Phase::Running);
        }
        self.progress = progress;
    }

    /// Whether the time to send is over.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.phase == Phase::Running && now.saturating_duration_since(self.since) >= self.duration
    }

    /// Why the run is given up, if it takes too long.
    pub(super) fn overdue(&self, now: Instant) -> Option<&'static str> {
        let span = now.saturating_duration_since(self.since);
        match self.phase {
            Phase::Connecting if span >= self.starts.connect_max() => Some("the clients did not connect in time"),
            Phase::Judging if span >= self.starts.judge_max() => Some("the run gave no result in time"),
            _ => None,
        }
    }
}

impl StartsBy {
    fn connect_max(self) -> Duration {
        match self {
            StartsBy::Word => CONNECT_MAX,
            // It gives up by itself, and says why.
            StartsBy::Coordinator => 2 * CONNECT_MAX,
        }
    }

    fn judge_max(self) -> Duration {
        match self {
            StartsBy::Word => JUDGE_MAX,
            StartsBy::Coordinator => JUDGE_MAX + NATS_MAX,
        }
    }
}

const CONNECT_MAX: Duration = Duration::from_secs(30);
/// Lines in flight may take half a minute to arrive.
const JUDGE_MAX: Duration = Duration::from_secs(45);
/// NATS may be away for a minute at the end, and evidence is fetched after that.
const NATS_MAX: Duration = Duration::from_secs(75);

#[cfg(test)]
mod tests {
    use super::*;

    fn course(starts: StartsBy) -> Course {
        Course::new(starts, "2/s".parse().unwrap(), Duration::from_secs(10))
    }

    #[test]
    fn a_coordinators_run_begins_with_its_progress_and_needs_no_word() {
        let mut course = course(StartsBy::Coordinator);
        course.follow(serde_json::json!({ "phase": "connecting" }));
        assert_eq!(course.phase, Phase::Connecting);
        course.follow(serde_json::json!({ "phase": "running" }));
        assert_eq!((course.phase, &course.progress["phase"]), (Phase::Running, &Value::from("running")));
        assert!(!course.is_over(course.since) && course.is_over(course.since + course.duration));
        assert_eq!(course.enter(Phase::Judging), None);
        // NATS may be away for a minute before the evidence comes.
        assert_eq!(course.overdue(course.since + Duration::from_secs(100)), None);
        assert!(course.overdue(course.since + Duration::from_secs(121)).is_some());
    }

    #[test]
    fn clients_of_this_machine_begin_and_end_by_the_game_loops_word() {
        let mut course = course(StartsBy::Word);
        course.follow(serde_json::json!({ "phase": "running" }));
        assert_eq!(course.phase, Phase::Connecting);
        assert_eq!(course.enter(Phase::Running), Some("stress on 2/s".into()));
        assert_eq!(course.enter(Phase::Judging), Some("stress off".into()));
        assert!(course.overdue(course.since + Duration::from_secs(46)).is_some());
    }
}
