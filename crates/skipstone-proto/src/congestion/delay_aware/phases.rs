//! The controller's phases: the changes of the window in each, and the transitions between them.

use super::{Course, DelayAware, Phase, Steady, WINDOW_MAX, is_unpromised, overshoot, window_min};
use crate::congestion::AckSample;
use crate::congestion::cubic::{self, Cubic};
use crate::congestion::model::{PathModel, Queue, micros};
use crate::time::{Duration, Time};

/// Round trips in one direction before its steps double (Copa), and before they may exceed the target's worth.
const ROUNDS_BEFORE_DOUBLING: u8 = 3;
const ROUNDS_BEFORE_LEAPING: u8 = 8;
/// The part of a small window by which it moves in a round trip, and the round trips in one direction before such steps
/// double.
const FINE_STEPS: u32 = 16;
const ROUNDS_OF_FINE_STEPS: u8 = 16;
/// A shorter queue is not attributed to other flows.
const PATIENCE_MIN: Duration = Duration::from_millis(200);
/// The queue is drained for a moment each 10 s or this many round trips.
const DRAIN_SECONDS: u64 = 10;
const DRAIN_ROUND_TRIPS: u32 = 32;

impl DelayAware {
    pub(super) fn ramp(&mut self, now: Time, acked: u32, until: u32, path: &PathModel) {
        if !path.is_limited(now) {
            return;
        }
        if path.queue() > Queue::AtTarget {
            return self.leave_ramp(now, path);
        }
        self.window = (self.window + self.ramp_growth(path, acked.into()) as u32).min(WINDOW_MAX);
        if self.window >= until {
            self.begin_steady(now, path);
        }
    }

    /// The growth of the window a round trip after `amount`: twice as much, as in slow start, while well below the rate
    /// that the spacing of acknowledgements promises, and four times as much (SUSS: Arghavani et al., SIGCOMM 2024)
    /// while that stays well below it, too; otherwise at most the amount that the queue can hold until the
    /// acknowledgement arrives.
    pub(super) fn ramp_growth(&self, path: &PathModel, amount: u64) -> u64 {
        let (window, promised) = (u64::from(self.window), promised_window(path));
        // After an outage or a loss that counted, a train's promise may date from before it.
        let is_first = self.recovery_from == Time::ZERO;
        if is_first && 4 * window < promised {
            return amount.saturating_mul(3);
        }
        if window < promised || is_unpromised(path) {
            return amount;
        }
        amount.saturating_mul(overshoot(path).into()) / u64::from(path.smoothed_us().max(overshoot(path)))
    }

    pub(super) fn leave_ramp(&mut self, now: Time, path: &PathModel) {
        self.window = self.window.min(self.fitting_window(path));
        self.recovery_from = now + Duration::from_micros(1);
        self.begin_steady(now, path);
    }

    /// The window that fills the path and the queue's target, at the recent delivery rate.
    fn fitting_window(&self, path: &PathModel) -> u32 {
        self.window_with_queue(path.target(path.delivery_rate()), path)
    }

    /// The same without an allowance for jitter: a queue that appears and disappears with the peer's moves resembles
    /// it.
    pub(super) fn bare_window(&self, path: &PathModel) -> u32 {
        self.window_with_queue(path.shared_target(path.delivery_rate()), path)
    }

    fn window_with_queue(&self, queue_us: u32, path: &PathModel) -> u32 {
        path.window_with_queue(queue_us).map_or(self.window, |window| window.clamp(window_min(path), WINDOW_MAX))
    }

    /// From now on in steady state, with no more in flight than the path holds without a queue.
    pub(super) fn begin_bare(&mut self, now: Time, path: &PathModel) {
        self.window = self.window.min(self.bare_window(path));
        self.recovery_from = now + Duration::from_micros(1);
        self.begin_steady(now, path);
    }

    fn begin_steady(&mut self, now: Time, path: &PathModel) {
        let round_until = now + micros(path.standing());
        self.phase = Phase::Steady(Steady { round_until, velocity: 1, rounds: 0, course: Course::Down });
        self.standing_from = now;
        self.standing_window = self.window;
    }

