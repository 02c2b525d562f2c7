//! The delay controller: it keeps the queue of this side near its target. It starts as slow start does, and then steers
//! by the queue, as docs/design/congestion.md describes it.

use super::cubic;
use super::model::{PathModel, Queue};
use super::pacer::{BURST_DATAGRAMS, Pace};
use super::units::{micros, per_second};
use super::window::{WINDOW_MAX, initial_window, window_min};
use crate::time::{Duration, Time};

/// The window of a sender that keeps the queue short.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    /// Bytes that may be in flight.
    window: u32,
    state: State,
    /// Nothing has reduced the window yet.
    is_first: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The window grows by a share of itself each round trip, up to `until`.
    Start { until: u32 },
    /// The window keeps the queue near its target.
    Steady(Steady),
}

#[derive(Clone, Copy, Debug)]
struct Steady {
    round_until: Time,
    /// Steps per round trip by which the window moves.
    velocity: u16,
    /// Round trips on this course.
    rounds: u8,
    course: Course,
}

/// How the window moves in steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Up,
    /// By a part of a datagram in each round trip.
    UpFinely,
    Down,
}

/// Growth is limited so that the data sent before the queue is visible makes a queue of about half of this.
const OVERSHOOT_US: u32 = 120_000;
/// Round trips in one direction before its steps double (Copa), and before they may exceed the target's worth.
const ROUNDS_BEFORE_DOUBLING: u8 = 3;
const ROUNDS_BEFORE_LEAPING: u8 = 8;
/// The part of a small window by which it moves in a round trip, and the round trips in one direction before such steps
/// double.
const FINE_STEPS: u32 = 16;
const ROUNDS_OF_FINE_STEPS: u8 = 16;

impl Delay {
    pub(super) fn new(datagram: u16) -> Self {
        let window = initial_window(Duration::ZERO, datagram);
        Delay { window, state: State::Start { until: WINDOW_MAX }, is_first: true }
    }

    pub(super) fn window(&self) -> u32 {
        self.window
    }

    pub(super) fn is_starting(&self) -> bool {
        matches!(self.state, State::Start { .. })
    }

    /// A larger window is the least.
    pub(super) fn raise_to(&mut self, least: u32) {
        self.window = self.window.max(least);
    }

    pub(super) fn on_first_rtt(&mut self, rtt: Duration, path: &PathModel) {
        if self.is_first {
            self.window = initial_window(rtt, path.datagram());
        }
    }

    /// While it starts: a round trip's growth must find room, but not by sending faster than the path is known to
    /// carry.
    pub(super) fn pace(&self, path: &PathModel) -> Pace {
        let even = path.per_round_trip(self.window);
        let rate = match self.state {
            State::Start { .. } if path.is_measured() && !is_unpromised(path) => {
                (even + self.growth(path, even)).min(path.promised_rate().max(even * 5 / 4))
            }
            State::Start { .. } => even * 2,
            State::Steady(_) => even * 5 / 4,
        };
        path.pace_of_rate(rate)
    }

    pub(super) fn on_ack(&mut self, now: Time, acked: u32, path: &PathModel) {
        match self.state {
            State::Start { until } => self.start(now, acked, until, path),
            State::Steady(steady) => self.steer(now, acked, steady, path),
        }
    }

    /// More was lost than usual.
    pub(super) fn on_congestion(&mut self, now: Time, path: &PathModel) {
        self.is_first = false;
        let reduced = cubic::reduced(self.window, 1).max(window_min(path.datagram()));
        match self.state {
            State::Start { .. } if path.is_limited(now) => self.begin_steady(now, self.fitting_window(path), path),
            State::Start { .. } => self.window = reduced,
            State::Steady(steady) => {
                self.window = reduced;
                self.state = State::Steady(Steady { velocity: 1, rounds: 0, ..steady });
            }
        }
    }

    /// Starts again from half of a window, up to the window of before.
    pub(super) fn on_silence(&mut self, window: u32, before: u32, path: &PathModel) {
        let until = match self.state {
            // A path that showed no queue before it fell silent was faded, not full: slow start continues.
            State::Start { until } if path.queue() < Queue::AtTarget => until,
            State::Start { until } => until.min(before),
            State::Steady(_) => before,
        };
        let burst = BURST_DATAGRAMS * u32::from(path.datagram());
        self.window = (window / 2).max(burst.min(window));
        self.state = State::Start { until: until.max(self.window) };
        self.is_first = false;
    }

    /// Data that waits here reaches a peer that moves; data that waits at the bottleneck does not, and is retransmitted
    /// after packets that the old path no longer delivers. So during a queue, no more is in flight from now on than the
    /// path holds without one, even if the window was not used up. Both without an allowance for jitter: a queue that
    /// appears and disappears with the peer's moves resembles it. Returns whether that is so.
    pub(super) fn on_flight_settled(&mut self, now: Time, in_flight: u32, path: &PathModel) -> bool {
        let has_queue = path.is_measured() && path.bare_queue() >= Queue::AtTarget;
        let bare = self.window_with_queue(path.shared_target(path.delivery_rate()), path);
        let is_reduced = has_queue && in_flight > bare;
        if is_reduced {
            self.is_first = false;
            self.begin_steady(now, bare, path);
        }
        is_reduced
    }

