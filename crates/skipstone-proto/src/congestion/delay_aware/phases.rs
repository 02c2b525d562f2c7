//! The controller's phases: the changes of the window in each, and the transitions between them.

use super::{Course, DelayAware, Phase, Steady, WINDOW_MAX, micros};
use crate::congestion::AckSample;
use crate::congestion::cubic::{self, Cubic};
use crate::time::{Duration, Time};

/// Growth is limited so that the data sent before the queue is visible makes a queue of about half of this.
const OVERSHOOT_US: u32 = 120_000;
/// Round trips in one direction before its steps double (Copa), and before they may exceed the target's worth.
const ROUNDS_BEFORE_DOUBLING: u8 = 3;
const ROUNDS_BEFORE_LEAPING: u8 = 8;
/// The part of a small window by which it moves in a round trip, and the round trips in one direction before such steps
/// double.
const FINE_STEPS: u32 = 16;
const ROUNDS_OF_FINE_STEPS: u8 = 16;
/// A shorter queue is not attributed to other flows.
const PATIENCE_MIN_US: u64 = 200_000;
/// The queue is drained for a moment each 10 s or this many round trips.
const DRAIN_SECONDS: u64 = 10;
const DRAIN_ROUND_TRIPS: u32 = 32;

impl DelayAware {
    pub(super) fn ramp(&mut self, now: Time, acked: u32, until: u32) {
        if !self.is_limited(now) {
            return;
        }
        if self.queue.delay() > self.ramp_target() {
            return self.leave_ramp(now);
        }
        self.window = (self.window + self.ramp_growth(acked.into()) as u32).min(WINDOW_MAX);
        if self.window >= until {
            self.begin_steady(now);
        }
    }

    /// The growth of the window a round trip after `amount`: twice as much, as in slow start, while well below the rate
    /// that the spacing of acknowledgements promises, and four times as much (SUSS: Arghavani et al., SIGCOMM 2024)
    /// while that stays well below it, too; otherwise at most the amount that the queue can hold until the
    /// acknowledgement arrives.
    pub(super) fn ramp_growth(&self, amount: u64) -> u64 {
        let (window, promised) = (u64::from(self.window), self.promised_window());
        // After an outage or a loss that counted, a train's promise may date from before it.
        let is_first = self.recovery_from == Time::ZERO;
        if is_first && 4 * window < promised {
            return 3 * amount;
        }
        if window < promised || self.is_unpromised() {
            return amount;
        }
        amount * u64::from(self.overshoot()) / u64::from(self.smoothed.max(self.overshoot()))
    }

    /// Most of the window that the spacing of acknowledgements promises.
    fn promised_window(&self) -> u64 {
        self.rate.promised() * u64::from(self.queue.base()) / 1_000_000 * 3 / 4
    }

    /// Whether no packet train long enough to estimate a rate was sent yet, on a path so long that growth without an
    /// estimate would take minutes. Only queues end the growth then.
    pub(super) fn is_unpromised(&self) -> bool {
        self.rate.promised() == 0 && self.smoothed > self.overshoot()
    }

    /// The queue, in microseconds, that growth may build before it shows; twice that, to be exact.
    fn overshoot(&self) -> u32 {
        OVERSHOOT_US.min(self.depth.max(10_000).saturating_mul(2))
    }

    fn ramp_target(&self) -> u32 {
        self.target(self.rate.best()).max((self.queue.base() / 8).min(16_000))
    }

    pub(super) fn leave_ramp(&mut self, now: Time) {
        self.window = self.window.min(self.fitting_window());
        self.recovery_from = now + Duration::from_micros(1);
        self.begin_steady(now);
    }

    /// The window that fills the path and the queue's target, at the recent delivery rate.
    fn fitting_window(&self) -> u32 {
        self.window_with_queue(self.target(self.rate.best()))
    }

    /// The same without an allowance for jitter: a queue that appears and disappears with the peer's moves resembles
    /// it.
    pub(super) fn bare_window(&self) -> u32 {
        self.window_with_queue(self.shared_target(self.rate.best()))
    }

    fn window_with_queue(&self, queue_us: u32) -> u32 {
        if self.rate.best() == 0 {
            return self.window;
        }
        let span = u64::from(self.queue.base() + queue_us);
        let window = self.rate.best() * span / 1_000_000;
        (window as u32).clamp(self.window_min(), WINDOW_MAX)
    }