    pub(super) fn steer(&mut self, now: Time, ack: &AckSample, mut steady: Steady, path: &mut PathModel) {
        let (standing, delay) = (path.standing(), path.delay());
        let rate = u64::from(self.window) * 1_000_000 / u64::from(standing.max(1));
        let target = path.target(rate);
        let course = self.course(delay, target, path);
        let is_up = course != Course::Down;
        if course != steady.course {
            let rounds = if is_up && steady.course != Course::Down { steady.rounds } else { 0 };
            steady = Steady { course, velocity: 1, rounds, ..steady };
        }
        if !path.is_limited(now) || !is_up && !path.is_full(now) {
            self.phase = Phase::Steady(Steady { velocity: 1, rounds: 0, ..steady });
            return;
        }
        if now >= steady.round_until {
            self.end_round(now, &mut steady, rate, target, path);
        }
        let step = u64::from(steady.velocity) * self.step(course, path) * u64::from(ack.bytes) / u64::from(self.window);
        let step = step as u32;
        self.window = if is_up { self.window + step } else { self.window.saturating_sub(step) };
        self.window = self.window.clamp(window_min(path), WINDOW_MAX);
        self.phase = Phase::Steady(steady);
        if is_drain_due(now, path) {
            let back = self.window;
            self.phase = Phase::Draining { until: self.make_room(now, path), back };
            return;
        }
        if now.since(self.standing_from) > Self::patience(path) {
            self.begin_competing(now, path);
        }
    }

    /// How long a queue has to stand although we yield before it is attributed to other flows.
    fn patience(path: &PathModel) -> Duration {
        (6 * path.smoothed()).max(PATIENCE_MIN).mul_f32(path.patience())
    }

    /// The answer to a step comes one and a half round trips later. On a path that holds only a few datagrams, one more
    /// datagram per round trip until then would already be the whole queue: there the second half of the way is taken
    /// in smaller steps.
    fn course(&self, delay: u32, target: u32, path: &PathModel) -> Course {
        match () {
            () if delay > target => Course::Down,
            () if delay >= target / 2 && self.is_small(path) => Course::UpFinely,
            () => Course::Up,
        }
    }

    fn is_small(&self, path: &PathModel) -> bool {
        self.window < FINE_STEPS * u32::from(path.datagram())
    }

    /// The bytes by which the window moves in a round trip at the least. A small window yields faster than a large one:
    /// a queue of a few datagrams that we share is full before the other's packets find room.
    fn step(&self, course: Course, path: &PathModel) -> u64 {
        match course {
            Course::UpFinely => (self.window / FINE_STEPS).into(),
            Course::Down if self.is_small(path) => u64::from(path.datagram()) * 3 / 2,
            Course::Up | Course::Down => path.datagram().into(),
        }
    }

    /// Once per round trip: faster while the direction lasts, and from far above the target directly to the target.
    fn end_round(&mut self, now: Time, steady: &mut Steady, rate: u64, target: u32, path: &PathModel) {
        let (standing, delay, datagram) = (path.standing(), path.delay(), u64::from(path.datagram()));
        steady.round_until = now + micros(standing);
        steady.rounds = steady.rounds.saturating_add(1);
        let is_fine = steady.course == Course::UpFinely;
        let rounds_min = if is_fine { ROUNDS_OF_FINE_STEPS } else { ROUNDS_BEFORE_DOUBLING };
        if steady.rounds >= rounds_min {
            let fine = rate.saturating_mul(target.into()) / 1_000_000;
            let coarse =
                u64::from(self.window) * u64::from(overshoot(path)) / u64::from(standing.max(2 * overshoot(path)));
            let step_max = if steady.rounds < ROUNDS_BEFORE_LEAPING { fine.min(coarse) } else { coarse };
            let velocity_max = (step_max.max(datagram) / self.step(steady.course, path)).clamp(1, 10_000) as u16;
            steady.velocity = (steady.velocity * 2).max((fine / datagram / 4) as u16).min(velocity_max);
        }
        // On a long path a datagram a round trip would take minutes to where it was.
        if steady.course != Course::Down && delay <= target / 2 && path.smoothed_us() > overshoot(path) {
            self.window = self.window.max(path.window_with_queue(0).unwrap_or(0).min(WINDOW_MAX));
        }
        if steady.course == Course::Down && delay > 2 * target {
            let base = u64::from(path.base());
            let fitting = u64::from(self.window) * (base + u64::from(target)) / (base + u64::from(delay));
            self.window = (fitting as u32).max(self.window / 2).max(window_min(path));
        }
    }

