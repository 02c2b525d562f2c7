//! Which step starts next. Steps that compile take the machine's cores one after another; steps that mostly wait run in
//! parallel with them; steps that measure time run alone, at the end.

use super::step::{Lane, Step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Pending,
    Running,
    Ended,
}

/// The chosen steps in order, and the progress of each.
pub(super) struct Schedule<'a> {
    steps: &'a [&'a Step],
    states: Vec<State>,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(steps: &'a [&'a Step]) -> Self {
        Self { steps, states: vec![State::Pending; steps.len()] }
    }

    /// Takes the first step that may start now, by its place among the chosen ones. `None` if a step has to end first;
    /// if no step runs, all have ended.
    pub(super) fn start_next(&mut self) -> Option<usize> {
        let at = (0..self.steps.len()).find(|&at| self.may_start(at))?;
        self.states[at] = State::Running;
        Some(at)
    }

    pub(super) fn end(&mut self, at: usize) {
        self.states[at] = State::Ended;
    }

    fn may_start(&self, at: usize) -> bool {
        let step = self.steps[at];
        let has_place = match step.lane {
            Lane::Compiles => self.running(Lane::Compiles) == 0,
            Lane::Waits => self.running(Lane::Waits) < if self.is_over(Lane::Compiles) { 2 } else { 1 },
            Lane::Timed => self.is_over(Lane::Compiles) && self.is_over(Lane::Waits) && self.running(Lane::Timed) == 0,
        };
        self.states[at] == State::Pending && has_place && self.has_what_it_needs(step)
    }

    /// Whether each chosen step that it names has ended.
    fn has_what_it_needs(&self, step: &Step) -> bool {
        let mut others = self.steps.iter().zip(&self.states);
        others.all(|(other, state)| *state == State::Ended || !step.after.contains(&other.name))
    }

    fn running(&self, lane: Lane) -> usize {
        self.of(lane).filter(|state| *state == State::Running).count()
    }

    fn is_over(&self, lane: Lane) -> bool {
        self.of(lane).all(|state| state == State::Ended)
    }

    fn of(&self, lane: Lane) -> impl Iterator<Item = State> {
        self.steps.iter().zip(&self.states).filter(move |(step, _)| step.lane == lane).map(|(_, state)| *state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::verdict::Verdict;

    const fn step(name: &'static str, lane: Lane, after: &'static [&'static str]) -> Step {
        Step { name, about: "", is_fast: false, lane, after, run: |_, _| Verdict::Passed }
    }

    fn started(schedule: &mut Schedule<'_>) -> Vec<&'static str> {
        let mut started = Vec::new();
        while let Some(at) = schedule.start_next() {
            started.push(schedule.steps[at].name);
        }
        started
    }

    fn end(schedule: &mut Schedule<'_>, name: &str) {
        let at = schedule.steps.iter().position(|step| step.name == name).expect("it is chosen");
        schedule.end(at);
    }

    #[test]
    fn a_waiting_step_runs_next_to_a_compiling_one_and_a_timed_one_runs_alone() {
        let all = [
            step("build", Lane::Compiles, &[]),
            step("timed", Lane::Timed, &[]),
            step("deploy", Lane::Waits, &["build"]),
            step("browsers", Lane::Waits, &["build"]),
            step("games", Lane::Waits, &["deploy", "a step that was not chosen"]),
            step("lint", Lane::Compiles, &[]),
        ];
        let steps: Vec<&Step> = all.iter().collect();
        let mut schedule = Schedule::new(&steps);
        assert_eq!(started(&mut schedule), ["build"]);
        end(&mut schedule, "build");
        assert_eq!(started(&mut schedule), ["deploy", "lint"], "one waits beside one that compiles");
        end(&mut schedule, "lint");
        assert_eq!(started(&mut schedule), ["browsers"], "two wait when nothing is left to compile");
        end(&mut schedule, "deploy");
        assert_eq!(started(&mut schedule), ["games"]);
        end(&mut schedule, "games");
        assert_eq!(started(&mut schedule), [""; 0], "what measures time waits for the last");
        end(&mut schedule, "browsers");
        assert_eq!(started(&mut schedule), ["timed"]);
        end(&mut schedule, "timed");
        assert_eq!(started(&mut schedule), [""; 0]);
    }
}