    /// From now on in steady state, with no more in flight than the path holds without a queue.
    pub(super) fn begin_bare(&mut self, now: Time) {
        self.window = self.window.min(self.bare_window());
        self.recovery_from = now + Duration::from_micros(1);
        self.begin_steady(now);
    }

    /// The window that the recent delivery rate fills without a queue.
    fn delivered_window(&self) -> u32 {
        (self.rate.best() * u64::from(self.queue.base()) / 1_000_000).min(WINDOW_MAX.into()) as u32
    }

    fn begin_steady(&mut self, now: Time) {
        let round_until = now + micros(self.queue.standing());
        self.phase = Phase::Steady(Steady { round_until, velocity: 1, rounds: 0, course: Course::Down });
        self.standing_from = now;
        self.standing_window = self.window;
    }

    pub(super) fn steer(&mut self, now: Time, ack: &AckSample, mut steady: Steady) {
        let (standing, delay) = (self.queue.standing(), self.queue.delay());
        let rate = u64::from(self.window) * 1_000_000 / u64::from(standing.max(1));
        let target = self.target(rate);
        let course = self.course(delay, target);
        let is_up = course != Course::Down;
        if course != steady.course {
            let rounds = if is_up && steady.course != Course::Down { steady.rounds } else { 0 };
            steady = Steady { course, velocity: 1, rounds, ..steady };
        }
        if !self.is_limited(now) || !is_up && !self.is_full(now) {
            self.phase = Phase::Steady(Steady { velocity: 1, rounds: 0, ..steady });
            return;
        }
        if now >= steady.round_until {
            self.end_round(now, &mut steady, rate, target);
        }
        let step = u64::from(steady.velocity) * self.step(course) * u64::from(ack.bytes) / u64::from(self.window);
        let step = step as u32;
        self.window = if is_up { self.window + step } else { self.window.saturating_sub(step) };
        self.window = self.window.clamp(self.window_min(), WINDOW_MAX);
        self.phase = Phase::Steady(steady);
        if self.is_drain_due(now) {
            let back = self.window;
            self.phase = Phase::Draining { until: self.make_room(now), back };
            return;
        }
        if now.since(self.standing_from) > self.patience() || !is_up && self.losses.follow_queue() {
            self.begin_competing(now);
        }
    }

    /// How long a queue has to stand although we yield before it is attributed to other flows. Several flows of our
    /// kind at their least windows keep it hardly longer than a few would, so a small excess takes longer.
    fn patience(&self) -> Duration {
        let foreign = self.foreign_delay();
        let excess = self.queue.delay().saturating_sub(foreign).max(1);
        let least = u64::from(self.smoothed * 6).max(PATIENCE_MIN_US);
        let patience = least * u64::from(foreign) / u64::from(2 * excess);
        Duration::from_micros(patience.clamp(least, 4 * least))
    }

    /// The answer to a step comes one and a half round trips later. On a path that holds only a few datagrams, one more
    /// datagram per round trip until then would already be the whole queue: there the second half of the way is taken
    /// in smaller steps.
    fn course(&self, delay: u32, target: u32) -> Course {
        match () {
            () if delay > target => Course::Down,
            () if delay >= target / 2 && self.is_small() => Course::UpFinely,
            () => Course::Up,
        }
    }

    fn is_small(&self) -> bool {
        self.window < FINE_STEPS * u32::from(self.datagram)
    }

    /// The bytes by which the window moves in a round trip at the least. A small window yields faster than a large one:
    /// a queue of a few datagrams that we share is full before the other's packets find room.
    fn step(&self, course: Course) -> u64 {
        match course {
            Course::UpFinely => (self.window / FINE_STEPS).into(),
            Course::Down if self.is_small() => u64::from(self.datagram) * 3 / 2,
            Course::Up | Course::Down => self.datagram.into(),
        }
    }