    /// From now on in steady state, with at most this window.
    pub(super) fn begin_steady(&mut self, now: Time, most: u32, path: &PathModel) {
        self.window = self.window.min(most);
        let round_until = now + micros(path.standing_us());
        self.state = State::Steady(Steady { round_until, velocity: 1, rounds: 0, course: Course::Down });
    }

    /// In steady state again, with as much of this window as fits.
    pub(super) fn return_to(&mut self, now: Time, window: u32, path: &PathModel) {
        self.window = window;
        self.begin_steady(now, self.fitting_window(path), path);
    }

    /// The window that fills the path and the queue's target, at the recent delivery rate.
    fn fitting_window(&self, path: &PathModel) -> u32 {
        self.window_with_queue(path.target(path.delivery_rate()), path)
    }

    fn window_with_queue(&self, queue_us: u32, path: &PathModel) -> u32 {
        let fitting = path.window_with_queue(queue_us);
        fitting.map_or(self.window, |window| window.clamp(window_min(path.datagram()), WINDOW_MAX))
    }

    fn start(&mut self, now: Time, acked: u32, until: u32, path: &PathModel) {
        if !path.is_limited(now) {
            return;
        }
        if path.queue() > Queue::AtTarget {
            self.is_first = false;
            return self.begin_steady(now, self.fitting_window(path), path);
        }
        self.window = (self.window + self.growth(path, acked.into()) as u32).min(WINDOW_MAX);
        if self.window >= until {
            self.begin_steady(now, WINDOW_MAX, path);
        }
    }

    /// The growth of the window a round trip after `amount`: twice as much, as in slow start, while well below the rate
    /// that the spacing of acknowledgements promises, and four times as much (SUSS: Arghavani et al., SIGCOMM 2024)
    /// while that stays well below it, too; otherwise at most the amount that the queue can hold until the
    /// acknowledgement arrives.
    fn growth(&self, path: &PathModel, amount: u64) -> u64 {
        let (window, promised) = (u64::from(self.window), promised_window(path));
        // After an outage or a loss that counted, a train's promise may date from before it.
        if self.is_first && 4 * window < promised {
            return amount.saturating_mul(3);
        }
        if window < promised || is_unpromised(path) {
            return amount;
        }
        amount.saturating_mul(overshoot(path).into()) / u64::from(path.smoothed_us().max(overshoot(path)))
    }

    fn steer(&mut self, now: Time, acked: u32, mut steady: Steady, path: &PathModel) {
        let rate = per_second(self.window, path.standing_us());
        let target = path.target(rate);
        let course = self.course(path.delay_us(), target, path);
        let is_up = course != Course::Down;
        if course != steady.course {
            let rounds = if is_up && steady.course != Course::Down { steady.rounds } else { 0 };
            steady = Steady { course, velocity: 1, rounds, ..steady };
        }
        if !path.is_limited(now) || !is_up && !path.is_full(now) {
            self.state = State::Steady(Steady { velocity: 1, rounds: 0, ..steady });
            return;
        }
        if now >= steady.round_until {
            self.end_round(now, &mut steady, rate, target, path);
        }
        let step = u64::from(steady.velocity) * self.step(course, path) * u64::from(acked) / u64::from(self.window);
        let step = step as u32;
        self.window = if is_up { self.window + step } else { self.window.saturating_sub(step) };
        self.window = self.window.clamp(window_min(path.datagram()), WINDOW_MAX);
        self.state = State::Steady(steady);
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
        let (standing, delay, datagram) = (path.standing_us(), path.delay_us(), u64::from(path.datagram()));
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
            let base = u64::from(path.base_us());
            let fitting = u64::from(self.window) * (base + u64::from(target)) / (base + u64::from(delay));
            self.window = (fitting as u32).max(self.window / 2).max(window_min(path.datagram()));
        }
    }
}

/// Whether no packet train long enough to estimate a rate was sent yet, on a path so long that growth without an
/// estimate would take minutes. Only queues end the growth then.
fn is_unpromised(path: &PathModel) -> bool {
    path.promised_rate() == 0 && path.smoothed_us() > overshoot(path)
}

/// Most of the window that the spacing of acknowledgements promises.
fn promised_window(path: &PathModel) -> u64 {
    path.promised_rate() * u64::from(path.base_us()) / 1_000_000 * 3 / 4
}

/// The queue, in microseconds, that growth may build before it shows; twice that, to be exact.
fn overshoot(path: &PathModel) -> u32 {
    OVERSHOOT_US.min(path.depth_us().max(10_000).saturating_mul(2))
}
