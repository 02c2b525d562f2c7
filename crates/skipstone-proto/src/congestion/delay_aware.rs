//! The delay-aware controller: its estimates of the path, and its decisions. `mod.rs` describes the algorithm; `phases`
//! contains the behaviour in each phase.

mod phases;

use super::aggressiveness::Aggressiveness;
use super::bottleneck::Bottleneck;
use super::calm::Calm;
use super::cubic::{self, Cubic};
use super::losses::Losses;
use super::pacer::{Pace, Pacer};
use super::queue::QueueDelay;
use super::rate::DeliveryRate;
use super::samples::{AckSample, LossSample};
use super::share::RedundancyShare;
use crate::delivery::DeliveryStamp;
use crate::time::{Duration, Time};

#[derive(Clone, Debug)]
pub(super) struct DelayAware {
    aggressiveness: Aggressiveness,
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
    /// The time until which the window counts as used up, and since when it has been without a pause.
    limited_until: Time,
    limited_from: Time,
    /// Bytes that are never acknowledged, of the last round trip and of the current one, and the time when that began.
    untracked: [u32; 2],
    untracked_from: Time,
    /// Losses of packets that left before this were answered.
    recovery_from: Time,
    /// The time since which the queue has persisted although this side yields, and the window before that.
    standing_from: Time,
    standing_window: u32,
    /// The observed queueing delay at which this path lost too much.
    depth: u32,
    depth_at: Time,
    /// The standing queue that remained when our own was drained.
    residual: u32,
    calm: Calm,
    /// How long the path has been full, less half of the time in which it was not, and the time of this value.
    crowded: Duration,
    crowded_at: Time,
    /// The time until which unnecessary redundancy stays off the path, and the length of that pause.
    yields_until: Time,
    yields_for: Duration,
    share: RedundancyShare,
    bottleneck: Bottleneck,
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
    /// Other flows keep the queue long, and yield to loss only.
    Competing(Cubic),
    /// The window is small for a moment, to find out whether our own traffic causes the queue.
    Probing { until: Time, before: u32, least: u32, back: u32, base: u32 },
    /// The window is small for a moment, to see the path without our queue.
    Draining { until: Time, back: u32 },
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

/// The initial congestion window, before the path is measured; paced except for the first burst.
const WINDOW_DATAGRAMS_INITIAL: u32 = 32;
/// On a path whose round trip is longer than the first value, the initial window is larger in proportion, up to the
/// second.
const WINDOW_INITIAL_RTT_US: u32 = 50_000;
const WINDOW_INITIAL_RTT_MAX_US: u32 = 2_000_000;
/// The minimum congestion window: with fewer datagrams the path could not be measured.
const WINDOW_DATAGRAMS_MIN: u32 = 2;
const WINDOW_MAX: u32 = 1 << 30;
/// In a window of fewer datagrams, a datagram is a large part of it, and possibly most of the path's queue.
const WINDOW_DATAGRAMS_FEW: u32 = 8;
/// Datagrams that leave at once while nothing waits.
const BURST_DATAGRAMS: u64 = 10;
const RTT_MAX_US: u32 = 20_000_000;
const SMOOTHED_INITIAL_US: u32 = 100_000;
const SHARED_TARGET_US: u64 = 5_000;
/// No queue has overflowed yet.
const NOT_SEEN: u32 = u32::MAX;
/// Time for which a measured depth is used before a longer queue is tried.
const DEPTH_SECONDS: u64 = 30;
/// Loss in percent that is too much even without a visible queue: a policer, or a queue of one or two datagrams.
const LOSS_WITHOUT_QUEUE: u32 = 30;
/// Jitter beyond this is treated as a queue.
const NOISE_MAX_US: u32 = 20_000;
/// A path that has been full for this time is assumed to stay full for some time.
const CROWDED_ROUND_TRIPS: u32 = 4;
const CROWDED_MIN: Duration = Duration::from_millis(100);
const YIELDS_MIN: Duration = Duration::from_secs(2);
const YIELDS_MAX: Duration = Duration::from_secs(30);
/// An imperceptible delay, even as the cost of each tick.
const UNNOTICED: Duration = Duration::from_millis(1);

impl DelayAware {
    pub(super) fn new(aggressiveness: Aggressiveness, datagram_bytes: u16) -> Self {
        let window = WINDOW_DATAGRAMS_INITIAL * u32::from(datagram_bytes);
        DelayAware {
            aggressiveness,
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
            calm: Calm::new(),
            crowded: Duration::ZERO,
            crowded_at: Time::ZERO,
            yields_until: Time::ZERO,
            yields_for: YIELDS_MIN,
            share: RedundancyShare::default(),
            bottleneck: Bottleneck::new(),
            recovery_from: Time::ZERO,
            standing_from: Time::ZERO,
            standing_window: window,
        }
    }

