//! The delay-aware controller: its phases, and what moves it from one to the next. How it works is told in `mod.rs`.

use super::cubic::{self, Cubic};
use super::losses::Losses;
use super::manner::Manner;
use super::pacer::{Pace, Pacer};
use super::queue::QueueDelay;
use super::rate::DeliveryRate;
use super::{AckSample, LossSample, Stamp};
use crate::time::{Duration, Time};

#[derive(Clone, Debug)]
pub(super) struct DelayAware {
    manner: Manner,
    datagram: u16,
    /// Bytes that may be in flight.
    window: u32,
    phase: Phase,
    pacer: Pacer,
    rate: DeliveryRate,
    queue: QueueDelay,
    losses: Losses,
    /// Smoothed round-trip time, in microseconds.
    smoothed: u32,
    /// Until when the window counts as used up, and since when it has been without a pause.
    limited_until: Time,
    limited_from: Time,
    /// Bytes that nobody acknowledges, of the last round trip and of the present one, and when that began.
    untracked: [u32; 2],
    untracked_from: Time,
    /// Losses of packets that left before this were answered.
    recovery_from: Time,
    /// Since when the queue stands although we yield, and the window before we did.
    standing_from: Time,
    standing_window: u32,
    /// The queueing delay at which this path lost too much, as far as it was seen.
    depth: u32,
    depth_at: Time,
    /// What was left of the standing queue when ours was drained.
    residual: u32,
    /// For how long the path has been full, less half of the time in which it was not, and as of when.
    crowded: Duration,
    crowded_at: Time,
    /// Until when what is beyond need stays away from the path, and for how long.
    yields_until: Time,
    yields_for: Duration,
}