    /// Once per round trip: faster while the direction lasts, and from far above the target directly to the target.
    fn end_round(&mut self, now: Time, steady: &mut Steady, rate: u64, target: u32) {
        let (standing, delay, datagram) = (self.queue.standing(), self.queue.delay(), u64::from(self.datagram));
        steady.round_until = now + micros(standing);
        steady.rounds = steady.rounds.saturating_add(1);
        let is_fine = steady.course == Course::UpFinely;
        let rounds_min = if is_fine { ROUNDS_OF_FINE_STEPS } else { ROUNDS_BEFORE_DOUBLING };
        if steady.rounds >= rounds_min {
            let fine = rate * u64::from(target) / 1_000_000;
            let coarse =
                u64::from(self.window) * u64::from(self.overshoot()) / u64::from(standing.max(2 * self.overshoot()));
            let step_max = if steady.rounds < ROUNDS_BEFORE_LEAPING { fine.min(coarse) } else { coarse };
            let velocity_max = (step_max.max(datagram) / self.step(steady.course)).clamp(1, 10_000) as u16;
            steady.velocity = (steady.velocity * 2).max((fine / datagram / 4) as u16).min(velocity_max);
        }
        // On a long path a datagram a round trip would take minutes to where it was.
        if steady.course != Course::Down && delay <= target / 2 && self.smoothed > self.overshoot() {
            self.window = self.window.max(self.delivered_window());
        }
        if steady.course == Course::Down && delay > 2 * target {
            let base = u64::from(self.queue.base());
            let fitting = u64::from(self.window) * (base + u64::from(target)) / (base + u64::from(delay));
            self.window = (fitting as u32).max(self.window / 2).max(self.window_min());
        }
    }

    /// Whether it is time to drain the queue: a fixed time after its last dip, which all flows that share the queue
    /// saw. So these flows drain the queue together (as BBR's flows do), and measure the path without it.
    fn is_drain_due(&self, now: Time) -> bool {
        let interval = micros(DRAIN_ROUND_TRIPS * self.smoothed).max(Duration::from_secs(DRAIN_SECONDS));
        self.is_full(now) && now.since(self.queue.dip_at()) >= interval
    }

    fn begin_competing(&mut self, now: Time) {
        self.calm.forget();
        self.window = self.window.max(cubic::reduced(self.standing_window, 1));
        self.grow_from(now, self.standing_window);
    }

    /// Grows as CUBIC does, from the current window towards the plateau.
    pub(super) fn grow_from(&mut self, now: Time, plateau: u32) {
        let flows = self.aggressiveness.flows();
        self.phase = Phase::Competing(Cubic::new(now, self.window, plateau, self.datagram.into(), flows));
    }

    pub(super) fn compete(&mut self, now: Time, acked: u32, mut cubic: Cubic) {
        if self.is_limited(now) {
            let flows = self.aggressiveness.flows();
            self.window = cubic.grown(now, self.window, acked, self.smoothed, self.datagram.into(), flows);
            self.window = self.window.clamp(self.window_min(), WINDOW_MAX);
            self.phase = Phase::Competing(cubic);
        }
        if self.is_drain_due(now) {
            self.begin_probe(now);
        }
    }

    fn begin_probe(&mut self, now: Time) {
        let back = self.window;
        let until = self.make_room(now);
        let (before, base) = (self.queue.latest_delay(), self.queue.base());
        self.phase = Phase::Probing { until, before, least: u32::MAX, back, base };
    }

    /// Reduces the window to less than the path holds without a queue; returns when that must have shown.
    fn make_room(&mut self, now: Time) -> Time {
        let base = self.queue.base();
        let little = (self.rate.best() * u64::from((base / 2).max(base.saturating_sub(50_000))) / 1_000_000) as u32;
        self.window = little.clamp(self.window_min(), self.window);
        self.queue.begin_dip();
        now + micros(self.queue.standing().max(self.smoothed) + self.queue.base() * 3 / 2)
    }

    pub(super) fn drain(&mut self, now: Time, until: Time, back: u32) {
        if now < until {
            return;
        }
        self.window = back;
        self.residual = self.queue.delay();
        self.losses.fade();
        self.begin_steady(now);
    }

    pub(super) fn probe(&mut self, now: Time) {
        let Phase::Probing { until, before, least, back, base } = &mut self.phase else { return };
        *least = (*least).min(self.queue.latest_delay());
        let was_lower = u64::from(self.queue.base()) + 4_000 < u64::from(*base);
        if now < *until {
            return;
        }
        let (before, least, back) = (*before, *least, *back);
        if least <= self.shared_target(self.rate.best()).max(before / 4) && !was_lower {
            self.window = self.fitting_window().min(back);
            self.losses.forget_overflows();
            self.begin_steady(now);
        } else {
            self.losses.fade();
            self.window = back;
            self.grow_from(now, back);
        }
    }
}