    pub(super) fn set_spread(&mut self, spread: Duration) {
        self.bottleneck.set_spread(spread);
    }

    pub(super) fn expect_foreign_queues(&mut self) {
        self.share.expect_foreign_queues();
    }

    pub(super) fn aggressiveness(&self) -> Aggressiveness {
        self.aggressiveness
    }

    pub(super) fn datagram_bytes(&self) -> u16 {
        self.datagram
    }

    pub(super) fn window(&self) -> u32 {
        self.window
    }

    pub(super) fn is_limited(&self, now: Time) -> bool {
        now < self.limited_until
    }

    /// Whether there has been more to send than the window allows for longer than a burst.
    fn is_full(&self, now: Time) -> bool {
        self.is_limited(now) && now.since(self.limited_from) >= micros(2 * self.smoothed)
    }

    pub(super) fn is_congested(&self, now: Time) -> bool {
        now < self.yields_until || self.is_crowded(now)
    }

    /// The share of the redundancy required by the path's losses that fits, 0 to 1.
    pub(super) fn redundancy_share(&self) -> f32 {
        self.share.part()
    }

    pub(super) fn repair_share(&self) -> f32 {
        self.share.part_of_repairs()
    }

    pub(super) fn begin_burst(&mut self, now: Time) {
        self.bottleneck.begin_burst(now);
    }

    /// Redundancy may delay data by an imperceptible time, and without a queue by as much as it saves on average:
    /// losses by an overflowing queue do not justify more bytes.
    pub(super) fn has_room_beside(&self, now: Time, bytes: usize, more: usize, saved: Duration) -> bool {
        let (bytes, more) = (bytes as u32, more as u32);
        let has_queue = self.queue.delay() > self.full_delay() / 4;
        let late = self.bottleneck.lateness(now, bytes.saturating_add(more));
        let added = late.saturating_sub(self.bottleneck.lateness(now, bytes));
        added <= UNNOTICED || !has_queue && late <= saved
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

    pub(super) fn on_sent(&mut self, now: Time, bytes: u32, in_flight_before: u32) -> DeliveryStamp {
        self.pacer.on_sent(now, bytes.into(), self.pace());
        self.bottleneck.on_sent(now, bytes);
        let untracked = self.untracked_in_flight(now);
        self.note_limit(now, in_flight_before.saturating_add(bytes).saturating_add(untracked));
        self.rate.on_sent(now, in_flight_before == 0)
    }

    /// A packet that is never acknowledged takes its share of the pacing rate, and thus of the window: a sender that
    /// the pacer holds back has more to send than the window allows.
    pub(super) fn on_sent_untracked(&mut self, now: Time, bytes: u32) {
        self.pacer.on_sent(now, bytes.into(), self.pace());
        self.bottleneck.on_sent(now, bytes);
        self.note_untracked(now, bytes);
    }

    fn note_untracked(&mut self, now: Time, bytes: u32) {
        if now.since(self.untracked_from) >= micros(self.smoothed) {
            self.untracked = [self.untracked[1], 0];
            self.untracked_from = now;
        }
        self.untracked[1] = self.untracked[1].saturating_add(bytes);
    }

    /// Approximate bytes sent within the last round trip that will not be acknowledged.
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
            // Two datagrams that leave together may overflow a queue of a few.
            let are_few = self.window < WINDOW_DATAGRAMS_FEW * u32::from(self.datagram);
            pace.burst = if are_few { 1 } else { 2 } * u64::from(self.datagram);
        }
        self.pacer.next_send(now, bytes.into(), pace)
    }