    fn begin_competing(&mut self, now: Time, path: &mut PathModel) {
        path.on_competition();
        self.window = self.window.max(cubic::reduced(self.standing_window, 1));
        self.grow_from(now, self.standing_window, path);
    }

    /// Grows as CUBIC does, from the current window towards the plateau.
    pub(super) fn grow_from(&mut self, now: Time, plateau: u32, path: &PathModel) {
        let flows = self.aggressiveness.flows();
        self.phase = Phase::Competing(Cubic::new(now, self.window, plateau, path.datagram().into(), flows));
    }

    pub(super) fn compete(&mut self, now: Time, acked: u32, mut cubic: Cubic, path: &mut PathModel) {
        if path.is_limited(now) {
            let flows = self.aggressiveness.flows();
            self.window = cubic.grown(now, self.window, acked, path.smoothed_us(), path.datagram().into(), flows);
            self.window = self.window.clamp(window_min(path), WINDOW_MAX);
            self.phase = Phase::Competing(cubic);
        }
        if is_drain_due(now, path) {
            self.begin_probe(now, path);
        }
    }

    fn begin_probe(&mut self, now: Time, path: &mut PathModel) {
        let back = self.window;
        let until = self.make_room(now, path);
        self.phase = Phase::Probing { until, least: u32::MAX, back };
    }

    /// Reduces the window to less than the path holds without a queue; returns when that must have shown.
    fn make_room(&mut self, now: Time, path: &mut PathModel) -> Time {
        let base = path.base();
        let span = u64::from((base / 2).max(base.saturating_sub(50_000)));
        let little = (path.delivery_rate().saturating_mul(span) / 1_000_000).min(WINDOW_MAX.into()) as u32;
        self.window = little.clamp(window_min(path), self.window);
        path.begin_dip();
        now + micros(path.standing().max(path.smoothed_us()) + base * 3 / 2)
    }

    pub(super) fn drain(&mut self, now: Time, until: Time, back: u32, path: &mut PathModel) {
        if now < until {
            return;
        }
        self.window = back;
        path.on_drained();
        self.begin_steady(now, path);
    }

    pub(super) fn probe(&mut self, now: Time, path: &PathModel) {
        let Phase::Probing { until, least, back } = &mut self.phase else { return };
        *least = (*least).min(path.latest_delay());
        if now < *until {
            return;
        }
        let (least, back) = (*least, *back);
        if path.queue_of(least) < Queue::AboveTarget {
            self.window = self.fitting_window(path).min(back);
            self.begin_steady(now, path);
        } else {
            self.window = back;
            self.grow_from(now, back, path);
        }
    }
}

/// Whether it is time to drain the queue: a fixed time after its last dip, which all flows that share the queue
/// saw. So these flows drain the queue together (as BBR's flows do), and measure the path without it.
fn is_drain_due(now: Time, path: &PathModel) -> bool {
    let interval = (DRAIN_ROUND_TRIPS * path.smoothed()).max(Duration::from_secs(DRAIN_SECONDS));
    path.is_full(now) && now.since(path.dip_at()) >= interval
}

/// Most of the window that the spacing of acknowledgements promises.
fn promised_window(path: &PathModel) -> u64 {
    path.promised_rate() * u64::from(path.base()) / 1_000_000 * 3 / 4
}