/// ```text
///          queue or heavy loss            stands, or overflows, though we yield
///   Ramp ──────────────────────► Steady ──────────────────────────────────────► Competing ◄── not ours ──┐
///    ▲                           │ ▲  │ ▲                                            │                   │
///    └───────── silence ─────────┘ │  └─┴── each 10 s: Draining                      └── each 10 s: Probing
///                                  └─────────────────── it was our queue ────────────────────────────────┘
/// ```
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The window grows by a share of itself each round trip, up to `until`.
    Ramp { until: u32 },
    /// The window keeps the queue near its target.
    Steady(Steady),
    /// Others keep the queue long, and only loss makes them yield.
    Competing(Cubic),
    /// The window is small for a moment, to see whether the queue is ours.
    Probing { until: Time, before: u32, least: u32, back: u32, base: u32 },
    /// The window is small for a moment, to see the path without our queue.
    Draining { until: Time, back: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Steady {
    round_until: Time,
    /// Datagrams per round trip by which the window moves.
    velocity: u16,
    /// Round trips in this direction.
    rounds: u8,
    is_up: bool,
}

/// What a round trip may carry before anything is known; paced, save for the first burst.
const WINDOW_DATAGRAMS_INITIAL: u32 = 32;
/// Fewer could not keep a path measured.
const WINDOW_DATAGRAMS_MIN: u32 = 2;
const WINDOW_MAX: u32 = 1 << 30;
/// Datagrams that leave at once while nothing waits.
const BURST_DATAGRAMS: u64 = 10;
const RTT_MAX_US: u32 = 20_000_000;
const SMOOTHED_INITIAL_US: u32 = 100_000;
/// Growth is such that what is sent before the queue shows is a queue of about half of this.
const OVERSHOOT_US: u32 = 120_000;
const SHARED_TARGET_US: u64 = 5_000;
/// No queue has overflowed yet.
const NOT_SEEN: u32 = u32::MAX;
/// How long a depth is believed before a longer queue is tried.
const DEPTH_SECONDS: u64 = 30;
/// Loss in per cent that is too much even where no queue shows: a policer, or a queue of a datagram or two.
const LOSS_WITHOUT_QUEUE: u32 = 30;
/// Jitter beyond this is taken for a queue.
const NOISE_MAX_US: u32 = 20_000;
/// Round trips in one direction before its steps double (Copa), and before they may exceed the target's worth.
const ROUNDS_BEFORE_DOUBLING: u8 = 3;
const ROUNDS_BEFORE_LEAPING: u8 = 8;
/// A path that has been full for so long is taken to stay so for a while.
const CROWDED_ROUND_TRIPS: u32 = 4;
const CROWDED_MIN: Duration = Duration::from_millis(100);
const YIELDS_MIN: Duration = Duration::from_secs(2);
const YIELDS_MAX: Duration = Duration::from_secs(30);
/// The queue is drained for a moment each 10 s or so many round trips.
const DRAIN_SECONDS: u64 = 10;
const DRAIN_ROUND_TRIPS: u32 = 32;

impl DelayAware {
    pub(super) fn new(manner: Manner, datagram_bytes: u16) -> Self {
        let window = WINDOW_DATAGRAMS_INITIAL * u32::from(datagram_bytes);
        DelayAware {
            manner,
            datagram: datagram_bytes,
            window,
            phase: Phase::Ramp { until: WINDOW_MAX },
            pacer: Pacer::default(),
            rate: DeliveryRate::new(),
            queue: QueueDelay::new(),
            losses: Losses::new(),
            smoothed: SMOOTHED_INITIAL_US,
            limited_until: Time::ZERO,
            limited_from: Time::ZERO,
            untracked: [0; 2],
            untracked_from: Time::ZERO,
            depth: NOT_SEEN,
            depth_at: Time::ZERO,
            residual: 0,
            crowded: Duration::ZERO,
            crowded_at: Time::ZERO,
            yields_until: Time::ZERO,
            yields_for: YIELDS_MIN,
            recovery_from: Time::ZERO,
            standing_from: Time::ZERO,
            standing_window: window,
        }
    }

    pub(super) fn manner(&self) -> Manner {
        self.manner
    }

    pub(super) fn datagram_bytes(&self) -> u16 {
        self.datagram
    }

    pub(super) fn window(&self) -> u32 {
        self.window
    }

    pub(super) fn delivery_rate(&self) -> u64 {
        self.rate.best()
    }

    pub(super) fn queue_delay(&self) -> Duration {
        if self.queue.is_measured() { Duration::from_micros(self.queue.delay().into()) } else { Duration::ZERO }
    }

    pub(super) fn is_limited(&self, now: Time) -> bool {
        now < self.limited_until
    }

    /// Whether there has been more to send than the window allows for so long that it is no matter of a burst.
    fn is_full(&self, now: Time) -> bool {
        self.is_limited(now) && now.since(self.limited_from) >= micros(2 * self.smoothed)
    }

    pub(super) fn is_congested(&self, now: Time) -> bool {
        now < self.yields_until || self.is_crowded(now)
    }

    fn is_crowded(&self, now: Time) -> bool {
        let is_competing = matches!(self.phase, Phase::Competing(_) | Phase::Probing { .. });
        self.queue.is_measured()
            && (is_competing && self.is_limited(now)
                || self.is_full(now)
                || self.queue.settled_delay() > self.full_delay())
    }

    pub(super) fn set_datagram_bytes(&mut self, bytes: u16) {
        self.datagram = bytes;
        self.window = self.window.max(self.window_min());
    }

    pub(super) fn on_sent(&mut self, now: Time, bytes: u32, in_flight_before: u32) -> Stamp {
        self.pacer.on_sent(now, bytes.into(), self.pace());
        let untracked = self.untracked_in_flight(now);
        self.note_limit(now, in_flight_before.saturating_add(bytes).saturating_add(untracked));
        self.rate.on_sent(now, in_flight_before == 0)
    }

    /// What nobody acknowledges takes its share of the pace, and so of the window: whoever is held back by the pace has
    /// more to send than the window allows.
    pub(super) fn on_sent_untracked(&mut self, now: Time, bytes: u32) {
        self.pacer.on_sent(now, bytes.into(), self.pace());
        if now.since(self.untracked_from) >= micros(self.smoothed) {
            self.untracked = [self.untracked[1], 0];
            self.untracked_from = now;
        }
        self.untracked[1] = self.untracked[1].saturating_add(bytes);
    }

    /// About what left within the last round trip and will not be acknowledged.
    fn untracked_in_flight(&self, now: Time) -> u32 {
        match now.since(self.untracked_from) {
            age if age < micros(self.smoothed) => self.untracked[0].max(self.untracked[1]),
            age if age < micros(2 * self.smoothed) => self.untracked[1],
            _ => 0,
        }
    }

    pub(super) fn next_send(&self, now: Time, bytes: u32) -> Time {
        let mut pace = self.pace();
        if self.is_full(now) && !matches!(self.phase, Phase::Ramp { .. }) {
            pace.burst = 2 * u64::from(self.datagram);
        }
        self.pacer.next_send(now, bytes.into(), pace)
    }

    pub(super) fn pace(&self) -> Pace {
        let rtt = if self.queue.is_measured() { self.queue.standing() } else { self.smoothed };
        let even = u64::from(self.window) * 1_000_000 / u64::from(rtt.max(1));
        let rate = match self.phase {
            // A round trip's growth must find room, but not by sending faster than the path is known to carry.
            Phase::Ramp { .. } if self.queue.is_measured() => {
                let promised = self.rate.promised();
                (even + self.ramp_growth(even)).min(promised.max(even * 5 / 4))
            }
            Phase::Ramp { .. } => even * 2,
            _ => even * 5 / 4,
        };
        Pace { rate, burst: (BURST_DATAGRAMS * u64::from(self.datagram)).max(rate / 500) }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample) {
        let now = ack.now;
        self.smoothed = in_range(ack.smoothed);
        if let Some(rtt) = ack.rtt {
            self.queue.on_sample(now, in_range(rtt), self.smoothed);
        }
        if !self.queue.is_measured() {
            return;
        }
        let rate_window_us = (16 * u64::from(self.smoothed)).max(2_000_000);
        self.rate.on_ack(now, ack.bytes, ack.sent_at, ack.stamp, self.queue.base(), rate_window_us);
        self.note_limit(now, ack.bytes_in_flight.saturating_add(self.untracked_in_flight(now)));
        let tells_usual = !self.is_full(now) && !self.has_queue();
        let wait = self.queue.latest_delay();
        self.losses.on_acked(now, ack.bytes, self.smoothed, self.datagram.into(), wait, tells_usual);
        self.watch_queue(now);
        self.watch_crowd(now);
        if now.since(self.depth_at) > Duration::from_secs(DEPTH_SECONDS) && self.depth != NOT_SEEN {
            self.depth = self.depth.saturating_mul(2);
            self.depth_at = now;
        }
        match self.phase {
            Phase::Ramp { until } => self.ramp(now, ack.bytes, until),
            Phase::Steady(steady) => self.steer(now, ack, steady),
            Phase::Competing(cubic) => self.compete(now, ack.bytes, cubic),
            Phase::Probing { .. } => self.probe(now),
            Phase::Draining { until, back } => self.drain(now, until, back),
        }
    }

    pub(super) fn on_loss(&mut self, now: Time, loss: LossSample) {
        self.losses.on_lost(now, loss.bytes, loss.sent_at, self.queue.latest_delay());
        if loss.sent_at < self.recovery_from || !self.queue.is_measured() {
            return;
        }
        let has_queue = self.has_queue();
        let is_competing = matches!(self.phase, Phase::Competing(_));
        let percent = if has_queue { self.manner.loss_with_queue() } else { LOSS_WITHOUT_QUEUE };
        let is_excessive = self.losses.is_excessive(self.datagram.into(), percent);
        // Beside others a loss counts where it tells of an overflow; what the path loses at random comes at any time.
        let is_overflow = has_queue && self.losses.may_overflow(self.queue.latest_delay());
        if !(is_excessive || is_competing && is_overflow) {
            return;
        }
        self.recovery_from = now + Duration::from_micros(1);
        self.losses.begin(now);
        if is_excessive && has_queue {
            self.on_overflow(now);
        }
        match self.phase {
            Phase::Competing(_) => {
                let plateau = self.window;
                self.window = self.manner.after_overflow(self.window).max(self.window_min());
                self.grow_from(now, plateau);
            }
            Phase::Probing { .. } | Phase::Draining { .. } => {}
            Phase::Ramp { .. } if self.is_limited(now) => self.leave_ramp(now),
            Phase::Ramp { .. } => self.window = cubic::reduced(self.window, 1).max(self.window_min()),
            Phase::Steady(steady) => {
                self.window = cubic::reduced(self.window, 1).max(self.window_min());
                self.phase = Phase::Steady(Steady { velocity: 1, rounds: 0, ..steady });
            }
        }
    }

    pub(super) fn on_silence(&mut self, now: Time) {
        let until = match self.phase {
            Phase::Ramp { until } => until.min(self.window),
            Phase::Probing { back, .. } | Phase::Draining { back, .. } => back,
            _ => self.window,
        };
        let burst = BURST_DATAGRAMS as u32 * u32::from(self.datagram);
        self.window = (self.window / 2).max(burst.min(self.window));
        self.phase = Phase::Ramp { until: until.max(self.window) };
        self.recovery_from = now + Duration::from_micros(1);
        self.limited_until = now + micros(self.smoothed);
        self.losses.begin(now);
    }

    /// The queueing delay to keep, in microseconds, for a flow of this rate: less for a faster one, so that flows which
    /// share a queue come to share the rate.
    fn target(&self, rate: u64) -> u32 {
        self.own_target(rate) + self.noise()
    }

    /// The part of the target that is a queue: less than half of one that overflowed, as far as it was not jitter.
    fn own_target(&self, rate: u64) -> u32 {
        let shared = self.shared_target(rate);
        shared.min((self.depth.saturating_sub(self.noise()) / 2).max(shared / 2))
    }

    /// The queueing delay from which the path counts as full. Whoever fills it keeps the delay about the target, in the
    /// other direction too: who waits for more would take it for free.
    fn full_delay(&self) -> u32 {
        let rate = self.rate.best();
        (self.shared_target(rate) / 2 + self.noise()).min(self.target(rate))
    }

    /// The part of the target that depends on the rate: twice the geometric mean of 5 ms and a datagram's time, which
    /// falls with the square root of the rate; at least a datagram and a half, or the link would run dry.
    fn shared_target(&self, rate: u64) -> u32 {
        let datagram_us = self.datagram_us(rate);
        let shared = (4 * SHARED_TARGET_US * datagram_us).isqrt().max(datagram_us * 3 / 2).min(1_000_000) as u32;
        shared + if self.queue.is_measured() { self.queue.base() / 64 } else { 0 }
    }

    /// How far the path itself makes round-trip times jump. Packets of our own in turn make them jump by their length.
    fn noise(&self) -> u32 {
        let own = (2 * self.datagram_us(self.path_rate())).min(u64::from(NOISE_MAX_US)) as u32;
        self.queue.noise().saturating_sub(own).max(self.residual).min(NOISE_MAX_US)
    }

    /// How long a full datagram takes at a rate.
    fn datagram_us(&self, rate: u64) -> u64 {
        u64::from(self.datagram) * 1_000_000 / rate.max(1)
    }

    /// Whether a queue stands. Jitter alone is none: it comes and goes within a round trip.
    fn has_queue(&self) -> bool {
        self.queue.delay() > self.own_target(self.rate.best()) / 2 + self.noise()
    }

    /// A queue longer than a few flows of our kind would keep.
    fn foreign_delay(&self) -> u32 {
        3 * self.shared_target(self.path_rate()) + self.noise()
    }

    /// What the path carries, though we may have less to send than that.
    fn path_rate(&self) -> u64 {
        self.rate.best().max(self.rate.promised() / 2)
    }

    fn watch_queue(&mut self, now: Time) {
        let is_short = self.queue.delay() <= self.foreign_delay();
        if is_short || !self.is_full(now) {
            self.standing_from = now;
            self.standing_window = self.window;
        }
    }

    /// What yields to a queue makes it go away, and would come back at once: it stays away for a while, so that others,
    /// who share the queue or send the other way, find the room. Longer each time that it fills the path again.
    fn watch_crowd(&mut self, now: Time) {
        let passed = now.since(core::mem::replace(&mut self.crowded_at, now));
        let enough = micros(CROWDED_ROUND_TRIPS * self.smoothed).max(CROWDED_MIN);
        if self.is_crowded(now) || self.queue.delay() > self.full_delay() + self.noise() {
            self.crowded = (self.crowded + passed).min(2 * enough);
        } else {
            self.crowded = self.crowded.saturating_sub(passed / 2);
        }
        if self.crowded > enough {
            if now >= self.yields_until {
                let is_again = now.since(self.yields_until) < self.yields_for;
                self.yields_for = if is_again { (self.yields_for * 2).min(YIELDS_MAX) } else { YIELDS_MIN };
            }
            self.yields_until = now + self.yields_for;
        }
    }

    fn on_overflow(&mut self, now: Time) {
        self.depth = self.queue.longest_delay();
        self.depth_at = now;
    }

    fn ramp(&mut self, now: Time, acked: u32, until: u32) {
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

    /// By how much to send more a round trip after `amount`: twice as much, as slow start does, while well below what the
    /// spacing of acknowledgements promises; else no more than the queue can take until the answer comes.
    fn ramp_growth(&self, amount: u64) -> u64 {
        if self.is_far_below_promise() {
            return amount;
        }
        amount * u64::from(self.overshoot()) / u64::from(self.smoothed.max(self.overshoot()))
    }

    /// Whether the window is well below what the spacing of acknowledgements promises.
    fn is_far_below_promise(&self) -> bool {
        u64::from(self.window) < self.rate.promised() * u64::from(self.queue.base()) / 1_000_000 * 3 / 4
    }

    /// The queue, in microseconds, that growth may build before it shows; twice that, to be exact.
    fn overshoot(&self) -> u32 {
        OVERSHOOT_US.min(self.depth.max(10_000).saturating_mul(2))
    }

    fn ramp_target(&self) -> u32 {
        self.target(self.rate.best()).max((self.queue.base() / 8).min(16_000))
    }

    fn leave_ramp(&mut self, now: Time) {
        self.window = self.window.min(self.fitting_window());
        self.recovery_from = now + Duration::from_micros(1);
        self.begin_steady(now);
    }

    /// What fills the path and the queue's target at the rate that it carries of late.
    fn fitting_window(&self) -> u32 {
        if self.rate.best() == 0 {
            return self.window;
        }
        let span = u64::from(self.queue.base() + self.target(self.rate.best()));
        let window = self.rate.best() * span / 1_000_000;
        (window as u32).clamp(self.window_min(), WINDOW_MAX)
    }

    fn begin_steady(&mut self, now: Time) {
        let round_until = now + micros(self.queue.standing());
        self.phase = Phase::Steady(Steady { round_until, velocity: 1, rounds: 0, is_up: false });
        self.standing_from = now;
        self.standing_window = self.window;
    }

    fn steer(&mut self, now: Time, ack: &AckSample, mut steady: Steady) {
        let (standing, delay) = (self.queue.standing(), self.queue.delay());
        let rate = u64::from(self.window) * 1_000_000 / u64::from(standing.max(1));
        let target = self.target(rate);
        let is_up = delay <= target;
        if is_up != steady.is_up {
            steady = Steady { is_up, velocity: 1, rounds: 0, ..steady };
        }
        if !self.is_limited(now) || !is_up && !self.is_full(now) {
            self.phase = Phase::Steady(Steady { velocity: 1, rounds: 0, ..steady });
            return;
        }
        if now >= steady.round_until {
            self.end_round(now, &mut steady, rate, target);
        }
        let step = (u64::from(steady.velocity) * u64::from(self.datagram) * u64::from(ack.bytes)
            / u64::from(self.window)) as u32;
        self.window = if is_up { self.window + step } else { self.window.saturating_sub(step) };
        self.window = self.window.clamp(self.window_min(), WINDOW_MAX);
        self.phase = Phase::Steady(steady);
        if self.is_drain_due(now) {
            let back = self.window;
            self.phase = Phase::Draining { until: self.make_room(now), back };
            return;
        }
        let patience = micros(6 * self.smoothed).max(Duration::from_millis(200));
        if now.since(self.standing_from) > patience || !is_up && self.losses.follow_queue() {
            self.begin_competing(now);
        }
    }

    /// Once a round trip: faster in a direction that lasts, and at once to where it fits from far too much.
    fn end_round(&mut self, now: Time, steady: &mut Steady, rate: u64, target: u32) {
        let (standing, delay, datagram) = (self.queue.standing(), self.queue.delay(), u64::from(self.datagram));
        steady.round_until = now + micros(standing);
        steady.rounds = steady.rounds.saturating_add(1);
        if steady.rounds >= ROUNDS_BEFORE_DOUBLING {
            let fine = rate * u64::from(target) / 1_000_000;
            let coarse =
                u64::from(self.window) * u64::from(self.overshoot()) / u64::from(standing.max(2 * self.overshoot()));
            let step_max = if steady.rounds < ROUNDS_BEFORE_LEAPING { fine.min(coarse) } else { coarse };
            let velocity_max = (step_max / datagram).clamp(1, 10_000) as u16;
            steady.velocity = (steady.velocity * 2).max((fine / datagram / 4) as u16).min(velocity_max);
        }
        if !steady.is_up && delay > 2 * target {
            let base = u64::from(self.queue.base());
            let fitting = u64::from(self.window) * (base + u64::from(target)) / (base + u64::from(delay));
            self.window = (fitting as u32).max(self.window / 2).max(self.window_min());
        }
    }

    /// Whether it is time to drain the queue: so long after its last dip, which all who share it saw. So they come to
    /// drain it together (as BBR's flows do), and see the path without it.
    fn is_drain_due(&self, now: Time) -> bool {
        let interval = micros(DRAIN_ROUND_TRIPS * self.smoothed).max(Duration::from_secs(DRAIN_SECONDS));
        self.is_full(now) && now.since(self.queue.dip_at()) >= interval
    }

    fn begin_competing(&mut self, now: Time) {
        self.window = self.window.max(cubic::reduced(self.standing_window, 1));
        self.grow_from(now, self.standing_window);
    }

    /// Grows as CUBIC does, from the present window towards the plateau.
    fn grow_from(&mut self, now: Time, plateau: u32) {
        let flows = self.manner.flows();
        self.phase = Phase::Competing(Cubic::new(now, self.window, plateau, self.datagram.into(), flows));
    }

    fn compete(&mut self, now: Time, acked: u32, mut cubic: Cubic) {
        if self.is_limited(now) {
            let flows = self.manner.flows();
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

    fn drain(&mut self, now: Time, until: Time, back: u32) {
        if now < until {
            return;
        }
        self.window = back;
        self.residual = self.queue.delay();
        self.losses.fade();
        self.begin_steady(now);
    }

    fn probe(&mut self, now: Time) {
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

    fn note_limit(&mut self, now: Time, in_flight: u32) {
        let datagram = u32::from(self.datagram);
        if in_flight.saturating_add(datagram) > self.window {
            if now >= self.limited_until {
                self.limited_from = now;
            }
            // Before the first answer nobody knows how long a round trip is.
            let span = if self.queue.is_measured() { 2 * self.smoothed } else { RTT_MAX_US };
            self.limited_until = now + micros(span);
        } else if in_flight + 2 * datagram < self.window / 2 {
            self.limited_until = self.limited_until.min(now);
        }
    }

    fn window_min(&self) -> u32 {
        WINDOW_DATAGRAMS_MIN * u32::from(self.datagram)
    }
}

/// A round-trip time in microseconds with which sums cannot overflow, whatever the peer does.
fn in_range(rtt: Duration) -> u32 {
    rtt.as_micros().clamp(1, RTT_MAX_US.into()) as u32
}

fn micros(span: u32) -> Duration {
    Duration::from_micros(span.into())
}