    /// Bytes per second that the path carries: a window each round trip, and on a full path little more than it
    /// delivers. The moments in which the window is small, to measure the path without a queue, are excluded.
    pub(super) fn send_rate(&self) -> u64 {
        let window = match self.phase {
            Phase::Probing { back, .. } | Phase::Draining { back, .. } => back,
            _ => self.window,
        };
        let rate = per_second(window, self.smoothed);
        // Before the first sample the path's delivery rate is unknown.
        let delivered = Some(self.rate.best()).filter(|best| *best > 0 && self.is_limited(self.crowded_at));
        delivered.map_or(rate, |best| rate.min(best * 5 / 4))
    }

    pub(super) fn pace(&self) -> Pace {
        let rtt = if self.queue.is_measured() { self.queue.standing() } else { self.smoothed };
        let even = per_second(self.window, rtt);
        let rate = match self.phase {
            // A round trip's growth must find room, but not by sending faster than the path is known to carry.
            Phase::Ramp { .. } if self.queue.is_measured() && !self.is_unpromised() => {
                let promised = self.rate.promised();
                (even + self.ramp_growth(even)).min(promised.max(even * 5 / 4))
            }
            Phase::Ramp { .. } => even * 2,
            _ => even * 5 / 4,
        };
        Pace { rate, burst: (BURST_DATAGRAMS * u64::from(self.datagram)).max(rate / 500) }
    }

    /// The handshake's time, then the first sample, gives the length of the first round trip: a rate determines the
    /// bytes that may be sent in it. Otherwise a path of a second would need five round trips until an application's
    /// data fits.
    pub(super) fn on_first_rtt(&mut self, rtt: Duration) {
        if self.recovery_from == Time::ZERO {
            self.smoothed = in_range(rtt).max(SMOOTHED_INITIAL_US);
            self.window = self.window_initial(in_range(rtt));
        }
    }

    fn window_initial(&self, rtt_us: u32) -> u32 {
        let span = rtt_us.clamp(WINDOW_INITIAL_RTT_US, WINDOW_INITIAL_RTT_MAX_US);
        WINDOW_DATAGRAMS_INITIAL * u32::from(self.datagram) * (span / 1_000) / (WINDOW_INITIAL_RTT_US / 1_000)
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample) {
        let now = ack.now;
        if ack.rtt.is_some() && !self.queue.is_measured() {
            self.on_first_rtt(ack.smoothed);
            self.calm.begin(now);
        }
        self.smoothed = in_range(ack.smoothed);
        if let Some(rtt) = ack.rtt {
            self.queue.on_sample(now, in_range(rtt), self.smoothed);
            self.bottleneck.on_ack(ack.bytes, ack.sent_at, in_range(rtt));
            self.share.on_sample(now, ack.smoothed, self.shows_queue());
        }
        if !self.queue.is_measured() {
            return;
        }
        let rate_window_us = (16 * u64::from(self.smoothed)).max(2_000_000);
        self.rate.on_ack(now, ack.bytes, ack.sent_at, ack.stamp, self.queue.base(), rate_window_us);
        // An acknowledgement that covers most of a window was held back: until now, the window was used up, however few
        // bytes are left. On a path whose round trip is shorter than that, every acknowledgement is such a one.
        let is_held_back = ack.bytes > self.window / 2;
        let covered = if is_held_back { ack.bytes } else { 0 };
        let in_flight = ack.bytes_in_flight.saturating_add(covered);
        self.note_limit(now, in_flight.saturating_add(self.untracked_in_flight(now)));
        let tells_usual = !self.is_full(now) && !self.has_queue();
        let wait = self.queue.latest_delay();
        self.losses.on_acked(now, ack.bytes, self.smoothed, self.datagram.into(), wait, tells_usual);
        self.watch_queue(now);
        self.watch_calm(now);
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
        let percent = if has_queue { self.aggressiveness.loss_with_queue() } else { LOSS_WITHOUT_QUEUE };
        let is_excessive = self.losses.is_excessive(self.datagram.into(), percent);
        // While competing with other flows, a loss counts where it indicates a queue overflow; random loss comes at any
        // time.
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
                self.window = self.aggressiveness.after_overflow(self.window).max(self.window_min());
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

    /// Data that waits here reaches a peer that moves; data that waits at the bottleneck does not, and is retransmitted
    /// after packets that the old path no longer delivers. So during a queue, no more is in flight from now on than the
    /// path holds without one, even if the window was not used up. What was in flight still counts as sent: a path that
    /// is full stays full.
    pub(super) fn on_flight_settled(&mut self, now: Time, in_flight: u32) {
        self.note_untracked(now, in_flight);
        self.calm.begin(now);
        let is_ours = matches!(self.phase, Phase::Ramp { .. } | Phase::Steady(_));
        let has_queue = self.queue.delay() > self.shared_target(self.rate.best()) / 2;
        if is_ours && self.queue.is_measured() && has_queue && in_flight > self.bare_window() {
            self.begin_bare(now);
        }
    }

    pub(super) fn on_silence(&mut self, now: Time) {
        self.calm.on_silence(now);
        let until = match self.phase {
            // A path that showed no queue before it fell silent was faded, not full: slow start continues.
            Phase::Ramp { until } if !self.has_queue() => until,
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

    /// The queueing delay to keep, in microseconds, for a flow of this rate: less for a faster one, so that flows that
    /// share a queue converge to the same rate.
    fn target(&self, rate: u64) -> u32 {
        self.own_target(rate) + self.noise()
    }

    /// The part of the target that is a queue: less than half of one that overflowed, as far as it was not jitter.
    fn own_target(&self, rate: u64) -> u32 {
        let shared = self.shared_target(rate);
        shared.min((self.depth.saturating_sub(self.noise()) / 2).max(shared / 2))
    }

    /// The queueing delay from which the path counts as full. A sender that fills the path keeps the delay near the
    /// target, in the other direction too: a sender that waited for a longer delay would take the path for free.
    fn full_delay(&self) -> u32 {
        let rate = self.rate.best();
        (self.shared_target(rate) / 2 + self.noise()).min(self.target(rate))
    }

    /// Whether a standing queue begins to form, beyond jitter. The path may be far from full, but traffic that makes
    /// the queue grow is too much.
    fn shows_queue(&self) -> bool {
        let (full, noise) = (self.full_delay(), self.noise());
        self.queue.delay() > noise + full.saturating_sub(noise) / 4
    }

    /// The part of the target that depends on the rate: twice the geometric mean of 5 ms and a datagram's time, which
    /// falls with the square root of the rate; at least 1.4 datagrams, or the link would run dry.
    fn shared_target(&self, rate: u64) -> u32 {
        let datagram_us = self.datagram_us(rate);
        let shared = (4 * SHARED_TARGET_US * datagram_us).isqrt().max(datagram_us * 7 / 5).min(1_000_000) as u32;
        shared + if self.queue.is_measured() { self.queue.base() / 64 } else { 0 }
    }

    /// The variation of round-trip times that the path itself causes. Our own packets also make them vary, by their
    /// length.
    fn noise(&self) -> u32 {
        let own = (2 * self.datagram_us(self.path_rate())).min(u64::from(NOISE_MAX_US)) as u32;
        self.queue.noise().max(self.calm.kept()).saturating_sub(own).max(self.residual).min(NOISE_MAX_US)
    }

    /// How long a full datagram takes at a rate.
    fn datagram_us(&self, rate: u64) -> u64 {
        u64::from(self.datagram) * 1_000_000 / rate.max(1)
    }

    /// Whether there is a standing queue. Jitter alone is not a standing queue: it changes within a round trip.
    fn has_queue(&self) -> bool {
        self.queue.delay() > self.own_target(self.rate.best()) / 2 + self.noise()
    }

    /// A queue longer than a few flows of our kind would keep.
    fn foreign_delay(&self) -> u32 {
        3 * self.shared_target(self.delivered_rate()) + self.noise()
    }

    /// The rate that the path carries, although we may have less to send.
    fn path_rate(&self) -> u64 {
        self.rate.best().max(self.rate.promised() / 2)
    }

    /// The rate that the path carries if a sender fills it. After slow start, the promised rate counts up to twice the
    /// delivered rate: acknowledgements that a queue on their path compressed promise many times the rate, and our own
    /// queue would look like another flow's.
    fn delivered_rate(&self) -> u64 {
        match self.phase {
            Phase::Ramp { .. } => self.path_rate(),
            _ => self.path_rate().min(2 * self.rate.best()),
        }
    }

    fn watch_queue(&mut self, now: Time) {
        let is_short = self.queue.delay() <= self.foreign_delay();
        if is_short || !self.is_full(now) {
            self.standing_from = now;
            self.standing_window = self.window;
        }
    }

    fn watch_calm(&mut self, now: Time) {
        let smoothed = micros(self.smoothed);
        self.calm.on_time(now, self.is_limited(now), smoothed);
        if matches!(self.phase, Phase::Ramp { .. } | Phase::Steady(_)) {
            self.calm.on_delay(now, self.queue.delay(), NOISE_MAX_US, smoothed);
        }
    }

    /// Traffic that yields to a queue drains it, and would return at once. It therefore pauses, so that flows that
    /// share the queue or send in the other direction get capacity; longer each time that it fills the path again.
    fn watch_crowd(&mut self, now: Time) {
        let passed = now.since(core::mem::replace(&mut self.crowded_at, now));
        let enough = micros(CROWDED_ROUND_TRIPS * self.smoothed).max(CROWDED_MIN);
        if self.is_crowded(now) || self.queue.delay() > self.full_delay() + self.noise() {
            self.crowded = (self.crowded + passed).min(2 * enough);
        } else {
            self.crowded = self.crowded.saturating_sub(passed / 2);
        }
        self.share.on_time(now);
        if self.crowded > enough {
            if now >= self.yields_until {
                let is_again = now.since(self.yields_until) < self.yields_for || self.share.is_growing();
                self.yields_for = if is_again { (self.yields_for * 2).min(YIELDS_MAX) } else { YIELDS_MIN };
            }
            self.yields_until = now + self.yields_for;
            // Only data that waits for the window shows that our own load, and not jitter, fills the path.
            if self.is_full(now) {
                self.share.on_full(now, self.yields_until);
            }
        }
    }

    fn on_overflow(&mut self, now: Time) {
        self.depth = self.queue.longest_delay();
        self.depth_at = now;
    }

    fn note_limit(&mut self, now: Time, in_flight: u32) {
        let datagram = u32::from(self.datagram);
        if in_flight.saturating_add(datagram) > self.window {
            if now >= self.limited_until {
                self.limited_from = now;
            }
            // Before the first acknowledgement the round-trip time is unknown.
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

/// A round-trip time in microseconds for which sums cannot overflow, whatever the peer does.
fn in_range(rtt: Duration) -> u32 {
    rtt.as_micros().clamp(1, RTT_MAX_US.into()) as u32
}

/// Bytes per second for this many bytes in each round trip, in microseconds.
fn per_second(bytes: u32, rtt: u32) -> u64 {
    u64::from(bytes) * 1_000_000 / u64::from(rtt.max(1))
}

fn micros(span: u32) -> Duration {
    Duration::from_micros(span.into())
}
